/** `All`, `Any` and `Race` for calls that block: they run one after the other, in the order of the requests. */

/**
 * Runs all requests, and returns their results in the same order. With `Any`, the results after the first success are
 * null; with `Race`, all results but the first are null. In Yao these would not have finished.
 */
export function sequence<T, R>(
  kind: string,
  requests: readonly T[],
  run: (request: T, index: number) => R,
  ok: (result: R) => boolean,
): (R | null)[] {
  const results: (R | null)[] = [];
  let over = false;
  for (let i = 0; i < requests.length; i++) {
    const result = run(requests[i], i);
    results.push(over ? null : result);
    over ||= kind === "Race" || (kind === "Any" && ok(result));
  }
  return results;
}
