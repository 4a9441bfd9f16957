/**
 * Built-ins that were saved before any script ran.
 *
 * A script may overwrite `JSON`, `Array.prototype` or `Object.keys`. Code that decides and explains verdicts must use these
 * instead. Methods are functions here: `std.slice(text, 0, 3)` is `text.slice(0, 3)`. Such code loops by index. A list that
 * grows is `std.list()`, which has no prototype, so a setter that a script puts on `Array.prototype` does not run; items
 * are added with `list[list.length] = item`.
 *
 * The built-ins here are those that run a test, which every asynchronous test needs. Those that compare, print and encode
 * values are in `std-values.ts`.
 */

import type { values } from "./std-values";
import { uncurry } from "./uncurry";

/** The engine's own `Promise`. The global one is replaced by a subclass, see `realm/promise.ts`. */
const NativePromise = (async () => {})().constructor as PromiseConstructor;

/** The prototype of generators, which has `next`. */
const generators = Object.getPrototypeOf(function* () {}).prototype as Generator;

const { setPrototypeOf } = Object;

export const basis = {
  /** Makes a list without a prototype. */
  list: <T>(...items: T[]): T[] => setPrototypeOf(items, null) as T[],
  /** Removes the prototype of a list, and returns the list. */
  bare: <T>(list: T[]): T[] => setPrototypeOf(list, null) as T[],
  /** The `prototype` of our own generator functions, so that they work even if scripts change the prototype of generators. */
  generator: {
    __proto__: null,
    next: generators.next,
    throw: generators.throw,
    return: generators.return,
    [Symbol.iterator](this: unknown) {
      return this;
    },
  } as unknown as Generator,
  assign: Object.assign as <A, B>(to: A, from: B) => A & B,
  apply: Reflect.apply,
  construct: Reflect.construct,
  define: Object.defineProperty,
  Symbol,
  Error,
  TypeError,
  WeakMap,
  WeakSet,
  Promise: NativePromise,
  hasOwn: uncurry(Object.prototype.hasOwnProperty) as (self: unknown, key: PropertyKey) => boolean,
  /** For example `"[object Date]"`. A class can change it with `Symbol.toStringTag`. */
  tag: uncurry(Object.prototype.toString) as (self: unknown) => string,
  then: uncurry(NativePromise.prototype.then) as (
    self: unknown,
    done?: (value: unknown) => unknown,
    failed?: (reason: unknown) => unknown,
  ) => Promise<unknown>,
  /** `Promise.resolve`; takes the class first. */
  resolve: uncurry(NativePromise.resolve as (value: unknown) => Promise<unknown>),
  slice: uncurry(String.prototype.slice) as (self: string, start?: number, end?: number) => string,
  weakHas: uncurry(WeakSet.prototype.has) as (self: unknown, value: object) => boolean,
  weakAdd: uncurry(WeakSet.prototype.add) as (self: unknown, value: object) => unknown,
  /** `WeakMap.get`; undefined if the key is not an object. */
  weakGet: uncurry(WeakMap.prototype.get) as (self: unknown, key: unknown) => unknown,
  weakSet: uncurry(WeakMap.prototype.set) as (self: unknown, key: object, value: unknown) => unknown,
  split: uncurry(String.prototype.split as (separator: string) => string[]),
};

export type Std = typeof basis & typeof values;
