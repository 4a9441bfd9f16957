/** What is expected, for a diff: with actual values in the places of matchers that hold, so that only other places differ. */

import { keysOf, kindOf } from "../assert/kind";
import type { Kernel, MakeMatcher, Matcher } from "../kernel";
import { isObject } from "../objects";

const depthLimit = 30;

/** The expected value itself if it has no matchers, or cannot be read. */
export function resolved(kernel: Kernel, expected: unknown, actual: unknown): unknown {
  const { std } = kernel;
  if (!kernel.matchers) return expected;
  const copies = new std.Map<object, object>();
  const equal = kernel.part<(a: unknown, b: unknown) => boolean>("equal");

  function visit(it: unknown, other: unknown, depth: number): unknown {
    if (!isObject(it) || depth > depthLimit) return it;
    const matcher = std.weakGet(kernel.matchers, it) as Matcher | undefined;
    if (matcher?.holds(other)) return other;
    if (matcher) return matcher.name === "contains" ? merged(matcher.args[0], it, other, depth) : it;
    const kind = kindOf(std, it);
    if (std.mapHas(copies, it)) return std.mapGet(copies, it);
    if (kind === "Map" || kind === "Set") return items(it, other, kind, depth);
    return kind === "Object" || kind === "Array" ? fields(it, other, kind, depth) : it;
  }

  /** An object that should have some properties, with all others that the actual one has. */
  function merged(part: unknown, it: object, other: unknown, depth: number): unknown {
    if (!isObject(part) || !isObject(other) || kindOf(std, part) !== "Object" || kindOf(std, other) !== "Object") return it;
    const copy: Record<PropertyKey, unknown> = { ...other };
    const keys = keysOf(std, part);
    for (let i = 0; i < keys.length; i++) {
      let value = part[keys[i]];
      const open = isObject(value) && (std.isArray(value) || kindOf(std, value) === "Object") && !std.weakGet(kernel.matchers!, value);
      if (open) value = kernel.part<MakeMatcher>("matchers")("contains", [value]);
      copy[keys[i]] = visit(value, other[keys[i]], depth + 1);
    }
    return copy;
  }

  function fields(it: Record<PropertyKey, unknown>, other: unknown, kind: string, depth: number): object {
    const copy = (kind === "Array" ? [] : { __proto__: std.getPrototypeOf(it) as object }) as Record<PropertyKey, unknown>;
    if (kind === "Array") copy.length = it.length;
    std.mapSet(copies, it, copy);
    const keys = keysOf(std, it);
    let changed = false;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      const value = visit(it[key], isObject(other) ? other[key] : undefined, depth + 1);
      changed ||= value !== it[key];
      std.define(copy, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true } as PropertyDescriptor);
    }
    if (!changed) std.mapSet(copies, it, it);
    return changed ? copy : it;
  }

  /** A Map or Set; what equals an item of the other one that has no partner yet is replaced by that. */
  function items(it: object, other: unknown, kind: string, depth: number): object {
    if (!isObject(other) || kindOf(std, other) !== kind) return it;
    const copy: object = kind === "Map" ? new std.Map() : new std.Set();
    std.mapSet(copies, it, copy);
    const left = std.list<unknown>();
    const has = kind === "Map" ? std.mapHas : std.setHas;
    const each = kind === "Map" ? std.mapForEach : std.setForEach;
    each(other, (_value, key) => {
      if (!has(it, key)) left[left.length] = key;
    });
    each(it, (value, key) => {
      let partner = key;
      for (let i = 0; partner === key && !has(other, key) && i < left.length; i++) {
        if (left[i] === copies || !equal(left[i], key)) continue;
        partner = left[i];
        left[i] = copies;
      }
      if (kind === "Map") std.mapSet(copy, partner, visit(value, std.mapGet(other, partner), depth + 1));
      else std.setAdd(copy, partner);
    });
    return copy;
  }

  try {
    return visit(expected, actual, 0);
  } catch {
    return expected;
  }
}
