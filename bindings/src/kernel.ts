/** What the core of a realm offers to the parts of the bindings that are loaded on first use. */

import type { Std } from "./std";

/** One part: `bindings/src/<folder>/<name>.ts`, whose default export makes its value from the kernel. */
export type Part<T> = (kernel: Kernel) => T;

/** Made by the host from defaults, flags and the `--ctx` file; the fields of `agent.Context`. */
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
  /** display names for `User.Name` and `Team.Name`, when the context file gives them */
  user_name?: string;
  team_name?: string;
  /** of an agent with a sandbox: what `ctx.computer.Info` says */
  sandbox?: Record<string, unknown>;
}

export interface Kernel {
  std: Std;
  context: ContextData;
  /** Name of the running test, `TestX` or `TestX/subtest`. */
  testName(): string;
  /** The value of a part, made on first use. */
  part<T>(name: string): T;
  /**
   * Calls a process by name, as `Process(name, ...args)` does: mocks of the test first, then what lives in this realm
   * (`stores.*`), scripts, and last the host. Throws an `Exception` when the process fails or does not exist.
   * Arguments and results are JSON; a `Uint8Array` crosses when it is an argument or the result itself.
   */
  call(name: string, args: readonly unknown[]): unknown;
  /** The same, but straight to the host: no mocks. */
  host(name: string, args: readonly unknown[]): unknown;
  /** Captures one line for the running test. `level`: trace, debug, info, warn, error. */
  log(level: string, text: string): void;
  /** Waits, blocking the script; moves a clock that is stopped, and returns at once. */
  sleep(milliseconds: number): void;
  /** Whether this is what `skip`, `fatal` and `require` throw to leave a test; it must go on its way. */
  isStop(error: unknown): boolean;
  /** Whether this is an error of something that a test needs and that broke, such as the host of a model. */
  isBroken(error: unknown): boolean;
  /** Where scripts awaited an error that rejected a promise, as lines of a stack; there once one did. */
  trail?(error: unknown): string;
  /** Milliseconds since 1970, on the clock of the test: the real one, unless a mock has stopped it. */
  now(): number;
  /** Mocks of the running test, newest last; filled by part "mock". */
  mocks: Mocks;
  /** The `Exception` class that scripts see. */
  Exception: new (message: string, code?: number) => Error & { code: number };
}

export interface Mock {
  /** A name, or a pattern with `*` for any run of characters. */
  pattern: string;
  /** Called with the call's arguments. */
  reply: (...args: unknown[]) => unknown;
  /** No other mock of the realm has it. */
  number: number;
  /** Whether the mock of a script test is asked, which counts its calls itself. */
  asks?: boolean;
}

export interface Mocks {
  process: Mock[];
  agent: Mock[];
  http: Mock[];
  exec: Mock[];
}

/** Why a check failed. */
export interface Mismatch {
  /** What was expected, in words, without values: `Not equal`, `Should be true`. */
  reason: string;
  expected?: unknown;
  actual?: unknown;
  /** true: show expected and actual as a diff. */
  diff?: boolean;
  /** true: there are no values to show. */
  bare?: boolean;
  /** What the check needs broke. */
  broke?: boolean;
  /** The votes of judges do not decide. */
  inconclusive?: boolean;
  /** No judge could judge: the check holds unjudged, or fails for that. */
  unjudged?: "holds" | "fails";
}

/** One assertion method. */
export interface Check {
  /** Parameters before the optional message; `?` at the end of a name marks one that may be left out. */
  params: readonly string[];
  /** undefined when the check holds. A promise only when the argument is asynchronous (Panic, NoPanic). */
  test(kernel: Kernel, args: readonly unknown[]): Mismatch | undefined | Promise<Mismatch | undefined>;
}

/** A failed check in the form that leaves the realm. */
export interface Explained {
  reason: string;
  /** JSON text of the value when it is plain JSON of a bounded size, else JSON text of its printed form. */
  expected?: string;
  actual?: string;
  /** Printed forms, several lines for large values, bounded. */
  expected_text?: string;
  actual_text?: string;
  /** Lines that start with `-` (expected), `+` (actual) or a space. */
  diff?: string;
}
