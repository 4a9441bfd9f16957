import type { Kernel, Mismatch } from "../kernel";
import { equal, refuse, search } from "./support";

/**
 * Whether a string, or `name: message` of an error, contains the substring, an array, Set or typed array contains a deeply equal item, or a Map has a
 * deeply equal key. Any other value is a mismatch.
 */
export function contains(kernel: Kernel, value: unknown, item: unknown): boolean | Mismatch {
  const { std } = kernel;
  if (typeof value === "string" || value instanceof std.Error) {
    return typeof item === "string"
      ? std.indexOf(std.String(value), item) >= 0
      : refuse(kernel, "A string can only contain a string", item);
  }
  let found = false;
  const visit = (candidate: unknown): void => {
    found ||= equal(kernel, candidate, item);
  };
  if (value instanceof std.Set) {
    if (!(found = std.setHas(value, item))) std.setForEach(value, visit);
  } else if (value instanceof std.Map) {
    if (!(found = std.mapHas(value, item))) std.mapForEach(value, (_value, key) => visit(key));
  } else if (std.isArray(value) || (std.isView(value) && !(value instanceof std.DataView))) {
    const list = value as unknown[];
    const length = std.isArray(value) ? list.length : std.viewLength(list);
    for (let i = 0; i < length && !found; i++) visit(list[i]);
  } else {
    return refuse(kernel, "Only a string, an error, an array, a typed array, a Set or a Map can contain an item", value);
  }
  return found;
}

/** `Contains(value, item)`: the value contains the item. */
export const containsItem = search("item", "Should contain the item", true, contains);
