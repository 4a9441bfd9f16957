/**
 * Encodes our own records as JSON, without using anything that a script can overwrite (`toJSON`, `Array.prototype`). A
 * record is an object of strings, numbers, booleans, lists and records. Undefined fields are left out. A field of class
 * `Raw` is JSON already.
 */

import type { Std } from "./std";

export class Raw {
  constructor(readonly text: string) {}
}

/** A value of a script as JSON, as it goes to the host or to another script: a `bigint` is a number. */
export function jsonText(std: Std, value: unknown): string {
  return typeof value === "bigint" ? std.bigIntText(value) : (std.stringify(value) ?? "null");
}

/** A value of a script as JSON, as a field of a record. What is not JSON is an error that begins with `what`. */
export function rawJson(std: Std, value: unknown, what: string): Raw {
  try {
    return new Raw(jsonText(std, value));
  } catch (error) {
    throw new std.Error(what + " is not JSON: " + (error as Error).message);
  }
}

export function encode(std: Std, value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (typeof value !== "object" || value === null) return std.stringify(value) ?? "null";
  let text = "";
  if (std.isArray(value)) {
    for (let i = 0; i < value.length; i++) text += (i ? "," : "") + encode(std, value[i]);
    return "[" + text + "]";
  }
  const keys = std.keys(value);
  for (let i = 0; i < keys.length; i++) {
    const item = (value as Record<string, unknown>)[keys[i]];
    if (item !== undefined) text += (text ? "," : "") + std.stringify(keys[i]) + ":" + encode(std, item);
  }
  return "{" + text + "}";
}
