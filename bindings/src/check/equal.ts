/**
 * Deep structural equality: decides `Equal`, `NotEqual`, `Contains` and `JSONPath`.
 *
 * Two values are equal if they are the same primitive (`NaN` equals itself, `-0` equals `0`), or objects of the same
 * class with equal content and equal own enumerable properties, including those whose keys are symbols.
 *
 * - A property that is undefined equals a missing one. An object without a prototype equals a plain object.
 * - The order of Maps and Sets does not matter; keys and items are compared deeply. Errors are compared by name, message,
 *   cause and, for an `AggregateError`, their errors.
 * - What `t.any` and the like return equals what it describes. That is not transitive, so realms that have made one compare
 *   pairs, and look for the best way to pair the items of Sets and Maps.
 * - Functions, promises, iterators and weak collections equal only themselves. Private fields are not compared.
 * - Cyclic values are equal if following them step by step never shows a difference.
 * - An object that throws while it is read equals only itself.
 *
 * Pairs that are still to be compared are kept in a list instead of on the engine's stack, so the depth of values is not
 * limited. Only Maps and Sets with several objects are compared recursively.
 */

import { bytesOf, keysOf, kindOf, unbox } from "../assert/kind";
import { isObject } from "../objects";
import type { Kernel, Matcher } from "../kernel";

/** One comparison in progress. */
interface State {
  /**
   * Objects that are assumed to be equal, as a union-find forest: each object maps to its parent, and a root maps to its
   * rank. Equality is transitive, so all objects in a tree are equal.
   */
  links?: Map<object, object | number>;
  /** The same in realms with matchers: object → the objects that it is assumed to equal. */
  pairs?: Map<object, Map<object, boolean>>;
  /** The changes to `links`, so that they can be undone: object, former value, ...; to `pairs`: objects of one, the other, ... */
  trail: unknown[];
  steps: number;
}

/** Items of two Maps or Sets that must still be paired. `left` is never shorter than `right`. */
interface Loose {
  left: unknown[];
  right: unknown[];
}

/** Pairs are recorded only after this many steps: short comparisons are faster without, and cycles still end. */
const stepsWithoutRecord = 50;
const nestingLimit = 100;

export default function (kernel: Kernel): (a: unknown, b: unknown) => boolean {
  const { std } = kernel;
  const identical = (a: unknown, b: unknown): boolean => a === b || (a !== a && b !== b);
  const plain = (proto: unknown): boolean => proto === null || proto === std.objectPrototype;

  function same(state: State, a: unknown, b: unknown, nesting: number): boolean {
    const todo = std.list(a, b);
    while (todo.length) {
      b = todo[todo.length - 1];
      a = todo[todo.length - 2];
      todo.length -= 2;
      if (identical(a, b)) continue;
      if (kernel.matchers) {
        const matched = byMatcher(state, a, b, nesting);
        if (matched) continue;
        if (matched === false) return false;
      }
      if (!isObject(a) || !isObject(b)) return false;
      if (assume(state, a, b)) continue;
      let result: boolean | Loose;
      try {
        result = compare(a, b, todo);
      } catch {
        return false;
      }
      if (typeof result === "object" ? !pairUp(state, result, todo, nesting) : !result) return false;
    }
    return true;
  }

  /** What a matcher says; undefined if neither is one. Two of them are equal if they were made in the same way. */
  function byMatcher(state: State, a: unknown, b: unknown, nesting: number): boolean | undefined {
    const left = std.weakGet(kernel.matchers, a) as Matcher | undefined;
    const right = std.weakGet(kernel.matchers, b) as Matcher | undefined;
    if (left && right) return left.name === right.name && same(state, left.args, right.args, nesting);
    return right ? right.holds(a) : left?.holds(b);
  }

  /** Compares two objects without their content. The content is added to `todo`, or returned if its order is free. */
  function compare(a: object, b: object, todo: unknown[]): boolean | Loose {
    const kind = kindOf(std, a);
    const protoA = std.getPrototypeOf(a) as unknown;
    const protoB = std.getPrototypeOf(b) as unknown;
    if (kind !== kindOf(std, b) || (protoA !== protoB && !(plain(protoA) && plain(protoB)))) return false;
    const add = (x: unknown, y: unknown): void => {
      if (x !== y) {
        todo[todo.length] = x;
        todo[todo.length] = y;
      }
    };
    let result: boolean | Loose = true;
    switch (kind) {
      case "Opaque":
        return false;
      case "Object":
        break;
      case "Array":
        result = (a as unknown[]).length === (b as unknown[]).length;
        break;
      case "View":
        return sameItems(a as Uint8Array, b as Uint8Array);
      case "ArrayBuffer":
      case "DataView":
        return sameItems(bytesOf(std, a as DataView), bytesOf(std, b as DataView));
      case "Date":
        result = identical(std.getTime(a), std.getTime(b));
        break;
      case "RegExp":
        result = std.regexpSource(a) === std.regexpSource(b) && std.regexpFlags(a) === std.regexpFlags(b);
        break;
      case "Error": {
        const names = ["name", "message", "cause", "errors"] as (keyof object)[];
        for (let i = 0; i < names.length; i++) add(a[names[i]], b[names[i]]);
        break;
      }
      case "Map":
        result = mapItems(a, b, add);
        break;
      case "Set":
        result = setItems(a, b);
        break;
      default:
        result = identical(unbox(std, kind, a), unbox(std, kind, b));
    }
    if (result === false) return false;
    const keysA = keysOf(std, a);
    for (let i = 0; i < keysA.length; i++) {
      const key = keysA[i] as keyof object;
      add(a[key], std.hasOwn(b, key) ? b[key] : undefined);
    }
    const keysB = keysOf(std, b);
    for (let i = 0; i < keysB.length; i++) {
      const key = keysB[i] as keyof object;
      if (!std.hasOwn(a, key)) add(undefined, b[key]);
    }
    return result;
  }

  function sameItems(a: Uint8Array, b: Uint8Array): boolean {
    const length = std.viewLength(a);
    if (length !== std.viewLength(b)) return false;
    for (let i = 0; i < length; i++) if (!identical(a[i], b[i])) return false;
    return true;
  }

  function mapItems(a: object, b: object, add: (x: unknown, y: unknown) => void): boolean | Loose {
    const left = std.list();
    const right = std.list();
    let result = std.mapSize(a) === std.mapSize(b);
    std.mapForEach(a, (value, key) => {
      if (isObject(key)) left[left.length] = [key, value];
      else if (std.mapHas(b, key)) add(value, std.mapGet(b, key));
      else if (kernel.matchers) left[left.length] = [key, value];
      else result = false;
    });
    std.mapForEach(b, (value, key) => {
      if (isObject(key) || (kernel.matchers && !std.mapHas(a, key))) right[right.length] = [key, value];
    });
    return result && { left, right };
  }

  function setItems(a: object, b: object): boolean | Loose {
    const left = std.list();
    const right = std.list();
    let result = std.setSize(a) === std.setSize(b);
    std.setForEach(a, (item) => {
      if (std.setHas(b, item)) return;
      if (isObject(item) || kernel.matchers) left[left.length] = item;
      else result = false;
    });
    std.setForEach(b, (item) => {
      if (!std.setHas(a, item)) right[right.length] = item;
    });
    return result && { left, right };
  }

  /** Finds an equal item on the right for each on the left. Without matchers the first one found will do, as equality is transitive. */
  function pairUp(state: State, { left, right }: Loose, todo: unknown[], nesting: number): boolean {
    const count = left.length;
    if (count === 1) {
      todo[todo.length] = left[0];
      todo[todo.length] = right[0];
      return true;
    }
    if (nesting === nestingLimit) throw new std.Error("maps or sets are nested too deeply to compare");
    if (kernel.matchers) return pairAll(state, left, right, nesting);
    const groups = new std.Map<string, unknown[]>();
    for (let i = count - 1; i >= 0; i--) {
      const key = sketch(right[i], 2);
      let group = std.mapGet(groups, key) as unknown[] | undefined;
      if (!group) std.mapSet(groups, key, (group = std.list()));
      group[group.length] = right[i];
    }
    for (let i = 0; i < count; i++) {
      const group = (std.mapGet(groups, sketch(left[i], 2)) ?? []) as unknown[];
      let at = group.length - 1;
      for (; at >= 0; at--) {
        const mark = state.trail.length;
        if (same(state, left[i], group[at], nesting + 1)) break;
        forget(state, mark);
      }
      if (at < 0) return false;
      for (; at < group.length - 1; at++) group[at] = group[at + 1];
      group.length--;
    }
    return true;
  }

  /** The same with matchers: an item that was paired is paired anew where that lets another one have its partner. */
  function pairAll(state: State, left: unknown[], right: unknown[], nesting: number): boolean {
    const partners = std.list<number | undefined>();
    const pair = (i: number, tried: boolean[]): boolean => {
      for (let at = 0; at < right.length; at++) {
        if (tried[at]) continue;
        const mark = state.trail.length;
        const fits = same(state, left[i], right[at], nesting + 1);
        forget(state, mark);
        if (!fits) continue;
        tried[at] = true;
        const other = partners[at];
        if (other !== undefined && !pair(other, tried)) continue;
        partners[at] = i;
        return true;
      }
      return false;
    };
    for (let i = 0; i < left.length; i++) if (!pair(i, std.list())) return false;
    return true;
  }

  /** A short text that is the same for all equal values. */
  function sketch(value: unknown, depth: number): string {
    if (!isObject(value)) return typeof value === "function" ? "function" : std.String(value);
    try {
      const kind = kindOf(std, value);
      if (depth === 0 || (kind !== "Object" && kind !== "Array")) return kind;
      const keys = std.sort(std.keys(value));
      let text: string = kind;
      for (let i = 0; i < keys.length; i++) {
        const item = value[keys[i]];
        if (item !== undefined) text += "," + keys[i] + ":" + sketch(item, depth - 1);
      }
      return text;
    } catch {
      return "";
    }
  }

  /** Assumes from now on that the two are equal. Returns true if that was assumed already. */
  function assume(state: State, a: object, b: object): boolean {
    if (++state.steps < stepsWithoutRecord) return false;
    if (kernel.matchers) return assumePair(state, a, b);
    state.links ??= new std.Map();
    a = rootOf(state.links, a);
    b = rootOf(state.links, b);
    if (a === b) return true;
    const rankA = (std.mapGet(state.links, a) ?? 0) as number;
    const rankB = (std.mapGet(state.links, b) ?? 0) as number;
    link(state, rankA < rankB ? a : b, rankA < rankB ? b : a);
    if (rankA === rankB) link(state, a, rankA + 1);
    return false;
  }

  function assumePair(state: State, a: object, b: object): boolean {
    state.pairs ??= new std.Map();
    let others = std.mapGet(state.pairs, a) as Map<object, boolean> | undefined;
    if (!others) std.mapSet(state.pairs, a, (others = new std.Map()));
    if (std.mapGet(others, b)) return true;
    std.mapSet(others, b, true);
    state.trail[state.trail.length] = others;
    state.trail[state.trail.length] = b;
    return false;
  }

  function rootOf(links: unknown, object: object): object {
    for (;;) {
      const parent = std.mapGet(links, object);
      if (!isObject(parent)) return object;
      object = parent;
    }
  }

  function link({ links, trail }: State, object: object, to: object | number): void {
    trail[trail.length] = object;
    trail[trail.length] = std.mapGet(links, object);
    std.mapSet(links, object, to);
  }

  function forget({ links, pairs, trail }: State, mark: number): void {
    for (let i = trail.length - 2; i >= mark; i -= 2) {
      if (pairs) std.mapSet(trail[i], trail[i + 1], false);
      else std.mapSet(links, trail[i], trail[i + 1]);
    }
    trail.length = mark;
  }

  return (a, b) => same({ trail: std.list(), steps: 0 }, a, b, 0);
}
