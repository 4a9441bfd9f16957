/** Which results are shown, and in which order. The part of the address after `#` has this, so that a link shows the same. */

import { kindsOf, type Comparison } from "./changes";
import { verdictOf, type Index, type Row } from "./model";

export interface View {
  query: string;
  status: string;
  suite: string;
  agent: string;
  mode: string;
  tag: string;
  change: string;
  sort: string;
  /** Key of the result that is open. */
  result: string;
}

export const PLAIN: View = {
  query: "", status: "", suite: "", agent: "", mode: "", tag: "", change: "", sort: "", result: "",
};

export const SORTS: Record<string, string> = {
  "": "Failures first",
  order: "Order of the run",
  name: "Name",
  slowest: "Slowest first",
  fastest: "Fastest first",
  score: "Lowest score first",
  stability: "Least stable first",
  tokens: "Most tokens first",
};

export function viewFromHash(hash: string): View {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const view = { ...PLAIN };
  for (const key of Object.keys(PLAIN) as (keyof View)[]) view[key] = values.get(key) ?? "";
  return view;
}

export function hashOf(view: View): string {
  const values = new URLSearchParams();
  for (const [key, value] of Object.entries(view)) if (value) values.set(key, value);
  return values.size > 0 ? `#${values}` : "";
}

/** The words of a query. Words in double quotes are one term. */
export function termsOf(query: string): string[] {
  const found = query.toLowerCase().match(/"[^"]+"|[^\s"]+/g) ?? [];
  return found.map((term) => term.replace(/^"|"$/g, ""));
}

/** The positions of the shown rows, in their order. `hits` marks the rows that the search found; null if there is none. */
export function shown(index: Index, view: View, hits: Uint8Array | null, comparison: Comparison | null): number[] {
  const { rows, start } = index;
  const found: number[] = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    if (hits && !hits[at]) continue;
    if (view.status && !isOf(row, view.status)) continue;
    if (view.suite && start.suites[row.suite].id !== view.suite) continue;
    if (view.agent && start.suites[row.suite].agent !== view.agent) continue;
    if (view.mode && row.mode !== view.mode) continue;
    if (view.tag && !row.tags?.includes(view.tag)) continue;
    if (view.change && !(comparison && kindsOf(comparison, at).includes(view.change))) continue;
    found.push(at);
  }
  const order = ORDERS[view.sort];
  return order ? found.sort((a, b) => order(rows[a], rows[b]) || a - b) : found;
}

const isOf = (row: Row, status: string): boolean => verdictOf(row) === status;

const RANK = { failed: 0, passed: 1, skipped: 2 };
const names = new Intl.Collator("en", { numeric: true });

const ORDERS: Record<string, (a: Row, b: Row) => number> = {
  "": (a, b) => RANK[a.status] - RANK[b.status],
  order: (a, b) => a.suite - b.suite || (a.position ?? 0) - (b.position ?? 0),
  name: (a, b) => names.compare(a.id, b.id),
  slowest: (a, b) => b.ms - a.ms,
  fastest: (a, b) => a.ms - b.ms,
  score: (a, b) => (a.score ?? 2) - (b.score ?? 2),
  stability: (a, b) => (a.runs?.pass_rate ?? 101) - (b.runs?.pass_rate ?? 101),
  tokens: (a, b) => (b.tokens ?? 0) - (a.tokens ?? 0),
};
