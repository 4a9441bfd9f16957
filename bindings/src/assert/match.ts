import type { Kernel, Mismatch } from "../kernel";
import { isObject, refuse, search } from "./support";

/**
 * Whether the pattern is found anywhere in the value: a text as it is, an error as `name: message`, other objects as
 * JSON, and the rest as `String` has it. A pattern given as text is of Go's syntax and evaluated by the host; a
 * `RegExp` is evaluated here, from the beginning whatever its `lastIndex`, which stays as it is.
 */
export function matches(kernel: Kernel, value: unknown, pattern: unknown): boolean | Mismatch {
  const { std } = kernel;
  if (value === null || value === undefined) return refuse(kernel, "There is nothing to match", value);
  const text = (isObject(value) && !(value instanceof std.Error) && std.stringify(value)) || std.String(value);
  if (typeof pattern === "string") {
    const found = kernel.host("regex.Match", [pattern, text]);
    return typeof found === "boolean" ? found : refuse(kernel, "The host answers whether a pattern is found", found);
  }
  if (pattern instanceof std.RegExp) {
    const copy = new std.RegExp(std.regexpSource(pattern) as string, std.regexpFlags(pattern) as string);
    return std.exec(copy, text) !== null;
  }
  return refuse(kernel, "A pattern is a text or a RegExp", pattern);
}

/** `Match(value, pattern)`: the pattern is found in the value, as `matches` decides. */
export const match = search("pattern", "Should match the pattern", true, matches);
