/** Puts counters into a file. */

import { type Point, Points } from "./points";
import { programOf } from "./tree";
import { type Watch, watched } from "./watched";

const IGNORED = /^\s*istanbul\s+ignore\s+file(?=\W|$)/;

/**
 * The text with counters, and what they count; null when there is nothing to count.
 *
 * @param suffix the end of the file's name, `.ts`
 * @param first the number of the first counter
 * @param watches what is evaluated besides, see `watched.ts`
 */
export function instrumented(source: string, suffix: string, first: number, watches: Watch[]) {
  const program = programOf(source, suffix);
  if ((program.comments as { value: string }[]).some(({ value }) => IGNORED.test(value))) return null;
  const points = new Points(program, first);
  if (points.found.length === 0) return null;
  watched(source, suffix, watches, program, points.insertions);
  return { ...points.insertions.into(source), table: tableOf(points.found), counters: points.next - first };
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
