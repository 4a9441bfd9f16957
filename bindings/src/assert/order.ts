import type { Check, Kernel } from "../kernel";
import { differ } from "./support";

type Ordered = number | bigint | string;

/** Numbers, bigints, texts and dates, each among themselves; undefined for anything else. */
function rank({ std }: Kernel, value: unknown): { sort: string; key: Ordered } | undefined {
  if (typeof value === "string" || typeof value === "bigint") return { sort: typeof value, key: value };
  const date = value instanceof std.Date;
  const key = date ? std.getTime(value) : value;
  return typeof key === "number" && key === key ? { sort: date ? "date" : "number", key } : undefined;
}

/** A comparison of two values of the same sort: number, bigint, string or Date. NaN and mixed sorts are failures. */
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
