/**
 * The key-value stores of a realm, for `new Store(id)`, `stores.<id>.<Method>` and `ctx.memory`.
 *
 * Values are stored as JSON text, so a script always gets a copy. A store exists from its first use, and is empty then. A
 * time to live is in seconds, on the clock `kernel.now()`. In a realm that shares its stores, the host has them. The value of
 * a missing key is undefined; for lists, a missing key is an empty list.
 */

import { globMatches } from "../glob";
import type { Core } from "../core-state";
import { jsonText } from "../encode";
import type { Kernel } from "../kernel";
import type { Waiting } from "../mocks/waiting";

interface Entry {
  text: string;
  /** milliseconds since 1970; Infinity: never */
  expires: number;
}

/** An entry as it is passed to the host: key, JSON text, and the time it expires or null. */
type Saved = [key: string, text: string, expires: number | null];

/** Answers `stores.<id>.<Method>`. `load` and `save` are for functions that run in other workers. */
export interface Stores {
  (id: string, method: string, args: readonly unknown[]): unknown;
  load(id: string): Saved[];
  /** Replaces a store by `after` if it still equals `before`. Returns whether it did. */
  save(id: string, before: Saved[], after: Saved[]): boolean;
}

type Method = (store: Map<string, Entry>, key: string, ...args: unknown[]) => unknown;

export default function (kernel: Kernel): Stores {
  const entriesOf = (store: Map<string, Entry>): Saved[] =>
    [...store].map(([key, { text, expires }]) => [key, text, expires === Infinity ? null : expires]);
  const storeOf = (entries: Saved[]): Map<string, Entry> =>
    new Map(entries.map(([key, text, expires]) => [key, { text, expires: expires ?? Infinity }]));
  const stores = new Map<string, Map<string, Entry>>();
  const core = kernel as Core;
  const { shared } = core.boot;

  function encode(value: unknown): string {
    try {
      return jsonText(core.std, value);
    } catch (error) {
      throw new kernel.Exception(`A value cannot be stored: it is not JSON: ${(error as Error).message}`, 400);
    }
  }

  function entry(store: Map<string, Entry>, key: string): Entry | undefined {
    const found = store.get(key);
    if (found && found.expires <= kernel.now()) {
      store.delete(key);
      return undefined;
    }
    return found;
  }

  function get(store: Map<string, Entry>, key: string): unknown {
    const found = entry(store, key);
    return found && (JSON.parse(found.text) as unknown);
  }

  function set(store: Map<string, Entry>, key: string, value: unknown, ttl: unknown): void {
    const seconds = Number(ttl);
    store.set(key, { text: encode(value), expires: seconds > 0 ? kernel.now() + seconds * 1000 : Infinity });
  }

  /** Replaces a value. Its expiry does not change. */
  function replace(store: Map<string, Entry>, key: string, value: unknown): void {
    const found = entry(store, key);
    if (found) found.text = encode(value);
    else set(store, key, value, 0);
  }

  function list(store: Map<string, Entry>, key: string): unknown[] {
    const value = get(store, key) ?? [];
    if (!Array.isArray(value)) throw new kernel.Exception(`The value of ${JSON.stringify(key)} is not a list`, 400);
    return value;
  }

  function keys(store: Map<string, Entry>, pattern: string | undefined): string[] {
    return [...store.keys()].filter((key) => entry(store, key) && (pattern === undefined || globMatches(pattern, key)));
  }

  /** Values given as one list, or one by one. */
  const values = (args: unknown[]): unknown[] => (args.length === 1 && Array.isArray(args[0]) ? args[0] : args);

  function add(store: Map<string, Entry>, key: string, delta: unknown, sign: number): number {
    const number = get(store, key) ?? 0;
    const step = delta === undefined || delta === null ? 1 : Number(delta);
    if (typeof number !== "number" || Number.isNaN(step)) {
      throw new kernel.Exception(`The value of ${JSON.stringify(key)} cannot be counted: it is not a number`, 400);
    }
    replace(store, key, number + sign * step);
    return number + sign * step;
  }

  /** Removes all elements of a list that equal one of `unwanted` as JSON. */
  function drop(store: Map<string, Entry>, key: string, unwanted: unknown[]): null {
    const texts = new Set(unwanted.map(encode));
    if (entry(store, key)) {
      replace(
        store,
        key,
        list(store, key).filter((item) => !texts.has(encode(item))),
      );
    }
    return null;
  }

  const methods: Record<string, Method> = {
    get,
    set(store, key, value, ttl) {
      set(store, key, value, ttl);
      return null;
    },
    /** The value. If it is missing, stores `make`, or `make(key)` if that is a function, and returns it. */
    getset(store, key, make, ttl) {
      if (!entry(store, key))
        set(store, key, typeof make === "function" ? (make as (key: string) => unknown)(key) : make, ttl);
      return get(store, key);
    },
    getdel(store, key) {
      const value = get(store, key);
      store.delete(key);
      return value;
    },
    has: (store, key) => entry(store, key) !== undefined,
    del(store, key) {
      for (const name of key.includes("*") ? keys(store, key) : [key]) store.delete(name);
      return null;
    },
    keys: (store, pattern) => keys(store, pattern),
    len: (store, pattern) => keys(store, pattern).length,
    clear(store) {
      store.clear();
      return null;
    },
    push(store, key, ...args) {
      const items = list(store, key);
      items.push(...args);
      replace(store, key, items);
      return items.length;
    },
    /** Removes and returns an element: the first if the position is -1, otherwise the last. */
    pop(store, key, position) {
      const items = list(store, key);
      if (!items.length) return undefined;
      const item = Number(position) === -1 ? items.shift() : items.pop();
      replace(store, key, items);
      return item;
    },
    pull: (store, key, value) => drop(store, key, [value]),
    pullall: (store, key, ...args) => drop(store, key, values(args)),
    addtoset(store, key, ...args) {
      const items = list(store, key);
      const texts = new Set(items.map(encode));
      for (const value of values(args)) {
        if (!texts.has(encode(value))) items.push(value);
        texts.add(encode(value));
      }
      replace(store, key, items);
      return items.length;
    },
    arraylen: (store, key) => list(store, key).length,
    arrayget: (store, key, index) => list(store, key)[Number(index)],
    arrayset(store, key, index, value) {
      const items = list(store, key);
      const at = Number(index);
      if (!(Number.isInteger(at) && at >= 0 && at < items.length)) {
        throw new kernel.Exception(
          `The list ${JSON.stringify(key)} has ${items.length} elements and none at index ${String(index)}`,
          400,
        );
      }
      items[at] = value;
      replace(store, key, items);
      return null;
    },
    arrayslice(store, key, skip, limit) {
      const from = Math.max(0, Number(skip) || 0);
      return list(store, key).slice(
        from,
        limit === undefined || limit === null ? undefined : from + Math.max(0, Number(limit) || 0),
      );
    },
    /** Pages are numbered from 1. */
    arraypage(store, key, page, size) {
      const count = Math.max(0, Number(size) || 0);
      const from = (Math.max(1, Number(page) || 1) - 1) * count;
      return list(store, key).slice(from, from + count);
    },
    arrayall: (store, key) => list(store, key),
    incr: (store, key, delta) => add(store, key, delta, 1),
    decr: (store, key, delta) => add(store, key, delta, -1),
  };
  const keyless = ["keys", "len", "clear"];
  const reading = ["get", "has", "keys", "len", "arraylen", "arrayget", "arrayslice", "arraypage", "arrayall"];

  /** Runs `work` on a copy of a store of the host, and saves it. If the store has changed meanwhile, it starts again. */
  function onHost(id: string, work: (store: Map<string, Entry>) => unknown): unknown {
    for (;;) {
      const before = kernel.host("store.Load", [id]) as Saved[];
      const store = storeOf(before);
      const result = work(store);
      const after = entriesOf(store);
      if (JSON.stringify(after) === JSON.stringify(before)) return result;
      if (kernel.host("store.Save", [id, before, after])) return result;
    }
  }

  /**
   * @param id the name of the store, any text
   * @param method a method of Yao's stores, in upper or lower case
   * @param args the key, converted to a string, then the other arguments
   */
  const call = (id: string, method: string, args: readonly unknown[]): unknown => {
    const name = String(method).toLowerCase();
    core.look?.();
    const run = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (!run)
      throw new kernel.Exception(`The store ${JSON.stringify(id)} has no method ${JSON.stringify(method)}`, 404);
    const [key, ...given] = args;
    const rest = given.map((value) => (typeof value === "bigint" ? Number(value) : value)); // as for every process
    const missing = key === undefined || key === null;
    if (missing && !keyless.includes(name))
      throw new kernel.Exception(`stores.${id}.${method} takes a key as its first argument`, 400);
    const own = (missing ? undefined : String(key)) as string;
    if (core.stands && !reading.includes(name)) core.part<Waiting>("waiting").heard({ writes: 1 }, true);
    if (shared) return onHost(id, (store) => run(store, own, ...rest));
    let store = stores.get(id);
    if (!store) stores.set(id, (store = new Map()));
    return run(store, own, ...rest);
  };

  return Object.assign(call, {
    load: (id: string) => entriesOf(stores.get(id) ?? new Map<string, Entry>()),
    save(id: string, before: Saved[], after: Saved[]): boolean {
      if (JSON.stringify(before) !== JSON.stringify(entriesOf(stores.get(id) ?? new Map<string, Entry>()))) return false;
      stores.set(id, storeOf(after));
      return true;
    },
  });
}
