/**
 * `setTimeout` and its siblings, driven by the host: one `poll` runs at most one callback, so that promise jobs run
 * between two of them. Time is `kernel.now()`, which `t.mock.now` stops and `t.mock.advance` moves.
 *
 * When a test function has settled, what it has left is not waited for: `fire` runs one timer after the other that falls
 * due within `window`, and time is ahead of the real one meanwhile. Intervals, later timers and all beyond `bound` stay.
 */

import { bounded } from "../bounded";
import type { Core, T } from "../core";
import type { Recorder } from "../check/record";

/** Milliseconds from the moment at which the test function has settled. */
const window = 1000;
/** How many timers are fired after one function. */
const bound = 1000;

export interface Timer {
  id: number;
  due: number;
  /** milliseconds between two runs; -1 runs once */
  period: number;
  run: (...args: unknown[]) => unknown;
  args: unknown[];
  /** Milliseconds that it was set for. */
  wait: number;
  /** Where it was set, and for one that a callback has set, where that one's timer was. */
  stack: string;
  /** The test or subtest that set it. */
  owner: T | undefined;
  /** Why it has been passed over: its time is too far off, or too many were fired before it. */
  passed?: "later" | "bound";
  /** Whether `due` is in the time that is ahead. */
  ahead: boolean;
}

export interface Timers {
  /** Whether `fire` would fire one. */
  hasLate(): boolean;
  /**
   * Fires the next timer that a function has left, of `owner` and its subtests if given; what its callback throws is
   * thrown. Answers false when there is none, and time is the real one again.
   */
  fire(owner: T | undefined): boolean;
  /** Those that are set, in the order in which they fall due. */
  left(): Timer[];
  /** Moves the times at which timers fall due, for a clock that jumps. */
  shift(milliseconds: number): void;
  /** Runs all that fall due until a time, in order: `put` is told each time, and `jobs` is called after each. */
  advance(until: number, put: (time: number) => void, jobs: () => void): void;
}

interface Clock {
  /** Makes `Date` tell a time that is so much ahead. */
  moved(): void;
  restored(): void;
}

export default function (kernel: Core) {
  /** Sorted by due time, then by creation. */
  const queue: Timer[] = [];
  const alive = new Set<number>();
  let lastId = 0;
  /** Whether a callback runs. */
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

  /** Delays are whole milliseconds of 32 bits, as on the web: `NaN`, negative and huge ones count as 0. */
  function add(name: string, run: unknown, delay: unknown, args: unknown[], repeat: boolean): number {
    if (typeof run !== "function")
      throw new TypeError(`${name} takes a function as its first argument, not ${typeof run}`);
    const wait = Math.max(repeat ? 1 : 0, Number(delay) | 0);
    const id = ++lastId;
    alive.add(id);
    kernel.left++;
    const period = repeat ? wait : -1;
    const here = (new kernel.std.Error() as { stack: string }).stack;
    const stack = inside ? bounded(kernel.std, here + kernel.origin!) : here;
    const owner = kernel.current as T | undefined;
    enqueue({ id, due: kernel.now() + wait, period, run: run as Timer["run"], args, wait, stack, owner, ahead: kernel.ahead > 0 });
    return id;
  }

  function clear(id: unknown): void {
    if (alive.delete(Number(id))) kernel.left--;
  }

  /** Runs its callback as work of the test that has set it. */
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

  /** When the timers that are fired late fall due at the latest; NaN while none are. */
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
    kernel.late = "after the test function had ended";
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

  /** Ends the firing: time is the real one again, and what is left of `owner` is fired no more. */
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

  /** Drops cancelled timers from the front of the queue. */
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
     * Runs the first timer that is due, if any; what its callback throws is thrown.
     *
     * @returns 0 when a callback has run (it may have queued promise jobs), -1 when no timer is left, else the
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
