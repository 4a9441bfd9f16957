/** Replaces `Date` by a proxy with another time, for mocks and for timers that are fired early. */

import type { Core } from "../core-state";

export interface Dates {
  /** Replaces `Date` by a proxy whose time is `current()`. Returns a function that restores it. */
  replace(current: () => number): () => void;
  /** Makes the time of `Date` the real time plus `Core.ahead`, unless `Date` is replaced already. */
  moved(): void;
  /** Undoes `moved`. */
  restored(): void;
}

export default function (core: Core): Dates {
  const { std } = core;
  const realNow = std.Date.now;
  let restore: (() => void) | undefined;

  function setConstructor(value: DateConstructor): void {
    Object.defineProperty(value.prototype, "constructor", { value, writable: true, configurable: true });
  }

  function replace(current: () => number): () => void {
    const real = globalThis.Date;
    const standIn = new Proxy(real, {
      construct: (target, args, newTarget) => Reflect.construct(target, args.length ? args : [current()], newTarget) as object,
      apply: () => String(new real(current())),
      get: (target, key) => (key === "now" ? current : (Reflect.get(target, key) as unknown)),
    });
    globalThis.Date = standIn;
    setConstructor(standIn);
    return () => {
      globalThis.Date = real;
      setConstructor(real);
    };
  }

  return {
    replace,
    moved(): void {
      if (!restore && globalThis.Date === std.Date) restore = replace(() => realNow() + Math.ceil(core.ahead));
    },
    restored(): void {
      restore?.();
      restore = undefined;
    },
  };
}
