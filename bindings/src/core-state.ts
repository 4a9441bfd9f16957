/** The state that the core of a realm and its parts share, as types. Scripts never see it. */

import type { Kernel } from "./kernel";

/** Returns null if time is up; the caller is then about to be stopped. */
export type HostBridge = (op: string, a: string, b: string) => string | null;

export interface Boot {
  /** true in a realm that serves one `Process("scripts...")` call */
  nested: boolean;
  /** true if the scripts could overwrite built-ins: the ones that verdicts need are then saved before the scripts run */
  guarded: boolean;
  /** false if the scripts certainly have no hooks such as `BeforeEach` */
  hooks: boolean;
  /** true if the host keeps the stores, so that later realms have the same ones */
  shared?: boolean;
  /** seed of the random numbers of top-level code */
  seed?: string;
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
  /** what `t.only` does: the test is known to call it (`runs`), or no test may (`forbidden`) */
  only?: "runs" | "forbidden";
  /** whether the host tells which subtests call `t.only` */
  focus?: boolean;
  /** the part that runs it, "fuzz" or "benchmark"; undefined for a plain test */
  kind?: string;
}

/** `testing.T`; its class is in `core.ts`. */
export interface T {
  readonly name: string;
  readonly assert: object;
  readonly require: object;
}

/** The outcome of one test or subtest. */
export interface Outcome {
  failures: { [key: string]: unknown }[];
  assertions: number;
  /** How many assertions no judge could judge. */
  notJudged: number;
  skipped: boolean;
  skipReason?: string;
  /** The place where `t.todo` was called, as a stack. */
  todo?: string;
  /** Whether it has called `t.only`. */
  only?: boolean;
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
  /** the function of a subtest; undefined for the test itself */
  body?: unknown;
  /** whether only those of its subtests run that call `t.only`; undefined before the first one */
  focused?: boolean;
  /** whether a subtest has run that does not */
  others?: boolean;
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

export interface Timer {
  id: number;
  due: number;
  /** milliseconds between two runs; -1: it runs once */
  period: number;
  run: (...args: unknown[]) => unknown;
  args: unknown[];
  /** The delay that it was set with, in milliseconds. */
  wait: number;
  /** The stack where it was set. If the callback of a timer set it, the stack of that timer follows. */
  stack: string;
  /** The test or subtest that set it. */
  owner: T | undefined;
  /** Why it was not fired: it falls due too late, or too many were fired before it. */
  passed?: "later" | "bound";
  /** Whether it was set while the time was ahead, so that `due` includes that. */
  ahead: boolean;
}

/** The timers of a test; `realm/timers.ts` keeps them. */
export interface Timers {
  /** Whether `fire` would fire a timer. */
  hasLate(): boolean;
  /**
   * Fires the next timer that a function has left; if `owner` is given, only of that test and its subtests. Throws what its
   * callback throws. If there is none, it sets the time back to the real time, and returns false.
   */
  fire(owner: T | undefined): boolean;
  /** All timers that are set, in the order in which they fall due. */
  left(): Timer[];
  /** Moves the due times of all timers, for a clock that is set to another time. */
  shift(milliseconds: number): void;
  /** Runs all timers that fall due until a time, in order. Calls `put` with each due time, and `jobs` after each timer. */
  advance(until: number, put: (time: number) => void, jobs: () => void): void;
}

export type Settle = (value: unknown) => void;

/** A call of an asynchronous function or generator that is waiting. */
export interface Call {
  /** The stack of its caller. */
  stack: string;
  /** Its index in `Calls.list`. */
  at: number;
  /** Counts the calls, from 1. */
  number: number;
  /** Whether another call waits for it, or it takes part in a race. */
  awaited: boolean;
  /** Whether it is for the next value of an asynchronous generator. */
  generator: boolean;
  /** The promise that it waits for. */
  waits?: object;
  /** Throws an error at the place where it waits. */
  wake?: Settle;
  /** The call that made it, if that one had waited before. */
  caller?: Call;
}

export type Executor = (resolve: Settle, reject: Settle) => void;

/** The calls of asynchronous functions that are waiting; `realm/promise.ts` keeps them. */
export interface Calls {
  /** The waiting calls, in no particular order. */
  list: Call[];
  /** The call whose code is running, if it has waited before. */
  running: Call | undefined;
  /** Whether a race is being set up, so that each `then` counts as awaiting. */
  racing: boolean;
  /** Promise → the call that settles it. */
  of: WeakMap<object, Call>;
  /** Adds a call to the list. */
  started(generator: boolean): Call;
  /** Removes a call from the list. */
  ended(call: Call): void;
  /** Records which promise a call settles, and where it was called. */
  known(promise: object, call: Call): void;
  Promise: new (executor: Executor) => object;
}

/** The part "early". */
export interface Early {
  /** Gives an error the message of other engines if it is about a name that is read too early. */
  tell(error: Error): void;
  globals: object;
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
  /** The script that a nested realm runs. */
  called?: string;
  globals: Record<string, unknown>;
  evaluate(source: string): unknown;
  T: { new (name: string): T; readonly prototype: T };
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
  /** Warnings about the test, besides those about what it left unfinished. */
  warnings?: object[];
  /** Errors from something that tests need and that broke. Undefined before the first one. */
  broken?: WeakSet<object>;
  began: number;
  milliseconds: number;
  /** Milliseconds on the realm's own clock. */
  clock(): number;
  /** The engine's `Date`, if realms get another one; see `local-time.ts`. */
  Date?: DateConstructor;
  /** The text of a function with what was put into it, where scripts see it without. */
  functionText?: (value: unknown) => string;
  /** What the engine calls for errors that a script could catch. */
  caught?: unknown;
  /** A function that the script declared. */
  declared(name: string): ((...args: unknown[]) => unknown) | undefined;
}
