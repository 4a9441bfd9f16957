/**
 * The eager part of a realm: enough for a synchronous test that passes. Everything else is a part, loaded on first use.
 *
 * Each realm pays for it, 90 us a kilobyte as text and a seventh of that as bytecode, so it is small on purpose. It is
 * evaluated before any script;
 * its value is `dispatch(op, a, b)`, which the worker calls and scripts never see. The worker supplies the host bridge
 * `$bridge(op, a, b)`, text in and text out, which is taken off the global object here, as is `$dispatch`, under which
 * the worker finds that value when it runs bytecode.
 *
 * | op | a, b | answer |
 * | --- | --- | --- |
 * | boot | JSON of `Boot`, JSON of `ContextData` | - |
 * | tests | see `realm/listing.ts` | - |
 * | start | JSON of `Plan` | JSON of the outcome when nothing is left to do but promise jobs, if there are any |
 * | poll | - | -1: ended; milliseconds until there is something to do; NaN: a deadlock |
 * | result | - | JSON of the outcome |
 * | others | see `realm/operations.ts` | |
 */

import type { Kernel } from "./kernel";
import type { Random } from "./mocks/random";
import type { Flow } from "./realm/flow";
import type { Calls } from "./realm/promise";
import type { Timers } from "./realm/timers";
import type { Recorder } from "./check/record";

/** null: time is up, and the caller is about to be stopped. */
type HostBridge = (op: string, a: string, b: string) => string | null;

export interface Boot {
  /** true in a realm that serves one `Process("scripts...")` call */
  nested: boolean;
  /** true when the scripts could overwrite intrinsics: those that verdicts need are taken now */
  guarded: boolean;
  /** false when the scripts certainly have no function around their tests, such as `BeforeEach` */
  hooks: boolean;
  /** true when the host keeps the stores, for the realms that follow */
  shared?: boolean;
  /** the globals to install, `name:part name:part`; a part is loaded when one of its names is first used */
  globals: string;
}

export interface Plan {
  name: string;
  /** global name of the function; differs from `name` when the compiler renamed it */
  entry: string;
  /** whether the host says which subtests run */
  filter: boolean;
  /** which of several runs of the test it is, from 1; it becomes `ctx.metadata.run` */
  run?: number;
  /** what its random numbers are made of */
  seed?: string;
  /** the part that runs it, if it is no plain test: "fuzz" or "benchmark" */
  kind?: string;
}

/** What one test or subtest leaves behind. */
export interface Outcome {
  failures: { [key: string]: unknown }[];
  assertions: number;
  /** Checks that no judge could judge. */
  notJudged: number;
  skipped: boolean;
  skipReason?: string;
  /** each makes the JSON text of a subtest */
  steps: (() => string)[];
  /** of a subtest that has ended and passed: tells its parent that it failed after all */
  fails?: () => void;
  state?: State;
  assert?: object;
  require?: object;
}

/** What a test has under way; most have nothing. */
export interface State {
  parent: T | undefined;
  /** 0 for a test, 1 for its subtests ... */
  depth: number;
  cleanups: (() => unknown)[];
  /** promises of subtests and assertions that are not over */
  pending: unknown[];
  /** Whether a subtest goes on after `t.run` has returned. */
  waits?: boolean;
  /** how often a name of a subtest or snapshot was used */
  subtests: Record<string, number>;
  snapshots: Record<string, number>;
  /** subtests under way */
  open: T[];
  /** ends this subtest */
  end?: () => void;
  /** what its function has returned, and what else it waits for */
  awaits?: unknown;
  /** what runs, if not the test function: a hook, a cleanup */
  phase?: string;
  /** the hook that is to run before the cleanups */
  between?: () => Generator<unknown, void>;
}

/** The state that core and parts share; scripts never see it. */
export interface Core extends Kernel {
  boot: Boot;
  plan?: Plan;
  /** JSON of the context. */
  contextText: string;
  /** The way to the worker as it is: for part "kernel", which makes `bridge` of it. */
  $bridge: HostBridge;
  /** Calls the worker. */
  bridge(op: string, a: string, b: string): string;
  /** The stack of the code that runs, with those who called it before an `await`. */
  here(): string;
  /** What the worker calls; it puts on it, as `part`, what cannot cross as text. */
  dispatch: { part: unknown };
  /** Counts up when all that runs is given up. */
  era: number;
  /** The hook that is to run after the test. */
  last?: () => Generator<unknown, void>;
  globals: Record<string, unknown>;
  evaluate(source: string): unknown;
  T: typeof T;
  /** The T of the running test itself, and the innermost one. */
  root: T;
  current: T;
  outcomeOf(t: T): Outcome;
  stateOf(t: T): State;
  /** Thrown by `skip`, `fatal` and `require` to leave the test function; never a failure by itself. */
  stop: object;
  ctx: unknown;
  /** The context instead of an empty object: a plain object once anything looks at it; most functions never do. */
  blank(target: object): object;
  ended: boolean;
  /** How many timers are set and asynchronous functions are under way. */
  left: number;
  /** How many subtests are under way. */
  subtests: number;
  timers?: Timers;
  calls?: Calls;
  /** While timers are fired that a test function has left: whose, where not all are meant, and what goes on then. */
  settling?: { of: T | undefined; done: () => void };
  /** Where the timer was set that was run last, of whose callback, or what follows from it, a failure may be. */
  origin?: string;
  /** What failures are marked with while such timers are fired. */
  late?: string;
  /** Milliseconds by which time is ahead while they are. */
  ahead: number;
  /** While the clock is stopped: what becomes of a wait of so many milliseconds, in the terms of `poll`. */
  stands?: (milliseconds: number) => number;
  /** Notes that a stopped clock is looked at, other than through `Date`; throws when something waits for it to go on. */
  look?: () => unknown;
  /** How many callbacks of timers have run. */
  fired?: number;
  /** Whether the clock stood when the time of the test was up. */
  stood?: boolean;
  /** Why a test cannot go on whose clock is stopped. */
  standstill?: string;
  /** Name of a call that left the realm → how often a mock has answered it. */
  mocked?: Map<string, number>;
  /** How many processes were called, mocked ones too; there once one was. */
  asked?: number;
  /** What the command writes into the source: inline snapshots that are missing there, or differ. */
  inlined?: object[];
  /** Errors of what tests need and what broke; there once one came. */
  broken?: WeakSet<object>;
  began: number;
  milliseconds: number;
  /** Milliseconds on the realm's own clock. */
  clock(): number;
  /** A function that the script declared. */
  declared(name: string): ((...args: unknown[]) => unknown) | undefined;
}

const globals = globalThis as unknown as Record<string, unknown>;
const { parse } = JSON;
const { getPrototypeOf, setPrototypeOf } = Object;
const { ownKeys, apply, get: read, defineProperty: define } = Reflect;
const { isArray } = Array;
const Proxy = globals.Proxy as ProxyConstructor;
const hasOwn = Object.prototype.hasOwnProperty;
const { slice, split, includes } = String.prototype;
declare const performance: { now(): number };
const clock = performance.now.bind(performance);
const evaluate = globals.eval as (source: string) => unknown;
/** The engine keeps ten frames otherwise, of which a call of an asynchronous function takes three. */
(Error as { stackTraceLimit?: number }).stackTraceLimit = 50;
const $bridge = globals.$bridge as HostBridge;
delete globals.$bridge;

/** Long strings made by `+` are ropes, which the border refuses; a slice is flat. */
const flat = (text: string): string => apply(slice, text, [0]);
const words = (text: string): string[] => apply(split, text, [" "]);
/** A list that no setter of a script is in the way of when it grows. */
const bare = (): never[] => setPrototypeOf([], null) as never[];
const own = (target: object, key: PropertyKey): boolean => apply(hasOwn, target, [key]);
const parts: Record<string, unknown> = { __proto__: null };

/** The built-ins that parts name, with spaces between them: in them, the build puts `$own.` before each. */
declare const BUILT_INS: string;
let builtIns: Record<string, unknown> | undefined;

/** What parts have in the place of the built-ins: where a script could overwrite these, as they were before it ran. */
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

/** The worker answers with the source of a part, or has put its value, from bytecode, on `dispatch`. */
function load(name: string): unknown {
  const source = $bridge("part", name, "");
  const part = (source ? evaluate(source) : dispatch.part) as (own: object) => (core: Core) => unknown;
  return part((builtIns ??= ownBuiltIns()))(core);
}

/**
 * What the core offers; part "kernel", which comes with the first other part, adds the rest. Without a prototype, on
 * which a script could put a setter that is handed all this.
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

/** Verdicts that need no part: true means that the check certainly holds, false means look closer, as does a value that throws. */
function certain(name: string, count: number, a: unknown, b: unknown): boolean {
  try {
    if ((a && (a as PromiseLike<unknown>).then) || (b && (b as PromiseLike<unknown>).then)) return false; // it may be a promise
    if (count === 1 || count === 2) {
      if (name === "True") return !!a;
      if (name === "False") return !a;
      if (name === "Nil") return a == null;
      if (name === "NotNil") return a != null;
    }
    if (count === 2 || count === 3) {
      if (name === "Equal") return same(a, b, 8);
      if (name === "Contains") return typeof a === "string" && typeof b === "string" && apply(includes, a, [b]);
      if (name === "Len") return (typeof a === "string" || isArray(a)) && a.length === b;
    }
  } catch {
    // a getter or a proxy
  }
  return false;
}

/** Equal values of plain JSON shape, to a bounded depth. */
function same(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (!depth || typeof a !== "object" || typeof b !== "object" || !a || !b) return false;
  const proto = getPrototypeOf(a) as object | null;
  if (proto !== getPrototypeOf(b) || (proto !== plain && proto !== list)) return false;
  const keys = ownKeys(a);
  if (keys.length !== ownKeys(b).length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as keyof object;
    if (!own(b, key) || !same(a[key], b[key], depth - 1)) return false;
  }
  return true;
}
const plain = getPrototypeOf({}) as object;
const list = getPrototypeOf([]) as object;

const methods = " failed log error skip fail fatal cleanup run snapshot mock db ";
/** The names in `assert/index.ts`, with spaces around them; the build puts them here. */
declare const ASSERTIONS: string;
const assertions = ASSERTIONS;

const named = (names: string, name: unknown): name is string => typeof name === "string" && apply(includes, names, [" " + name + " "]);

/** `testing.T`; its other members come with part "methods". */
export class T {
  readonly name: string;
  #outcome: Outcome;

  constructor(name: string) {
    this.name = name;
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
    core.outcomeOf = (t) => t.#outcome;
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

/** `t.assert` and `t.require`: an assertion is made when it is first read, all of them when anything else looks. */
function checks(t: T, outcome: Outcome, required: boolean): object {
  const made = { __proto__: null } as unknown as Record<PropertyKey, Assertion>;
  const make = (name: PropertyKey): Assertion | undefined =>
    made[name] ??
    (named(assertions, name)
      ? (made[name] = (...args) => {
          outcome.assertions++;
          return certain(name, args.length, args[0], args[1]) || core.part<Check>("check")(t, name, args, required);
        })
      : undefined);
  const others = (_: object, trap: PropertyKey) => core.part<Fields>("fields").listing(words(assertions), make, trap);
  const handler = { __proto__: new Proxy({}, { __proto__: null, get: others } as ProxyHandler<object>), get: (_: object, name: PropertyKey) => make(name) };
  return new Proxy(made, handler as ProxyHandler<object>);
}

/** The outcome, when the test is over at once and has made no promise. */
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
  /** What a proxy does that lists things which are made when they are read: all of `names` are made first. */
  listing(names: string[], make: (name: string) => unknown, trap: PropertyKey): unknown;
  trap(target: object, trap: PropertyKey): unknown;
}

/** Makes a global when it is first read; assigning replaces it. Reflect answers false where a frozen object refuses. */
function install(pair: string): void {
  const [name, part] = apply(split, pair, [":"]) as string[];
  if (part === "locale") return core.part(part); // methods of built-ins
  const set = (value: unknown) => {
    define(globals, name, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  };
  const get = () => {
    const supplied = core.part<Record<string, unknown>>(part);
    const value = ((supplied.globals as typeof supplied) ?? supplied)[name];
    set(value);
    return value;
  };
  define(globals, name, { get, set, configurable: true });
}

function result(): string {
  const outcome = core.outcomeOf(core.root);
  const { failures, assertions, notJudged, skipped, steps } = outcome;
  if (failures.length || notJudged || skipped || steps.length || core.left || core.mocked || core.inlined) {
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
  } else if (op === "tests") (load("listing") as (kinds: string[], others: string[]) => void)(words(a), words(b));
  else if (op === "start") answer = start(parse(a) as Plan);
  else if (op === "poll") answer = core.part<(made: object) => number>("loop")(parts);
  else if (op === "result") answer = result();
  else answer = core.part<Record<string, (a: string, b: string) => unknown>>("operations")[op](a, b);
  return typeof answer === "string" ? flat(answer) : answer;
}
dispatch.part = undefined as unknown;

export default dispatch;
