/**
 * A `Promise` that knows which rejections nobody handled.
 *
 * The engine offers no hook for unhandled rejections, so scripts get this subclass as their `Promise`; the compiler
 * turns `async` functions into calls of it. A promise counts as handled from its first `then`.
 */

import type { Core } from "../core";
import type { Recorder } from "./record";

type Settle = (value: unknown) => void;

export default function (core: Core) {
  const { std } = core;
  const rejections = std.list<{ promise: object; reason: unknown }>();
  const handled = new std.WeakSet<object>();
  const settledPromise = new std.Promise<void>((resolve) => resolve());

  const isHandled = (promise: object) => std.weakHas(handled, promise);
  const note = (promise: object, reason: unknown): void => {
    if (!isHandled(promise)) rejections[rejections.length] = { promise, reason };
  };

  class TrackedPromise extends std.Promise<unknown> {
    constructor(executor: (resolve: Settle, reject: Settle) => void) {
      let promise: TrackedPromise | undefined;
      let early: { reason: unknown } | undefined;
      let settled = false;
      super((resolve: Settle, reject: Settle) => {
        const fail: Settle = (reason) => {
          reject(reason);
          if (promise) note(promise, reason);
          else early = { reason };
        };
        const adopt: Settle = (value) => {
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
              value.then(once(adopt), reject);
            } catch (error) {
              reject(error);
            }
          });
        };
        const first = (settle: Settle): Settle => (value) => {
          if (!settled) {
            settled = true;
            settle(value);
          }
        };
        const rejectFirst = first(fail);
        try {
          executor(first(adopt), rejectFirst);
        } catch (error) {
          rejectFirst(error);
        }
      });
      promise = this;
      if (early) note(this, early.reason);
    }

    override then(done?: unknown, failed?: unknown): Promise<never> {
      std.weakAdd(handled, this);
      return std.then(this, done as never, failed as never) as Promise<never>;
    }
  }
  std.define(TrackedPromise, "name", { __proto__: null, value: "Promise", configurable: true } as PropertyDescriptor);

  /** Whether a value is awaited rather than taken as it is. Its `then` may throw. */
  function isThenable(value: unknown): value is PromiseLike<unknown> {
    return value !== null && (typeof value === "object" || typeof value === "function") && typeof (value as { then?: unknown }).then === "function";
  }

  return {
    Promise: TrackedPromise,
    isThenable,

    /** Calls one of the two when `value` is settled; a script's promise then counts as handled. */
    subscribe(value: PromiseLike<unknown>, done: Settle, failed: Settle): void {
      if (value instanceof TrackedPromise) {
        std.weakAdd(handled, value);
        std.then(value, done as never, failed as never);
      } else {
        value.then(done, failed);
      }
    },

    /** Fails the running test for each rejection that is still unhandled; called when no promise job is queued. */
    report(): void {
      for (let i = 0; i < rejections.length; i++) {
        const { promise, reason } = rejections[i];
        if (!isHandled(promise)) core.part<Recorder>("record").record(reason, "unhandled rejection");
      }
      rejections.length = 0;
    },
  };
}
