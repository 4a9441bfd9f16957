/**
 * Prints values as they are at this moment, in one line, and calls nothing of theirs: no getter, proxy, `toJSON` or
 * `toString`. What cannot be known without the engine, whether an object is a proxy and what a promise has come to, the worker
 * tells.
 *
 * A value that is JSON is printed as JSON, but for the quotes of names: `{from: 100, percent: 5}`. Others look as in a debugger:
 * `Promise {<pending>}`, `Map(1) {"a" => 1}`, `Date(2025-02-03T00:00:00.000Z)`, `[Function sum]`, `/a/g {lastIndex: 3}`.
 */

import type { Core } from "../core-state";
import { identifier, secret } from "../explain/print";

export interface Limits {
  /** levels of nesting */
  depth: number;
  /** items of one container */
  items: number;
  /** characters of a text */
  text: number;
  /** characters of all, roughly */
  length: number;
}

export interface Shown {
  /** Whether the value of a property of this name is hidden, if it is a text. */
  hides(name: string): boolean;
  /** The value as text. */
  (value: unknown, limits?: Limits): string;
  /** Whether the last text was JSON, but for quotes of names, and nothing was left out. */
  isJson: boolean;
}

/** At most this long are lists in which fields besides the items are looked for. */
const searched = 200;
const index = /^\d+$/;
const isShown = (_: PropertyKey, found: PropertyDescriptor): boolean => found.enumerable === true;
const usual: Limits = { depth: 3, items: 12, text: 120, length: 320 };

export default function (core: Core): Shown {
  const { std } = core;
  const known = new std.WeakSet<object>();
  const classes = ["Map", "Set", "Date", "RegExp", "Error", "Promise", "Number", "String", "Boolean", "BigInt", "Symbol", "ArrayBuffer", "DataView"] as const;
  let limits = usual;
  let room = 0;
  const around = std.list<object>();
  let depth = 0;

  const inexact = (text: string): string => {
    shown.isJson = false;
    return text;
  };

  /** What the worker says of an object; see `Engine.look`. Of a promise that has a result, that is then `dispatch.part`. */
  function look(it: object): string {
    if (std.weakHas(known, it)) return "";
    core.dispatch.part = it;
    const said = core.bridge("look", "", "");
    if (said === "") std.weakAdd(known, it);
    if (said !== "fulfilled" && said !== "rejected") core.dispatch.part = undefined;
    return said;
  }

  /** A field, if it is one and no getter. */
  const field = (of: object, key: PropertyKey): unknown => std.descriptor(of, key)?.value;

  function quoted(text: string): string {
    const most = std.max(20, std.min(limits.text, room));
    if (text.length <= most) return std.stringify(std.isWellFormed(text) ? text : inexact(text));
    return inexact(std.stringify(std.slice(text, 0, most)) + "… " + (text.length - most) + " more");
  }

  function clip(text: string): string {
    const more = text.length - limits.text;
    return more > 0 ? std.slice(text, 0, limits.text) + "… " + more + " more" : text;
  }

  /** A text without quotes, in one line. */
  const cut = (text: string): string => inexact(std.slice(std.stringify(clip(text)), 1, -1));

  function named(prefix: string, it: object): string {
    const name = field(it, "name");
    return inexact("[" + prefix + (typeof name === "string" && name ? " " + cut(std.slice(name, 0, 60)) : "") + "]");
  }

  function print(it: unknown): string {
    const text = printed(it);
    room -= text.length;
    return text;
  }

  function printed(it: unknown): string {
    switch (typeof it) {
      case "string":
        return quoted(it);
      case "number":
        return it - it === 0 && !std.is(it, -0) ? std.String(it) : inexact(std.is(it, -0) ? "-0" : std.String(it));
      case "boolean":
        return it ? "true" : "false";
      case "bigint":
        return cut(std.bigIntText(it)) + "n";
      case "symbol":
        return cut(std.symbolText(it));
      case "undefined":
        return inexact("undefined");
      case "function":
        if (look(it) === "proxy") return inexact("[Proxy]");
        return named(std.slice(std.functionText(it), 0, 5) === "class" ? "class" : "Function", it);
    }
    if (it === null) return "null";
    for (let i = 0; i < depth; i++) if (around[i] === it) return inexact("[Circular]");
    const said = look(it as object);
    if (said === "proxy") return inexact("[Proxy]");
    const result = core.dispatch.part;
    if (said) core.dispatch.part = undefined;
    around[depth++] = it as object;
    try {
      if (said) {
        const inner = said === "pending" ? "<pending>" : "<" + said + ">: " + print(result);
        return inexact("Promise {" + inner + "}");
      }
      const [name, kind] = classOf(it as object);
      try {
        return object(it as object, name, kind);
      } catch {
        return plain(it as object, name || kind); // an object that only says that it is of that class
      }
    } catch {
      return inexact("[Object]");
    } finally {
      depth--;
    }
  }

  /** The name of the class of an object, and the built-in class that it is of; both empty for plain objects. */
  function classOf(it: object): [string, string] {
    let name = "";
    let proto = std.getPrototypeOf(it) as object | null;
    if (proto === std.objectPrototype) return ["", ""];
    for (let i = 0; proto !== null && i < 50; i++) {
      if (look(proto) === "proxy") return [name, ""];
      const maker = field(proto, "constructor");
      const isClass = typeof maker === "function" && look(maker) !== "proxy";
      const given = isClass ? field(maker, "name") : field(proto, std.Symbol.toStringTag);
      if (name === "" && typeof given === "string") name = std.slice(given, 0, 60);
      for (let at = 0; at < classes.length; at++) if (proto === std[classes[at]].prototype) return [name, classes[at]];
      proto = std.getPrototypeOf(proto) as object | null;
    }
    return [name === "Object" ? "" : name, ""];
  }

  function object(it: object, name: string, kind: string): string {
    if (std.isArray(it)) return list(it as unknown[], name);
    if (std.getPrototypeOf(it) === core.T.prototype) return inexact("testing.T");
    if (std.isView(it) && kind !== "DataView") return bytes(it as Uint8Array, name);
    switch (kind) {
      case "Map": {
        const entries = std.list<[unknown, unknown]>();
        std.mapForEach(it, (value, key) => void (entries.length < limits.items && (entries[entries.length] = [key, value])));
        const size = std.mapSize(it);
        return inexact(name + "(" + size + ") {" + several(entries.length, size, (at) => print(entries[at][0]) + " => " + print(entries[at][1])) + "}");
      }
      case "Set": {
        const items = std.list<unknown>();
        std.setForEach(it, (item) => void (items.length < limits.items && (items[items.length] = item)));
        const size = std.setSize(it);
        return inexact(name + "(" + size + ") {" + several(items.length, size, (at) => print(items[at])) + "}");
      }
      case "Date": {
        const time = std.getTime(it);
        return inexact((name || kind) + "(" + (time === time ? std.toISOString(it) : "Invalid") + ")");
      }
      case "RegExp": {
        const index = field(it, "lastIndex");
        return inexact("/" + clip(std.String(std.regexpSource(it))) + "/" + std.regexpFlags(it) + (index ? " {lastIndex: " + print(index) + "}" : ""));
      }
      case "Error":
        return error(it, name);
      case "Number":
        return inexact(name + "(" + print(std.numberValue(it)) + ")");
      case "String":
        return inexact(name + "(" + print(std.stringValue(it)) + ")");
      case "Boolean":
        return inexact(name + "(" + print(std.booleanValue(it)) + ")");
      case "BigInt":
        return name + "(" + cut(std.bigIntText(it)) + "n)";
      case "Symbol":
        return name + "(" + print(std.symbolValue(it)) + ")";
      case "ArrayBuffer":
        return bytes(new std.Uint8Array(it as ArrayBuffer), name);
      case "DataView":
        return inexact(name + "(" + std.dataLength(it) + ")");
    }
    return plain(it, name);
  }

  function plain(it: object, name: string): string {
    if (name) inexact("");
    return (name && name + " ") + "{" + fields(it, isShown) + "}";
  }

  function several(count: number, size: number, item: (at: number) => string): string {
    let text = "";
    if (depth > limits.depth) return count || size ? inexact("…") : "";
    let at = 0;
    for (; at < count && (room > 0 || at === 0); at++) text += (at ? ", " : "") + item(at);
    return at < size ? inexact(text + (at ? ", " : "") + "… " + (size - at) + " more") : text;
  }

  function list(items: unknown[], name: string): string {
    const { length } = items;
    const text = several(std.min(length, limits.items), length, (at) => {
      const found = std.descriptor(items, at);
      return found ? member(found) : inexact("<empty>");
    });
    const more = length > searched ? "" : fields(items, (key, found) => isShown(key, found) && (typeof key === "symbol" || !std.exec(index, key as string)));
    if (more) inexact("");
    return (name && name !== "Array" ? inexact(name + "(" + length + ") ") : "") + "[" + text + (text && more && ", ") + more + "]";
  }

  function bytes(view: Uint8Array, name: string): string {
    const size = std.viewLength(view);
    return inexact(name + "(" + size + ") [" + several(std.min(size, limits.items), size, (at) => print(view[at])) + "]");
  }

  function error(it: object, name: string): string {
    let title: unknown;
    for (let from: object | null = it; from !== null && title === undefined; from = std.getPrototypeOf(from) as object | null) {
      if (look(from) === "proxy") break;
      title = field(from, "name");
    }
    const message = field(it, "message");
    const said = typeof message === "string" && message ? ": " + cut(message) : "";
    const more = fields(it, (key, found) =>
      isShown(key, found) ? key !== "name" && key !== "message" && key !== "stack" : key === "cause" || key === "errors",
    );
    return inexact((typeof title === "string" && title !== "Error" ? title : name) + said + (more && " {" + more + "}"));
  }

  function member(found: PropertyDescriptor): string {
    if (std.hasOwn(found, "value")) return print(found.value);
    return inexact("[" + (found.get ? "Getter" : "") + (found.get && found.set ? "/" : "") + (found.set ? "Setter" : "") + "]");
  }

  /** The fields that are wanted, without braces. */
  function fields(it: object, isWanted: (key: PropertyKey, found: PropertyDescriptor) => boolean): string {
    const all = std.ownKeys(it);
    const keys = std.list<PropertyKey>();
    let size = 0;
    for (let i = 0; i < all.length; i++) {
      const found = std.descriptor(it, all[i]);
      if (!found || !isWanted(all[i], found)) continue;
      if (size++ < limits.items) keys[keys.length] = all[i];
    }
    return several(keys.length, size, (at) => {
      const key = keys[at];
      if (typeof key === "symbol") return "[" + cut(std.symbolText(key)) + "]: " + member(std.descriptor(it, key)!);
      const name = std.exec(identifier, key as string) ? (key as string) : std.stringify(key);
      const found = std.descriptor(it, key)!;
      if (found.value !== undefined && shown.hides(key as string)) return name + ': "***"';
      return name + ": " + member(found);
    });
  }

  const shown = ((value: unknown, given = usual) => {
    limits = given;
    room = given.length;
    depth = 0;
    shown.isJson = true;
    return print(value);
  }) as Shown;
  shown.isJson = true;
  shown.hides = (name) => std.exec(secret, name) !== null;
  return shown;
}
