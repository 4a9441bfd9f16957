import type { Check, Kernel } from "../kernel";
import { isObject } from "../objects";
import { refuse } from "./support";

/** The number of UTF-16 code units of a string, items of a collection, or keys of a plain object; 0 of null; otherwise undefined. */
function lengthOf({ std }: Kernel, value: unknown): number | undefined {
  if (typeof value === "string") return value.length;
  if (value === null) return 0;
  if (!isObject(value)) return undefined;
  if (value instanceof std.Map) return std.mapSize(value);
  if (value instanceof std.Set) return std.setSize(value);
  if (typeof value.length === "number") return value.length;
  if (typeof value.size === "number") return value.size;
  const proto = std.getPrototypeOf(value) as unknown;
  return proto === null || proto === std.objectPrototype ? std.keys(value).length : undefined;
}

/** `Len(value, length)`: a string, null, an object with a numeric `length` or `size`, or a plain object has that length. */
export const len: Check = {
  params: ["value", "length"],
  test(kernel, args) {
    const actual = lengthOf(kernel, args[0]);
    if (actual === undefined)
      return refuse(kernel, "Only a string, or an object with a length or a size, has a length", args[0]);
    return actual === args[1] ? undefined : { reason: "Wrong length", expected: args[1], actual };
  },
};
