/** Masks places of a value before it becomes a snapshot. */

import { keysOf, kindOf } from "../assert/kind";
import type { Kernel } from "../kernel";
import { isObject } from "../objects";

type Key = string | number;

/** The places in a copy of the value that are masked, as a tree; null is a place itself. */
interface Places {
  [key: Key]: Places | null;
}

/** A copy of a value with `[masked]` at the places that JSONPaths match, and those paths that match nothing. */
export type Mask = (value: unknown, paths: readonly string[]) => { value: unknown; unmatched: string[] };

export default function (kernel: Kernel): Mask {
  const { std } = kernel;

  /** A value as the host looks at it: Maps as objects, Sets as lists, and numbers without JSON as texts. */
  function text(value: unknown): string {
    return std.stringify(value, (_key: string, it: unknown) => {
      if (typeof it === "bigint") return std.bigIntText(it);
      if (!isObject(it)) return it;
      const kind = kindOf(std, it);
      if (kind === "Set") {
        const list: unknown[] = [];
        std.setForEach(it, (item) => std.define(list, list.length, { __proto__: null, value: item, enumerable: true } as PropertyDescriptor));
        return list;
      }
      if (kind !== "Map") return it;
      const object = { __proto__: null } as unknown as Record<string, unknown>;
      std.mapForEach(it, (item, key) => typeof key === "string" && (object[key] = item));
      return object;
    });
  }

  function masked(it: unknown, places: Places | null | undefined): unknown {
    if (places === undefined) return it;
    if (places === null) {
      const place = { __proto__: null };
      std.weakSet((kernel.matchers ??= new std.WeakMap()), place, { name: "", args: [], holds: () => false });
      return place;
    }
    if (!isObject(it)) return it;
    const kind = kindOf(std, it);
    let count = 0;
    if (kind === "Map") {
      const copy = new std.Map();
      std.mapForEach(it, (item, key) => std.mapSet(copy, key, masked(item, typeof key === "string" ? places[key] : undefined)));
      return copy;
    }
    if (kind === "Set") {
      const copy = new std.Set();
      std.setForEach(it, (item) => std.setAdd(copy, masked(item, places[count++])));
      return copy;
    }
    const copy = (kind === "Array" ? [] : { __proto__: std.getPrototypeOf(it) as object }) as Record<PropertyKey, unknown>;
    if (kind === "Array") copy.length = it.length;
    const keys = keysOf(std, it);
    for (let i = 0; i < keys.length; i++) {
      const value = masked(it[keys[i]], typeof keys[i] === "symbol" ? undefined : places[keys[i] as string]);
      std.define(copy, keys[i], { __proto__: null, value, writable: true, enumerable: true, configurable: true } as PropertyDescriptor);
    }
    return copy;
  }

  return (value, paths) => {
    let json: string | undefined;
    try {
      json = text(value);
    } catch (error) {
      throw new std.Error("A mask needs a value that can be JSON: " + std.String(error));
    }
    const root = { __proto__: null, root: undefined } as unknown as Record<string, Places | null>;
    const unmatched = std.list<string>();
    const found = json === undefined ? [] : (kernel.host("jsonpath.Places", [std.parse(json), paths]) as Key[][][]);
    for (let i = 0; i < paths.length; i++) {
      if (!found[i]?.length) unmatched[unmatched.length] = paths[i];
      for (let at = 0; at < (found[i]?.length ?? 0); at++) {
        const steps = found[i][at];
        let places: Record<Key, Places | null> | null = root;
        let key: Key = "root";
        for (let step = 0; step < steps.length && places; step++) {
          const inner: Places | null = places[key] === undefined ? ({ __proto__: null } as unknown as Places) : places[key];
          places[key] = inner;
          places = inner;
          key = steps[step];
        }
        if (places) places[key] = null;
      }
    }
    return { value: masked(value, root.root), unmatched };
  };
}
