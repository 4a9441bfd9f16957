/** What is different from the baseline. */

import type { Index, Row } from "./model";

export const CHANGES: Record<string, string> = {
  "new-failure": "New failures",
  fixed: "Fixed",
  "still-failing": "Still failing",
  added: "New results",
  slower: "Slower",
  faster: "Faster",
  output: "Changed output",
  other: "Other status",
};

/** So many times as long, and so many milliseconds more, is slower. */
const FACTOR = 1.5;
const LEAST = 50;

export interface Changes {
  /** Position in the baseline, or -1, for each row. */
  was: Int32Array;
  kinds: Set<string>[];
  counts: Record<string, number>;
  /** Rows of the baseline that are not there any more. */
  removed: Row[];
}

const NONE = new Set<string>();

export function changeOf(changes: Changes, at: number): Set<string> {
  return changes.kinds[at] ?? NONE;
}

/** Compares results that have the same suite and id. */
export function compare(now: Index, before: Index): Changes {
  const places = new Map(before.rows.map((row, at) => [row.key, at]));
  const changes: Changes = { was: new Int32Array(now.rows.length).fill(-1), kinds: [], counts: {}, removed: [] };
  now.rows.forEach((row, at) => {
    const place = places.get(row.key);
    let kinds: Set<string> = NONE;
    if (place === undefined) kinds = new Set(row.status === "failed" ? ["added", "new-failure"] : ["added"]);
    else {
      places.delete(row.key);
      changes.was[at] = place;
      kinds = kindsOf(row, before.rows[place]);
    }
    changes.kinds.push(kinds);
    for (const kind of kinds) changes.counts[kind] = (changes.counts[kind] ?? 0) + 1;
  });
  changes.removed = [...places.values()].map((place) => before.rows[place]);
  return changes;
}

function kindsOf(row: Row, was: Row): Set<string> {
  const kinds = new Set<string>();
  if (row.status === "failed") kinds.add(was.status === "failed" ? "still-failing" : "new-failure");
  else if (was.status === "failed" && row.status === "passed") kinds.add("fixed");
  else if (row.status !== was.status) kinds.add("other");
  if (row.ms > was.ms * FACTOR && row.ms - was.ms >= LEAST) kinds.add("slower");
  if (was.ms > row.ms * FACTOR && was.ms - row.ms >= LEAST) kinds.add("faster");
  if (row.digest !== was.digest) kinds.add("output");
  return kinds;
}
