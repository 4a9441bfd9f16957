/**
 * `t.mock`: answers in the place of processes, agents, HTTP and the clock, for the running test.
 *
 * This part makes the mocks and records their calls; the part "mocked" finds the one that answers a call.
 */

import { copy } from "../copy";
import type { Kernel, Mock } from "../kernel";
import type { Dates } from "../realm/date";
import type { HttpFinder } from "./mocked-http";

interface Call {
  /** What was called: a process name, an agent id, `METHOD url`. */
  name: string;
  args: unknown[];
  result?: unknown;
  error?: unknown;
}

/** What each `t.mock.*` returns. */
interface Recorder {
  calls: Call[];
  readonly count: number;
  readonly last: Call | undefined;
  /** Forgets the calls so far. */
  reset(): void;
  /** Ends the mock. */
  restore(): void;
}

type Reply = (...args: unknown[]) => unknown;

export default function (kernel: Kernel) {
  const restorers = new Set<() => void>();

  function recorder(restore: () => void): Recorder {
    const calls: Call[] = [];
    const end = () => {
      restorers.delete(end);
      restore();
    };
    restorers.add(end);
    return {
      calls,
      get count() {
        return calls.length;
      },
      get last() {
        return calls[calls.length - 1];
      },
      reset: () => void (calls.length = 0),
      restore: end,
    };
  }

  function add(kind: keyof typeof kernel.mocks, pattern: unknown, given: unknown): Recorder {
    if (typeof pattern !== "string" || !pattern.trim()) {
      throw new TypeError(`t.mock.${kind} takes a name or a pattern as its first argument, not ${typeof pattern}`);
    }
    if (kind === "http" && typeof given !== "function") kernel.part<HttpFinder>("mocked-http").check(pattern, given);
    const reply = typeof given === "function" ? (given as Reply) : () => copy(given);
    const list = kernel.mocks[kind];
    const mock: Mock = {
      pattern,
      reply(this: unknown, ...args: unknown[]): unknown {
        const call: Call = { name: String((this as Partial<Call> | undefined)?.name ?? pattern), args: copy(args) };
        record.calls.push(call);
        try {
          const result = reply(...args) ?? null;
          if (typeof (result as { then?: unknown } | null)?.then === "function") {
            throw new kernel.Exception(
              `The mock of ${JSON.stringify(pattern)} answers with a promise, but such a call does not wait: reply without async`,
            );
          }
          call.result = copy(result);
          return result;
        } catch (error) {
          call.error = error;
          throw error;
        }
      },
    };
    list.push(mock);
    const record = recorder(() => {
      const at = list.indexOf(mock);
      if (at >= 0) list.splice(at, 1);
    });
    return record;
  }

  /** The clock mocks, newest last; while there is one, `Date` is a stand-in that reads the newest. */
  const clocks: { time: number }[] = [];
  let restoreDate: (() => void) | undefined;

  function timeOf(instant: unknown): number {
    const { Date } = kernel.std;
    const time =
      instant instanceof Date
        ? instant.getTime()
        : typeof instant === "string" || typeof instant === "number"
          ? new Date(instant).getTime()
          : NaN;
    if (Number.isNaN(time))
      throw new TypeError(
        `t.mock.now takes an ISO time, a Date or milliseconds, not ${JSON.stringify(instant) ?? typeof instant}`,
      );
    return time;
  }

  return {
    /** Answers processes whose name matches, in any case; `*` stands for any run of characters. */
    process: (pattern: unknown, reply?: unknown) => add("process", pattern, reply),

    /** Answers calls of an agent: with a text, parts of an answer, its data, or `(messages, options) => either`. */
    agent: (id: unknown, reply?: unknown) => add("agent", id, reply),

    /** Answers requests whose `url` or `METHOD url` matches: with a text, `{status, data, headers, lines, message}`, or `(request) => either`. */
    http: (pattern: unknown, response?: unknown) => add("http", pattern, response),

    /** Fixes the time that `Date` tells; `advance(ms)` moves it. Timers, `performance.now` and limits keep the real time. */
    now(instant: unknown = kernel.now()): Recorder & { advance(milliseconds: number): void } {
      const clock = { time: timeOf(instant) };
      clocks.push(clock);
      restoreDate ??= kernel.part<Dates>("date").replace(() => clocks[clocks.length - 1].time);
      const record = recorder(() => {
        const at = clocks.indexOf(clock);
        if (at >= 0) clocks.splice(at, 1);
        if (clocks.length) return;
        restoreDate?.();
        restoreDate = undefined;
      });
      const advance = (milliseconds: number) => {
        clock.time += timeOf(milliseconds);
      };
      return Object.defineProperties({ advance } as never, Object.getOwnPropertyDescriptors(record));
    },

    /** Ends all mocks. */
    restore(): void {
      for (const end of [...restorers]) end();
    },
  };
}
