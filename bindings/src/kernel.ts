/** What the core of a realm provides for the *parts*: modules of the bindings that are loaded on first use. */

import type { Std } from "./std";

/** The default export of a part, `bindings/src/<folder>/<name>.ts`: a function that makes the value of the part. */
export type Part<T> = (kernel: Kernel) => T;

/** The fields of `agent.Context`. The host makes them from defaults, flags and the `--ctx` file. */
export interface ContextData {
  chat_id: string;
  assistant_id: string;
  locale: string;
  theme: string;
  route: string;
  referer: string;
  accept: string;
  client: { type: string; ip: string; user_agent: string };
  metadata: Record<string, unknown>;
  authorized: Record<string, unknown>;
  /** display names for `User.Name` and `Team.Name`, if the context file has them */
  user_name?: string;
  team_name?: string;
  /** what `ctx.computer.Info()` returns; only for agents with a sandbox */
  sandbox?: Record<string, unknown>;
}

export interface Kernel {
  std: Std;
  context: ContextData;
  /** Name of the running test, `TestX` or `TestX/subtest`. */
  testName(): string;
  /** The value of a part. Loads the part on first use. */
  part<T>(name: string): T;
  /**
   * Calls a process by name, as `Process(name, ...args)` does. A mock of the test answers first; otherwise this realm
   * (`stores.*`), a script, or the host. Throws an `Exception` if the process fails or does not exist. Arguments and
   * results are JSON. An argument or a result may also be a `Uint8Array`, but not contain one.
   */
  call(name: string, args: readonly unknown[]): unknown;
  /** Calls a process of the host. Mocks do not answer it. */
  host(name: string, args: readonly unknown[]): unknown;
  /** Captures one line for the running test. `level`: trace, debug, info, warn, error. */
  log(level: string, text: string): void;
  /** Waits, blocking the script. If the clock is stopped, moves it instead and returns at once. */
  sleep(milliseconds: number): void;
  /** Whether this is what `skip`, `fatal` and `require` throw to end a test. Code that catches it must throw it again. */
  isStop(error: unknown): boolean;
  /** Whether this error comes from something that a test needs and that broke, such as the host of a model. */
  isBroken(error: unknown): boolean;
  /** The codes of errors that scripts get without them. Undefined before the first one. */
  codes?: WeakMap<object, number>;
  /** The places where scripts awaited an error, as lines of a stack. Undefined until an error rejects a promise. */
  trail?(error: unknown): string;
  /** The engine's stack of an error, once scripts read another one. Use `engineStack`. */
  stackOf?(error: object): unknown;
  /** Gives an error another stack, where scripts read stacks. */
  keepStack?(error: object, text: string): void;
  /** Milliseconds since 1970 on the clock of the test, which is the real one unless a mock has stopped it. */
  now(): number;
  /** The mocks of the running test, newest last. The part "mock" adds them. */
  mocks: Mocks;
  /** What `t.any` and the like returned, and places that a snapshot masks. Undefined before the first one. */
  matchers?: WeakMap<object, Matcher>;
  /** The `Exception` class that scripts see. */
  Exception: new (message: string, code?: number) => Error & { code: number };
}

/** What a matcher is: how it was made, and which values it equals. */
export interface Matcher {
  /** The method of `t` that made it; empty for a place that a snapshot masks. */
  name: string;
  args: readonly unknown[];
  holds(value: unknown): boolean;
}

/** The part "matchers": makes what `t.any` and the like return. Throws a TypeError for arguments that it cannot take. */
export type MakeMatcher = (name: string, args: readonly unknown[]) => object;

export interface Mock {
  /** A name, or a pattern in which `*` stands for any characters. */
  pattern: string;
  /** Answers a call with these arguments. */
  reply: (...args: unknown[]) => unknown;
  /** Unique in the realm. */
  number: number;
  /** true if the mock of a script test answers in its own realm. That realm counts the calls. */
  asks?: boolean;
}

export interface Mocks {
  process: Mock[];
  agent: Mock[];
  http: Mock[];
  exec: Mock[];
}

/** Why an assertion failed. */
export interface Mismatch {
  /** What was wrong or expected, without the values: `Not equal`, `Should be true`. */
  reason: string;
  expected?: unknown;
  actual?: unknown;
  /** true: show expected and actual as a diff. */
  diff?: boolean;
  /** The check on other values, for those that are compared as texts. */
  holds?: (expected: unknown, actual: unknown) => unknown;
  /** true: there are no values to show. */
  bare?: boolean;
  /** true: something that the assertion needs broke. */
  broke?: boolean;
  /** true: the judges disagree too much for a verdict. */
  inconclusive?: boolean;
  /** Set if no judge could judge: whether the assertion passes (`holds`) or fails because of that. */
  unjudged?: "holds" | "fails";
}

/** One assertion method. */
export interface Check {
  /** The parameters before the optional message. A name that ends in `?` is optional. */
  params: readonly string[];
  /** Returns undefined if the assertion passes. Returns a promise only if a function under test does (Panic, NoPanic). */
  test(kernel: Kernel, args: readonly unknown[]): Mismatch | undefined | Promise<Mismatch | undefined>;
}

/** A failed assertion in the form that is sent out of the realm. */
export interface Explained {
  reason: string;
  /** The value as JSON if it is plain JSON and not too large; otherwise its printed form as a JSON string. */
  expected?: string;
  actual?: string;
  /** The values printed, of limited length; large values take several lines. */
  expected_text?: string;
  actual_text?: string;
  /** Lines that start with `-` (expected), `+` (actual) or a space. */
  diff?: string;
  /** What alone differs, where that is the form of texts; the reason says it too. */
  form?: string;
}
