/** Shows how two texts differ: by lines, or by characters with the place marked. */

import type { Std } from "../std";
import { compareLines } from "./lines";
import type { LookAlikes } from "./look-alikes";

export interface Texts {
  /** Lines with signs, as `Explain.diff` returns them. */
  diff(expected: string, actual: string): string;
  /** The two texts in quotes; of long ones, only the part around the first difference. */
  around(expected: string, actual: string): [string, string];
  /** The lines of a diff, with differences that are hard to see made visible. */
  told(lines: string[]): string[];
  /** The length of the longest common prefix. */
  common(a: string, b: string): number;
  /** Whether a diff helps more than showing the two texts. */
  isWorthADiff(expected: string, actual: string): boolean;
  /** The two texts as they are shown, and their diff if it helps. The texts are printed values. */
  ofPrinted(expected: string, actual: string): { expected_text: string; actual_text: string; diff?: string };
}

/** A text of at most this many characters is shown whole. */
const wholeLimit = 1_000;
/** Characters that are shown before and after the first difference of long texts. */
const before = 60;
const after = 200;
/** Most characters of one line of a diff; and of the part of a text that is split into lines. */
const lineLimit = 400;
const partLimit = 2_000_000;
const step = 4_096;
/** What is invisible in a line without quotes. */
const unseen = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]|[ \t]$/;
const short = 60;

export function texts(std: Std, signs: LookAlikes): Texts {
  const hasLines = (text: string): boolean => std.indexOf(text, "\n") >= 0;

  function common(a: string, b: string): number {
    const shorter = std.min(a.length, b.length);
    let i = 0;
    while (i + step <= shorter && std.slice(a, i, i + step) === std.slice(b, i, i + step)) i += step;
    while (i < shorter && std.charCodeAt(a, i) === std.charCodeAt(b, i)) i++;
    return i;
  }

  function commonEnd(a: string, b: string, most: number): number {
    let i = 0;
    while (i + step <= most && std.slice(a, a.length - i - step, a.length - i) === std.slice(b, b.length - i - step, b.length - i)) i += step;
    while (i < most && std.charCodeAt(a, a.length - 1 - i) === std.charCodeAt(b, b.length - 1 - i)) i++;
    return i;
  }

  const quoted = (text: string): string => signs.visible(std.stringify(text));
  const more = (count: number): string => (count > 0 ? " ... " + count + " more characters" : "");

  /** Where the shown part of two texts begins. It does not split a surrogate pair. */
  function windowAt(text: string, place: number): number {
    const from = std.max(place - before, 0);
    const code = from ? std.charCodeAt(text, from) : 0;
    return code >= 0xdc00 && code <= 0xdfff ? from - 1 : from;
  }

  function around(expected: string, actual: string): [string, string] {
    const longest = std.max(expected.length, actual.length);
    if (longest <= wholeLimit) return signs.apart(quoted(expected), quoted(actual));
    const place = common(expected, actual);
    const from = windowAt(expected, place);
    const piece = (text: string): string => quoted(std.slice(text, from, place + after));
    const pair = signs.apart(piece(expected), piece(actual));
    const start = from ? from + " characters ... " : "";
    return [start + pair[0] + more(expected.length - place - after), start + pair[1] + more(actual.length - place - after)];
  }

  function diff(expected: string, actual: string): string {
    return hasLines(expected) || hasLines(actual) ? byLines(expected, actual) : byCharacters(expected, actual);
  }

  function byCharacters(expected: string, actual: string): string {
    const place = common(expected, actual);
    const from = windowAt(expected, place);
    const start = from ? "..." : "";
    const piece = (text: string): string => quoted(std.slice(text, from, place + after));
    const pair = signs.apart(piece(expected), piece(actual));
    const shown = common(pair[0], pair[1]);
    const lines = std.list("  first difference at character " + place + namesOf(expected, actual, place));
    lines[1] = "- " + start + pair[0] + more(expected.length - place - after);
    lines[2] = "+ " + start + pair[1] + more(actual.length - place - after);
    lines[3] = "  " + std.repeat(" ", start.length + shown) + "^";
    return std.join(lines, "\n");
  }

  /** The code points of the two different characters, if one of them is not ASCII. */
  function namesOf(expected: string, actual: string, place: number): string {
    let at = place;
    const code = at ? std.charCodeAt(expected, at) : 0;
    if (code >= 0xdc00 && code <= 0xdfff) at--;
    const x = std.codePointAt(expected, at);
    const y = std.codePointAt(actual, at);
    if ((x ?? 0) < 128 && (y ?? 0) < 128) return "";
    const name = (code: number | undefined): string => (code === undefined ? "the end" : "U+" + upper(std.numberText(code, 16)));
    return ": " + name(x) + " expected, " + name(y) + " found";
  }

  function upper(digits: string): string {
    let out = "";
    for (let i = 0; i < 4 - digits.length; i++) out += "0";
    for (let i = 0; i < digits.length; i++) {
      const code = std.charCodeAt(digits, i);
      out += std.fromCodePoint(code > 96 ? code - 32 : code);
    }
    return out;
  }

  function byLines(expected: string, actual: string): string {
    const same = common(expected, actual);
    // To save time, common text at the beginning and at the end is not split into lines, except some around the difference.
    const start = lineStart(expected, same, 6);
    const end = commonEnd(expected, actual, std.min(expected.length, actual.length) - same);
    const keep = std.max(end - 2_000, 0);
    const left = linesOf(std.slice(expected, start, expected.length - keep));
    const right = linesOf(std.slice(actual, start, actual.length - keep));
    const lines = std.list<string>();
    const number = lineNumber(expected, same);
    if (number > 10) lines[lines.length] = "  first difference in line " + number;
    compareLines(std, left, right, lines);
    return std.join(told(lines), "\n");
  }

  /** The start of the line that is `lines` lines before the line at `place`. */
  function lineStart(text: string, place: number, lines: number): number {
    let at = place;
    for (let i = 0; i <= lines && at > 0; i++) {
      at--;
      while (at > 0 && std.charCodeAt(text, at - 1) !== 10) at--;
    }
    return at;
  }

  function lineNumber(text: string, place: number): number {
    return std.split(std.slice(text, 0, place), "\n").length;
  }

  function linesOf(text: string): string[] {
    const lines = std.split(std.slice(text, 0, partLimit), "\n");
    if (text.length > partLimit) lines[lines.length] = "... " + (text.length - partLimit) + " more characters";
    return lines;
  }

  /** Pairs of changed lines, made easy to compare: quoted if the difference is invisible, cut to the difference if long. */
  function told(lines: string[]): string[] {
    const out = std.list<string>();
    let i = 0;
    while (i < lines.length) {
      const sign = std.slice(lines[i], 0, 2);
      if (sign !== "- " && sign !== "+ ") {
        out[out.length] = bound(visibleLine(lines[i], 2));
        i++;
        continue;
      }
      const removed = std.list<string>();
      const added = std.list<string>();
      for (; i < lines.length && std.slice(lines[i], 0, 2) === "- "; i++) removed[removed.length] = std.slice(lines[i], 2);
      for (; i < lines.length && std.slice(lines[i], 0, 2) === "+ "; i++) added[added.length] = std.slice(lines[i], 2);
      const first = out.length;
      const pairs = std.min(removed.length, added.length);
      for (let at = 0; at < pairs; at++) {
        const pair = lineApart(removed[at], added[at]);
        out[first + at] = "- " + pair[0];
        out[first + removed.length + at] = "+ " + pair[1];
      }
      for (let at = pairs; at < removed.length; at++) out[first + at] = "- " + bound(visibleLine(removed[at], 0));
      for (let at = pairs; at < added.length; at++) out[first + removed.length + at] = "+ " + bound(visibleLine(added[at], 0));
    }
    return out;
  }

  function visibleLine(line: string, from: number): string {
    const text = std.slice(line, from);
    const shown = std.exec(unseen, text) ? quoted(text) : signs.visible(text);
    return std.slice(line, 0, from) + shown;
  }

  const bound = (line: string): string => (line.length > lineLimit ? std.slice(line, 0, lineLimit) + more(line.length - lineLimit) : line);

  function lineApart(expected: string, actual: string): [string, string] {
    const isLong = std.max(expected.length, actual.length) > lineLimit;
    const place = isLong ? common(expected, actual) : 0;
    const from = isLong ? windowAt(expected, place) : 0;
    const until = isLong ? place + after : lineLimit;
    const x = std.slice(expected, from, until);
    const y = std.slice(actual, from, until);
    const hides = std.exec(unseen, x) !== null || std.exec(unseen, y) !== null;
    const quotes = !hides && blanksApart(x, y);
    const shown = (text: string): string => (quotes || std.exec(unseen, text) ? quoted(text) : signs.visible(text));
    const pair = signs.apart(shown(x), shown(y));
    const start = from ? from + " characters ... " : "";
    return [start + pair[0] + more(expected.length - until), start + pair[1] + more(actual.length - until)];
  }

  /** Whether two lines differ only in their spaces and tabs. */
  function blanksApart(x: string, y: string): boolean {
    return x !== y && withoutBlanks(x) === withoutBlanks(y);
  }

  const withoutBlanks = (text: string): string => std.join(std.split(std.join(std.split(text, "\t"), ""), " "), "");

  function isWorthADiff(expected: string, actual: string): boolean {
    if (hasLines(expected) && hasLines(actual)) return true;
    if (std.max(expected.length, actual.length) > short || expected === actual) return true;
    const pair = around(expected, actual);
    return pair[0] !== std.stringify(expected) || pair[1] !== std.stringify(actual);
  }

  return {
    diff,
    around,
    told,
    common,
    isWorthADiff,
    ofPrinted(expected, actual) {
      const pair = signs.apart(expected, actual);
      return { expected_text: pair[0], actual_text: pair[1], diff: isWorthADiff(expected, actual) ? diff(expected, actual) : undefined };
    },
  };
}
