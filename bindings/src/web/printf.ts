/**
 * Go's `fmt.Sprintf`, for `log.*`.
 *
 * There are differences, because the values are those of JavaScript. `%f`, `%e` and `%g` accept whole numbers. Objects are
 * printed as `console.log` prints them. Additional values follow after a space, without `%!(EXTRA ...)`. Argument indexes
 * (`%[1]d`) are not supported. Ties are rounded up, not to even.
 */

import type { Kernel } from "../kernel";
import { encodeUtf8 } from "../utf8";

type Inspect = (value: unknown) => string;

interface Directive {
  verb: string;
  flags: string;
  precision: number | undefined;
}

export default function (_kernel: Kernel) {
  return (args: readonly unknown[], inspect: Inspect): string => {
    let used = 1;
    let text = String(args[0]).replace(
      /%([-+# 0]*)(\*|\d+)?(?:(\.)(\*|\d+)?)?([^]|$)/gu,
      (
        _all,
        flags: string,
        width: string | undefined,
        dot: string | undefined,
        digits: string | undefined,
        verb: string,
      ) => {
        const number = (given: string | undefined) =>
          given === "*" ? Number(args[used++]) : given === undefined ? undefined : Number(given);
        let wide = number(width) ?? 0;
        const precision = dot ? (number(digits) ?? 0) : undefined;
        if (!verb) return "%!(NOVERB)";
        if (verb === "%") return "%";
        if (used >= args.length) return `%!${verb}(MISSING)`;
        if (wide < 0) {
          flags += "-";
          wide = -wide;
        }
        const value = args[used++];
        return pad(render(value, { verb, flags, precision }, inspect), Math.min(wide, 10000), flags, value);
      },
    );
    for (; used < args.length; used++) text += " " + plain(args[used], inspect);
    return text;
  };
}

function pad(text: string, width: number, flags: string, value: unknown): string {
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (flags.includes("-")) return text + " ".repeat(missing);
  if (!flags.includes("0") || (typeof value === "number" && !Number.isFinite(value))) return " ".repeat(missing) + text;
  const [, sign, digits] = /^([-+ ]?)([^]*)$/.exec(text)!;
  return sign + "0".repeat(missing) + digits;
}

/** `%T`: the type that Go would give the value. */
function typeName(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float64";
  if (typeof value === "bigint") return "int64";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "object")
    return Array.isArray(value)
      ? "[]interface {}"
      : value instanceof Uint8Array
        ? "[]uint8"
        : "map[string]interface {}";
  return typeof value === "function" ? "func" : typeof value;
}

/** `%v`. */
function plain(value: unknown, inspect: Inspect): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "string") return value;
  if (typeof value === "bigint") return String(value);
  return typeof value === "number" ? shortest(value) : inspect(value);
}

function shortest(value: number, exponent = 21): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 10 ** exponent)) return goExponent(value.toExponential());
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Gives an exponent at least two digits. */
function goExponent(text: string): string {
  return text.replace(/e[+-](?=\d$)/, "$&0");
}

function render(value: unknown, { verb, flags, precision }: Directive, inspect: Inspect): string {
  const bad = () =>
    `%!${verb}(${typeName(value)}${value === null || value === undefined ? "" : "=" + plain(value, inspect)})`;
  const whole = typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
  const signed = (text: string) =>
    /^[-+]/.test(text) ? text : flags.includes("+") ? "+" + text : flags.includes(" ") ? " " + text : text;
  const based = (radix: number, prefix: string): string => {
    if (!whole) return bad();
    const text = (value as number).toString(radix);
    return signed(flags.includes("#") ? text.replace(/^-?/, (sign) => sign + prefix) : text);
  };
  const upper = (text: string) => (verb === verb.toLowerCase() ? text : text.toUpperCase());
  switch (verb) {
    case "v":
      if (typeof value === "string" && flags.includes("#")) return JSON.stringify(value);
      return typeof value === "number" || typeof value === "bigint"
        ? signed(plain(value, inspect))
        : plain(value, inspect);
    case "T":
      return typeName(value);
    case "t":
      return typeof value === "boolean" ? String(value) : bad();
    case "d": {
      const text = based(10, "");
      return precision && whole
        ? text.replace(/\d+/, (digits) => digits.padStart(Math.min(precision, 10000), "0"))
        : text;
    }
    case "b":
      return based(2, "0b");
    case "o":
      return based(8, "0");
    case "O":
      return whole ? based(8, "").replace(/^[-+ ]?/, (sign) => sign + "0o") : bad();
    case "x":
    case "X": {
      const bytes = typeof value === "string" ? encodeUtf8(value) : value instanceof Uint8Array ? value : undefined;
      if (!bytes) return upper(based(16, "0x"));
      const gap = flags.includes(" ") ? " " : "";
      return upper(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(gap));
    }
    case "c":
      return whole ? character(Number(value)) : bad();
    case "U":
      return whole ? "U+" + value.toString(16).toUpperCase().padStart(4, "0") : bad();
    case "q":
      if (typeof value === "string") return JSON.stringify(cut(value, precision));
      return whole ? `'${character(Number(value))}'` : bad();
    case "s":
      if (typeof value === "string") return cut(value, precision);
      return typeof value === "object" && value !== null ? plain(value, inspect) : bad();
    case "e":
    case "E":
    case "f":
    case "F":
    case "g":
    case "G": {
      if (typeof value !== "number" && typeof value !== "bigint") return bad();
      const number = Number(value);
      if (!Number.isFinite(number)) return shortest(number);
      return signed(upper(float(number, verb.toLowerCase(), precision)));
    }
  }
  return bad();
}

function float(number: number, verb: string, precision: number | undefined): string {
  const digits = Math.min(precision ?? 6, 100);
  const sign = Object.is(number, -0) ? "-" : "";
  if (verb === "e") return sign + goExponent(number.toExponential(digits));
  if (verb === "f") {
    // toFixed leaves decimal notation at 1e21, Go never does
    return (
      sign +
      (Math.abs(number) < 1e21 ? number.toFixed(digits) : BigInt(number) + (digits ? "." + "0".repeat(digits) : ""))
    );
  }
  if (precision === undefined) return shortest(number);
  return shortest(Number(number.toPrecision(Math.max(1, digits))), Math.max(1, digits));
}

function cut(text: string, precision: number | undefined): string {
  return precision === undefined ? text : [...text].slice(0, precision).join("");
}

function character(point: number): string {
  return point >= 0 && point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
}
