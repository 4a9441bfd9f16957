/** A stand-in for `Date` that tells another time than the real one, for mocks and for timers that are fired early. */

import type { Core } from "../core";

export interface Dates {
  /** Puts a stand-in instead of `Date` that tells what `current` says; answers what takes it away again. */
  replace(current: () => number): () => void;
  /** Makes `Date` tell the time of `Core.now`, unless something else stands in its place. */
  moved(): void;
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
