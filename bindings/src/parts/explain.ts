/**
 * Printed forms of values and of their differences, loaded when something has to be shown.
 *
 * Everything printed is bounded, and nothing that a value does while it is read (getters and proxies that throw,
 * cycles, hostile class names) gets out of here.
 */

import { bytesOf, keysOf, kindOf, unbox } from "../assert/kind";
import { isObject } from "../assert/support";
import type { Explained, Kernel, Mismatch } from "../kernel";

export interface InspectOptions {
  /** Levels of nesting that are opened; 6. */
  depth?: number;
  /** Items of one container that are shown; 100. */
  items?: number;
  /** Characters of the whole text, roughly; 10 000. */
  length?: number;
}

export interface Explain {
  /** The value as text: one line if it fits into 80 columns, else indented lines. What is left out is said in place. */
  inspect(value: unknown, options?: InspectOptions): string;
  /**
   * Lines that start with `-` (expected), `+` (actual) or a space (both, or a remark). Two texts of several lines are
   * compared by their lines, other values by their printed forms with sorted keys.
   */
  diff(expected: unknown, actual: unknown): string;
  /** The JSON text of a value of plain JSON, if it has at most 16 384 characters. */
  json(value: unknown): string | undefined;
  /** The message of an error, or the printed form of anything else that was thrown. */
  thrown(error: unknown): string;
  /** A mismatch in the form that leaves the realm. */
  mismatch(mismatch: Mismatch): Explained;
  /** The sentence about an assertion that got too few or too many arguments. */
  miscounted(name: string, params: readonly string[], count: number): string;
}

const width = 80;
const jsonLimit = 16_384;
/** Cells of the table that finds the longest common run of lines. */
const tableLimit = 160_000;
/** Lines of a diff, and lines of one side in a row where no lines in common were looked for. */
const diffLines = 400;
const sideLines = 100;
const context = 3;

const identifier = /^([A-Za-z_$][\w$]*|\d+)$/;
const control = /[\0-\x1f\x7f-\x9f\u2028\u2029]/;
const invisible = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]|[ \t]$/;
/** Lines of a diff that show no difference: equal ones, remarks, and counts of what was left out. */
const unchanged = /^( |[-+] +\.\.\. \d+ more$)/;

export default function (kernel: Kernel): Explain {
  const { std } = kernel;

  /** Prints one value. `forDiff`: a line for each item, keys sorted, and nothing that equality overlooks. */
  function print(root: unknown, depthLimit: number, itemLimit: number, room: number, forDiff: boolean): string {
    const limit = room;
    const ancestors = std.list();
    let depth = 0;

    const spend = (text: string): string => {
      room -= text.length;
      return text;
    };
    /** Text within the room that is left, passed through `form`. */
    const cut = (text: string, form: (text: string) => string): string => {
      const over = text.length - std.max(room, 20);
      return spend(over > 0 ? form(std.slice(text, 0, -over)) + "... " + over + " more characters" : form(text));
    };
    const quote = (text: string): string => cut(text, std.stringify);

    function value(it: unknown, column: number): string {
      switch (typeof it) {
        case "string":
          return quote(it);
        case "number":
          return spend(std.is(it, -0) && !forDiff ? "-0" : std.String(it));
        case "bigint":
          return cut(std.bigIntText(it), std.String) + "n";
        case "symbol":
          return cut(std.symbolText(it), std.String);
        case "function":
          return cut(functionText(it), std.String);
      }
      if (!isObject(it)) return spend(std.String(it));
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

    function property(of: object, key: PropertyKey, column: number): string {
      let it: unknown;
      try {
        it = of[key as keyof object];
      } catch {
        return spend("[Getter threw]");
      }
      return value(it, column);
    }

    function object(it: object, column: number): string {
      const kind = kindOf(std, it);
      const name = className(it);
      const parts = std.list<string>();
      const open = depth <= depthLimit;
      let count = 0;
      /** Adds a part if there is room; it stands for one item, or for several. */
      const add = (text: () => string, items = 1): void => {
        count += items;
        if (!open || parts.length >= itemLimit || room <= 0) return;
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
          head = (name === "RegExp" ? "" : name + " ") + "/" + std.regexpSource(it) + "/" + std.regexpFlags(it);
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
      if (forDiff && (kind === "Map" || kind === "Set")) std.sort(parts);
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
      if (forDiff) std.sort(names);
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
      for (let i = 0; i < symbols.length; i++) field(symbols[i], () => spend("[" + std.symbolText(symbols[i]) + "]"));
    }

    /** Properties that are shown as items or in the head. */
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
        text += ": " + (std.exec(control, message) ? quote(message) : cut(message, std.String));
      }
      return text;
    }

    const text = value(root, 0);
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

  function functionText(it: unknown): string {
    let source = "";
    let name: unknown = "";
    try {
      source = std.functionText(it);
      name = std.descriptor(it, "name")?.value;
    } catch {
      // a proxy
    }
    return (
      (std.slice(source, 0, 5) === "class" ? "[class" : "[Function") +
      (typeof name === "string" && name ? " " + name : "") +
      "]"
    );
  }

  /** Name of the object's class; empty for plain objects. */
  function className(it: object): string {
    let proto = std.getPrototypeOf(it) as object | null;
    if (proto === std.objectPrototype) return "";
    for (let i = 0; proto && i < 50; i++) {
      const constructor = std.descriptor(proto, "constructor")?.value as unknown;
      if (typeof constructor === "function") {
        const name = std.descriptor(constructor, "name")?.value as unknown;
        return typeof name === "string" && name ? std.slice(name, 0, 100) : "(anonymous)";
      }
      proto = std.getPrototypeOf(proto) as object | null;
    }
    return "";
  }

  const inspect = (value: unknown, options: InspectOptions = {}): string =>
    print(value, options.depth ?? 6, options.items ?? 100, options.length ?? 10_000, false);
  const inLines = (value: unknown): string => print(value, 30, 1000, 60_000, true);

  function diff(expected: unknown, actual: unknown): string {
    const lines = std.list<string>();
    const texts =
      typeof expected === "string" && typeof actual === "string" && (hasLines(expected) || hasLines(actual));
    const left = texts ? linesOf(expected) : std.split(inLines(expected), "\n");
    const right = texts ? linesOf(actual) : std.split(inLines(actual), "\n");
    compareLines(left, right, lines);
    let changed = false;
    for (let i = 0; i < lines.length && !changed; i++) changed = !std.exec(unchanged, lines[i]);
    return std.join(changed ? lines : alike(expected, actual), "\n");
  }

  /** Lines of a text, those quoted whose difference could not be seen. */
  function linesOf(text: string): string[] {
    const lines = std.split(std.slice(text, 0, 100_000), "\n");
    for (let i = 0; i < lines.length; i++) if (std.exec(invisible, lines[i])) lines[i] = std.stringify(lines[i]);
    if (text.length > 100_000) lines[lines.length] = "... " + (text.length - 100_000) + " more characters";
    return lines;
  }

  function compareLines(left: string[], right: string[], out: string[]): void {
    const shorter = std.min(left.length, right.length);
    let head = 0;
    while (head < shorter && left[head] === right[head]) head++;
    let tail = 0;
    while (tail < shorter - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
    const n = left.length - head - tail;
    const m = right.length - head - tail;

    let same = 0;
    /** Writes the equal lines that end before `end` in `left`, without the middle of a long stretch. */
    const flush = (end: number, before: boolean, after: boolean): void => {
      const first = end - same;
      const until = before ? first + context : first;
      const from = after ? end - context : end;
      const skip = from - until > 1;
      for (let i = first; i < end; i++) {
        if (!skip || i < until || i >= from) out[out.length] = "  " + left[i];
        else if (i === until) out[out.length] = "  ...";
      }
      same = 0;
    };
    let changed = false;
    const change = (sign: string, line: string, at: number): void => {
      if (same) flush(at, changed, true);
      changed = true;
      out[out.length] = sign + line;
    };

    same = head;
    let i = 0;
    let j = 0;
    if (n * m <= tableLimit) {
      // lengths[i][j]: how many lines the rest of left from i and the rest of right from j have in common
      const lengths: number[][] = [];
      for (let x = n; x >= 0; x--) {
        const row: number[] = [];
        for (let y = 0; y <= m; y++) row[y] = 0;
        for (let y = m - 1; y >= 0 && x < n; y--) {
          row[y] =
            left[head + x] === right[head + y] ? lengths[x + 1][y + 1] + 1 : std.max(lengths[x + 1][y], row[y + 1]);
        }
        lengths[x] = row;
      }
      while (i < n && j < m) {
        if (left[head + i] === right[head + j]) {
          same++;
          i++;
          j++;
        } else if (lengths[i + 1][j] >= lengths[i][j + 1]) change("- ", left[head + i], head + i++);
        else change("+ ", right[head + j++], head + i);
      }
    }
    for (const end = std.min(n, i + sideLines); i < end; i++) change("- ", left[head + i], head + i);
    if (i < n) change("- ", "... " + (n - i) + " more lines", head + n);
    for (const end = std.min(m, j + sideLines); j < end; j++) change("+ ", right[head + j], head + n);
    if (j < m) change("+ ", "... " + (m - j) + " more lines", head + n);
    same += tail;
    flush(left.length, changed, false);
    if (out.length > diffLines) {
      const more = out.length - diffLines;
      out.length = diffLines;
      out[diffLines] = "  ... " + more + " more lines";
    }
  }

  /** Lines for two values that are not equal, although their printed forms are. */
  function alike(expected: unknown, actual: unknown): string[] {
    const at = { path: "", expected, actual };
    try {
      while (descend(at));
    } catch {
      // what was found so far has to do
    }
    const { expected: x, actual: y } = at;
    const lines = std.list<string>();
    if (at.path) lines[0] = "  first difference at " + at.path;
    if (typeof x === "string" && typeof y === "string") {
      let i = 0;
      while (std.charCodeAt(x, i) === std.charCodeAt(y, i)) i++;
      const from = std.max(i - 20, 0);
      lines[lines.length] = "  first difference at character " + i;
      lines[lines.length] = "- " + std.stringify(std.slice(x, from, i + 40));
      lines[lines.length] = "+ " + std.stringify(std.slice(y, from, i + 40));
      return lines;
    }
    const left = inLines(x);
    const right = inLines(y);
    if (left !== right) compareLines(std.split(left, "\n"), std.split(right, "\n"), lines);
    else {
      const short = { depth: 1, items: 10, length: 500 };
      const what =
        isObject(x) && isObject(y) ? (std.getPrototypeOf(x) === std.getPrototypeOf(y) ? "object" : "classe") : typeof x;
      lines[lines.length] = "- " + inspect(x, short);
      lines[lines.length] = "+ " + inspect(y, short);
      lines[lines.length] = "  printed alike, but two different " + what + "s";
    }
    return lines;
  }

  /** Moves to the first property of the two that differs; false when there is none. */
  function descend(at: { path: string; expected: unknown; actual: unknown }): boolean {
    const { expected, actual } = at;
    if (!isObject(expected) || !isObject(actual) || at.path.length > 1000) return false;
    const equal = kernel.part<(a: unknown, b: unknown) => boolean>("equal");
    const step = (label: string, x: unknown, y: unknown): boolean => {
      if (equal(x, y)) return false;
      at.path += label;
      at.expected = x;
      at.actual = y;
      return true;
    };
    const keys = [keysOf(std, expected), keysOf(std, actual)];
    for (let side = 0; side < 2; side++) {
      for (let i = 0; i < keys[side].length; i++) {
        const key = keys[side][i];
        const label =
          typeof key === "symbol"
            ? "[" + std.symbolText(key) + "]"
            : !std.exec(identifier, key as string)
              ? "[" + std.stringify(key) + "]"
              : std.String(+(key as string)) === key
                ? "[" + key + "]"
                : "." + (key as string);
        const own = (of: Record<PropertyKey, unknown>): unknown => (std.hasOwn(of, key) ? of[key] : undefined);
        if (step(label, own(expected), own(actual))) return true;
      }
    }
    let found = false;
    if (expected instanceof std.Map && actual instanceof std.Map) {
      std.mapForEach(expected, (value, key) => {
        if (!found && std.mapHas(actual, key))
          found = step(".get(" + inspect(key, { length: 50 }) + ")", value, std.mapGet(actual, key));
      });
    }
    return found;
  }

  function json(root: unknown): string | undefined {
    let room = jsonLimit;
    const spend = (text: string): string | undefined => ((room -= text.length) < 0 ? undefined : text);
    const write = (value: unknown, depth: number): string | undefined => {
      if (value === null || typeof value === "boolean") return spend(std.String(value));
      if (typeof value === "string") return value.length > room ? undefined : spend(std.stringify(value));
      if (typeof value === "number") return value - value === 0 ? spend(std.String(value)) : undefined;
      if (!isObject(value) || depth > 100) return undefined;
      const proto = std.getPrototypeOf(value) as unknown;
      const list = std.isArray(value);
      if (list ? className(value) !== "Array" : proto !== null && proto !== std.objectPrototype) return undefined;
      if (list && value.length > jsonLimit) return undefined;
      const keys = std.ownKeys(value);
      const length = keys.length - (list ? 1 : 0);
      if (list && length !== value.length) return undefined;
      let text = spend(list ? "[" : "{");
      for (let i = 0; i < length && text !== undefined; i++) {
        const key = keys[i];
        const field = std.descriptor(value, key);
        if (typeof key !== "string" || !field?.enumerable || !std.hasOwn(field, "value")) return undefined;
        const item = write(field.value, depth + 1);
        if (item === undefined) return undefined;
        const label = list ? (i ? "," : "") : (i ? "," : "") + std.stringify(key) + ":";
        text = spend(label) === undefined ? undefined : text + label + item;
      }
      return text === undefined ? undefined : text + (list ? "]" : "}");
    };
    try {
      return write(root, 0);
    } catch {
      return undefined;
    }
  }

  function thrown(error: unknown): string {
    try {
      const message = error instanceof std.Error && error.message;
      if (message && typeof message === "string") return message;
    } catch {
      // a getter that throws
    }
    return inspect(error);
  }

  function mismatch(found: Mismatch): Explained {
    const outcome: Explained = { reason: found.reason };
    if (std.hasOwn(found, "bare") && found.bare) return outcome;
    const { expected, actual } = found;
    if (std.hasOwn(found, "actual")) {
      outcome.actual_text = inspect(actual);
      outcome.actual = json(actual) ?? std.stringify(outcome.actual_text);
    }
    if (std.hasOwn(found, "expected")) {
      outcome.expected_text = inspect(expected);
      outcome.expected = json(expected) ?? std.stringify(outcome.expected_text);
    }
    const several = isObject(expected) ? isObject(actual) : hasLines(expected) && hasLines(actual);
    if (std.hasOwn(found, "diff") && (several || outcome.expected_text === outcome.actual_text)) {
      outcome.diff = diff(expected, actual);
    }
    return outcome;
  }

  function hasLines(value: unknown): value is string {
    return typeof value === "string" && std.indexOf(value, "\n") >= 0;
  }

  function miscounted(name: string, params: readonly string[], count: number): string {
    return (
      name +
      " takes (" +
      std.join(params, ", ") +
      ", message?), got " +
      (count || "no") +
      " argument" +
      (count === 1 ? "" : "s")
    );
  }

  return { inspect, diff, json, thrown, mismatch, miscounted };
}
