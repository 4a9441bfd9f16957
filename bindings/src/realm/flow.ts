/** Runs test functions: awaits them, waits for what they left open, and runs their cleanups. */

import { isGenerator } from "../assert/support";
import type { Core, T } from "../core-state";
import type { Recorder } from "../check/record";

export interface Promises {
  subscribe(value: PromiseLike<unknown>, done: (value: unknown) => void, failed: (reason: unknown) => void): void;
}

export interface Flow {
  /** Runs a generator to its end, and awaits each thenable that it yields. Then calls `done`. */
  drive(work: Generator<unknown, unknown>, done: () => void): void;
  /** Runs one function of the script. Returns true if it neither threw nor ended the test. */
  guard(t: T, work: () => unknown, phase?: string): Generator<unknown, boolean>;
  /** Runs a test function, waits for what it left open, runs `between`, and then its cleanups. */
  runBody(t: T, body: () => unknown, between?: () => Generator<unknown, void>): Generator<unknown, void>;
  /** Runs the hook before the cleanups of a test, and its cleanups. */
  cleanUp(t: T): Generator<unknown, void>;
  /** Drives `work` as the rest of the test, which then ends. */
  begin(work: Generator<unknown, void>): void;
  /** Continues after a test, or a call from another realm, that has ended but left timers. */
  resume(): void;
  /** Continues after a test function that has returned something, or left something open. */
  settle(t: T, result: unknown): void;
  /** Continues after a test function that has thrown. */
  thrown(t: T, error: unknown): void;
}

export default function (core: Core): Flow {
  const { std } = core;

  function* guard(t: T, work: () => unknown, phase?: string): Generator<unknown, boolean> {
    core.current = t;
    const state = core.stateOf(t);
    const { phase: outer } = state;
    state.phase = phase;
    state.awaits = undefined;
    try {
      yield (state.awaits = work());
      return true;
    } catch (error) {
      if (!core.isStop(error)) core.part<Recorder>("record").thrown(t, error, phase);
      return false;
    } finally {
      state.phase = outer;
      core.current = state.parent ?? t;
    }
  }

  function* runBody(t: T, body: () => unknown, between?: () => Generator<unknown, void>): Generator<unknown, void> {
    core.stateOf(t).between = between;
    yield* guard(t, body);
    yield* wrapUp(t);
  }

  /** Waits for running subtests and assertions, fires the timers that were left, and runs `between` and the cleanups. */
  function* wrapUp(t: T): Generator<unknown, void> {
    const state = core.stateOf(t);
    const { pending } = state;
    do {
      for (let i = 0; i < pending.length; i++) yield* guard(t, () => pending[i]);
      pending.length = 0;
      // if nothing follows, `poll` fires the timers after the test, which saves a round here
      if (state.between || state.cleanups.length || (t !== core.root && core.timers)) yield* late(t);
    } while (pending.length);
    yield* cleanUp(t);
  }

  function* cleanUp(t: T): Generator<unknown, void> {
    const state = core.stateOf(t);
    const { cleanups, between } = state;
    state.between = undefined;
    if (between) yield* between();
    while (cleanups.length) {
      const undo = cleanups[cleanups.length - 1];
      cleanups.length--;
      yield* guard(t, undo, "cleanup");
    }
  }

  /**
   * Fires the timers that a function has left, each followed by its promise jobs; see `timers.ts`. A subtest leaves its
   * timers to its test if it has ended at once, or if another subtest is running, whose time must not be changed.
   */
  function* late(t: T | undefined): Generator<unknown, void> {
    if ((!core.timers && !core.calls) || core.settling) return;
    const of = t && t !== core.root ? t : undefined;
    if (of) {
      const { depth, waits } = core.stateOf(of);
      if (!waits || core.subtests !== depth) return;
    }
    const { current } = core;
    if (t) core.current = t;
    yield { then: (done: () => void) => void (core.settling = { of, done }) };
    core.current = current;
  }

  function* goOn(): Generator<unknown, void> {
    yield* late(core.root);
    if (core.root) yield* wrapUp(core.root);
  }

  function begin(work: Generator<unknown, void>): void {
    drive(work, () => {
      core.ended = true;
      core.milliseconds = core.clock() - core.began;
    });
  }

  /** A rejection is thrown into the generator. Synchronous work ends before this returns. */
  function drive(work: Generator<unknown, unknown>, done: () => void): void {
    const { era } = core;
    const advance = (failed: boolean, value: unknown): void => {
      for (;;) {
        const step = failed ? work.throw(value) : work.next(value);
        if (step.done) return done();
        failed = false;
        value = step.value;
        if (value === null || (typeof value !== "object" && typeof value !== "function")) continue;
        let settled = false;
        const resume = (isError: boolean) => (result: unknown) => {
          if (!settled && era === core.era) {
            settled = true;
            advance(isError, result);
          }
        };
        try {
          if (typeof (value as { then?: unknown }).then === "function") {
            core.part<Promises>("promise").subscribe(value as PromiseLike<unknown>, resume(false), resume(true));
            return;
          }
          if (isGenerator(std, value)) throw new std.TypeError("it is a generator function: its body did not run");
        } catch (error) {
          failed = true;
          value = error;
        }
      }
    };
    advance(false, undefined);
  }

  guard.prototype = runBody.prototype = wrapUp.prototype = cleanUp.prototype = late.prototype = goOn.prototype = core.std.generator;

  return {
    drive,
    guard,
    runBody,
    cleanUp,
    begin,
    resume: () => begin(goOn()),

    settle: (t, result) => begin(runBody(t, () => result)),

    thrown: (t, error) =>
      begin(
        runBody(t, () => {
          throw error;
        }),
      ),
  };
}
