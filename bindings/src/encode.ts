/**
 * JSON text of the harness's own records, without touching anything a script can overwrite (`toJSON`, `Array.prototype`).
 * Records are objects of strings, numbers, booleans, lists and records; undefined fields are left out. `Raw` fields hold
 * JSON text already.
 */

import { std } from "./std";

export class Raw {
  constructor(readonly text: string) {}
}

export type Encodable = undefined | string | number | boolean | Raw | Encodable[] | { [key: string]: Encodable };

export function encode(value: Encodable): string {
  if (typeof value !== "object") return std.stringify(value) ?? "null";
  if (value instanceof Raw) return value.text;
  let text = "";
  if (std.isArray(value)) {
    for (let i = 0; i < value.length; i++) text += (i ? "," : "") + encode(value[i]);
    return "[" + text + "]";
  }
  const keys = std.keys(value);
  for (let i = 0; i < keys.length; i++) {
    const item = value[keys[i]];
    if (item !== undefined) text += (text ? "," : "") + std.stringify(keys[i]) + ":" + encode(item);
  }
  return "{" + text + "}";
}
