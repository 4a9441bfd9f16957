/** Exports the shown results. */

import { countsOf } from "./counts";
import type { Result, Row, Suite } from "./model";
import type { Store } from "./store";

/** A report of the shown results, in the format of `-o report.json`, which other commands read. */
export async function asJson(store: Store, positions: number[]): Promise<string> {
  const { start, errors, rows, summary } = store.index;
  const all: Result[] = [];
  const bySuite = new Map<number, Result[]>();
  for (const at of positions) {
    const [result] = await store.entry(at);
    all.push(result);
    const known = bySuite.get(rows[at].suite);
    if (known) known.push(result);
    else bySuite.set(rows[at].suite, [result]);
  }
  const environment = start.environment;
  const metadata = { started_at: start.timestamp, completed_at: summary.completed_at ?? null, version: start.version };
  const parts = [...bySuite].sort(([a], [b]) => a - b).map(([place, results]) => partOf(start.suites[place], results));
  const reports = parts.map((part) => ({ ...part, environment, metadata }));
  const total = all.length === rows.length ? summary : countsOf(all);
  return JSON.stringify({ type: "test_run", summary: total, environment, reports, errors, metadata }, null, 2);
}

function partOf(suite: Suite, results: Result[]): object {
  const isScript = suite.kind === "script_test";
  const what = isScript ? { script: suite.id, script_path: suite.label } : suite.variant ? { input: suite.id, suite } : { input: suite.label };
  const agent = isScript ? {} : { agent_id: suite.agent, connector: suite.connector };
  const summary = { ...countsOf(results), ...agent };
  return { type: suite.kind, ...what, summary, results: results.map((result) => withoutPlace(result, suite)) };
}

function withoutPlace(result: Result, suite: Suite): object {
  const { type, suite: _suite, script, position, id, ...rest } = result;
  return suite.kind === "script_test" ? { ...rest, name: id } : { id, ...rest };
}

type Column = [string, (row: Row, suite: Suite) => string | number | undefined];

const COLUMNS: Column[] = [
  ["suite", (_, suite) => suite.id],
  ["id", (row) => row.id],
  ["name", (row) => row.name],
  ["status", (row) => row.status],
  ["cause", (row) => row.cause],
  ["duration_ms", (row) => row.ms],
  ["agent", (_, suite) => suite.agent],
  ["mode", (row) => row.mode],
  ["tags", (row) => row.tags?.join(" ")],
  ["score", (row) => row.score],
  ["tokens", (row) => row.tokens],
  ["cost", (row) => row.cost],
  ["runs", (row) => row.runs?.count],
  ["pass_rate", (row) => row.runs?.pass_rate],
  ["consistency", (row) => row.runs?.consistency],
  ["error", (row) => row.error],
];

/** CSV by RFC 4180. The column of errors has only the beginning, as the list shows it. */
export function asCsv(store: Store, positions: number[]): string {
  const { rows, start } = store.index;
  const lines = [COLUMNS.map(([name]) => name).join(",")];
  for (const at of positions) {
    lines.push(COLUMNS.map(([, value]) => cell(value(rows[at], start.suites[rows[at].suite]))).join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

function cell(value: string | number | undefined): string {
  if (typeof value === "number") return String(value);
  // A spreadsheet would read a text with such a beginning as a formula.
  const text = /^[=+\-@\t\r]/.test(value ?? "") ? `'${value}` : (value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text.toWellFormed()], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
