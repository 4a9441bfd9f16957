/**
 * The intrinsics that verdicts depend on, taken before any script runs.
 *
 * A script may overwrite `JSON`, `Array.prototype` or `Object.keys`; what decides and explains a verdict calls
 * these instead. Methods are uncurried: `std.slice(text, 0, 3)` stands for `text.slice(0, 3)`.
 * Loops in such code are index loops, and a list that grows is `std.list()`, which a setter that a script puts on
 * `Array.prototype` cannot reach; it grows with `list[list.length] = item`.
 *
 * Those here run a test, which every asynchronous one needs. Those in `std-values.ts` compare, print and encode values.
 */

import type { values } from "./std-values";
import { uncurry } from "./uncurry";

/** The engine's own: the global one is replaced by a subclass that tracks rejections, see `realm/promise.ts`. */
const NativePromise = (async () => {})().constructor as PromiseConstructor;

/** Where every generator finds `next`, unless its function has a prototype of its own. */
const generators = Object.getPrototypeOf(function* () {}).prototype as Generator;

const { setPrototypeOf } = Object;

export const basis = {
  /** A list without a prototype, of these items. */
  list: <T>(...items: T[]): T[] => setPrototypeOf(items, null) as T[],
  /** The same list without a prototype. */
  bare: <T>(list: T[]): T[] => setPrototypeOf(list, null) as T[],
  /** For the `prototype` of the harness's generator functions: drives them whatever scripts do to all generators. */
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
  /** `"[object Date]"` and the like; a class with `Symbol.toStringTag` can lie here. */
  tag: uncurry(Object.prototype.toString) as (self: unknown) => string,
  then: uncurry(NativePromise.prototype.then) as (
    self: unknown,
    done?: (value: unknown) => unknown,
    failed?: (reason: unknown) => unknown,
  ) => Promise<unknown>,
  /** `Promise.resolve`, with the class as its receiver. */
  resolve: uncurry(NativePromise.resolve as (value: unknown) => Promise<unknown>),
  slice: uncurry(String.prototype.slice) as (self: string, start?: number, end?: number) => string,
  weakHas: uncurry(WeakSet.prototype.has) as (self: unknown, value: object) => boolean,
  weakAdd: uncurry(WeakSet.prototype.add) as (self: unknown, value: object) => unknown,
  /** Of a `WeakMap`; undefined also for what is not an object. */
  weakGet: uncurry(WeakMap.prototype.get) as (self: unknown, key: unknown) => unknown,
  weakSet: uncurry(WeakMap.prototype.set) as (self: unknown, key: object, value: unknown) => unknown,
  split: uncurry(String.prototype.split as (separator: string) => string[]),
};

export type Std = typeof basis & typeof values;
