/** Counts the results of a selection as `runner/record/fold.py` counts the whole run. Nothing else on the page counts.
 * For a selection there are only counts, and no figures such as intervals. */

import { verdictOf, type Result } from "./model";

export interface Counts {
  total: number;
  passed: number;
  failed: number;
  skipped: number;
  errors?: number;
  warnings?: number;
  /** Of all runs of the tests, in milliseconds. */
  duration_ms: number;
}

export function countsOf(results: Result[]): Counts {
  const verdicts = { passed: 0, failed: 0, skipped: 0, error: 0 };
  let [warnings, duration] = [0, 0];
  for (const result of results) {
    verdicts[verdictOf(result) as keyof typeof verdicts]++;
    warnings += result.warnings?.length ?? 0;
    for (const run of result.runs?.attempts ?? [result]) duration += run.duration_ms;
  }
  const { error, ...rest } = verdicts;
  return {
    total: results.length, ...rest, ...(error && { errors: error }), ...(warnings && { warnings }), duration_ms: duration,
  };
}
