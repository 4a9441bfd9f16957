/** The text of `console.table`. */

import type { Kernel } from "../kernel";

const frame = { top: "┌─┬┐", middle: "├─┼┤", bottom: "└─┴┘" };

export default function (_kernel: Kernel) {
  /** A table of the rows of an array, Map, Set or object; undefined for other values. */
  return (value: unknown, columns: unknown, inspect: (value: unknown) => string): string | undefined => {
    if (typeof value !== "object" || value === null) return undefined;
    const rows = (
      value instanceof Map ? [...value] : value instanceof Set ? [...value].entries() : Object.entries(value)
    ) as Iterable<[unknown, unknown]>;
    const names = new Set<string>(Array.isArray(columns) ? columns.map(String) : []);
    let plain = false;
    const cells: { index: string; fields: Record<string, unknown>; value: string }[] = [];
    for (const [key, item] of rows) {
      const isRow = typeof item === "object" && item !== null;
      if (isRow && !Array.isArray(columns)) for (const name of Object.keys(item)) names.add(name);
      plain ||= !isRow;
      cells.push({
        index: typeof key === "string" ? key : inspect(key),
        fields: isRow ? (item as Record<string, unknown>) : {},
        value: isRow ? "" : inspect(item),
      });
    }
    const heads = ["(index)", ...names, ...(plain ? ["Values"] : [])];
    const lines = cells.map(({ index, fields, value }) => [
      index,
      ...[...names].map((name) => (Object.hasOwn(fields, name) ? inspect(fields[name]) : "")),
      ...(plain ? [value] : []),
    ]);
    const widths = heads.map(
      (head, column) => Math.max(...[head, ...lines.map((line) => line[column])].map((cell) => [...cell].length)) + 2,
    );
    const rule = ([left, dash, cross, right]: string) =>
      left + widths.map((width) => dash.repeat(width)).join(cross) + right;
    const row = (line: string[]) =>
      "│" + line.map((cell, column) => " " + cell + " ".repeat(widths[column] - [...cell].length - 1)).join("│") + "│";
    return [rule(frame.top), row(heads), rule(frame.middle), ...lines.map(row), rule(frame.bottom)].join("\n");
  };
}
