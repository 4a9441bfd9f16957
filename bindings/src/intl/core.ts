/**
 * Formats as ICU does, with FormatJS. Each worker has one engine context for this. The value of this module is
 * `answer(request)`, which takes and returns JSON; realms call it through `yao/intl.ts`. It knows nothing of a test
 * except the request.
 *
 * The worker provides `$read(name)`, which returns an entry of the pack that `pack.mjs` makes: the code of one kind of
 * formatter, or the data of a locale. Each is loaded when it is first needed. A missing entry is an empty text.
 */

import "./globals";
import "./plurals";
import { Collation, type CollationOptions } from "./collation";
import { resolve, supported, type Resolved } from "./locales";

/** Locale of ICU → its pattern of a numeric date (`{1}`) and a time (`{0}`). */
declare const JOINED: Record<string, string | null>;
declare const $read: (name: string) => string;
declare const Intl: Record<string, Kind> & {
  getCanonicalLocales(locales: string[]): string[];
  Locale: new (tag: string, options: object) => Record<string, unknown>;
};

interface Kind {
  new (locales: string[], options: object): Record<string, (...args: unknown[]) => unknown>;
  __addLocaleData?(data: unknown): void;
}

interface DateKind extends Kind {
  tzData: Record<string, unknown>;
  __setDefaultTimeZone(zone: string): void;
}

/** The request of a realm. Arguments are given as type and text, because JSON has no NaN and no big integers. */
interface Request {
  kind: string;
  locales: string[];
  options: Record<string, unknown>;
  method: string;
  args: [type: string, value: unknown][];
}

interface Formatter {
  resolved: Resolved;
  made: Record<string, (...args: unknown[]) => unknown>;
}

/** Kind of formatter → the entries of the pack that it needs: its code, and its data for a locale. */
const needs: Record<string, { code?: string; data: string[] }> = {
  NumberFormat: { data: ["numbers"] },
  PluralRules: { data: ["numbers"] },
  DateTimeFormat: { code: "dates", data: ["numbers", "dates"] },
  ListFormat: { code: "lists", data: ["lists"] },
  RelativeTimeFormat: { code: "relative", data: ["numbers", "relative"] },
  DisplayNames: { code: "names", data: ["names"] },
};
const kindOf: Record<string, string> = {
  numbers: "NumberFormat",
  dates: "DateTimeFormat",
  lists: "ListFormat",
  relative: "RelativeTimeFormat",
  names: "DisplayNames",
};
/** How many formatters are kept in memory. */
const most = 500;

const formatters = new Map<string, Formatter>();
const data = new Map<string, object>();
const registered = new Set<string>();

/** The data of a locale. The pack may have it as changes to the data of another locale. */
function dataOf(piece: string, locale: string): object {
  const key = `${piece}.${locale}`;
  let value = data.get(key);
  if (!value) {
    const { base, changes } = JSON.parse($read(key)) as { base?: string; changes: object };
    value = base ? (changed(dataOf(piece, base), changes) as object) : changes;
    data.set(key, value);
  }
  return value;
}

/** Applies changes to a value, by the rules of JSON Merge Patch (RFC 7396). */
function changed(value: unknown, changes: unknown): unknown {
  if (typeof changes !== "object" || changes === null || Array.isArray(changes)) return changes;
  const result = { ...(value as Record<string, unknown>) };
  for (const [name, change] of Object.entries(changes)) {
    if (change === null) delete result[name];
    else result[name] = changed(result[name], change);
  }
  return result;
}

function load(kind: string, locale: string): Kind {
  const { code, data: pieces } = needs[kind];
  if (code && !Intl[kind]) {
    Intl[kind] = (0, eval)($read(code)) as Kind;
    if (kind === "DateTimeFormat") {
      const dates = Intl.DateTimeFormat as DateKind;
      for (const zone of [WITHOUT_DATA, ...$read("zones").split(" ")]) dates.tzData[zone] = undefined;
      dates.__setDefaultTimeZone(plainZone($read("zone")));
    }
  }
  for (const piece of pieces) {
    if (registered.has(`${piece}.${locale}`)) continue;
    registered.add(`${piece}.${locale}`);
    Intl[kindOf[piece]].__addLocaleData!({ data: dataOf(piece, locale), locale });
  }
  return Intl[kind];
}

/** Adds the patterns of ranges to the dates of a locale. They are loaded only when needed, as FormatJS reads them slowly. */
function loadRanges(locale: string): void {
  if (registered.has(`ranges.${locale}`)) return;
  registered.add(`ranges.${locale}`);
  Intl.DateTimeFormat.__addLocaleData!({ data: { ...dataOf("dates", locale), intervalFormats: dataOf("ranges", locale) }, locale });
}

/** FormatJS has no data for this zone, which is always UTC, nor for others that it maps to it, such as `Iceland`. */
const WITHOUT_DATA = "Africa/Abidjan";
const RENAMED: Record<string, string> = {
  EST5EDT: "America/New_York",
  CST6CDT: "America/Chicago",
  MST7MDT: "America/Denver",
  PST8PDT: "America/Los_Angeles",
};

/** Replaces names of time zones that FormatJS accepts but would format as UTC: old names, and fixed offsets. */
function plainZone(name: string): string {
  if (/^(Etc\/)?(UTC|UCT|GMT|GMT0|GMT[+-]0|Greenwich|Universal|Zulu)$/i.test(name)) return "UTC";
  const [, sign, hours] = /^Etc\/GMT([+-])(\d\d?)$/i.exec(name) ?? [];
  if (sign && Number(hours) <= (sign === "-" ? 14 : 12)) return `${sign === "-" ? "+" : "-"}${hours.padStart(2, "0")}:00`;
  return RENAMED[name.toUpperCase()] ?? name;
}

function formatter({ kind, locales, options, method }: Request): Formatter {
  const ranges = kind === "DateTimeFormat" && method.startsWith("formatRange");
  const key = JSON.stringify([kind, locales, options, ranges]);
  let found = formatters.get(key);
  if (found) return found;
  const resolved = resolve(canonical(locales));
  const calendar = String(options.calendar ?? /-ca-([a-z0-9-]+?)(-[a-z]{2}-|$)/.exec(resolved.extension)?.[1] ?? "gregory");
  if (kind === "DateTimeFormat" && !/^(gregory|iso8601)$/i.test(calendar)) {
    throw new Error(`The calendar ${calendar} is not available here: Intl has the Gregorian one`);
  }
  const Made = load(kind, resolved.data);
  if (ranges) loadRanges(resolved.data);
  const shown: Record<string, unknown> = { ...options };
  if (kind === "DateTimeFormat" && options.timeZone !== undefined) shown.timeZone = plainZone(String(options.timeZone));
  let made = new Made([resolved.data + resolved.extension], shown);
  const { hourCycle } = made.resolvedOptions() as { hourCycle?: string };
  if (shown.dayPeriod !== undefined && (hourCycle === "h23" || hourCycle === "h24")) {
    delete shown.dayPeriod; // ICU shows no day period with a 24-hour clock
    made = new Made([resolved.data + resolved.extension], shown);
  }
  if (kind === "DateTimeFormat") {
    const { timeZone: zone } = made.resolvedOptions() as { timeZone?: string };
    const transitions = $read(`zone.${zone === WITHOUT_DATA ? "UTC" : zone}`);
    if (zone && transitions) (Made as DateKind).tzData[zone] ??= JSON.parse(transitions);
    else if (!zone || !/^[+-]/.test(zone)) throw new Error(`The time zone ${options.timeZone ?? $read("zone")} is not available here`);
  }
  found = { resolved, made };
  if (formatters.size === most) formatters.clear();
  formatters.set(key, found);
  return found;
}

const readers: Record<string, (value: unknown) => unknown> = {
  number: (text) => Number(text),
  bigint: (text) => BigInt(text as string),
  other: (value) => value,
};

function canonical(locales: string[]): string[] {
  try {
    return Intl.getCanonicalLocales(locales);
  } catch {
    throw new RangeError("Incorrect locale information provided");
  }
}

/** The fields of an `Intl.Locale`, and what its methods return, as JSON. */
function described(tag: string, options: object): object {
  const locale = new Intl.Locale(canonical([tag])[0], options);
  const names = "baseName calendar caseFirst collation firstDayOfWeek hourCycle language numberingSystem numeric region script variants";
  const answers = names.split(" ").map((name) => [name, locale[name]]);
  const made = ["toString", "maximize", "minimize"].map((name) => [name, String((locale[name] as () => unknown)())]);
  return Object.fromEntries([...answers, ...made]) as object;
}

/** Whether a request has a numeric date and a time. FormatJS joins these differently from ICU. */
function splits({ kind, options, method }: Request): boolean {
  if (kind !== "DateTimeFormat" || method !== "format") return false;
  const isNumeric = ["year", "month", "day"].every((name) => options[name] === "numeric" || options[name] === "2-digit");
  return isNumeric && !["weekday", "era", "dateStyle"].some((name) => name in options) && options.hour !== undefined;
}

function joined(request: Request, time: unknown): string | undefined {
  const { locale } = resolve(canonical(request.locales));
  const pattern = JOINED[locale];
  if (!pattern) return undefined;
  const dates = new Set(["year", "month", "day"]);
  const times = new Set(["hour", "minute", "second", "dayPeriod", "fractionalSecondDigits", "timeZoneName", "hour12", "hourCycle"]);
  const half = (left: Set<string>) => {
    const options = Object.fromEntries(Object.entries(request.options).filter(([name]) => !left.has(name)));
    return formatter({ ...request, options }).made.format(time) as string;
  };
  return pattern.replace(/\{[01]\}/g, (place) => half(place === "{1}" ? times : dates));
}

function result(request: Request): unknown {
  const { kind, method, locales, options } = request;
  if (kind === "locales") return method === "supported" ? supported(canonical(locales)) : canonical(locales);
  const args = request.args.map(([type, value]) => readers[type](value));
  if (kind === "Locale") return described(locales[0], options);
  if (kind === "Collator") {
    const collation = new Collation(resolve(canonical(locales)), options as CollationOptions, $read);
    return method === "resolvedOptions" ? collation.options : collation.key(args[0] as string);
  }
  const { resolved, made } = formatter(request);
  if (!method) return null;
  const answer = (splits(request) ? joined(request, args[0]) : undefined) ?? made[method](...args);
  // V8 has a plain space where newer locale data has a narrow one.
  if (kind === "DateTimeFormat" && method === "format") return (answer as string).replaceAll("\u202f", " ");
  if (method !== "resolvedOptions") return answer;
  const { locale } = answer as { locale: string };
  return { ...(answer as object), locale: resolved.locale + locale.slice(resolved.data.length) };
}

/** Answers a request: JSON of `{value}`, or of `{error, message}` with the name and the message of an error. */
export default function (text: string): string {
  try {
    return JSON.stringify({ value: result(JSON.parse(text) as Request) });
  } catch (error) {
    const { name, message } = error as Error;
    return JSON.stringify({ error: name, message });
  }
}
