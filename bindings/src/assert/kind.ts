/** Which kind of object a value is. The prototypes decide, so a class cannot change it with `Symbol.toStringTag`. */

import type { Std } from "../std";

export type Kind =
  | "Array"
  | "View"
  | "DataView"
  | "Map"
  | "Set"
  | "Date"
  | "RegExp"
  | "Error"
  | "ArrayBuffer"
  | "Number"
  | "String"
  | "Boolean"
  | "Symbol"
  | "BigInt"
  | "Opaque"
  | "Object";

const classes = [
  "Map",
  "Set",
  "Error",
  "Date",
  "RegExp",
  "ArrayBuffer",
  "DataView",
  "Number",
  "String",
  "Boolean",
  "Symbol",
  "BigInt",
] as const;

/** Objects whose content cannot be seen. */
const opaque =
  /^\[object (Promise|Weak(Map|Set|Ref)|SharedArrayBuffer|FinalizationRegistry|(Async)?Generator|.* Iterator)]$/;

/** The kind of an object. `View` is a typed array. An `Opaque` object equals only itself. A proxy can make this throw. */
export function kindOf(std: Std, value: object): Kind {
  if (std.isArray(value)) return "Array";
  const proto = std.getPrototypeOf(value) as unknown;
  if (proto === std.objectPrototype || proto === null) return "Object";
  for (let i = 0; i < classes.length; i++) if (value instanceof std[classes[i]]) return classes[i];
  if (std.isView(value)) return "View";
  return std.exec(opaque, std.tag(value)) ? "Opaque" : "Object";
}

/** The bytes of an `ArrayBuffer` or a `DataView`. */
export function bytesOf(std: Std, value: ArrayBuffer | DataView): Uint8Array {
  return value instanceof std.DataView
    ? new std.Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new std.Uint8Array(value);
}

/** The primitive value inside a wrapper object such as `new Number(1)`. */
export function unbox(std: Std, kind: Kind, value: object): unknown {
  switch (kind) {
    case "Number":
      return std.numberValue(value);
    case "String":
      return std.stringValue(value);
    case "Boolean":
      return std.booleanValue(value);
    case "Symbol":
      return std.symbolValue(value);
    default:
      return std.bigIntText(value);
  }
}

/** The enumerable own keys of an object, symbols at the end. */
export function keysOf(std: Std, value: object): PropertyKey[] {
  const keys: PropertyKey[] = std.bare(std.keys(value));
  const all = std.ownKeys(value);
  if (all.length > keys.length) {
    for (let i = 0; i < all.length; i++) {
      const key = all[i];
      if (typeof key === "symbol" && std.descriptor(value, key)?.enumerable) keys[keys.length] = key;
    }
  }
  return keys;
}
