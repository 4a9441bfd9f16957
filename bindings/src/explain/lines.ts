/** Compares two lists of lines: lines of one side with a sign, and a few common lines around them. */

import type { Std } from "../std";

/** Most cells of the table that finds the longest common subsequence of lines. */
const tableLimit = 160_000;
/** Most lines of a diff; and most lines of one side in a row, where no common lines were found. */
const diffLines = 400;
const sideLines = 100;
const context = 3;

/** A range of lines on each side. */
interface Stretch {
  left: number;
  leftEnd: number;
  right: number;
  rightEnd: number;
}

/** Adds lines to `out` that start with `-` (left), `+` (right) or a space (both, or a note). */
export function compareLines(std: Std, left: string[], right: string[], out: string[]): void {
  let i = 0;
  let j = 0;
  let same = 0;
  let changed = false;

  /** Writes the equal lines before `i`; of many, only the first and the last. */
  function flush(after: boolean): void {
    const until = changed ? i - same + context : i - same;
    const from = after ? i - context : i;
    const skips = from - until > 1;
    for (let at = i - same; at < i; at++) {
      if (!skips || at < until || at >= from) out[out.length] = "  " + left[at];
      else if (at === until) out[out.length] = "  ...";
    }
    same = 0;
  }

  /** Writes a line that only one side has. `i` must not be past it yet. */
  function change(sign: string, line: string): void {
    if (same) flush(true);
    changed = true;
    out[out.length] = sign + line;
  }

  /** Writes all lines up to the given ends as lines of one side only. */
  function changeUntil(leftEnd: number, rightEnd: number): void {
    for (const end = std.min(leftEnd, i + sideLines); i < end; i++) change("- ", left[i]);
    if (i < leftEnd) change("- ", "... " + (leftEnd - i) + " more lines");
    i = leftEnd;
    for (const end = std.min(rightEnd, j + sideLines); j < end; j++) change("+ ", right[j]);
    if (j < rightEnd) change("+ ", "... " + (rightEnd - j) + " more lines");
    j = rightEnd;
  }

  /** `table[x][y]`: how many lines the left from `x` on and the right from `y` on have in common, in the same order. */
  function table(n: number, m: number): number[][] {
    const lengths: number[][] = [];
    for (let x = n; x >= 0; x--) {
      const row: number[] = [];
      for (let y = 0; y <= m; y++) row[y] = 0;
      for (let y = m - 1; y >= 0 && x < n; y--) {
        row[y] = left[i + x] === right[j + y] ? lengths[x + 1][y + 1] + 1 : std.max(lengths[x + 1][y], row[y + 1]);
      }
      lengths[x] = row;
    }
    return lengths;
  }

  function byTable(leftEnd: number, rightEnd: number): void {
    const startLeft = i;
    const startRight = j;
    const lengths = table(leftEnd - i, rightEnd - j);
    while (i < leftEnd && j < rightEnd) {
      if (left[i] === right[j]) {
        same++;
        i++;
        j++;
      } else if (lengths[i + 1 - startLeft][j - startRight] >= lengths[i - startLeft][j + 1 - startRight]) {
        change("- ", left[i]);
        i++;
      } else change("+ ", right[j++]);
    }
    changeUntil(leftEnd, rightEnd);
  }

  /** Lines that occur once on each side, in an order that both sides share: `[left, right, left, right, ...]`. */
  function anchors({ left: start, leftEnd, right: startRight, rightEnd }: Stretch): number[] {
    const places = new std.Map<string, number>();
    for (let at = start; at < leftEnd; at++) std.mapSet(places, left[at], std.mapHas(places, left[at]) ? -1 : at);
    const seen = new std.Map<string, number>();
    for (let at = startRight; at < rightEnd; at++) std.mapSet(seen, right[at], std.mapHas(seen, right[at]) ? -1 : at);
    // The longest increasing subsequence, by patience sorting: tops[k] is the last line of the best one of length k + 1.
    const tops = std.list<number>();
    const before = new std.Map<number, number>();
    for (let at = startRight; at < rightEnd; at++) {
      const place = std.mapGet(places, right[at]) as number | undefined;
      if (place === undefined || place < 0 || std.mapGet(seen, right[at]) !== at) continue;
      let low = 0;
      for (let high = tops.length; low < high; ) {
        const middle = std.floor((low + high) / 2);
        if (tops[middle] < place) low = middle + 1;
        else high = middle;
      }
      tops[low] = place;
      if (low) std.mapSet(before, place, tops[low - 1]);
    }
    const found = std.list<number>();
    let place: number | undefined = tops.length ? tops[tops.length - 1] : undefined;
    for (let at = tops.length - 1; at >= 0; at--) {
      found[at * 2] = place!;
      found[at * 2 + 1] = std.mapGet(seen, left[place!]) as number;
      place = std.mapGet(before, place) as number | undefined;
    }
    return found;
  }

  function walk(leftEnd: number, rightEnd: number): void {
    while (i < leftEnd && j < rightEnd && left[i] === right[j]) {
      same++;
      i++;
      j++;
    }
    let tail = 0;
    while (leftEnd - tail > i && rightEnd - tail > j && left[leftEnd - 1 - tail] === right[rightEnd - 1 - tail]) tail++;
    const end = leftEnd - tail;
    const endRight = rightEnd - tail;
    if ((end - i) * (endRight - j) <= tableLimit) byTable(end, endRight);
    else {
      const found = anchors({ left: i, leftEnd: end, right: j, rightEnd: endRight });
      for (let at = 0; at < found.length; at += 2) walk(found[at], found[at + 1]);
      if (found.length) walk(end, endRight);
      else changeUntil(end, endRight);
    }
    same += tail;
    i += tail;
    j += tail;
  }

  walk(left.length, right.length);
  flush(false);
  if (out.length > diffLines) {
    const more = out.length - diffLines;
    out.length = diffLines;
    out[diffLines] = "  ... " + more + " more lines";
  }
}
