import type { Check, Kernel } from "../kernel";
import { differ } from "./support";

type Ordered = number | bigint | string;

/** The type of a value and a key to compare it by; undefined if it is neither a number, a bigint, a string nor a Date. */
function rank({ std }: Kernel, value: unknown): { sort: string; key: Ordered } | undefined {
  if (typeof value === "string" || typeof value === "bigint") return { sort: typeof value, key: value };
  const date = value instanceof std.Date;
  const key = date ? std.getTime(value) : value;
  return typeof key === "number" && key === key ? { sort: date ? "date" : "number", key } : undefined;
}

/** An assertion that compares two numbers, bigints, strings or Dates. NaN, and values of different types, fail. */
export function order(reason: string, holds: (a: Ordered, b: Ordered) => boolean): Check {
  return {
    params: ["a", "b"],
    test(kernel, args) {
      const a = rank(kernel, args[0]);
      const b = rank(kernel, args[1]);
      const ordered = a && b && a.sort === b.sort;
      return ordered && holds(a.key, b.key) ? undefined : differ(ordered ? reason : "Cannot be ordered", args);
    },
  };
}
