/**
 * `setTimeout` and its siblings, driven by the host: one `poll` runs at most one callback, so that promise jobs run
 * between two of them. Time is `kernel.now()`; `t.mock.now` does not move it.
 */

import type { Kernel } from "../kernel";

interface Timer {
  id: number;
  due: number;
  /** milliseconds between two runs; -1 runs once */
  period: number;
  run: (...args: unknown[]) => unknown;
  args: unknown[];
}

export default function (kernel: Kernel) {
  /** Sorted by due time, then by creation. */
  const queue: Timer[] = [];
  const alive = new Set<number>();
  let lastId = 0;

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
    enqueue({ id, due: kernel.now() + wait, period: repeat ? wait : -1, run: run as Timer["run"], args });
    return id;
  }

  function clear(id: unknown): void {
    alive.delete(Number(id));
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
        queue.shift();
        if (timer.period < 0) {
          alive.delete(timer.id);
        } else {
          timer.due = now + timer.period;
          enqueue(timer);
        }
        timer.run(...timer.args);
        return 0;
      }
      const following = next();
      return following ? Math.max(0, following.due - kernel.now()) : -1;
    },
  };
}
