/**
 * The `Promise` of scripts, which reports rejections that nobody handled.
 *
 * The engine has no hook for unhandled rejections. So scripts get this subclass as their `Promise`, and the compiler turns
 * `async` functions into calls of `__yaoAsync`. A promise counts as handled from its first `then`.
 *
 * Every asynchronous test loads this part, so it is small. What only asynchronous generators, races, failures and
 * unfinished calls need is in `calls.ts`.
 */

import type { Call, Calls, Core, Executor, Settle } from "../core-state";
import { engineStack } from "../errors";
import type { Awaits } from "./awaits";
import type { MoreOfCalls } from "./calls";
import type { Recorder } from "../check/record";

type Body = () => Generator<unknown, unknown>;

export default function (core: Core) {
  const { std } = core;
  const rejections = std.list<{ promise: object; reason: unknown }>();
  const handled = new std.WeakSet<object>();
  const settledPromise = new std.Promise<void>((resolve) => resolve());

  const isHandled = (promise: object) => std.weakHas(handled, promise);
  const note = (promise: object, reason: unknown): void => {
    if (!isHandled(promise)) rejections[rejections.length] = { promise, reason };
  };

  const traced = (reason: unknown): void => {
    if (typeof reason === "object") core.part<Awaits>("awaits").rejected(reason);
  };

  const list = std.list<Call>();
  const of = new std.WeakMap<object, Call>();
  let number = 0;
  const more = () => core.part<MoreOfCalls>("calls");
  /** true while nobody uses the promise that `then` returns, so that it can be a plain promise of the engine. */
  let quiet = false;

  function started(generator: boolean): Call {
    core.left++;
    return (list[list.length] = { stack: "", at: list.length, number: ++number, awaited: false, generator });
  }

  function ended({ at }: Call): void {
    const last = list[list.length - 1];
    list[(last.at = at)] = last;
    list.length--;
    core.left--;
  }

  /** Resolves a promise with a value, or with the result of a thenable. */
  function adopt(value: unknown, resolve: Settle, fail: Settle): void {
    try {
      if (!isThenable(value)) return resolve(value);
    } catch (error) {
      return fail(error);
    }
    let answered = false;
    const once = (settle: Settle): Settle => (result) => {
      if (!answered) {
        answered = true;
        settle(result);
      }
    };
    std.then(settledPromise, () => {
      const reject = once(fail);
      try {
        value.then(once((result) => adopt(result, resolve, fail)), reject);
      } catch (error) {
        reject(error);
      }
    });
  }

  class TrackedPromise extends std.Promise<unknown> {
    constructor(executor: (resolve: Settle, reject: Settle) => void) {
      let promise: TrackedPromise | undefined;
      let early: { reason: unknown } | undefined;
      let settled = false;
      super((resolve: Settle, reject: Settle) => {
        const fail: Settle = (reason) => {
          traced(reason);
          reject(reason);
          if (promise) note(promise, reason);
          else early = { reason };
        };
        const first = (settle: Settle): Settle => (value) => {
          if (!settled) {
            settled = true;
            settle(value);
          }
        };
        const rejectFirst = first(fail);
        try {
          executor(first((value) => adopt(value, resolve, fail)), rejectFirst);
        } catch (error) {
          rejectFirst(error);
        }
      });
      promise = this;
      if (early) note(this, early.reason);
    }

    override then(done?: unknown, failed?: unknown): Promise<never> {
      std.weakAdd(handled, this);
      if (calls.racing) awaited(this);
      return std.then(this, done as never, failed as never) as Promise<never>;
    }

    static override race(values: Iterable<unknown>): Promise<never> {
      return more().race(() => super.race(values)) as Promise<never>;
    }

    static override any(values: Iterable<unknown>): Promise<never> {
      return more().race(() => super.any(values)) as Promise<never>;
    }

    static override get [std.Symbol.species](): PromiseConstructor {
      return (quiet ? std.Promise : this) as PromiseConstructor;
    }
  }
  std.define(TrackedPromise, "name", { __proto__: null, value: "Promise", configurable: true } as PropertyDescriptor);
  const calls: Calls = (core.calls = { list, running: undefined, racing: false, of, started, ended, known, Promise: TrackedPromise });

  function awaited(promise: object): void {
    const call = std.weakGet(of, promise) as Call | undefined;
    if (call) call.awaited = true;
  }

  /** The awaited value as a promise. */
  function wait(value: unknown): object {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return std.resolve(std.Promise, value);
    const promise = std.resolve(TrackedPromise, value);
    awaited(promise);
    return promise;
  }

  let taken: { resolve: Settle; reject: Settle };
  const taking = [(resolve: Settle, reject: Settle) => void (taken = { resolve, reject })];

  /** Runs the code of an `async` function. It makes the promise without the constructor above, which would be slow. */
  function asynchronous(self: unknown, args: unknown, body: Body): object {
    const promise = std.construct(std.Promise, taking, TrackedPromise) as object;
    const { resolve, reject } = taken;
    let call: Call | undefined;
    let generator: Generator<unknown, unknown> | undefined;
    const owner = core.current;
    const fail = (reason: unknown) => {
      reject(reason);
      note(promise, reason);
    };
    const advance = (failed: boolean, value: unknown): void => {
      const { current } = core;
      const outer = calls.running;
      core.current = owner;
      calls.running = call ?? outer;
      try {
        const code = (generator ??= std.apply(body, self, (args ?? []) as unknown[]));
        if (failed && core.calls) traced(value); // without `calls`, time is up, and the error only finds out where the code waits
        const step = failed ? code.throw(value) : code.next(value);
        if (!step.done) {
          const waited = wait(step.value);
          call ??= started(false);
          call.waits = waited;
          call.wake = thrown;
          std.weakAdd(handled, waited);
          quiet = true;
          std.then(waited, next, thrown);
          quiet = false;
          core.current = current;
          calls.running = outer;
          return;
        }
        value = step.value;
        failed = false;
      } catch (error) {
        quiet = false;
        value = error;
        failed = true;
      }
      core.current = current;
      calls.running = outer;
      if (call) ended(call);
      if (failed) fail(value);
      else adopt(value, resolve, fail);
    };
    const next = (value: unknown) => advance(false, value);
    const thrown = (error: unknown) => advance(true, error);
    advance(false, undefined);
    if (call) known(promise, call);
    return promise;
  }

  function known(promise: object, call: Call): void {
    std.weakSet(of, promise, call);
    call.stack = engineStack(core, new std.Error());
    call.caller = calls.running;
  }

  /** Whether a value has a function `then`. Reading it may throw. */
  function isThenable(value: unknown): value is PromiseLike<unknown> {
    return value !== null && (typeof value === "object" || typeof value === "function") && typeof (value as { then?: unknown }).then === "function";
  }

  return {
    Promise: TrackedPromise,
    /** Called by compiled code. What it has besides is for asynchronous generators. */
    __yaoAsync: std.assign(asynchronous, { wait, next: (executor: Executor) => more().next(executor), iterator: () => more().iterator() }),
    isThenable,

    /** Calls `done` or `failed` when `value` is settled. A promise of a script then counts as handled. */
    subscribe(value: PromiseLike<unknown>, done: Settle, failed: Settle): void {
      if (value instanceof TrackedPromise) {
        std.weakAdd(handled, value);
        std.then(value, done as never, failed as never);
      } else {
        value.then(done, failed);
      }
    },

    /** Fails the running test for each unhandled rejection. Called when no promise job is queued. */
    report(): void {
      for (let i = 0; i < rejections.length; i++) {
        const { promise, reason } = rejections[i];
        if (!isHandled(promise)) core.part<Recorder>("record").record(reason, "unhandled rejection");
      }
      rejections.length = 0;
    },
  };
}
