/**
 * `setTimeout` and the like. The worker calls `poll`, which runs at most one callback, so that promise jobs run between two
 * callbacks. The time is `kernel.now()`, which `t.mock.now` stops and `t.mock.advance` moves.
 *
 * When a test function has settled, nobody waits for the timers that it left. `fire` runs those that fall due within
 * `window`, one after the other, and moves the time ahead to each. Intervals and later timers do not run, nor does any after
 * `bound` timers.
 */

import { bounded } from "../bounded";
import { engineStack } from "../errors";
import type { Core, T, Timer } from "../core-state";
import type { Recorder } from "../check/record";

/** Milliseconds after the test function has settled. */
const window = 1000;
/** Most timers that are fired after one function. */
const bound = 1000;

interface Clock {
  /** Moves the time of `Date` ahead by `kernel.ahead`. */
  moved(): void;
  /** Undoes `moved`. */
  restored(): void;
}

export default function (kernel: Core) {
  /** Sorted by due time, then by the order in which they were set. */
  const queue: Timer[] = [];
  const alive = new Set<number>();
  let lastId = 0;
  /** Whether a callback is running. */
  let inside = false;

  function enqueue(timer: Timer): void {
    let low = 0;
    let high = queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (queue[middle].due <= timer.due) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, timer);
  }

  /** As on the web, a delay becomes a 32-bit integer. NaN and negative numbers count as 0; an interval is at least 1 ms. */
  function add(name: string, run: unknown, delay: unknown, args: unknown[], repeat: boolean): number {
    if (typeof run !== "function")
      throw new TypeError(`${name} takes a function as its first argument, not ${typeof run}`);
    const wait = Math.max(repeat ? 1 : 0, Number(delay) | 0);
    const id = ++lastId;
    alive.add(id);
    kernel.left++;
    const period = repeat ? wait : -1;
    const here = engineStack(kernel, new kernel.std.Error());
    const stack = inside ? bounded(kernel.std, here + kernel.origin!) : here;
    const owner = kernel.current as T | undefined;
    enqueue({ id, due: kernel.now() + wait, period, run: run as Timer["run"], args, wait, stack, owner, ahead: kernel.ahead > 0 });
    return id;
  }

  function clear(id: unknown): void {
    if (alive.delete(Number(id))) kernel.left--;
  }

  /** Runs the callback of a timer as code of the test that set it. */
  function run({ run, args, owner, stack }: Timer): void {
    const { current } = kernel;
    kernel.current = owner ?? current;
    kernel.origin = stack;
    inside = true;
    kernel.fired = (kernel.fired ?? 0) + 1;
    try {
      run(...args);
    } finally {
      kernel.current = current;
      inside = false;
    }
  }

  /** Timers up to this time are fired; NaN while `fire` is not at work. */
  let until = NaN;
  let fired = 0;

  function isOf(timer: Timer, owner: T | undefined): boolean {
    if (!owner) return true;
    let t = timer.owner;
    while (t && t !== owner) t = kernel.stateOf(t).parent;
    return !!t;
  }

  function late(owner: T | undefined, latest: number): Timer | undefined {
    for (let i = 0; i < queue.length && queue[i].due <= latest; i++) {
      const timer = queue[i];
      if (alive.has(timer.id) && timer.period < 0 && !timer.passed && isOf(timer, owner)) return timer;
    }
    return undefined;
  }

  function fire(owner: T | undefined): boolean {
    if (until !== until) until = kernel.now() + window;
    const timer = late(owner, until);
    if (!timer || fired === bound) {
      settle(owner, timer ? "bound" : "later");
      return false;
    }
    fired++;
    kernel.late = "after the test function ended";
    const early = timer.due - kernel.now();
    if (early > 0) {
      kernel.ahead += early;
      kernel.part<Clock>("date").moved();
    }
    queue.splice(queue.indexOf(timer), 1);
    clear(timer.id);
    run(timer);
    return true;
  }

  /** Ends the firing: sets the time back to the real time. Timers that `owner` still has will not be fired. */
  function settle(owner: T | undefined, passed: Timer["passed"]): void {
    for (let i = 0; i < queue.length; i++) {
      const timer = queue[i];
      if (timer.period < 0 && isOf(timer, owner)) timer.passed ??= passed === "bound" && timer.due <= until ? passed : "later";
      if (timer.ahead) timer.due -= kernel.ahead;
      timer.ahead = false;
    }
    queue.sort((a, b) => a.due - b.due || a.id - b.id);
    if (kernel.ahead) kernel.part<Clock>("date").restored();
    until = NaN;
    fired = kernel.ahead = 0;
    kernel.late = undefined;
  }

  kernel.timers = {
    fire,
    hasLate: () => late(undefined, kernel.now() + window) !== undefined,
    left() {
      const found = kernel.std.list<Timer>();
      for (let i = 0; i < queue.length; i++) if (alive.has(queue[i].id)) found[found.length] = queue[i];
      return found;
    },
    shift(milliseconds) {
      for (let i = 0; i < queue.length; i++) queue[i].due += milliseconds;
    },
    advance(until, put, jobs) {
      for (let timer = next(); timer && timer.due <= until; timer = next()) {
        if (timer.due > kernel.now()) put(timer.due);
        try {
          take(timer, timer.due);
        } catch (error) {
          kernel.part<Recorder>("record").record(error, "uncaught exception");
        }
        jobs();
      }
    },
  };

  /** Runs a timer that is due, the first in the queue. */
  function take(timer: Timer, now: number): void {
    queue.shift();
    if (timer.period < 0) {
      clear(timer.id);
    } else {
      timer.due = now + timer.period;
      enqueue(timer);
    }
    run(timer);
  }

  /** The first timer in the queue, after removing cancelled ones. */
  function next(): Timer | undefined {
    while (queue.length && !alive.has(queue[0].id)) queue.shift();
    return queue[0];
  }

  return {
    globals: {
      setTimeout: (run: unknown, delay?: unknown, ...args: unknown[]) => add("setTimeout", run, delay, args, false),
      setInterval: (run: unknown, delay?: unknown, ...args: unknown[]) => add("setInterval", run, delay, args, true),
      setImmediate: (run: unknown, ...args: unknown[]) => add("setImmediate", run, 0, args, false),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    },

    /**
     * Runs the first timer that is due, if there is one. Throws what its callback throws.
     *
     * @returns 0 if a callback has run (it may have queued promise jobs), -1 if no timer is left, otherwise the
     *   milliseconds until the next one
     */
    poll(now: number): number {
      const timer = next();
      if (timer && timer.due <= now) {
        take(timer, now);
        return 0;
      }
      const following = next();
      return following ? Math.max(0, following.due - kernel.now()) : -1;
    },
  };
}
