/** A machine with states: tables as text, read with quotes and written again, sorted, grouped and joined. */
export type Row = Record<string, string>;

export interface Format {
  separator?: string;
  quote?: string;
  header?: boolean;
}

export function cells(text: string, { separator = ",", quote = '"' }: Format = {}): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let state: "start" | "plain" | "quoted" | "closing" = "start";
  const endCell = () => {
    row.push(cell);
    cell = "";
    state = "start";
  };
  const endRow = () => {
    endCell();
    rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (state === "quoted") {
      if (letter === quote) state = "closing";
      else cell += letter;
      continue;
    }
    if (state === "closing" && letter === quote) {
      cell += quote;
      state = "quoted";
      continue;
    }
    switch (letter) {
      case separator:
        endCell();
        break;
      case "\n":
        endRow();
        break;
      case "\r":
        if (text[at + 1] !== "\n") cell += letter;
        break;
      case quote:
        if (state !== "start") throw new SyntaxError(`a quote within a cell, at ${at}`);
        state = "quoted";
        break;
      default:
        if (state === "closing") throw new SyntaxError(`text behind a quote, at ${at}`);
        cell += letter;
        state = "plain";
    }
  }
  if (state === "quoted") throw new SyntaxError("a quote is open at the end");
  if (cell !== "" || row.length > 0) endRow();
  return rows;
}

export function read(text: string, format: Format = {}): Row[] {
  const [head, ...rest] = cells(text.replace(/^\uFEFF/, ""), format);
  if (!head) return [];
  const names = format.header === false ? head.map((_, at) => `c${at + 1}`) : head.map((name) => name.trim());
  const rows = format.header === false ? [head, ...rest] : rest;
  return rows
    .filter((row) => row.some((cell) => cell.trim() !== ""))
    .map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])));
}

export function write(rows: Row[], names = Object.keys(rows[0] ?? {}), separator = ","): string {
  const needs = new RegExp(`["\\r\\n${separator === "\t" ? "\\t" : separator}]|^\\s|\\s$`);
  const line = (cells: string[]) => cells.map((cell) => (needs.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(separator);
  return [names, ...rows.map((row) => names.map((name) => row[name] ?? ""))].map(line).join("\n");
}

export function sortedBy(rows: Row[], name: string, descending = false): Row[] {
  const isNumeric = rows.every((row) => row[name] !== "" && !Number.isNaN(Number(row[name])));
  const compare = (a: Row, b: Row) => (isNumeric ? Number(a[name]) - Number(b[name]) : a[name] < b[name] ? -1 : Number(a[name] > b[name]));
  return [...rows].sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
}

export function grouped(rows: Row[], name: string): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const group = found.get(row[name]);
    if (group) group.push(row);
    else found.set(row[name], [row]);
  }
  return found;
}

export function joined(left: Row[], right: Row[], on: string): Row[] {
  const byKey = grouped(right, on);
  return left.flatMap((row) => (byKey.get(row[on]) ?? [{}]).map((other) => ({ ...other, ...row })));
}
