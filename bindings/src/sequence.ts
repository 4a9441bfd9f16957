/** `All`, `Any` and `Race` where calls block: one after the other, in the order of the requests. */

/**
 * The results in the order of the requests, which all run. Of `Any` those after the first success are null, of `Race` all
 * but the first result: they would not have finished.
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
