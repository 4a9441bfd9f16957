/** `All`, `Any` and `Race` where calls block: one after the other, in the order of the requests. */

/**
 * The results in the order of the requests. `Any` stops at the first success, `Race` at the first result; what was not
 * run then is null.
 */
export function sequence<T, R>(
  kind: string,
  requests: readonly T[],
  run: (request: T, index: number) => R,
  ok: (result: R) => boolean,
): (R | null)[] {
  const results = new Array<R | null>(requests.length).fill(null);
  for (let i = 0; i < requests.length; i++) {
    const result = (results[i] = run(requests[i], i));
    if (kind === "Race" || (kind === "Any" && ok(result))) break;
  }
  return results;
}
