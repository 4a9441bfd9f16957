/** Finds where two values differ, and explains how values differ that are printed the same. */

import { keysOf, kindOf } from "../assert/kind";
import { isObject } from "../objects";
import type { Kernel } from "../kernel";

export interface Difference {
  /** For example `.items[3].name`; empty for the values themselves. */
  path: string;
  expected: unknown;
  actual: unknown;
}

const pathLimit = 1_000;
const sourceLimit = 300;
/** How many items of a Set are searched for one by one. */
const itemLimit = 200;

type Inspect = (value: unknown, options?: { length?: number }) => string;

/** Moves `at`, whose values differ, to the first property or item that does. Returns false if there is none. */
export function descend(kernel: Kernel, at: Difference, inspect: Inspect, label: (key: string) => string): boolean {
  const { std } = kernel;
  const { expected, actual } = at;
  if (!isObject(expected) || !isObject(actual) || at.path.length > pathLimit) return false;
  const equal = kernel.part<(a: unknown, b: unknown) => boolean>("equal");
  const step = (name: string, x: unknown, y: unknown, differ = false): boolean => {
    if (!differ && equal(x, y)) return false;
    at.path += name;
    at.expected = x;
    at.actual = y;
    return true;
  };
  const own = (of: object, key: PropertyKey): unknown => (std.hasOwn(of, key) ? of[key as keyof object] : undefined);

  /** Whether nothing but the values of the keys of `expected` can make them differ. */
  function byTheseKeys(): boolean {
    const kind = kindOf(std, expected as object);
    if ((kind !== "Object" && kind !== "Array") || kind !== kindOf(std, actual as object)) return false;
    if (std.getPrototypeOf(expected) !== std.getPrototypeOf(actual) || (expected as unknown[]).length !== (actual as unknown[]).length) return false;
    const keys = keysOf(std, actual as object);
    for (let i = 0; i < keys.length; i++) if (!std.hasOwn(expected as object, keys[i])) return false;
    return true;
  }

  function byKeys(x: object, y: object, of: object): boolean {
    const all = keysOf(std, of);
    const keys = std.list<PropertyKey>();
    for (let i = 0; i < all.length; i++) if (!std.is(own(x, all[i]), own(y, all[i]))) keys[keys.length] = all[i];
    const isLast = byTheseKeys(); // the last one then differs if no other does, and is not compared again at each level
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const name = typeof key === "symbol" ? "[" + std.symbolText(key) + "]" : label(key as string);
      const named = typeof key === "symbol" ? name : std.String(+(key as string)) === key ? "[" + name + "]" : std.slice(name, 0, 1) === '"' ? "[" + name + "]" : "." + name;
      if (step(named, own(x, key), own(y, key), isLast && i === keys.length - 1)) return true;
    }
    return false;
  }

  function byEntries(x: object, y: object): boolean {
    let found = false;
    std.mapForEach(x, (value, key) => {
      const name = ".get(" + inspect(key, { length: 50 }) + ")";
      if (!found && (std.mapHas(y, key) || !isObject(key))) found = step(name, value, std.mapGet(y, key));
    });
    std.mapForEach(y, (value, key) => {
      if (!found && !isObject(key) && !std.mapHas(x, key)) found = step(".get(" + inspect(key, { length: 50 }) + ")", undefined, value);
    });
    return found;
  }

  /** Moves to an item that only one of two Sets has. */
  function byItems(x: object, y: object): boolean {
    const lacks = (one: object, other: object): { item: unknown } | undefined => {
      let missing: { item: unknown } | undefined;
      let looked = 0;
      std.setForEach(one, (item) => {
        if (missing || std.setHas(other, item)) return;
        let has = false;
        if (isObject(item) && looked++ < itemLimit) std.setForEach(other, (candidate) => (has ||= isObject(candidate) && equal(item, candidate)));
        else has = isObject(item);
        if (!has) missing = { item };
      });
      return missing;
    };
    const left = lacks(x, y);
    const right = lacks(y, x);
    return (left || right) !== undefined && step(" (an item that only one has)", left?.item, right?.item);
  }

  if (byKeys(expected, actual, expected) || byKeys(expected, actual, actual)) return true;
  if (kindOf(std, expected) !== kindOf(std, actual)) return false;
  if (expected instanceof std.Map) return byEntries(expected, actual);
  return expected instanceof std.Set && byItems(expected, actual);
}

/** Texts for two values that differ although both are printed as `text`; undefined if the difference was cut off. */
export function otherwise(kernel: Kernel, expected: unknown, actual: unknown, text: string): [string, string] | undefined {
  const { std } = kernel;
  const other = (what: string): [string, string] => [text, text + " (" + what + ")"];
  if (typeof expected === "function" && typeof actual === "function") {
    const sources = [sourceOf(expected), sourceOf(actual)];
    if (sources[0] === sources[1]) return other("another function with the same source; functions are equal only to themselves");
    const same = commonStart(sources[0], sources[1]);
    const from = same < sourceLimit / 2 ? 0 : same - 40;
    return [told(sources[0], from), told(sources[1], from)];
  }
  if (typeof expected === "symbol" && typeof actual === "symbol") {
    return other("another symbol with the same description; symbols are equal only to themselves");
  }
  if (!isObject(expected) || !isObject(actual)) return undefined;
  try {
    if (std.getPrototypeOf(expected) !== std.getPrototypeOf(actual)) return other("of another class with the same name");
    if (kindOf(std, expected) === "Opaque") return other("another object; objects of this kind are equal only to themselves");
    const keys = keysOf(std, expected);
    for (let i = 0; i < keys.length; i++) void expected[keys[i]];
    const others = keysOf(std, actual);
    for (let i = 0; i < others.length; i++) void actual[others[i]];
  } catch {
    return other("another object; objects that throw when read are equal only to themselves");
  }
  return undefined;

  function sourceOf(it: unknown): string {
    try {
      return std.functionText(it);
    } catch {
      return "";
    }
  }

  function told(source: string, from: number): string {
    const piece = std.slice(source, from, from + sourceLimit);
    const rest = from + piece.length < source.length ? "..." : "";
    return text + ": " + (from ? "..." : "") + piece + rest;
  }

  function commonStart(a: string, b: string): number {
    let i = 0;
    while (i < a.length && i < b.length && std.charCodeAt(a, i) === std.charCodeAt(b, i)) i++;
    return i;
  }
}
