/**
 * The core of a realm: all that a synchronous test needs to pass. Everything else is in *parts*, which are loaded on first
 * use.
 *
 * Every realm evaluates the core, which takes 90 us a kilobyte as text and a seventh of that as bytecode. So it must be
 * small. It is evaluated before any script. Its value is `dispatch(op, a, b)`, which the worker calls and scripts never
 * see. The worker provides the host bridge `$bridge(op, a, b)`, which takes and returns texts. When the core runs as
 * bytecode, the worker finds `dispatch` in the global `$dispatch`. The core deletes both globals.
 *
 * | op | a, b | answer |
 * | --- | --- | --- |
 * | boot | JSON of `Boot`, JSON of `ContextData` | - |
 * | tests | see `realm/listing.ts` | - |
 * | start | JSON of `Plan` | JSON of the outcome if the test has ended and used neither promises nor timers; else nothing |
 * | poll | - | -1: ended; milliseconds until there is something to do; NaN: a deadlock |
 * | result | - | JSON of the outcome |
 * | others | see `realm/operations.ts` | |
 */

import { apply, includes, own, ownKeys, setPrototypeOf } from "./captured";
import { certain } from "./certain";
import type { Recorder } from "./check/record";
import type { Boot, Core, HostBridge, Outcome, Plan } from "./core-state";
import type { Random } from "./mocks/random";
import type { Caught } from "./realm/caught";
import type { Flow } from "./realm/flow";
import type { Zone } from "./yao/zone";

const globals = globalThis as unknown as Record<string, unknown>;
const { parse } = JSON;
const { get: read, defineProperty: define } = Reflect;
const Proxy = globals.Proxy as ProxyConstructor;
const { slice, split } = String.prototype;
declare const performance: { now(): number };
const clock = performance.now.bind(performance);
const evaluate = globals.eval as (source: string) => unknown;
/** The default is ten frames, and each call of an asynchronous function takes three. */
(Error as { stackTraceLimit?: number }).stackTraceLimit = 50;
const $bridge = globals.$bridge as HostBridge;
delete globals.$bridge;

/** Long strings made by `+` are ropes, which cannot be passed to the worker; a slice is a flat copy. */
const flat = (text: string): string => apply(slice, text, [0]);
const words = (text: string): string[] => apply(split, text, [" "]);
/** A list without a prototype, so that scripts cannot define a setter that runs when it grows. */
const bare = (): never[] => setPrototypeOf([], null) as never[];
const parts: Record<string, unknown> = { __proto__: null };

/** The built-ins that parts use, separated by spaces. In the code of parts, the build puts `$own.` before each of them. */
declare const BUILT_INS: string;
let builtIns: Record<string, unknown> | undefined;

/** The built-ins for parts. If a script could overwrite them, these are copies that were made before it ran. */
function ownBuiltIns(): Record<string, unknown> {
  if (core.boot && !core.boot.guarded) return globals;
  const found = { __proto__: null } as unknown as Record<string, unknown>;
  const names = words(BUILT_INS);
  for (let i = 0; names[i]; i++) found[names[i]] = globals[names[i]];
  const copied = words("JSON Object Reflect");
  for (let i = 0; copied[i]; i++) {
    const from = globals[copied[i]] as object;
    const copy = typeof from === "function" ? (value: unknown) => apply(from, undefined, [value]) : { __proto__: null };
    const keys = ownKeys(from);
    for (let at = 0; at < keys.length; at++) define(copy, keys[at], { __proto__: null, value: read(from, keys[at]) } as PropertyDescriptor);
    found[copied[i]] = copy;
  }
  return found;
}

/** The worker returns the source of a part; or it returns nothing, and has put the part's value on `dispatch`. */
function load(name: string): unknown {
  const source = $bridge("part", name, "");
  const part = (source ? evaluate(source) : dispatch.part) as (own: object) => (core: Core) => unknown;
  return part((builtIns ??= ownBuiltIns()))(core);
}

/**
 * What the core provides. The part "kernel", which is loaded with the first other part, adds the rest. It has no
 * prototype, so that scripts cannot define a setter that receives it.
 */
const core = {
  __proto__: null,
  blank: (target: object) => new Proxy(target, new Proxy({}, { get: (_, trap) => core.part<Fields>("fields").trap(target, trap) })),
  $bridge,
  dispatch,
  globals,
  evaluate,
  clock,
  ended: true,
  left: 0,
  era: 0,
  part: (name: string) => ((parts.kernel ??= load("kernel")), (parts[name] ??= load(name))),
  declared: (name: string) => (own(globals, name) && typeof globals[name] === "function" ? globals[name] : undefined),
} as unknown as Core;

const methods = " failed log error skip todo only fail fatal cleanup run each snapshot mock db any matching close contains watch ";
/** The names in `assert/index.ts`, with a space before and after each; defined by the build. */
declare const ASSERTIONS: string;
const assertions = ASSERTIONS;

const named = (names: string, name: unknown): name is string => typeof name === "string" && apply(includes, names, [" " + name + " "]);

/** `testing.T`. The part "methods" adds its other members. */
export class T {
  declare readonly name: string;
  #outcome: Outcome;

  constructor(name: string) {
    define(this, "name", { __proto__: null, value: name, enumerable: true } as PropertyDescriptor);
    this.#outcome = { __proto__: null, failures: bare(), assertions: 0, notJudged: 0, skipped: false, steps: bare(), assert: undefined, require: undefined } as unknown as Outcome;
  }

  get assert(): object {
    const outcome = this.#outcome;
    return (outcome.assert ??= checks(this, outcome, false));
  }

  get require(): object {
    const outcome = this.#outcome;
    return (outcome.require ??= checks(this, outcome, true));
  }

  static {
    core.T = T;
    core.outcomeOf = (t) => (t as T).#outcome;
  }
}

let complete = false;
const missing = (target: object, name: PropertyKey, receiver: object): unknown => {
  if (complete || !named(methods, name)) return read(target, name, receiver);
  complete = core.part("methods");
  return receiver[name as keyof object];
};
setPrototypeOf(T.prototype, new Proxy({}, { __proto__: null, get: missing } as ProxyHandler<object>));

type Assertion = (...args: unknown[]) => unknown;

/** `t.assert` and `t.require`. An assertion is made when it is first read; any other operation makes all of them. */
function checks(t: T, outcome: Outcome, required: boolean): object {
  const made = { __proto__: null } as unknown as Record<PropertyKey, Assertion>;
  const make = (name: PropertyKey): Assertion | undefined =>
    made[name] ??
    (named(assertions, name)
      ? (made[name] = (...args) => {
          outcome.assertions++;
          return (args[0] !== t && certain(name, args.length, args[0], args[1])) || core.part<Check>("check")(t, name, args, required);
        })
      : ((core.misspelt = name), undefined));
  const others = (_: object, trap: PropertyKey) => core.part<Fields>("fields").listing(words(assertions), make, trap);
  const handler = { __proto__: new Proxy({}, { __proto__: null, get: others } as ProxyHandler<object>), get: (_: object, name: PropertyKey) => make(name) };
  return new Proxy(made, handler as ProxyHandler<object>);
}

/** Runs a test. Returns its outcome if it has ended and used neither promises nor timers. */
function start(plan: Plan): string | void {
  core.plan = plan;
  core.ctx = core.blank({});
  const t = (core.root = core.current = new T(plan.name));
  const body = core.declared(plan.entry);
  core.ended = false;
  if (plan.seed) core.part<Random>("random").seed(plan.seed);
  core.began = clock();
  let simple = body !== undefined && !plan.kind;
  if (core.boot.hooks) {
    const hooks = words("TestMain BeforeAll BeforeEach AfterEach AfterAll");
    for (let i = 0; i < hooks.length; i++) if (core.declared(hooks[i])) simple = false;
  }
  if (!simple) return core.part<(t: T, body: unknown) => void>("hooks")(t, body);
  let answer: { then?: unknown; next?: unknown } | undefined;
  try {
    answer = body!(t, core.ctx) as typeof answer;
    if (!core.outcomeOf(t).state && (answer === undefined || answer === null || (!answer.then && !answer.next))) {
      core.ended = true;
    }
  } catch (error) {
    return core.part<Flow>("flow").thrown(t, error);
  }
  if (!core.ended) return core.part<Flow>("flow").settle(t, answer);
  core.milliseconds = clock() - core.began;
  if (!parts.promise && !parts.timers) return result();
}

type Check = (t: T, name: string, args: unknown[], required: boolean) => unknown;

interface Fields {
  /** The function for an operation of a proxy whose members are made on first use. Makes all of `names` first. */
  listing(names: string[], make: (name: string) => unknown, trap: PropertyKey): unknown;
  /** The function for an operation of the proxy around `ctx`. Fills `target` first. */
  trap(target: object, trap: PropertyKey): unknown;
}

/** Installs a global that is made when it is first read. Assigning to it replaces it. */
function install(pair: string): void {
  let [name, part] = apply(split, pair, [":"]) as string[];
  if (part === "locale" || part === "stack" || part === "sort") return core.part(part); // methods of built-ins
  if (part === "functions") {
    if (own(globals, "__yaoAsync")) parts.kinds ??= load("kinds");
    return;
  }
  if (part === "early" && name !== "__yaoEarly") {
    (Error as { prepareStackTrace?: unknown }).prepareStackTrace = core.caught = (error: unknown, sites: unknown) => ((parts.caught ??= load("caught")) as Caught)(error, sites);
    return;
  }
  if (part === "zone") {
    nameZone("toString");
    nameZone("toTimeString");
    if (!isAway(-1e13) && !isAway(-9e11) && !isAway(0) && !isAway(1.72e12)) return;
    core.Date = Date;
    part = "local-time";
  }
  const set = (value: unknown) => {
    define(globals, name, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  };
  const get = () => {
    const supplied = (part === "local-time" ? load(part) : core.part(part)) as Record<string, unknown>; // the kernel reads Date
    const value = ((supplied.globals as typeof supplied) ?? supplied)[name];
    set(value);
    return value;
  };
  define(globals, name, { get, set, configurable: true });
}

/** Whether local time is another than UTC at a time. */
const isAway = (time: number): boolean => new Date(time).getTimezoneOffset() !== 0;

/** Puts a method of dates in place whose text ends with the name of the time zone. */
function nameZone(method: "toString" | "toTimeString"): void {
  const { prototype } = Date;
  const plain = prototype[method];
  const value = {
    [method](this: unknown): string {
      return core.part<Zone>("zone")(apply(plain, this, []) as string, this);
    },
  }[method];
  define(prototype, method, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
}

function result(): string {
  const outcome = core.outcomeOf(core.root);
  const { failures, assertions, notJudged, skipped, only, todo, steps } = outcome;
  if (failures.length || notJudged || skipped || only || todo || steps.length || core.left || core.mocked || core.inlined || core.warnings) {
    return core.part<Recorder>("record").encodeTest();
  }
  return '{"status":"passed","duration_ms":' + core.milliseconds + ',"assertions":' + assertions + ',"failures":[],"steps":[]}';
}

function dispatch(op: string, a: string, b: string): unknown {
  let answer: unknown;
  if (op === "boot") {
    delete globals.$dispatch;
    core.boot = parse(a) as Boot;
    core.contextText = b;
    const names = words(core.boot.globals);
    for (let i = 0; names[i]; i++) install(names[i]);
    if (core.boot.guarded) core.part("std");
    if (core.boot.seed) core.part<Random>("random").seed(core.boot.seed);
  } else if (op === "tests") (load("listing") as (kinds: string[], others: string[]) => void)(words(a), words(b));
  else if (op === "start") answer = start(parse(a) as Plan);
  else if (op === "poll") answer = core.part<(made: object) => number>("loop")(parts);
  else if (op === "result") answer = result();
  else answer = core.part<Record<string, (a: string, b: string) => unknown>>("operations")[op](a, b);
  return typeof answer === "string" ? flat(answer) : answer;
}
dispatch.part = undefined as unknown;

export default dispatch;
