/** Functions that several assertions use. */

import type { Check, Kernel, Mismatch } from "../kernel";
import type { Explain } from "../check/explain";
import { isObject } from "../objects";
import type { Std } from "../std";

/** Whether two values are deeply equal, by the part "equal". */
export function equal(kernel: Kernel, a: unknown, b: unknown): boolean {
  return kernel.part<(a: unknown, b: unknown) => boolean>("equal")(a, b);
}

/** The part "explain", which only failures need. */
export function explain(kernel: Kernel): Explain {
  return kernel.part("explain");
}

/** Why a promise is refused as an argument: it would count as a value, whatever it resolves to. */
export const AWAIT_IT = "got a Promise: await it";

/** Whether a value has a function `then` that can be read. */
export function isThenable(value: unknown): boolean {
  if (!isObject(value) && typeof value !== "function") return false;
  try {
    return typeof (value as { then?: unknown }).then === "function";
  } catch {
    return false;
  }
}

/** Whether a value is a generator that can be read. The compiler replaces asynchronous generators by objects of its own. */
export function isGenerator(std: Std, value: unknown): boolean {
  if (!isObject(value)) return false;
  try {
    const { next, [std.Symbol.asyncIterator]: asynchronous } = value;
    return typeof next === "function" && (std.tag(value) === "[object Generator]" || typeof asynchronous === "function");
  } catch {
    return false;
  }
}

/** The `typeof` of a value, but `array` for arrays and `null` for null. */
export function typeName(kernel: Kernel, value: unknown): string {
  return value === null ? "null" : kernel.std.isArray(value) ? "array" : typeof value;
}

/** The mismatch for an argument of the wrong type: `reason` says what it should be; its actual type is added. */
export function refuse(kernel: Kernel, reason: string, value: unknown): Mismatch {
  return { reason: reason + ", got " + typeName(kernel, value), bare: true };
}

/** The mismatch of an assertion that takes (actual, expected). */
export function differ(reason: string, args: readonly unknown[]): Mismatch {
  return { reason, expected: args[1], actual: args[0] };
}

/** An assertion about one value. `holds` decides; `reason` says in words what is expected, and `expected` as a value. */
export function ofValue(reason: string, holds: (value: unknown) => boolean, expected?: unknown): Check {
  return {
    params: ["value"],
    test(_kernel, args) {
      if (holds(args[0])) return undefined;
      return expected === undefined ? { reason, actual: args[0] } : { reason, expected, actual: args[0] };
    },
  };
}

/**
 * An assertion that a value contains something (`wanted`), or does not. `find` returns whether it does, or a mismatch if
 * the value cannot be searched; then the assertion fails in both cases.
 */
export function search(
  target: string,
  reason: string,
  wanted: boolean,
  find: (kernel: Kernel, value: unknown, target: unknown) => boolean | Mismatch,
): Check {
  return {
    params: ["value", target],
    test(kernel, args) {
      const found = find(kernel, args[0], args[1]);
      return found === wanted ? undefined : typeof found === "object" ? found : wanted ? { ...differ(reason, args), holds } : differ(reason, args);

      function holds(expected: unknown, actual: unknown): boolean {
        return find(kernel, actual, expected) === true;
      }
    },
  };
}
