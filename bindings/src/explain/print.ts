/** Prints values as text of limited length. It is safe even if a value throws while it is read. */

import { bytesOf, keysOf, kindOf, unbox } from "../assert/kind";
import type { Matcher } from "../kernel";
import { isObject } from "../objects";
import type { Std } from "../std";

export interface PrintOptions {
  /** How many levels of nesting are shown. */
  depth: number;
  /** How many items of one container are shown. */
  items: number;
  /** The length of the whole text, roughly. */
  length: number;
  /** For diffs: one line for each item, sorted keys, and no differences that `check/equal.ts` ignores. */
  forDiff?: boolean;
  /** For snapshots: strings of several lines as lines between `"""`, and sorted keys. */
  forReview?: boolean;
  /** Called when something is left out. */
  onCut?: () => void;
  /** Hides strings in properties whose names look secret, such as `token`, and strings such as `Bearer ...`. */
  masked?: boolean;
}

export interface Printer {
  print(value: unknown, options: PrintOptions): string;
  /** The name of a property as it is printed. */
  label(key: string): string;
  /** Whether the value of a property is hidden in masked prints. */
  masks(key: string, value: unknown): boolean;
  className(it: object): string;
}

const width = 80;
export const identifier = /^([A-Za-z_$][\w$]*|\d+)$/;
const control = /[\0-\x1f\x7f-\x9f\u2028\u2029]/;
export const secret =
  /(tokens?|secrets?|passw(or)?ds?|pwd|passphrase|credentials?|cookies?|auth|authorization|(api|access|private|secret|signing)[_-]?keys?)$/i;
const bearer = /^(Bearer|Basic|Token) +\S{6,}/i;

export function printer(std: Std, visible: (text: string) => string, matcherOf: (it: object) => Matcher | undefined): Printer {
  function print(root: unknown, { depth: depthLimit, items: itemLimit, length: limit, forDiff, forReview, onCut, masked }: PrintOptions): string {
    let room = limit;
    const ancestors = std.list();
    let depth = 0;

    const spend = (text: string): string => {
      room -= text.length;
      return text;
    };
    /** `form(text)`, after cutting the text to the length that is left. */
    const cut = (text: string, form: (text: string) => string): string => {
      const over = text.length - std.max(room, 20);
      if (over > 0) onCut?.();
      return spend(over > 0 ? form(std.slice(text, 0, -over)) + "... " + over + " more characters" : form(text));
    };
    const quote = (text: string): string => cut(text, (it) => visible(std.stringify(it)));

    function value(it: unknown, column: number): string {
      switch (typeof it) {
        case "string":
          if (masked && std.exec(bearer, it)) return spend('"***"');
          return forReview && std.indexOf(it, "\n") >= 0 ? cut(it, block) : quote(it);
        case "number":
          return spend(std.is(it, -0) && !forDiff ? "-0" : std.String(it));
        case "bigint":
          return cut(std.bigIntText(it), std.String) + "n";
        case "symbol":
          return cut(symbolText(it), std.String);
        case "function":
          return cut(functionText(it), std.String);
      }
      if (!isObject(it)) return spend(std.String(it));
      const matcher = matcherOf(it);
      if (matcher) return matcher.name ? call(matcher, column) : spend("[masked]");
      for (let i = 0; i < depth; i++) if (ancestors[i] === it) return spend("[Circular]");
      ancestors[depth++] = it;
      try {
        return object(it, column);
      } catch {
        return spend("[Unreadable]");
      } finally {
        depth--;
      }
    }

    /** The call that made a matcher. */
    function call({ name, args }: Matcher, column: number): string {
      let text = spend("t." + name + "(");
      for (let i = 0; i < args.length; i++) {
        const it = args[i];
        text += (i ? ", " : "") + (typeof it === "function" ? spend(nameOf(it)) : value(it, column + text.length));
      }
      return text + ")";
    }

    /** A string of several lines between `"""`, with the escapes of a quoted string but plain quotes. */
    function block(text: string): string {
      const pad = "\n" + std.repeat("  ", depth);
      const lines = std.split(text, "\n");
      let out = '"""';
      for (let i = 0; i < lines.length; i++) {
        const line = std.slice(std.stringify(lines[i]), 1, -1);
        const plain = std.join(std.split(std.join(std.split(line, '\\"'), '"'), '"""'), '\\"""');
        const blank = std.slice(plain, -1) === " " ? std.slice(plain, 0, -1) + "\\u0020" : plain;
        out += (blank ? pad : "\n") + visible(blank);
      }
      return out + pad + '"""';
    }

    function property(of: object, key: PropertyKey, column: number): string {
      let it: unknown;
      try {
        it = of[key as keyof object];
      } catch {
        return spend("[Getter threw]");
      }
      if (masked && typeof key === "string" && masks(key, it)) return spend("***");
      return value(it, column);
    }

    function object(it: object, column: number): string {
      const kind = kindOf(std, it);
      const name = className(it);
      const parts = std.list<string>();
      const open = depth <= depthLimit;
      let count = 0;
      /** Adds a text for one item, or for several, if there is room. */
      const add = (text: () => string, items = 1): void => {
        count += items;
        if (!open || parts.length >= itemLimit || room <= 0) {
          onCut?.();
          return;
        }
        shown += items;
        room -= 2 * depth;
        parts[parts.length] = text();
      };
      let shown = 0;
      const inner = 2 * depth;
      let head = "";
      let brackets = "{}";
      let size: number | undefined;

      switch (kind) {
        case "Array": {
          const list = it as unknown[];
          size = list.length;
          brackets = "[]";
          arrayItems(list, add, inner);
          if (name !== "Array") head = name + "(" + size + ")";
          break;
        }
        case "View":
        case "ArrayBuffer":
        case "DataView": {
          const list = kind === "View" ? (it as Uint8Array) : bytesOf(std, it as DataView);
          size = std.viewLength(list);
          brackets = "[]";
          head = name + "(" + size + ")";
          const end = std.min(size, itemLimit);
          for (let i = 0; i < end; i++) add(() => value(list[i], inner));
          count = size;
          break;
        }
        case "Map":
          size = std.mapSize(it);
          head = name + "(" + size + ")";
          std.mapForEach(it, (item, key) =>
            add(() => {
              const left = value(key, inner) + " => ";
              return left + value(item, inner + left.length);
            }),
          );
          break;
        case "Set":
          size = std.setSize(it);
          head = name + "(" + size + ")";
          std.setForEach(it, (item) => add(() => value(item, inner)));
          break;
        case "Date":
          head = name + "(" + (std.getTime(it) === std.getTime(it) ? std.toISOString(it) : "Invalid") + ")";
          break;
        case "RegExp":
          head = (name === "RegExp" ? "" : name + " ") + "/" + visible(std.regexpSource(it) as string) + "/" + std.regexpFlags(it);
          break;
        case "Error":
          head = errorText(it, name);
          break;
        case "Number":
        case "String":
        case "Boolean":
        case "Symbol":
        case "BigInt": {
          const primitive = unbox(std, kind, it);
          head = name + "(" + (kind === "BigInt" ? primitive + "n" : value(primitive, inner)) + ")";
          break;
        }
        default:
          head = name;
      }
      spend(head);
      if ((forDiff || forReview) && (kind === "Map" || kind === "Set")) std.sort(parts);
      const scalar = size === undefined && kind !== "Object" && kind !== "Opaque";
      if (kind !== "View" && kind !== "ArrayBuffer" && kind !== "DataView") fields(it, kind, add, inner);

      if (!open && count)
        return scalar ? head : "[" + (head || (kind === "Array" ? "Array(" + size + ")" : "Object")) + "]";
      if (scalar && !count) return head;
      if (head) head += " ";
      const more = count > shown ? "... " + (count - shown) + " more" : "";
      return head + layout(parts, more, brackets, column + head.length);
    }

    function arrayItems(list: unknown[], add: (text: () => string, items?: number) => void, column: number): void {
      const keys = std.keys(list);
      let next = 0;
      const gap = (end: number): void => {
        if (end > next) add(() => spend("<" + (end - next) + " empty>"), end - next);
      };
      for (let i = 0; i < keys.length; i++) {
        const index = +keys[i];
        if (std.String(index) !== keys[i] || !(index >= 0 && index < list.length)) break;
        gap(index);
        add(() => property(list, index, column));
        next = index + 1;
      }
      gap(list.length);
    }

    function fields(it: object, kind: string, add: (text: () => string) => void, column: number): void {
      const keys: PropertyKey[] = keysOf(std, it);
      const names = std.list<string>();
      const symbols = std.list<PropertyKey>();
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i];
        if (typeof key === "symbol") symbols[symbols.length] = key;
        else if (!isHidden(it, kind, key as string)) names[names.length] = key as string;
      }
      if (kind === "Error") {
        if (std.hasOwn(it, "cause")) names[names.length] = "cause";
        if (std.hasOwn(it, "errors")) names[names.length] = "errors";
      }
      if (forDiff || forReview) std.sort(names);
      const field = (key: PropertyKey, label: () => string): void => {
        if (forDiff && isUndefined(it, key)) return;
        add(() => {
          const left = label() + ": ";
          return left + property(it, key, column + left.length);
        });
      };
      for (let i = 0; i < names.length; i++) {
        field(names[i], () => (std.exec(identifier, names[i]) ? spend(names[i]) : quote(names[i])));
      }
      for (let i = 0; i < symbols.length; i++) field(symbols[i], () => spend("[" + symbolText(symbols[i]) + "]"));
    }

    /** Whether a property is already shown as an item or in the head. */
    function isHidden(it: object, kind: string, key: string): boolean {
      if (kind === "Error") return std.indexOf("|name|message|stack|cause|errors|", "|" + key + "|") >= 0;
      const length = kind === "Array" || kind === "String" ? (it as unknown[]).length : 0;
      return std.String(+key) === key && +key >= 0 && +key < length;
    }

    function layout(parts: string[], more: string, brackets: string, column: number): string {
      const start = std.slice(brackets, 0, 1);
      const end = std.slice(brackets, 1);
      if (!parts.length) return start + more + end;
      let longest = 0;
      let total = column + (depth > 1 ? 3 : 2) + (more ? more.length + 2 : 0);
      for (let i = 0; i < parts.length; i++) {
        if (std.indexOf(parts[i], "\n") >= 0) total = width;
        longest = std.max(longest, parts[i].length);
        total += parts[i].length + (i && 2);
      }
      if (total <= width && !forDiff) return start + std.join(parts, ", ") + (more && ", " + more) + end;
      const pad = "\n" + std.repeat("  ", depth);
      const perLine = longest <= 12 && !forDiff && start === "[" ? std.floor((width - 2 * depth) / (longest + 2)) : 1;
      let text = start;
      for (let i = 0; i < parts.length; i++) text += (i % perLine ? " " : pad) + parts[i] + ",";
      if (more) text += pad + more;
      return text + "\n" + std.repeat("  ", depth - 1) + end;
    }

    function errorText(it: object, name: string): string {
      const { name: title, message } = it as Error;
      let text = typeof title === "string" && title !== "Error" ? title : name;
      if (typeof message === "string" && message) {
        text += ": " + (std.exec(control, message) ? quote(message) : cut(message, visible));
      }
      return text;
    }

    const text = value(root, 0);
    if (text.length > 2 * limit) onCut?.();
    return text.length > 2 * limit
      ? std.slice(text, 0, 2 * limit) + "... " + (text.length - 2 * limit) + " more characters"
      : text;
  }

  function isUndefined(it: object, key: PropertyKey): boolean {
    try {
      return it[key as keyof object] === undefined;
    } catch {
      return false;
    }
  }

  /** A name with its control characters as escapes. */
  const oneLine = (name: string): string => visible(std.exec(control, name) ? std.slice(std.stringify(name), 1, -1) : name);

  function functionText(it: unknown): string {
    let source = "";
    try {
      source = std.functionText(it);
    } catch {
      // a proxy
    }
    const name = nameOf(it);
    return (std.slice(source, 0, 5) === "class" ? "[class" : "[Function") + (name && " " + name) + "]";
  }

  /** The name of a function; empty if it has none. */
  function nameOf(it: unknown): string {
    try {
      const name = std.descriptor(it, "name")?.value as unknown;
      return typeof name === "string" ? oneLine(name) : "";
    } catch {
      return ""; // a proxy
    }
  }

  /** The name of the object's class; empty for plain objects. */
  function className(it: object): string {
    let proto = std.getPrototypeOf(it) as object | null;
    if (proto === std.objectPrototype) return "";
    for (let i = 0; proto && i < 50; i++) {
      const constructor = std.descriptor(proto, "constructor")?.value as unknown;
      if (typeof constructor === "function") {
        const name = std.descriptor(constructor, "name")?.value as unknown;
        return typeof name === "string" && name ? oneLine(std.slice(name, 0, 100)) : "(anonymous)";
      }
      proto = std.getPrototypeOf(proto) as object | null;
    }
    return "";
  }

  /** `Symbol(x)`, or `Symbol.for(x)` for a registered symbol. */
  function symbolText(it: unknown): string {
    const text = oneLine(std.symbolText(it));
    return std.keyFor(it as symbol) === undefined ? text : "Symbol.for" + std.slice(text, 6);
  }

  function label(key: string): string {
    return std.exec(identifier, key) ? key : visible(std.stringify(key));
  }

  function masks(key: string, it: unknown): boolean {
    return typeof it === "string" && it !== "" && std.exec(secret, key) !== null;
  }

  return { print, label, masks, className };
}
