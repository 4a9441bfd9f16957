/** `testing.T` beyond a passing assertion: control, subtests, clean-up, hooks, awaiting, and the record of failures. */

import type { Core, Outcome, T } from "../core";
import { encode, Raw } from "../encode";
import { describeError } from "../errors";
import type { Explained } from "../kernel";

interface Private {
  parent: T | undefined;
  depth: number;
  cleanups: (() => unknown)[];
  pending: unknown[];
  subtests: Record<string, number>;
  snapshots: Record<string, number>;
}

type Body = (t: T, ctx: unknown) => unknown;

interface Checked {
  message?: string;
  outcome: Explained | undefined;
}

interface Explain {
  inspect(value: unknown): string;
  diff(expected: unknown, actual: unknown): string;
}

interface Promises {
  isThenable(value: unknown): value is PromiseLike<unknown>;
  subscribe(value: PromiseLike<unknown>, done: (value: unknown) => void, failed: (reason: unknown) => void): void;
}

const failureLimit = 100;
const depthLimit = 100;

export default function (core: Core) {
  const { std } = core;
  /** Thrown by `skip`, `fatal` and `require` to leave the test function; never a failure by itself. */
  const stop = { toString: () => "the test was stopped by skip, fatal or require" };
  const privates = new std.Map<T, Private>();

  const { bounded } = core.part<{ bounded(text: string): string }>("process");
  const dictionary = () => ({ __proto__: null as never }) as Record<string, number>;

  function own(t: T): Private {
    let found = std.mapGet(privates, t) as Private | undefined;
    if (!found) {
      found = { parent: undefined, depth: 0, cleanups: [], pending: [], subtests: dictionary(), snapshots: dictionary() };
      std.mapSet(privates, t, found);
    }
    return found;
  }

  /** Text of what was passed to a logging function. */
  function text(args: readonly unknown[]): string {
    let plain = "";
    for (let i = 0; i < args.length; i++) {
      const value = args[i];
      if (typeof value !== "string") return core.part<{ format(args: readonly unknown[]): string }>("console").format(args);
      plain += (i ? " " : "") + value;
    }
    return plain;
  }

  function fail(t: T, kind: string, message: string, more?: object): void {
    const { failures } = core.outcomeOf(t);
    if (failures.length < failureLimit) {
      failures[failures.length] = { __proto__: null, kind, message: bounded(message), stack: new std.Error().stack, ...more };
    }
  }

  function thrown(t: T, error: unknown, phase?: string): void {
    if (error === stop) return;
    const { message, stack } = describeError(core, error);
    fail(t, "error", message, { stack: stack && bounded(stack), phase });
  }

  /** Runs one function of the script; whether it neither threw nor stopped the test. */
  function* guard(t: T, work: () => unknown, phase?: string): Generator<unknown, boolean> {
    core.current = t;
    try {
      yield work();
      return true;
    } catch (error) {
      thrown(t, error, phase);
      return false;
    } finally {
      core.current = own(t).parent ?? t;
    }
  }

  /** A test function with what it left open: subtests and assertions under way, then `between`, then its clean-ups. */
  function* runBody(t: T, body: () => unknown, between?: () => Generator<unknown, void>): Generator<unknown, void> {
    yield* guard(t, body);
    yield* wrapUp(t, between);
  }

  function* wrapUp(t: T, between?: () => Generator<unknown, void>): Generator<unknown, void> {
    const { pending, cleanups } = own(t);
    for (let i = 0; i < pending.length; i++) yield* guard(t, () => pending[i]);
    if (between) yield* between();
    while (cleanups.length) {
      const undo = cleanups[cleanups.length - 1];
      cleanups.length--;
      yield* guard(t, undo, "cleanup");
    }
  }

  /** One test with everything around it: TestMain, BeforeAll, BeforeEach, the test, AfterEach, clean-ups, AfterAll. */
  function* world(t: T, body: Body | undefined): Generator<unknown, void> {
    if (!body) return thrown(t, new std.TypeError(t.name + " is not a function any more"));
    const { ctx, declared } = core;
    const inner = function* (): Generator<unknown, number> {
      const beforeAll = declared("BeforeAll");
      const beforeEach = declared("BeforeEach");
      const afterEach = declared("AfterEach");
      const afterAll = declared("AfterAll");
      const ready =
        (!beforeAll || (yield* guard(t, () => beforeAll(ctx), "BeforeAll"))) &&
        (!beforeEach || (yield* guard(t, () => beforeEach(t, ctx), "BeforeEach")));
      yield* runBody(t, ready ? () => body(t, ctx) : () => undefined, function* () {
        if (afterEach) yield* guard(t, () => afterEach(t, ctx), "AfterEach");
      });
      if (afterAll) yield* guard(t, () => afterAll(ctx), "AfterAll");
      return t.failed ? 1 : 0;
    };
    const main = declared("TestMain");
    if (!main) return void (yield* inner());
    let ran = false;
    const run = () => {
      if (ran) throw new std.Error("m.Run() may be called once");
      ran = true;
      let code: number | undefined;
      let finish: ((code: number) => void) | undefined;
      const work = function* () {
        code = yield* inner();
      };
      drive(work(), () => finish?.(code!));
      return code ?? new std.Promise<number>((resolve) => (finish = resolve));
    };
    yield* guard(t, () => main({ Run: run }, ctx), "TestMain");
    if (!ran && !t.failed && !core.outcomeOf(t).skipped) {
      thrown(t, new std.Error("TestMain did not call m.Run(), so the test did not run"), "TestMain");
    }
  }

  function begin(work: Generator<unknown, void>): void {
    drive(work, () => {
      core.ended = true;
      core.milliseconds = core.clock() - core.began;
    });
  }

  /**
   * Runs a generator to its end, awaiting each thenable it yields; a rejection is thrown into it. Synchronous work ends
   * before this returns.
   */
  function drive(work: Generator<unknown, unknown>, done: () => void): void {
    const advance = (failed: boolean, value: unknown): void => {
      for (;;) {
        const step = failed ? work.throw(value) : work.next(value);
        if (step.done) return done();
        failed = false;
        value = step.value;
        if (value === null || (typeof value !== "object" && typeof value !== "function")) continue;
        let settled = false;
        const resume = (isError: boolean) => (result: unknown) => {
          if (!settled) {
            settled = true;
            advance(isError, result);
          }
        };
        try {
          if (typeof (value as { then?: unknown }).then === "function") {
            core.part<Promises>("promise").subscribe(value as PromiseLike<unknown>, resume(false), resume(true));
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

  function encodeOutcome(name: string, milliseconds: number, outcome: Outcome): string {
    const steps: Raw[] = [];
    for (let i = 0; i < outcome.steps.length; i++) steps[i] = new Raw(outcome.steps[i]);
    return encode(std, {
      name,
      status: outcome.failures.length ? "failed" : outcome.skipped ? "skipped" : "passed",
      duration_ms: milliseconds,
      assertions: outcome.assertions,
      skip_reason: outcome.skipReason,
      failures: outcome.failures,
      steps,
    });
  }

  function run(t: T, name: unknown, body: unknown): boolean | Promise<boolean> {
    if (typeof name !== "string" || typeof body !== "function") throw new std.TypeError("t.run takes (name, function)");
    const { subtests, depth, pending } = own(t);
    if (depth >= depthLimit) throw new std.Error("t.run: subtests are nested more than " + depthLimit + " deep");
    let short = std.join(std.split(name, " "), "_");
    const used = (subtests[short] = (subtests[short] ?? 0) + 1);
    if (used > 1) short += (used < 11 ? "#0" : "#") + (used - 1);
    const pattern = core.plan.filter[depth];
    if (pattern && core.host("regex.Match", [pattern, short]) !== true) return true;

    const subtest = new core.T(t.name + "/" + short);
    const outcome = core.outcomeOf(subtest);
    const inner = own(subtest);
    inner.parent = t;
    inner.depth = depth + 1;
    const began = core.clock();
    let over = false;
    let finish: ((passed: boolean) => void) | undefined;
    drive(
      runBody(subtest, () => (body as Body)(subtest, core.ctx)),
      () => {
        over = true;
        const parent = core.outcomeOf(t);
        parent.steps[parent.steps.length] = encodeOutcome(subtest.name, core.clock() - began, outcome);
        parent.assertions += outcome.assertions;
        if (outcome.failures.length) fail(t, "fail", "subtest " + short + " failed", { phase: "subtest" });
        finish?.(!subtest.failed);
      },
    );
    if (over) return !subtest.failed;
    const done = new std.Promise<boolean>((resolve) => (finish = resolve));
    pending[pending.length] = done;
    return done;
  }

  function snapshot(t: T, value: unknown, name: unknown): boolean {
    const { snapshots } = own(t);
    const base = name === undefined ? t.name : t.name + " " + text([name]);
    const number = (snapshots[base] = (snapshots[base] ?? 0) + 1);
    const explain = core.part<Explain>("explain");
    const actual = explain.inspect(value);
    core.outcomeOf(t).assertions++;
    const key = number === 1 && name !== undefined ? base : base + " " + number;
    const answer = core.host("snapshot.Match", [key, actual]) as { passed: boolean; expected?: string; reason?: string };
    if (answer.passed) return true;
    const { expected, reason } = answer;
    fail(t, "assertion", reason ?? "Not equal to the snapshot", {
      type: "Snapshot",
      expected,
      actual,
      expected_text: expected,
      actual_text: actual,
      diff: expected === undefined || std.indexOf(expected + actual, "\n") < 0 ? undefined : explain.diff(expected, actual),
    });
    return false;
  }

  const methods: Record<string, (t: T, ...args: unknown[]) => unknown> = {
    log: (_, ...args) => core.log("info", text(args)),
    error(t, ...args) {
      const message = text(args);
      core.log("error", message);
      fail(t, "fail", message || "t.error was called");
    },
    fail: (t, ...reason) => fail(t, "fail", reason.length ? text(reason) : "t.fail was called"),
    fatal(t, ...reason) {
      fail(t, "fail", reason.length ? text(reason) : "t.fatal was called");
      throw stop;
    },
    skip(t, ...reason) {
      const outcome = core.outcomeOf(t);
      outcome.skipped = true;
      if (reason.length) outcome.skipReason = bounded(text(reason));
      throw stop;
    },
    cleanup(t, undo) {
      if (typeof undo !== "function") throw new std.TypeError("t.cleanup takes a function");
      const { cleanups } = own(t);
      cleanups[cleanups.length] = undo as () => unknown;
    },
    run,
    snapshot,
  };
  const define = (name: string, property: PropertyDescriptor) => std.define(core.T.prototype, name, property);
  const names = std.keys(methods);
  for (let i = 0; i < names.length; i++) {
    const method = methods[names[i]];
    const value = function (this: T, ...args: unknown[]): unknown {
      const list: unknown[] = [this];
      for (let at = 0; at < args.length; at++) list[at + 1] = args[at];
      return std.apply(method, undefined, list);
    };
    define(names[i], { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
  }
  define("mock", { __proto__: null, get: () => core.part("mock"), configurable: true } as PropertyDescriptor);

  return {
    drive,
    isStop: (error: unknown) => error === stop,

    /** The verdict of an assertion that is not certain; a failure is recorded, and stops the test if `required`. */
    check(t: T, name: string, args: unknown[], required: boolean): boolean | Promise<unknown> {
      let stack: string | undefined;
      const settle = ({ message, outcome }: Checked): boolean => {
        if (!outcome) return true;
        const { expected, actual } = outcome;
        fail(t, "assertion", message ?? outcome.reason, {
          stack: stack ?? new std.Error().stack,
          type: name,
          ...outcome,
          expected: expected === undefined ? undefined : new Raw(expected),
          actual: actual === undefined ? undefined : new Raw(actual),
        });
        if (required) throw stop;
        return false;
      };
      const checked = core.part<{ check(name: string, args: unknown[]): Checked | Promise<Checked> }>("assert").check(name, args);
      if (!(checked instanceof std.Promise)) return settle(checked as Checked);
      stack = new std.Error().stack;
      const done = std.then(checked, settle as never);
      const { pending } = own(t);
      pending[pending.length] = done;
      return done;
    },

    /** Goes on after a test function that has returned something, or left something open. */
    settle(t: T, result: unknown): void {
      begin(runBody(t, () => result));
    },

    /** Goes on after a test function that has thrown. */
    thrown(t: T, error: unknown): void {
      begin(
        runBody(t, () => {
          throw error;
        }),
      );
    },

    world: (t: T, body: Body | undefined) => begin(world(t, body)),

    /** Records an exception that no test function saw. */
    record(error: unknown, phase: string): void {
      if (core.boot.nested) core.part<{ refuse(error: unknown): void }>("operations").refuse(error);
      else thrown(core.root, error, phase);
    },

    abandon(reason: string): void {
      core.ended = true;
      core.milliseconds = core.clock() - core.began;
      fail(core.root, "error", reason, { phase: "deadlock", stack: undefined });
    },

    encodeOutcome: () => encodeOutcome(core.plan.name, core.milliseconds, core.outcomeOf(core.root)),
  };
}
