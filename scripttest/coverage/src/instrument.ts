/** Puts counters into a file: a function from JSON to JSON, which `scripttest/coverage/instrument.py` calls. */

import { type Point, Points } from "./points";
import { type Position, programOf } from "./tree";

const IGNORED = /^\s*istanbul\s+ignore\s+file(?=\W|$)/;

interface Request {
  source: string;
  /** the end of the file's name, `.ts` */
  suffix: string;
  /** the number of the first counter */
  first: number;
}

export default function instrument(request: string): string {
  const { source, suffix, first } = JSON.parse(request) as Request;
  let program;
  try {
    program = programOf(source, suffix);
  } catch (error) {
    const { message, loc } = error as Error & { loc?: Position };
    const at = loc === undefined ? "" : ` at ${loc.line}:${loc.column + 1}`;
    return JSON.stringify({ unread: message.replace(/ \(\d+:\d+\)$/, "") + at });
  }
  if ((program.comments as { value: string }[]).some(({ value }) => IGNORED.test(value))) return "null";
  const points = new Points(program, first);
  if (points.found.length === 0) return "null";
  return JSON.stringify({
    ...points.insertions.into(source),
    table: tableOf(points.found),
    counters: points.next - first,
  });
}

/** Points in the shapes of Istanbul, with the numbers of counters in place of counts. */
function tableOf(points: Point[]) {
  const table = {
    statementMap: {} as Record<string, unknown>,
    fnMap: {} as Record<string, unknown>,
    branchMap: {} as Record<string, unknown>,
    s: {} as Record<string, number>,
    f: {} as Record<string, number>,
    b: {} as Record<string, number[]>,
  };
  let [statements, functions, branches] = [0, 0, 0];
  for (const { kind, loc, arms, name, decl, counter } of points) {
    if (kind === "statement") {
      table.statementMap[statements] = loc;
      table.s[statements++] = counter;
    } else if (kind === "function") {
      const line = decl!.start.line;
      table.fnMap[functions] = { name: name || `(anonymous_${functions})`, decl, loc, line };
      table.f[functions++] = counter;
    } else {
      table.branchMap[branches] = { loc, type: kind, locations: arms, line: loc.start.line };
      table.b[branches++] = arms!.map((_, index) => counter + index);
    }
  }
  return table;
}
