/** `structuredClone`, by the rules of the HTML standard. Platform objects are not supported, as there are none here. */

import type { Kernel } from "../kernel";

declare const DOMException: new (message: string, name: string) => Error;

const refuse = (what: string): never => {
  throw new DOMException(`${what} could not be cloned`, "DataCloneError");
};

/** Classes whose objects cannot be cloned. */
const uncloneable = [WeakMap, WeakSet, WeakRef, Promise, FinalizationRegistry, SharedArrayBuffer] as (abstract new (
  ...args: never[]
) => object)[];

const errorNames = ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];

type View = ArrayBufferView & { length?: number; constructor: new (...args: unknown[]) => unknown };

export default function (_kernel: Kernel) {
  return {
    /** A deep copy of a value. Detaches each buffer in `options.transfer`. Throws a `DataCloneError`. */
    structuredClone(value: unknown, options?: { transfer?: Iterable<unknown> }): unknown {
      if (!arguments.length) throw new TypeError("structuredClone takes a value");
      const transfer = new Set(options?.transfer ?? []);
      for (const buffer of transfer) {
        if (!(buffer instanceof ArrayBuffer) || buffer.detached) refuse("A value to transfer");
      }
      const seen = new Map<object, unknown>();
      const result = clone(value, seen);
      for (const buffer of transfer) (buffer as ArrayBuffer).transfer();
      return result;
    },
  };
}

function clone(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === "symbol") refuse(String(value));
  if (typeof value === "function") refuse(`The function ${value.name || "(anonymous)"}`);
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = <T>(result: T): T => {
    seen.set(value, result);
    return result;
  };

  if (Array.isArray(value)) return fields(value, keep(new Array<unknown>(value.length)), seen);
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  for (const Boxed of [Boolean, Number, String, BigInt] as unknown as ObjectConstructor[]) {
    if (value instanceof Boxed) return keep(Object(value.valueOf()) as object);
  }
  if (value instanceof Symbol) refuse("A symbol");
  if (value instanceof ArrayBuffer) {
    if (value.detached) refuse("A detached ArrayBuffer");
    return keep(value.slice(0));
  }
  if (ArrayBuffer.isView(value)) {
    const view = value as View;
    const Type = Object.getPrototypeOf(value) === DataView.prototype ? DataView : viewType(view);
    return keep(new Type(clone(view.buffer, seen) as ArrayBuffer, view.byteOffset, view.length ?? view.byteLength));
  }
  if (value instanceof Map) {
    const result = keep(new Map<unknown, unknown>());
    for (const [key, item] of [...(value as Map<unknown, unknown>)]) result.set(clone(key, seen), clone(item, seen));
    return result;
  }
  if (value instanceof Set) {
    const result = keep(new Set<unknown>());
    for (const item of [...(value as Set<unknown>)]) result.add(clone(item, seen));
    return result;
  }
  if (value instanceof Error) return error(value, keep, seen);
  for (const Type of uncloneable) if (value instanceof Type) refuse(`A ${Type.name}`);
  return fields(value, keep({}), seen);
}

function viewType(view: View): new (buffer: ArrayBuffer, offset: number, length: number) => object {
  const tag = (view as unknown as { [Symbol.toStringTag]: string })[Symbol.toStringTag];
  return (globalThis as unknown as Record<string, new () => object>)[tag];
}

function error(value: Error, keep: <T>(result: T) => T, seen: Map<object, unknown>): Error {
  const { name } = value;
  const kind = errorNames.includes(name) ? name : "Error";
  const Type = (globalThis as unknown as Record<string, ErrorConstructor>)[kind];
  const result = keep(new Type(value.message));
  for (const key of ["stack", "cause"] as const) {
    if (Object.hasOwn(value, key)) {
      Object.defineProperty(result, key, { value: clone(value[key], seen), writable: true, configurable: true });
    }
  }
  return result;
}

function fields(from: object, to: object, seen: Map<object, unknown>): object {
  for (const key of Object.keys(from)) {
    const value = clone((from as Record<string, unknown>)[key], seen);
    Object.defineProperty(to, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return to;
}
