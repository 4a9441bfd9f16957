/**
 * Prints values and the differences between them. Loaded when something must be shown.
 *
 * Printed texts have a limited length. Getters and proxies that throw, cycles and odd class names do no harm here. Two
 * values that differ are never printed the same.
 */

import { isObject } from "../objects";
import { forms, type Holds } from "../explain/forms";
import { compareLines } from "../explain/lines";
import { lookAlikes } from "../explain/look-alikes";
import { printer, type PrintOptions } from "../explain/print";
import { texts } from "../explain/texts";
import { descend, otherwise, type Difference } from "../explain/difference";
import { resolved } from "../explain/resolved";
import type { Explained, Kernel, Matcher, Mismatch } from "../kernel";

export interface Explain {
  /**
   * The value as text: one line if it fits into 80 columns, otherwise indented lines. Where something is left out, the
   * text says so. Default limits: 6 levels, 100 items, 10,000 characters.
   */
  inspect(value: unknown, options?: Partial<PrintOptions>): string;
  /**
   * Lines that start with `-` (expected), `+` (actual) or a space (both, or a note). Strings are compared by lines or
   * characters; other values are printed with sorted keys, and then compared by lines.
   */
  diff(expected: unknown, actual: unknown): string;
  /** The value as JSON; undefined if it is not plain JSON, or has more than 16,384 characters. */
  json(value: unknown): string | undefined;
  /** The message of an error, or the printed form of anything else that was thrown. */
  thrown(error: unknown): string;
  /** A mismatch in the form that is sent out of the realm. */
  mismatch(mismatch: Mismatch): Explained;
  /** The difference between two printed values, such as a value and its snapshot. */
  ofTexts(expected: string, actual: string): { expected_text: string; actual_text: string; diff?: string; form?: string };
  /** The message for an assertion that was called with too few or too many arguments. */
  miscounted(name: string, params: readonly string[], count: number): string;
  /** The whole value as text for a snapshot; undefined if it is too large. */
  whole(value: unknown): string | undefined;
  /** The name of a property as it is printed. */
  label(key: string): string;
  /** Whether the value of a property is secret by its name, and so hidden in masked prints. */
  masks(key: string, value: unknown): boolean;
}

const jsonLimit = 16_384;
/** Every report shows at least this many characters of a printed value, so the difference must be within them. */
const shownLimit = 1_500;
/** Lines of a diff that show no difference: equal lines, notes, and counts of what was left out. */
/** A text of one line, printed as JSON. */
const oneText = /^"(?:[^"\\]|\\["\\/bfnrt]|\\u[\da-f]{4})*"$/i;
const unchanged = /^( |[-+] +\.\.\. \d+ more$)/;

export default function (kernel: Kernel): Explain {
  const { std } = kernel;
  const signs = lookAlikes(std);
  const { print, label, masks, className } = printer(std, signs.visible, (it) => kernel.matchers && (std.weakGet(kernel.matchers, it) as Matcher | undefined));
  const ofTexts = texts(std, signs);
  const formOf = forms(std);

  const inspect = (value: unknown, { depth = 6, items = 100, length = 10_000, masked }: Partial<PrintOptions> = {}): string =>
    print(value, { depth, items, length, masked });
  const inLines = (value: unknown): string => print(value, { depth: 30, items: 1000, length: 60_000, forDiff: true });

  function whole(value: unknown): string | undefined {
    let isCut = false;
    const text = print(value, { depth: 100, items: 100_000, length: 1_000_000, forReview: true, onCut: () => (isCut = true) });
    return isCut ? undefined : text;
  }

  /** The first place where two values differ. */
  function difference(expected: unknown, actual: unknown): Difference {
    const at: Difference = { path: "", expected, actual };
    try {
      if (!kernel.part<(a: unknown, b: unknown) => boolean>("equal")(expected, actual)) while (descend(kernel, at, inspect, label));
    } catch {
      // a value cannot be read any further: the place that was found so far is used
    }
    return at;
  }

  /** The two values at the first difference, printed. */
  function pairAt({ expected, actual }: Difference): [string, string] {
    if (typeof expected === "string" && typeof actual === "string") return ofTexts.around(expected, actual);
    const short = { depth: 2, items: 10, length: 500 };
    const pair: [string, string] = [inspect(expected, short), inspect(actual, short)];
    if (pair[0] !== pair[1]) return signs.apart(pair[0], pair[1]);
    return otherwise(kernel, expected, actual, pair[0]) ?? signs.apart(inLines(expected), inLines(actual));
  }

  function diff(expected: unknown, actual: unknown): string {
    if (typeof expected === "string" && typeof actual === "string") return ofTexts.diff(expected, actual);
    const lines = linesOf(expected, actual);
    for (let i = 0; i < lines.length; i++) if (!std.exec(unchanged, lines[i])) return std.join(ofTexts.told(lines), "\n");
    const at = difference(expected, actual);
    const text = at.path ? "  first difference at " + at.path + "\n" : "";
    if (typeof at.expected === "string" && typeof at.actual === "string") return text + ofTexts.diff(at.expected, at.actual);
    if (inLines(at.expected) !== inLines(at.actual)) return text + std.join(ofTexts.told(linesOf(at.expected, at.actual)), "\n");
    const pair = pairAt(at);
    return text + lined("- ", pair[0]) + "\n" + lined("+ ", pair[1]);
  }

  function linesOf(expected: unknown, actual: unknown): string[] {
    const lines = std.list<string>();
    compareLines(std, std.split(inLines(expected), "\n"), std.split(inLines(actual), "\n"), lines);
    return lines;
  }

  const lined = (sign: string, text: string): string => sign + std.join(std.split(text, "\n"), "\n" + sign);

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

  /**
   * Two different values, printed: the two texts differ, and the difference is within the part that reports show. `told`
   * is what is expected without matchers that hold.
   */
  function pairOf(expected: unknown, actual: unknown, told: unknown): [string, string] {
    if (typeof expected === "string" && typeof actual === "string") return ofTexts.around(expected, actual);
    const pair: [string, string] = [inspect(expected), inspect(actual)];
    const same = ofTexts.common(told === expected ? pair[0] : inspect(told), pair[1]);
    if (pair[0] !== pair[1] && same < shownLimit) return signs.apart(pair[0], pair[1]);
    const at = difference(told, actual);
    const found = pairAt(at);
    return at.path ? ["at " + at.path + ": " + found[0], "at " + at.path + ": " + found[1]] : found;
  }

  /** The printed form of an item that a list does not contain. If a listed item looks the same, it says why they differ. */
  function searched(expected: unknown, list: unknown, text: string): string {
    try {
      for (let i = 0; std.isArray(list) && i < list.length && i < 100; i++) {
        const item: unknown = list[i];
        if (typeof item === typeof expected && inspect(item) === text) return otherwise(kernel, item, expected, text)?.[1] ?? text;
      }
    } catch {
      // a proxy
    }
    return text;
  }

  function mismatch(found: Mismatch): Explained {
    const outcome: Explained = { reason: found.reason };
    if (std.hasOwn(found, "bare") && found.bare) return outcome;
    const { expected, actual } = found;
    const hasActual = std.hasOwn(found, "actual");
    const hasExpected = std.hasOwn(found, "expected");
    const differ = hasActual && hasExpected && !std.is(expected, actual);
    const told = differ ? resolved(kernel, expected, actual) : expected;
    const pair = differ ? pairOf(expected, actual, told) : [inspect(expected), inspect(actual)];
    if (hasActual) {
      outcome.actual_text = pair[1];
      outcome.actual = json(actual) ?? std.stringify(outcome.actual_text);
    }
    if (hasExpected) {
      outcome.expected_text = differ && !std.hasOwn(found, "diff") ? searched(expected, actual, pair[0]) : pair[0];
      outcome.expected = json(expected) ?? std.stringify(outcome.expected_text);
    }
    if (std.hasOwn(found, "holds") && found.holds) {
      const form = formOnly(json(expected), json(actual), found.holds);
      if (form) outcome.reason += "; " + (outcome.form = form);
    }
    if (std.hasOwn(found, "diff")) {
      const compared = isObject(expected) ? isObject(actual) : typeof expected === "string" && typeof actual === "string" && ofTexts.isWorthADiff(expected, actual);
      if (compared) outcome.diff = diff(told, actual);
    }
    return outcome;
  }

  /** What `forms` tells of two values that are plain JSON. */
  function formOnly(expected: string | undefined, actual: string | undefined, holds: Holds): string {
    return expected && actual ? formOf(std.parse(expected), std.parse(actual), holds) : "";
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

  /** A printed value and its snapshot. Texts of one line are printed as JSON. */
  function snapshots(expected: string, actual: string): ReturnType<Explain["ofTexts"]> {
    const form = formOnly(quoted(expected), quoted(actual), (x, y) => x === y);
    return { ...ofTexts.ofPrinted(expected, actual), form: form || undefined };
  }

  function quoted(printed: string): string | undefined {
    return std.exec(oneText, printed) ? printed : json(printed);
  }

  return { inspect, diff, json, thrown, mismatch, miscounted, whole, label, masks, ofTexts: snapshots };
}
