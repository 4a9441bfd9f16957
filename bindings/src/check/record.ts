/** Records the failures of a test, and encodes its outcome as JSON. */

import { bounded } from "../bounded";
import type { Core, Outcome, T } from "../core-state";
import { encode, Raw } from "../encode";
import { describeError } from "../errors";
import { meant } from "../misspelt";
import type { Detail } from "./details";

/** An error at this point may have no stack, because the function that makes it would need a frame, too. */
const overflow = "RangeError: Maximum call stack size exceeded";
/** Of one test or subtest, those that do not end it. */
const failureLimit = 100;

export interface Recorder {
  /** The text of the arguments of a logging function. */
  text(args: readonly unknown[]): string;
  /**
   * Records a failure. `more` has further fields; a `stack` in it is used instead of the current one. One that `ends` the
   * test is recorded however many there are.
   */
  fail(t: T, kind: string, message: string, more?: object, ends?: boolean): void;
  /** Records an exception as a failure of `t`. */
  thrown(t: T, error: unknown, phase?: string, ends?: boolean): void;
  /** Records an exception that was thrown outside a test function, such as in a timer. */
  record(error: unknown, phase: string): void;
  /** Marks a text as JSON already, so that `encode` does not quote it. */
  raw(text: string): unknown;
  /** Adds a warning to the outcome of the whole test. */
  warn(kind: string, message: string, stack: string): void;
  encodeOutcome(name: string, milliseconds: number, outcome: Outcome): string;
  /** The outcome of the whole test, with warnings about timers and calls that it left unfinished. */
  encodeTest(): string;
}

export default function (core: Core): Recorder {
  const { std } = core;

  function text(args: readonly unknown[]): string {
    let plain = "";
    for (let i = 0; i < args.length; i++) {
      const value = args[i];
      if (typeof value !== "string") return core.part<{ format(args: readonly unknown[]): string }>("console").format(args);
      plain += (i ? " " : "") + value;
    }
    return plain;
  }

  function fail(t: T, kind: string, message: string, more?: object, ends = false): void {
    const outcome = core.outcomeOf(t);
    const { failures } = outcome;
    if (failures.length >= failureLimit && !ends) return;
    const stack = more && std.hasOwn(more, "stack") ? undefined : core.here();
    const failure: { phase?: string } = { __proto__: null, kind, message: bounded(std, message), stack, origin: core.origin, ...more } as object;
    const { phase } = failure;
    if (core.late && phase !== "subtest") failure.phase = (phase ? phase + ", " : "") + core.late;
    failures[failures.length] = failure as (typeof failures)[number];
    core.bridge("failed", t.name, encode(std, failure));
    const { fails } = outcome;
    outcome.fails = undefined;
    fails?.();
  }

  function thrown(t: T, error: unknown, phase?: string, ends = phase !== "cleanup"): void {
    const { message: said, stack } = describeError(core, error);
    const message = said === overflow && stack === undefined ? said + "; its place is not known, --story shows what ran" : said;
    const found = typeof error === "object" && error !== null ? core.part<(error: unknown) => Detail[]>("details")(error) : std.list<Detail>();
    const name = typeof core.misspelt === "string" && message === "TypeError: not a function" ? core.misspelt : "";
    core.misspelt = undefined;
    const misspelt = name || undefined;
    const details = found.length ? found : undefined;
    fail(t, core.isBroken(error) ? "infrastructure" : "error", message, { stack: stack && bounded(std, stack), phase, details, misspelt, meant: misspelt && meant(core, name) }, ends);
  }

  function warn(kind: string, message: string, stack: string): void {
    const warnings = (core.warnings ??= std.list());
    warnings[warnings.length] = { kind, message, stack };
  }

  /** `last` has further members, which are read when the subtests are encoded. */
  function encodeOutcome(name: string, milliseconds: number, outcome: Outcome, last?: () => object): string {
    const { failures, skipped, todo, assertions } = outcome;
    const fails = failures.length > 0;
    const passed = !fails && !skipped && (!todo || assertions > 0);
    if (todo && passed) warn("todo", name + " passes but is marked with t.todo: remove t.todo", todo);
    if (todo && fails) core.log("info", "t.todo: " + name + " fails: " + (std.String(failures[0].message) || std.String(failures[0].kind)));
    const steps = std.list<Raw>();
    for (let i = 0; i < outcome.steps.length; i++) steps[i] = new Raw(outcome.steps[i]());
    const status = passed ? "passed" : fails && !todo ? "failed" : "skipped";
    return encode(std, {
      name,
      status,
      duration_ms: milliseconds,
      assertions,
      skip_reason: passed ? undefined : outcome.skipReason,
      todo: (todo !== undefined && !passed) || undefined,
      only: outcome.only,
      not_judged: outcome.notJudged || undefined,
      failures: todo ? std.list() : failures,
      steps,
      ...last?.(),
    });
  }

  const stood = "The test timed out while its clock was stopped: t.mock.now stopped it; advance it with t.mock.advance or time.Sleep";

  return {
    text,
    fail,
    thrown,
    warn,
    encodeOutcome,
    encodeTest() {
      if (!core.left && core.stood) warn("clock", stood, "");
      const { mocked, inlined } = core;
      return encodeOutcome(core.plan!.name, core.milliseconds, core.outcomeOf(core.root), () => {
        const left = core.left ? core.part<() => object[]>("unfinished")() : std.list<object>();
        const { warnings: told = std.list<object>() } = core;
        for (let i = 0; i < told.length; i++) left[left.length] = told[i];
        return { warnings: left.length ? left : undefined, mocked: mocked && [...mocked], inlined };
      });
    },

    raw: (text) => new Raw(text),

    record(error, phase): void {
      if (core.boot.nested) core.part<{ refuse(error: unknown): void }>("operations").refuse(error);
      else if (!core.isStop(error)) thrown(core.settling?.of ?? core.root, error, phase, false);
    },
  };
}
