/**
 * The intrinsics that verdicts depend on, taken before any script runs.
 *
 * A script may overwrite `JSON`, `Array.prototype` or `Object.keys`; what decides and explains a verdict calls
 * these instead. Methods are uncurried: `std.slice(text, 0, 3)` stands for `text.slice(0, 3)`.
 * Loops in such code are index loops, and a list that grows is `std.list()`, which a setter that a script puts on
 * `Array.prototype` cannot reach; it grows with `list[list.length] = item`.
 */

const call = Function.prototype.call;
const bind = call.bind;
const uncurry = <A extends unknown[], R>(method: (...args: A) => R): ((self: unknown, ...args: A) => R) =>
  bind.call(call as never, method) as never;

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const getter = (proto: object, key: PropertyKey): ((self: unknown) => unknown) =>
  uncurry(Object.getOwnPropertyDescriptor(proto, key)!.get as () => unknown);

/** The engine's own: the global one is replaced by a subclass that tracks rejections, see `realm/promise.ts`. */
const NativePromise = (async () => {})().constructor as PromiseConstructor;

/** Where every generator finds `next`, unless its function has a prototype of its own. */
const generators = Object.getPrototypeOf(function* () {}).prototype as Generator;

const { setPrototypeOf } = Object;

export const std = {
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
  parse: JSON.parse,
  stringify: JSON.stringify,
  isArray: Array.isArray,
  keys: Object.keys,
  assign: Object.assign as <A, B>(to: A, from: B) => A & B,
  ownKeys: Reflect.ownKeys,
  apply: Reflect.apply,
  construct: Reflect.construct,
  getPrototypeOf: Object.getPrototypeOf,
  descriptor: Object.getOwnPropertyDescriptor,
  define: Object.defineProperty,
  is: Object.is,
  String,
  Number,
  Boolean,
  BigInt,
  Symbol,
  Error,
  TypeError,
  RegExp,
  Map,
  Set,
  Date,
  ArrayBuffer,
  DataView,
  Uint8Array,
  WeakMap,
  WeakSet,
  Promise: NativePromise,
  objectPrototype: Object.prototype,
  isView: ArrayBuffer.isView,
  min: Math.min,
  max: Math.max,
  floor: Math.floor,
  hasOwn: uncurry(Object.prototype.hasOwnProperty) as (self: unknown, key: PropertyKey) => boolean,
  /** `"[object Date]"` and the like; a class with `Symbol.toStringTag` can lie here. */
  tag: uncurry(Object.prototype.toString) as (self: unknown) => string,
  functionText: uncurry(Function.prototype.toString) as (self: unknown) => string,
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
  /** Of a `WeakMap`; undefined also for what is no object. */
  weakGet: uncurry(WeakMap.prototype.get) as (self: unknown, key: unknown) => unknown,
  weakSet: uncurry(WeakMap.prototype.set) as (self: unknown, key: object, value: unknown) => unknown,
  isWellFormed: uncurry(String.prototype.isWellFormed) as (self: string) => boolean,
  indexOf: uncurry(String.prototype.indexOf) as (self: string, text: string, from?: number) => number,
  split: uncurry(String.prototype.split as (separator: string) => string[]),
  repeat: uncurry(String.prototype.repeat) as (self: string, count: number) => string,
  codePointAt: uncurry(String.prototype.codePointAt) as (self: string, index: number) => number | undefined,
  fromCodePoint: String.fromCodePoint,
  normalize: uncurry(String.prototype.normalize) as (self: string, form: string) => string,
  keyFor: Symbol.keyFor,
  charCodeAt: uncurry(String.prototype.charCodeAt) as (self: string, index: number) => number,
  exec: uncurry(RegExp.prototype.exec) as (self: unknown, text: string) => RegExpExecArray | null,
  regexpSource: getter(RegExp.prototype, "source"),
  regexpFlags: getter(RegExp.prototype, "flags"),
  join: uncurry(Array.prototype.join) as (self: unknown, separator: string) => string,
  sort: uncurry(Array.prototype.sort) as <T>(self: T[], compare?: (a: T, b: T) => number) => T[],
  getTime: uncurry(Date.prototype.getTime) as (self: unknown) => number,
  toISOString: uncurry(Date.prototype.toISOString) as (self: unknown) => string,
  mapSize: getter(Map.prototype, "size") as (self: unknown) => number,
  mapHas: uncurry(Map.prototype.has) as (self: unknown, key: unknown) => boolean,
  mapGet: uncurry(Map.prototype.get) as (self: unknown, key: unknown) => unknown,
  mapSet: uncurry(Map.prototype.set) as (self: unknown, key: unknown, value: unknown) => unknown,
  mapForEach: uncurry(Map.prototype.forEach) as (self: unknown, visit: (value: unknown, key: unknown) => void) => void,
  setSize: getter(Set.prototype, "size") as (self: unknown) => number,
  setHas: uncurry(Set.prototype.has) as (self: unknown, item: unknown) => boolean,
  setForEach: uncurry(Set.prototype.forEach) as (self: unknown, visit: (item: unknown) => void) => void,
  viewLength: getter(typedArray, "length") as (self: unknown) => number,
  /** What a boxed primitive holds; a wrong receiver throws. */
  numberValue: uncurry(Number.prototype.valueOf) as (self: unknown) => number,
  stringValue: uncurry(String.prototype.valueOf) as (self: unknown) => string,
  numberText: uncurry(Number.prototype.toString) as (self: number, radix: number) => string,
  booleanValue: uncurry(Boolean.prototype.valueOf) as (self: unknown) => boolean,
  symbolValue: uncurry(Symbol.prototype.valueOf) as (self: unknown) => symbol,
  bigIntText: uncurry(BigInt.prototype.toString) as (self: unknown) => string,
  symbolText: uncurry(Symbol.prototype.toString) as (self: unknown) => string,
};

export type Std = typeof std;
