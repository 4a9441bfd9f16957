/** Copies of values, for tests that keep a value while the original changes. */

/** A deep copy of arrays, plain objects and byte arrays, also of cyclic ones. Anything else is not copied. */
export function copy<T>(value: T, seen = new Map<unknown, unknown>()): T {
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value) as T;
  let result: unknown = value;
  if (Array.isArray(value)) {
    seen.set(value, (result = []));
    for (let i = 0; i < value.length; i++) (result as unknown[])[i] = copy(value[i], seen);
  } else if (value instanceof Uint8Array) {
    result = value.slice();
  } else {
    const prototype = Object.getPrototypeOf(value) as unknown;
    if (prototype === Object.prototype || prototype === null) {
      seen.set(value, (result = Object.create(prototype as null) as object));
      for (const key of Object.keys(value)) {
        const item = copy((value as Record<string, unknown>)[key], seen);
        Object.defineProperty(result, key, { value: item, writable: true, enumerable: true, configurable: true });
      }
    }
  }
  return result as T;
}
