/** What several assertions share. */

import type { Check, Kernel, Mismatch } from "../kernel";
import type { Explain } from "../check/explain";

/** The deep equality of part "equal". */
export function equal(kernel: Kernel, a: unknown, b: unknown): boolean {
  return kernel.part<(a: unknown, b: unknown) => boolean>("equal")(a, b);
}

/** Part "explain"; only failures need it. */
export function explain(kernel: Kernel): Explain {
  return kernel.part("explain");
}

export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}

/** What is wrong with a promise where a value is meant: it would count as something that is there, whatever comes of it. */
export const AWAIT_IT = "got a Promise: await it";

/** Whether a value has a function `then`; one that cannot be read is none. */
export function isThenable(value: unknown): boolean {
  if (!isObject(value) && typeof value !== "function") return false;
  try {
    return typeof (value as { then?: unknown }).then === "function";
  } catch {
    return false;
  }
}

/** `array` and `null` beside what `typeof` knows. */
export function typeName(kernel: Kernel, value: unknown): string {
  return value === null ? "null" : kernel.std.isArray(value) ? "array" : typeof value;
}

/** A failure because an argument does not fit: what it should be, and the type that it is. */
export function refuse(kernel: Kernel, reason: string, value: unknown): Mismatch {
  return { reason: reason + ", got " + typeName(kernel, value), bare: true };
}

/** A failure of a check of (actual, expected). */
export function differ(reason: string, args: readonly unknown[]): Mismatch {
  return { reason, expected: args[1], actual: args[0] };
}

/** An assertion about one value: `holds` decides, `reason` says what is expected of it, in words and, if given, as a value. */
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
 * An assertion that something is found in a value, or that it is not. `find` answers whether it is there, or a mismatch
 * when it cannot look, which is a failure either way.
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
      return found === wanted ? undefined : typeof found === "object" ? found : differ(reason, args);
    },
  };
}
