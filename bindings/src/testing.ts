/** `testing.T`: what a test function is given, and the record it leaves. */

import { encode, Raw, type Encodable } from "./encode";
import type { Explained, Kernel } from "./kernel";
import { isThenable, subscribe } from "./promise";
import { std } from "./std";

/** Thrown by `skip`, `fatal` and `require` to leave the test function; never a failure by itself. */
const stop = { toString: () => "the test was stopped by skip, fatal or require" };

type Failure = { [key: string]: Encodable };

/** What one test or subtest leaves behind; encoded as it is for the host. */
export class Outcome {
  failures: Failure[] = [];
  assertions = 0;
  skipReason: string | undefined;
  skipped = false;
  /** finished subtests, encoded */
  steps: Raw[] = [];

  encode(name: string, milliseconds: number, extra?: { [key: string]: Encodable }): Raw {
    return new Raw(
      encode({
        name,
        status: this.failures.length ? "failed" : this.skipped ? "skipped" : "passed",
        duration_ms: milliseconds,
        assertions: this.assertions,
        skip_reason: this.skipReason,
        failures: this.failures,
        steps: this.steps,
        ...extra,
      }),
    );
  }
}

const assertNames = std.split(
  "True False Equal NotEqual Nil NotNil Contains NotContains Len Greater GreaterOrEqual Less LessOrEqual Error NoError " +
    "Panic NoPanic Match NotMatch JSONPath Type Agent",
  " ",
);

/** Verdicts that need no part of the bindings: true means the check certainly holds, false means look closer. */
const certain: Record<string, (args: readonly unknown[]) => boolean> = {
  __proto__: null as never,
  True: (args) => args.length > 0 && !!args[0],
  False: (args) => args.length > 0 && !args[0],
  Equal: (args) => args.length > 1 && same(args[0], args[1], 8),
  Nil: (args) => args.length > 0 && args[0] == null,
  NotNil: (args) => args.length > 0 && args[0] != null,
  Contains: (args) =>
    typeof args[0] === "string" && typeof args[1] === "string" && std.indexOf(args[0], args[1]) >= 0,
  Len: (args) => typeof args[1] === "number" && (typeof args[0] === "string" || std.isArray(args[0])) && args[0].length === args[1],
};

/** Equal values of plain JSON shape, to a bounded depth. */
function same(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (depth === 0 || typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const proto = std.getPrototypeOf(a);
  if (proto !== std.getPrototypeOf(b)) return false;
  if (std.isArray(a)) {
    if (!std.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!same(a[i], b[i], depth - 1)) return false;
    return true;
  }
  if (proto !== std.objectPrototype) return false;
  const keys = std.ownKeys(a);
  if (keys.length !== std.ownKeys(b).length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as keyof object;
    if (!std.hasOwn(b, key) || !same(a[key], b[key], depth - 1)) return false;
  }
  return true;
}

type Assertions = Record<string, (...args: unknown[]) => boolean | PromiseLike<boolean>>;
type Body = (t: T, ctx: unknown) => unknown;

/** What a test needs from the realm it runs in. */
export interface Stage {
  kernel: Kernel;
  context: unknown;
  /** Patterns for subtest names, one a level; none means all. */
  filter: readonly string[];
  enter(test: T | undefined): void;
}

export class T {
  readonly name: string;
  #stage: Stage;
  #outcome: Outcome;
  #depth: number;
  #parent: T | undefined;
  #cleanups: (() => unknown)[] = [];
  #pending: PromiseLike<unknown>[] = [];
  #subtests: Record<string, number> = { __proto__: null as never };
  #snapshots: Record<string, number> = { __proto__: null as never };
  #assert: Assertions | undefined;
  #require: Assertions | undefined;

  constructor(stage: Stage, name: string, outcome: Outcome, parent?: T) {
    this.name = name;
    this.#stage = stage;
    this.#outcome = outcome;
    this.#parent = parent;
    this.#depth = parent ? parent.#depth + 1 : 0;
  }

  get failed(): boolean {
    return this.#outcome.failures.length > 0;
  }

  get assert(): Assertions {
    return (this.#assert ??= this.#assertions(false));
  }

  get require(): Assertions {
    return (this.#require ??= this.#assertions(true));
  }

  get mock(): unknown {
    return this.#stage.kernel.part("mock");
  }

  log(...args: unknown[]): void {
    this.#stage.kernel.log("info", this.#text(args));
  }

  error(...args: unknown[]): void {
    const text = this.#text(args);
    this.#stage.kernel.log("error", text);
    this.#fail("error", text || "t.error was called");
  }

  fail(reason?: unknown): void {
    this.#fail("fail", reason === undefined ? "t.fail was called" : this.#text([reason]));
  }

  fatal(reason?: unknown): never {
    this.#fail("fatal", reason === undefined ? "t.fatal was called" : this.#text([reason]));
    throw stop;
  }

  skip(reason?: unknown): never {
    this.#outcome.skipped = true;
    if (reason !== undefined) this.#outcome.skipReason = this.#text([reason]);
    throw stop;
  }

  cleanup(undo: () => unknown): void {
    if (typeof undo !== "function") throw new std.TypeError("t.cleanup takes a function");
    this.#cleanups[this.#cleanups.length] = undo;
  }

  run(name: unknown, body: Body): boolean | Promise<boolean> {
    if (typeof name !== "string" || typeof body !== "function") throw new std.TypeError("t.run takes (name, function)");
    const { kernel, filter } = this.#stage;
    let short = std.join(std.split(name, " "), "_");
    const used = (this.#subtests[short] = (this.#subtests[short] ?? 0) + 1);
    if (used > 1) short += "#0" + (used - 1);
    const pattern = filter[this.#depth];
    if (pattern !== undefined && kernel.host("regex.Match", [pattern, short]) !== true) return true;

    const outcome = new Outcome();
    const t = new T(this.#stage, this.name + "/" + short, outcome, this);
    const started = kernel.now();
    let over = false;
    let finish: ((passed: boolean) => void) | undefined;
    drive(t.runBody(body), () => {
      over = true;
      const own = this.#outcome;
      own.steps[own.steps.length] = outcome.encode(t.name, kernel.now() - started);
      own.assertions += outcome.assertions;
      if (outcome.failures.length) this.#fail("fail", `subtest ${short} failed`, { phase: "subtest" });
      finish?.(!t.failed);
    });
    if (over) return !t.failed;
    const done = new std.Promise<boolean>((resolve) => (finish = resolve));
    this.#pending[this.#pending.length] = done;
    return done;
  }

  /** Compares the printed value with the stored one; stores it when there is none yet. Returns whether they agree. */
  snapshot(value: unknown, name?: string): boolean {
    const { kernel } = this.#stage;
    const base = name === undefined ? this.name : `${this.name} ${this.#text([name])}`;
    const number = (this.#snapshots[base] = (this.#snapshots[base] ?? 0) + 1);
    const key = name !== undefined && number === 1 ? base : `${base} ${number}`;
    const explain = kernel.part<Explain>("explain");
    const actual = explain.inspect(value);
    this.#outcome.assertions++;
    const answer = kernel.host("snapshot.Match", [key, actual]) as { passed: boolean; expected?: string; reason?: string };
    if (answer.passed) return true;
    this.#fail("assertion", answer.reason ?? "Not equal to the snapshot", {
      type: "Snapshot",
      expected: answer.expected === undefined ? undefined : new Raw(std.stringify(answer.expected)),
      actual: new Raw(std.stringify(actual)),
      expected_text: answer.expected,
      actual_text: actual,
      diff: answer.expected === undefined ? undefined : explain.diff(answer.expected, actual),
    });
    return false;
  }

  /** Runs a test function with its cleanups; what it throws is recorded. Yields whatever must be awaited. */
  *runBody(body: Body, between?: (t: T) => Generator<unknown, void>): Generator<unknown, void> {
    yield* this.guard(() => body(this, this.#stage.context));
    for (let i = 0; i < this.#pending.length; i++) yield* this.guard(() => this.#pending[i]);
    if (between) yield* between(this);
    for (let i = this.#cleanups.length - 1; i >= 0; i = this.#cleanups.length - 1) {
      const undo = this.#cleanups[i];
      this.#cleanups.length = i;
      yield* this.guard(undo, "cleanup");
    }
  }

  /** Runs one function of the script; true when it neither threw nor stopped the test. */
  *guard(work: () => unknown, phase?: string): Generator<unknown, boolean> {
    this.#stage.enter(this);
    try {
      yield work();
      return true;
    } catch (error) {
      this.#stage.enter(this);
      if (error !== stop) this.thrown(error, phase);
      return false;
    } finally {
      this.#stage.enter(this.#parent);
    }
  }

  /** Records an exception that reached the harness. */
  thrown(error: unknown, phase?: string): void {
    const { message, stack } = describeError(this.#stage.kernel, error);
    this.#fail("error", message, { stack, phase });
  }

  #fail(kind: string, message: string, more?: { [key: string]: Encodable }): void {
    const failures = this.#outcome.failures;
    if (failures.length >= 100) return;
    failures[failures.length] = { __proto__: null as never, kind, message, stack: new std.Error().stack, ...more };
  }

  #text(args: readonly unknown[]): string {
    return textOf(this.#stage.kernel, args);
  }

  #assertions(required: boolean): Assertions {
    const made: Assertions = {};
    for (let i = 0; i < assertNames.length; i++) {
      const name = assertNames[i];
      const sure = certain[name];
      made[name] = (...args) => {
        this.#outcome.assertions++;
        if (sure !== undefined && args.length < 4 && sure(args)) return true;
        return this.#check(name, args, required);
      };
    }
    return made;
  }

  #check(name: string, args: unknown[], required: boolean): boolean | PromiseLike<boolean> {
    const part = this.#stage.kernel.part<{ check(name: string, args: unknown[]): Checked | PromiseLike<Checked> }>("assert");
    const checked = part.check(name, args);
    const settle = ({ message, outcome }: Checked): boolean => {
      if (!outcome) return true;
      const { reason, expected, actual } = outcome;
      this.#fail("assertion", message ?? reason, {
        type: name,
        ...outcome,
        expected: expected === undefined ? undefined : new Raw(expected),
        actual: actual === undefined ? undefined : new Raw(actual),
      });
      if (required) throw stop;
      return false;
    };
    if (!isThenable(checked)) return settle(checked);
    const done = std.then(checked, settle as never) as Promise<boolean>;
    this.#pending[this.#pending.length] = done;
    return done;
  }
}

interface Checked {
  message?: string;
  outcome: Explained | undefined;
}

interface Explain {
  inspect(value: unknown): string;
  diff(expected: unknown, actual: unknown): string;
}

/** Text of what was passed to a logging function. */
export function textOf(kernel: Kernel, args: readonly unknown[]): string {
  let plain = "";
  for (let i = 0; i < args.length; i++) {
    const value = args[i];
    if (typeof value !== "string") return kernel.part<{ format(args: readonly unknown[]): string }>("console").format(args);
    plain += (i ? " " : "") + value;
  }
  return plain;
}

/** Message and stack of anything that was thrown, whatever its getters do. */
export function describeError(kernel: Kernel, error: unknown): { message: string; stack?: string } {
  try {
    if (error instanceof std.Error || (typeof error === "object" && error !== null && "stack" in error && "message" in error)) {
      const { name, message, stack } = error as Error;
      const title = typeof name === "string" && name !== "Error" && std.indexOf(name, "Exception|") !== 0 ? name + ": " : "";
      const cause = (error as Error).cause;
      const because = cause === undefined ? "" : ` (cause: ${describeError(kernel, cause).message})`;
      return { message: title + std.String(message) + because, stack: typeof stack === "string" ? stack : undefined };
    }
    return { message: `thrown, not an Error: ${kernel.part<Explain>("explain").inspect(error)}` };
  } catch {
    return { message: "an exception that cannot be read: its properties throw" };
  }
}

/**
 * Runs a generator to its end, awaiting each thenable it yields; a rejection is thrown into it. Synchronous work ends
 * before this returns.
 */
export function drive(work: Generator<unknown, unknown>, done: () => void): void {
  const advance = (failed: boolean, value: unknown): void => {
    for (;;) {
      const step = failed ? work.throw(value) : work.next(value);
      if (step.done) return done();
      failed = false;
      value = step.value;
      let settled = false;
      const resume = (isError: boolean) => (result: unknown) => {
        if (!settled) {
          settled = true;
          advance(isError, result);
        }
      };
      try {
        if (isThenable(value)) {
          subscribe(value, resume(false), resume(true));
          return;
        }
      } catch (error) {
        failed = true;
        value = error;
      }
    }
  };
  advance(false, undefined);
}
