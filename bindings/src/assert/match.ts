import type { Kernel, Mismatch } from "../kernel";
import { isObject } from "../objects";
import { refuse, search } from "./support";

/**
 * Whether the pattern matches anywhere in the value. Strings are searched as they are, errors as `name: message`, other
 * objects as JSON, and everything else as `String(value)`, except functions and symbols, which are a mismatch. A pattern
 * that is a string has the syntax of Go, and the host evaluates it. A `RegExp` is evaluated here, from the beginning; its
 * `lastIndex` is neither used nor changed.
 */
export function matches(kernel: Kernel, value: unknown, pattern: unknown): boolean | Mismatch {
  const { std } = kernel;
  if (value === null || value === undefined || typeof value === "function" || typeof value === "symbol") {
    return refuse(kernel, "There is nothing to match", value);
  }
  const text = (isObject(value) && !(value instanceof std.Error) && std.stringify(value)) || std.String(value);
  if (typeof pattern === "string") {
    const found = kernel.host("regex.Match", [pattern, text]);
    return typeof found === "boolean" ? found : refuse(kernel, "The host answers whether a pattern is found", found);
  }
  if (pattern instanceof std.RegExp) {
    const copy = new std.RegExp(std.regexpSource(pattern) as string, std.regexpFlags(pattern) as string);
    return std.exec(copy, text) !== null;
  }
  return refuse(kernel, "The pattern must be a string or a RegExp", pattern);
}

/** `Match(value, pattern)`: the pattern matches in the value. */
export const match = search("pattern", "Should match the pattern", true, matches);
