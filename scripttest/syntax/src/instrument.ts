/** Puts counters into a file. */

import { Points } from "./points";
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
  if (points.next === first) return null;
  watched(source, suffix, watches, program, points.insertions);
  return { ...points.insertions.into(source), table: points.table, counters: points.next - first };
}
