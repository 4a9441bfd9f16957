/** Runs test functions and what belongs to them: awaiting, what they left open, cleanups. */

import type { Core, T } from "../core";
import type { Recorder } from "../check/record";

interface Promises {
  subscribe(value: PromiseLike<unknown>, done: (value: unknown) => void, failed: (reason: unknown) => void): void;
}

export interface Flow {
  drive(work: Generator<unknown, unknown>, done: () => void): void;
  guard(t: T, work: () => unknown, phase?: string): Generator<unknown, boolean>;
  runBody(t: T, body: () => unknown, between?: () => Generator<unknown, void>): Generator<unknown, void>;
  cleanUp(t: T): Generator<unknown, void>;
  begin(work: Generator<unknown, void>): void;
  /** Goes on after a test, or a call of another realm, that has left timers although it was over. */
  resume(): void;
  settle(t: T, result: unknown): void;
  thrown(t: T, error: unknown): void;
}

export default function (core: Core): Flow {
  const { std } = core;

  /** Whether a value is what a generator function answers; the compiler writes asynchronous ones in its own way. */
  function isGenerator(value: object): boolean {
    const { next, [std.Symbol.asyncIterator]: asynchronous } = value as { next?: unknown; [std.Symbol.asyncIterator]?: unknown };
    return typeof next === "function" && (std.tag(value) === "[object Generator]" || typeof asynchronous === "function");
  }

  /** Runs one function of the script; whether it neither threw nor stopped the test. */
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

  /** A test function with what it left open: see `wrapUp`. */
  function* runBody(t: T, body: () => unknown, between?: () => Generator<unknown, void>): Generator<unknown, void> {
    core.stateOf(t).between = between;
    yield* guard(t, body);
    yield* wrapUp(t);
  }

  /** Ends what a test has left: subtests and assertions under way, its timers, then `between`, then its cleanups. */
  function* wrapUp(t: T): Generator<unknown, void> {
    const state = core.stateOf(t);
    const { pending } = state;
    do {
      for (let i = 0; i < pending.length; i++) yield* guard(t, () => pending[i]);
      pending.length = 0;
      // where nothing follows, what is left is found when the test is over, which takes no round more
      if (state.between || state.cleanups.length || (t !== core.root && core.timers)) yield* late(t);
    } while (pending.length);
    yield* cleanUp(t);
  }

  /** The hook before the cleanups of a test, and these. */
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
   * Fires the timers that a function has left, with the promise jobs that follow; see `timers.ts`. A subtest leaves them to
   * its test when it is over at once, and when another one runs beside it, whose time must not be shortened.
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

  /**
   * Runs a generator to its end, awaiting each thenable it yields; a rejection is thrown into it. Synchronous work ends
   * before this returns.
   */
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
          if (isGenerator(value)) throw new std.TypeError("it is a generator function: its body did not run");
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

    /** Goes on after a test function that has returned something, or left something open. */
    settle: (t, result) => begin(runBody(t, () => result)),

    /** Goes on after a test function that has thrown. */
    thrown: (t, error) =>
      begin(
        runBody(t, () => {
          throw error;
        }),
      ),
  };
}
