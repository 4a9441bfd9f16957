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
import type { Kernel } from "./kernel";
import type { Random } from "./mocks/random";
import type { Flow } from "./realm/flow";
import type { Calls } from "./realm/promise";
import type { Timers } from "./realm/timers";
import type { Recorder } from "./check/record";

/** Returns null if time is up; the caller is then about to be stopped. */
type HostBridge = (op: string, a: string, b: string) => string | null;

export interface Boot {
  /** true in a realm that serves one `Process("scripts...")` call */
  nested: boolean;
  /** true if the scripts could overwrite built-ins: the ones that verdicts need are then saved before the scripts run */
  guarded: boolean;
  /** false if the scripts certainly have no hooks such as `BeforeEach` */
  hooks: boolean;
  /** true if the host keeps the stores, so that later realms have the same ones */
  shared?: boolean;
  /** the globals to install, as `name:part name:part`; a part is loaded when one of its globals is first used */
  globals: string;
}

export interface Plan {
  name: string;
  /** global name of the function; differs from `name` if the compiler renamed it */
  entry: string;
  /** whether the host decides which subtests run */
  filter: boolean;
  /** which of several runs of the test it is, from 1; it becomes `ctx.metadata.run` */
  run?: number;
  /** seed of its random numbers */
  seed?: string;
  /** the part that runs it, "fuzz" or "benchmark"; undefined for a plain test */
  kind?: string;
}

/** The outcome of one test or subtest. */
export interface Outcome {
  failures: { [key: string]: unknown }[];
  assertions: number;
  /** How many assertions no judge could judge. */
  notJudged: number;
  skipped: boolean;
  skipReason?: string;
  /** one function for each subtest, which returns its outcome as JSON */
  steps: (() => string)[];
  /** set for a subtest that has ended and passed; records in its parent that the subtest failed later */
  fails?: () => void;
  state?: State;
  assert?: object;
  require?: object;
}

/** What a test still has to finish. Made when it is first needed; most tests need none. */
export interface State {
  parent: T | undefined;
  /** 0 for a test, 1 for its subtests ... */
  depth: number;
  cleanups: (() => unknown)[];
  /** promises of subtests and assertions that have not ended */
  pending: unknown[];
  /** true for a subtest that still runs after `t.run` has returned */
  waits?: boolean;
  /** how often each name of a subtest or snapshot was used */
  subtests: Record<string, number>;
  snapshots: Record<string, number>;
  /** subtests that are running */
  open: T[];
  /** ends this subtest */
  end?: () => void;
  /** the promise or value that it waits for now, such as the one that its function returned */
  awaits?: unknown;
  /** the hook or cleanup that is running; undefined while the test function runs */
  phase?: string;
  /** the hook that runs before the cleanups */
  between?: () => Generator<unknown, void>;
}

/** The state that the core and the parts share. Scripts never see it. */
export interface Core extends Kernel {
  boot: Boot;
  plan?: Plan;
  /** JSON of the context. */
  contextText: string;
  /** The raw function that calls the worker. Use `bridge` instead, which the part "kernel" makes from it. */
  $bridge: HostBridge;
  /** Calls the worker. */
  bridge(op: string, a: string, b: string): string;
  /** The current stack, including the callers before each `await`. */
  here(): string;
  /** The function that the worker calls. The worker passes values that are not text in its property `part`. */
  dispatch: { part: unknown };
  /** Increased whenever the running code is abandoned; code of an earlier era is not resumed. */
  era: number;
  /** The hook that runs after the test. */
  last?: () => Generator<unknown, void>;
  globals: Record<string, unknown>;
  evaluate(source: string): unknown;
  T: typeof T;
  /** The T of the running test. */
  root: T;
  /** The T of the innermost running subtest, or `root`. */
  current: T;
  outcomeOf(t: T): Outcome;
  stateOf(t: T): State;
  /** Thrown by `skip`, `fatal` and `require` to leave the test function. It is not recorded as a failure. */
  stop: object;
  ctx: unknown;
  /** A proxy for the context. It fills `target` when it is first used; most functions never use it. */
  blank(target: object): object;
  ended: boolean;
  /** How many timers are set, plus how many asynchronous functions are waiting. */
  left: number;
  /** How many subtests are running. */
  subtests: number;
  timers?: Timers;
  calls?: Calls;
  /** Set while the timers that a test function left are fired; if `of` is given, only its timers. Then calls `done`. */
  settling?: { of: T | undefined; done: () => void };
  /** The stack where the timer that ran last was set, for failures in its callback or in code that follows from it. */
  origin?: string;
  /** The phase of failures while such timers are fired. */
  late?: string;
  /** The name that was last read from `t.assert` or `t.require` and is none of theirs. */
  misspelt?: PropertyKey;
  /** Milliseconds by which the time is ahead of the real time while such timers are fired. */
  ahead: number;
  /** Set while the clock is stopped: called instead of waiting, and returns what `poll` shall return. */
  stands?: (milliseconds: number) => number;
  /** Notes that a stopped clock is looked at, other than through `Date`; throws when something waits for it to go on. */
  look?: () => unknown;
  /** How many callbacks of timers have run. */
  fired?: number;
  /** Whether the clock stood when the time of the test was up. */
  stood?: boolean;
  /** Why a test cannot go on whose clock is stopped. */
  standstill?: string;
  /** Name of a call → how often a mock answered it. */
  mocked?: Map<string, number>;
  /** How many processes were called, including mocked ones. Undefined before the first call. */
  asked?: number;
  /** Inline snapshots that are missing in the source or differ, for the command to write. */
  inlined?: object[];
  /** Errors from something that tests need and that broke. Undefined before the first one. */
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

const methods = " failed log error skip fail fatal cleanup run snapshot mock db ";
/** The names in `assert/index.ts`, with a space before and after each; defined by the build. */
declare const ASSERTIONS: string;
const assertions = ASSERTIONS;

const named = (names: string, name: unknown): name is string => typeof name === "string" && apply(includes, names, [" " + name + " "]);

/** `testing.T`. The part "methods" adds its other members. */
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

/** `t.assert` and `t.require`. An assertion is made when it is first read; any other operation makes all of them. */
function checks(t: T, outcome: Outcome, required: boolean): object {
  const made = { __proto__: null } as unknown as Record<PropertyKey, Assertion>;
  const make = (name: PropertyKey): Assertion | undefined =>
    made[name] ??
    (named(assertions, name)
      ? (made[name] = (...args) => {
          outcome.assertions++;
          return certain(name, args.length, args[0], args[1]) || core.part<Check>("check")(t, name, args, required);
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
