/**
 * `Intl`: passes requests as JSON to the formatters, which the worker has in an engine context of their own
 * (`intl/core.ts`). A formatter here is only its locales and options.
 */

import type { Core } from "../core-state";

type Options = Record<string, unknown>;
type Argument = [type: string, value: unknown];
interface Answer {
  value?: unknown;
  error?: string;
  message?: string;
}
interface Instance {
  kind: string;
  locales: string[];
  options: Options;
  /** The bound function that a getter such as `format` has returned. */
  bound?: unknown;
  keys?: Map<string, string>;
}

/** What the part "locale" calls. */
export interface Formatting {
  methods: {
    number(value: number | bigint, locales: unknown, options: unknown): string;
    date(time: number, required: "any" | "date" | "time", locales: unknown, options: unknown): string;
    compare(a: string, b: string, locales: unknown, options: unknown): number;
    cased(text: string, method: "toUpperCase" | "toLowerCase", locales: unknown): string;
    list(values: ArrayLike<unknown>, locales: unknown, options: unknown): string;
  };
}

const words = (text: string): string[] => text.split(" ");

/** Kind of formatter → the options that it reads. */
const optionsOf: Record<string, string[]> = {
  NumberFormat: words(
    "localeMatcher numberingSystem style currency currencyDisplay currencySign unit unitDisplay notation minimumIntegerDigits " +
      "minimumFractionDigits maximumFractionDigits minimumSignificantDigits maximumSignificantDigits roundingIncrement roundingMode " +
      "roundingPriority trailingZeroDisplay compactDisplay useGrouping signDisplay",
  ),
  PluralRules: words(
    "localeMatcher type minimumIntegerDigits minimumFractionDigits maximumFractionDigits minimumSignificantDigits maximumSignificantDigits " +
      "roundingIncrement roundingMode roundingPriority trailingZeroDisplay",
  ),
  DateTimeFormat: words(
    "localeMatcher calendar numberingSystem hour12 hourCycle timeZone weekday era year month day dayPeriod hour minute second " +
      "fractionalSecondDigits timeZoneName formatMatcher dateStyle timeStyle",
  ),
  ListFormat: words("localeMatcher type style"),
  RelativeTimeFormat: words("localeMatcher numberingSystem style numeric"),
  DisplayNames: words("localeMatcher style type fallback languageDisplay"),
  Collator: words("usage localeMatcher collation numeric caseFirst sensitivity ignorePunctuation"),
  Locale: words("language script region variants calendar collation firstDayOfWeek hourCycle caseFirst numeric numberingSystem"),
};
/** Options that are true or false. `numeric` is another one, except for `RelativeTimeFormat`. */
const flags = new Set(words("hour12 ignorePunctuation"));
const dateFields = words("weekday year month day");
const timeFields = words("dayPeriod hour minute second fractionalSecondDigits");

export default function (core: Core): object {
  const errors: Record<string, ErrorConstructor> = { RangeError, TypeError, SyntaxError } as never;
  const states = new WeakMap<object, Instance>();

  function ask(kind: string, locales: string[], options: Options, method: string, args: Argument[] = []): unknown {
    const answer = JSON.parse(core.bridge("intl", JSON.stringify({ kind, locales, options, method, args }), "")) as Answer;
    if (answer.error === undefined) return answer.value;
    throw new (errors[answer.error] ?? Error)(answer.message);
  }

  /** The tags in an argument that names locales. `zh_CN` becomes `zh-CN`. */
  function tagsOf(locales: unknown): string[] {
    if (locales === undefined) return [];
    if (locales === null) throw new TypeError("Cannot convert undefined or null to object");
    const named = typeof locales === "string" || (typeof locales === "object" && states.get(locales)?.kind === "Locale");
    const list = named ? [locales] : Array.from(Object(locales) as ArrayLike<unknown>);
    return list.map((tag) => {
      if (typeof tag !== "string" && (typeof tag !== "object" || tag === null)) {
        throw new TypeError("Incorrect locale information provided");
      }
      const text = String(tag);
      return /^[a-z]{2,3}(_[a-z0-9]+)+$/i.test(text) ? text.replaceAll("_", "-") : text;
    });
  }

  function optionsFor(kind: string, options: unknown): Options {
    if (options === undefined) return {};
    if (options === null) throw new TypeError("Cannot convert undefined or null to object");
    const given = Object(options) as Options;
    const read: Options = {};
    for (const name of optionsOf[kind]) {
      const value = given[name];
      if (value === undefined) continue;
      const isFlag = flags.has(name) || (name === "numeric" && kind !== "RelativeTimeFormat");
      if (name === "timeZone" && /^(Etc\/)?GMT$/i.test(String(value))) read[name] = "UTC";
      else if (isFlag) read[name] = Boolean(value);
      else if (name === "useGrouping" && !value) read[name] = false;
      else read[name] = typeof value === "boolean" ? value : String(value);
    }
    return read;
  }

  /** Options of dates, with the defaults that `toLocaleString` and the like add. */
  function dateOptions(options: unknown, required: "any" | "date" | "time", defaults: string = required): Options {
    const read = optionsFor("DateTimeFormat", options);
    const has = (names: string[]) => names.some((name) => read[name] !== undefined);
    let needs = true;
    if (required !== "time" && has(dateFields)) needs = false;
    if (required !== "date" && has(timeFields)) needs = false;
    for (const [style, other] of [["timeStyle", "date"], ["dateStyle", "time"]]) {
      if (read[style] === undefined) continue;
      if (required === other) throw new TypeError(`Invalid option : ${style}`);
      needs = false;
    }
    if (read.dateStyle !== undefined || read.timeStyle !== undefined) needs = false;
    if (!needs) return read;
    if (defaults !== "time") read.year = read.month = read.day = "numeric";
    if (defaults !== "date") read.hour = read.minute = read.second = "numeric";
    return read;
  }

  function numeric(value: unknown): Argument {
    const plain = typeof value === "object" && value !== null ? toPrimitive(value) : value;
    if (typeof plain === "bigint") return ["bigint", String(plain)];
    if (typeof plain === "string") return ["other", plain];
    return ["number", Object.is(plain, -0) ? "-0" : String(+(plain as number))];
  }
  const toPrimitive = (value: object): unknown => {
    const plain = (value as { valueOf(): unknown }).valueOf();
    return typeof plain === "object" ? String(value) : plain;
  };

  const number = (value: unknown): Argument => ["number", Object.is(value, -0) ? "-0" : String(Number(value))];
  function time(value: unknown): Argument {
    const milliseconds = value === undefined ? Date.now() : Number(value);
    if (!Number.isFinite(milliseconds) || Math.abs(milliseconds) > 8.64e15) throw new RangeError("Invalid time value");
    return ["number", String(Math.trunc(milliseconds))];
  }
  function texts(values: unknown): Argument {
    if (values === undefined) return ["other", []];
    const list = Array.from(values as Iterable<unknown>);
    const wrong = list.find((value) => typeof value !== "string");
    if (wrong !== undefined) throw new TypeError("Iterable yielded " + String(wrong) + " which is not a string");
    return ["other", list];
  }
  const word = (value: unknown): Argument => ["other", String(value)];
  const unit = (value: unknown): Argument => word(value);

  function keyOf(state: Instance, text: string): string {
    const keys = (state.keys ??= new Map<string, string>());
    let key = keys.get(text);
    if (key === undefined) {
      key = ask("Collator", state.locales, state.options, "key", [["other", text]]) as string;
      if (keys.size === 10_000) keys.clear();
      keys.set(text, key);
    }
    return key;
  }
  function compared(state: Instance, a: string, b: string): number {
    if (a === b) return 0;
    const [first, second] = [keyOf(state, a), keyOf(state, b)];
    return first < second ? -1 : first > second ? 1 : 0;
  }

  /** Makes a class. `methods`: name → functions that read its arguments. `bound` names the method that is a getter. */
  function make(kind: string, methods: Record<string, ((value: unknown) => Argument)[]>, bound: string, callable: boolean, needed = 0) {
    const stateOf = (value: unknown, method: string): Instance => {
      const state = typeof value === "object" && value !== null ? states.get(value) : undefined;
      if (state?.kind !== kind) {
        throw new TypeError(`Method Intl.${kind}.prototype.${method} called on incompatible receiver ${String(value)}`);
      }
      return state;
    };
    const call = (state: Instance, method: string, given: unknown[]): unknown => {
      const args = methods[method].map((reader, index) => reader(given[index]));
      return ask(kind, state.locales, state.options, method, args);
    };
    const Class = {
      [kind]: function (this: unknown, locales?: unknown, options?: unknown): unknown {
        if (!new.target && !callable) throw new TypeError(`Constructor Intl.${kind} requires 'new'`);
        const self = Object.create(new.target ? (new.target.prototype as object) : Class.prototype) as object;
        const tags = tagsOf(locales);
        if (needed && options === undefined) throw new TypeError(`Intl.${kind} takes options with a type`);
        const read = kind === "DateTimeFormat" ? dateOptions(options, "any", "date") : optionsFor(kind, options);
        ask(kind, tags, read, kind === "Collator" ? "resolvedOptions" : "");
        states.set(self, { kind, locales: tags, options: read });
        return self;
      },
    }[kind] as unknown as { prototype: object };
    const define = (target: object, name: PropertyKey, descriptor: PropertyDescriptor) =>
      Object.defineProperty(target, name, { configurable: true, ...descriptor });
    define(Class, "length", { value: needed });
    define(Class, "prototype", { writable: false, configurable: false });
    define(Class.prototype, Symbol.toStringTag, { value: `Intl.${kind}` });
    define(Class, "supportedLocalesOf", { writable: true, value: { supportedLocalesOf }.supportedLocalesOf });
    const own: Record<string, (this: unknown, ...args: unknown[]) => unknown> = {
      resolvedOptions() {
        const state = stateOf(this, "resolvedOptions");
        return ask(kind, state.locales, state.options, "resolvedOptions");
      },
    };
    for (const name of Object.keys(methods)) {
      if (name !== bound) own[name] = { [name](this: unknown, ...args: unknown[]) { return call(stateOf(this, name), name, args); } }[name];
    }
    for (const name of Object.keys(own)) define(Class.prototype, name, { value: own[name], writable: true });
    if (bound) {
      const get = function (this: unknown) {
        const state = stateOf(this, bound);
        return (state.bound ??= (...args: unknown[]) =>
          bound === "compare" ? compared(state, String(args[0]), String(args[1])) : call(state, bound, args));
      };
      define(Class.prototype, bound, { get });
    }
    return Class;
  }

  const described = new WeakMap<object, Record<string, unknown>>();
  class Locale {
    constructor(tag: unknown, options?: unknown) {
      if (typeof tag !== "string" && !(tag instanceof Locale)) throw new TypeError("First argument to Intl.Locale constructor can't be empty or missing");
      const answer = ask("Locale", tagsOf(String(tag)), optionsFor("Locale", options), "") as Record<string, unknown>;
      described.set(this, answer);
      states.set(this, { kind: "Locale", locales: [String(answer.toString)], options: {} });
    }
    maximize(): Locale {
      return new Locale(described.get(this)!.maximize);
    }
    minimize(): Locale {
      return new Locale(described.get(this)!.minimize);
    }
    toString(): string {
      return described.get(this)!.toString as unknown as string;
    }
    get [Symbol.toStringTag](): string {
      return "Intl.Locale";
    }
  }
  for (const name of words("baseName calendar caseFirst collation firstDayOfWeek hourCycle language numberingSystem numeric region script variants")) {
    Object.defineProperty(Locale.prototype, name, {
      configurable: true,
      get(this: object) {
        return described.get(this)?.[name];
      },
    });
  }
  const supportedLocalesOf = (locales: unknown) => ask("locales", tagsOf(locales), {}, "supported");

  const namespace = {
    getCanonicalLocales: (locales: unknown) => ask("locales", tagsOf(locales), {}, "canonical"),
    NumberFormat: make(
      "NumberFormat",
      { format: [numeric], formatToParts: [numeric], formatRange: [numeric, numeric], formatRangeToParts: [numeric, numeric] },
      "format",
      true,
    ),
    DateTimeFormat: make(
      "DateTimeFormat",
      { format: [time], formatToParts: [time], formatRange: [time, time], formatRangeToParts: [time, time] },
      "format",
      true,
    ),
    PluralRules: make("PluralRules", { select: [number], selectRange: [number, number] }, "", false),
    ListFormat: make("ListFormat", { format: [texts], formatToParts: [texts] }, "", false),
    RelativeTimeFormat: make("RelativeTimeFormat", { format: [number, unit], formatToParts: [number, unit] }, "", false),
    DisplayNames: make("DisplayNames", { of: [word] }, "", false, 2),
    Locale,
    Collator: make("Collator", { compare: [word, word] }, "compare", true),
  };
  const unavailable = (name: string): never => {
    throw new Error(`Intl.${name} is not available here: put what needs it behind a function that the test mocks`);
  };
  const Intl = Object.create(Object.prototype) as object;
  for (const [name, value] of Object.entries(namespace)) {
    Object.defineProperty(Intl, name, { value, writable: true, configurable: true });
  }
  for (const name of ["Segmenter", "DurationFormat", "supportedValuesOf"]) {
    Object.defineProperty(Intl, name, { get: () => unavailable(name), configurable: true });
  }
  Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });

  const collators = new Map<string, Instance>();
  const methods: Formatting["methods"] = {
    number: (value, locales, options) =>
      ask("NumberFormat", tagsOf(locales), optionsFor("NumberFormat", options), "format", [numeric(value)]) as string,
    date(value, required, locales, options) {
      const [tags, read] = [tagsOf(locales), dateOptions(options, required)];
      if (Number.isNaN(value)) return "Invalid Date";
      return ask("DateTimeFormat", tags, read, "format", [["number", String(value)]]) as string;
    },
    compare(a, b, locales, options) {
      const [tags, read] = [tagsOf(locales), optionsFor("Collator", options)];
      const key = JSON.stringify([tags, read]);
      let state = collators.get(key);
      if (!state) collators.set(key, (state = { kind: "Collator", locales: tags, options: read }));
      return compared(state, a, b);
    },
    cased(text, method, locales) {
      const tags = tagsOf(locales);
      if (tags.length) ask("NumberFormat", tags, {}, "");
      return text[method]();
    },
    list(values, locales, options) {
      const texts = Array.from(values, (value) =>
        value === undefined || value === null ? "" : String((value as { toLocaleString(...args: unknown[]): unknown }).toLocaleString(locales, options)),
      );
      return texts.join(",");
    },
  };
  return { Intl, methods };
}
