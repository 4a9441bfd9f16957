/**
 * A `Promise` that knows which rejections nobody handled.
 *
 * The engine offers no hook for unhandled rejections, so scripts get this subclass as their `Promise`; the compiler
 * turns `async` functions into calls of it. A promise counts as handled from its first `then`.
 */

import { std } from "./std";

type Settle = (value: unknown) => void;

const rejections: { promise: unknown; reason: unknown }[] = [];
const handled = new std.WeakSet<object>();
const hasHandled = WeakSet.prototype.has;
const addHandled = WeakSet.prototype.add;

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    (typeof value === "object" || typeof value === "function") &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

export class TrackedPromise extends std.Promise<unknown> {
  constructor(executor: (resolve: Settle, reject: Settle) => void) {
    let promise: TrackedPromise | undefined;
    let reason: { value: unknown } | undefined;
    let settled = false;
    super((resolve: Settle, reject: Settle) => {
      const fail: Settle = (value) => {
        reject(value);
        if (promise) note(promise, value);
        else reason = { value };
      };
      const adopt: Settle = (value) => {
        let thenable = false;
        try {
          thenable = isThenable(value);
        } catch (error) {
          return fail(error);
        }
        if (!thenable) return resolve(value);
        let answered = false;
        const once = (settle: Settle): Settle => (result) => {
          if (!answered) {
            answered = true;
            settle(result);
          }
        };
        std.then(nothing, () => {
          const reject = once(fail);
          try {
            (value as PromiseLike<unknown>).then(once(adopt), reject);
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
      if (typeof executor !== "function") throw new std.TypeError("Promise takes a function");
      const reject2 = first(fail);
      try {
        executor(first(adopt), reject2);
      } catch (error) {
        reject2(error);
      }
    });
    promise = this;
    if (reason) note(this, reason.value);
  }

  override then<A, B>(
    done?: ((value: unknown) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    markHandled(this);
    return std.then(this, done ?? undefined, failed ?? undefined) as Promise<A | B>;
  }
}
std.define(TrackedPromise, "name", { value: "Promise", configurable: true });

const nothing = new std.Promise<void>((resolve) => resolve());

function note(promise: object, reason: unknown): void {
  if (!std.apply(hasHandled, handled, [promise])) rejections[rejections.length] = { promise, reason };
}

function markHandled(promise: object): void {
  std.apply(addHandled, handled, [promise]);
}

/** Calls one of the two when `value` is settled; a script's promise then counts as handled. */
export function subscribe(value: PromiseLike<unknown>, done: Settle, failed: Settle): void {
  if (value instanceof TrackedPromise) {
    markHandled(value);
    std.then(value, done, failed);
  } else {
    value.then(done, failed);
  }
}

/** The reasons of rejections that are still unhandled; to be asked when no promise job is queued. Clears them. */
export function takeUnhandled(): unknown[] {
  const reasons: unknown[] = [];
  for (let i = 0; i < rejections.length; i++) {
    const { promise, reason } = rejections[i];
    if (!std.apply(hasHandled, handled, [promise])) reasons[reasons.length] = reason;
  }
  rejections.length = 0;
  return reasons;
}
