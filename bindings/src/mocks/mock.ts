/**
 * `t.mock`: replaces processes, agents, HTTP requests, commands, the clock and random numbers for the running test.
 *
 * This part makes the mocks and records their calls. The part "mocked" finds the mock that answers a call.
 */

import { isGenerator } from "../assert/support";
import { type Result, resultText, valueOf } from "../border";
import { copy } from "../copy";
import type { Mock, Mocks } from "../kernel";
import type { Core } from "../core-state";
import type { Clock } from "./clock";
import { millisecondsOf } from "../durations";
import { codeOf, describeError } from "../errors";
import type { HttpFinder } from "./mocked-http";
import type { Random } from "./random";
import type { WorldSender } from "./world-state";

interface Call {
  /** The name of a process, the id of an agent, `METHOD url`, or a command. */
  name: string;
  args: unknown[];
  result?: unknown;
  error?: unknown;
}

/** What `t.mock.process` and the others return. */
interface Recorder {
  calls: Call[];
  readonly count: number;
  readonly last: Call | undefined;
  /** Forgets the calls so far. */
  reset(): void;
  /** Ends the mock. */
  restore(): void;
}

/** How many different names of calls are counted. */
const most = 1000;

/** The prefix of the names of calls in the ledger. */
const prefixes: Partial<Record<keyof Mocks, string>> = { agent: "agents.", exec: "exec " };

/** How deep a mock may call itself. */
const depthLimit = 50;

type Reply = (this: unknown, ...args: unknown[]) => unknown;

export default function (core: Core) {
  const restorers = new Set<() => void>();
  const world = () => core.part<WorldSender>("world-state");
  let last = 0;

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

  function add(kind: keyof typeof core.mocks, pattern: unknown, given: unknown): Recorder {
    if (kind === "exec" && pattern instanceof RegExp) pattern = String(pattern);
    if (typeof pattern !== "string" || !pattern.trim()) {
      const got = typeof pattern === "string" ? "an empty text" : typeof pattern;
      throw new TypeError(`t.mock.${kind} takes a name or a pattern as its first argument, not ${got}`);
    }
    if ((kind === "http" || kind === "exec") && typeof given !== "function")
      core.part<HttpFinder>(`mocked-${kind}`).check(pattern, given);
    const reply = typeof given === "function" ? (given as Reply) : () => given;
    const list = core.mocks[kind];
    let depth = 0;
    const mock: Mock = {
      pattern,
      number: ++last,
      reply(this: unknown, ...args: unknown[]): unknown {
        const call: Call = { name: String((this as Partial<Call> | undefined)?.name ?? pattern), args: copy(args) };
        record.calls.push(call);
        if (!mock.asks) note((prefixes[kind] ?? "") + call.name);
        try {
          if (++depth > depthLimit) throw new RangeError(`the reply of t.mock.${kind}("${pattern}") calls what it answers, and so itself, more than ${depthLimit} deep`);
          const text = resultText(core, settled(call.name, mock.asks ? reply.apply(call, args) : reply(...args)));
          call.result = valueOf(core, JSON.parse(text) as Result);
          return valueOf(core, JSON.parse(text) as Result);
        } catch (error) {
          call.error = error;
          throw thrown(error);
        } finally {
          depth--;
        }
      },
    };
    list.push(mock);
    world().send();
    const record = recorder(() => {
      const at = list.indexOf(mock);
      if (at >= 0) list.splice(at, 1);
      world().send();
    });
    return record;
  }

  /** What the caller of a process gets of an error that it throws: an Exception. */
  function thrown(error: unknown): unknown {
    if (core.isStop(error) || error instanceof core.Exception) return error;
    const { message, stack: value } = describeError(core, error);
    const exception = new core.Exception(message, codeOf(core, error).code);
    if (value) Object.defineProperty(exception, "stack", { value, writable: true, configurable: true });
    return exception;
  }

  /** What a function has returned. The caller of a process waits for a promise. */
  function settled(name: string, value: unknown): unknown {
    if (isGenerator(core.std, value)) throw new TypeError("it is a generator function: its body did not run");
    if (typeof (value as { then?: unknown } | null | undefined)?.then !== "function") return value;
    return core.part<(name: string, value: unknown) => unknown>("awaited")(name, value);
  }

  /** Counts a call that a mock has answered. */
  function note(name: string): void {
    const mocked = (core.mocked ??= new core.std.Map<string, number>());
    const known = name.split("?")[0];
    if (mocked.size < most || mocked.has(known)) mocked.set(known, (mocked.get(known) ?? 0) + 1);
  }

  /** The mocks of the clock. The last one applies. */
  const clocks: { time: number }[] = [];
  const clock = () => core.part<Clock>("clock");

  /** Moves the clock; stops it first if it is running. */
  function advance(by: unknown): void {
    const milliseconds = millisecondsOf(by);
    if (!clocks.length) stop(Math.ceil(core.now())); // rounded up, so that it is never before the last `Date`
    clock().advance(milliseconds);
    clocks[clocks.length - 1].time = clock().stands!;
  }

  function stop(time: number): Recorder {
    const stopped = { time };
    clocks.push(stopped);
    clock().set(time);
    return recorder(() => {
      const at = clocks.indexOf(stopped);
      if (at >= 0) clocks.splice(at, 1);
      clock().set(clocks[clocks.length - 1]?.time);
    });
  }

  function timeOf(instant: unknown): number {
    const { Date } = core.std;
    const time =
      instant instanceof Date
        ? instant.getTime()
        : typeof instant === "string" || typeof instant === "number"
          ? new Date(instant).getTime()
          : NaN;
    if (Number.isNaN(time))
      throw new TypeError(
        `t.mock.now takes an ISO time, a Date or milliseconds, not ${typeof instant === "number" ? instant : (JSON.stringify(instant) ?? typeof instant)}`,
      );
    return time;
  }

  return {
    /** Answers calls of processes whose name matches; upper and lower case are the same. `*` stands for any characters. */
    process: (pattern: unknown, reply?: unknown) => add("process", pattern, reply),

    /** Answers calls of an agent: with a text, an answer, its data, or what `(messages, options)` returns. */
    agent: (id: unknown, reply?: unknown) => add("agent", id, reply),

    /**
     * Answers requests whose `url` or `METHOD url` matches: with a body, with `{status, code, data, headers, lines,
     * message}`, or with what a function `(request)` returns.
     */
    http: (pattern: unknown, response?: unknown) => add("http", pattern, response),

    /**
     * Answers commands of `ctx.computer.Exec`: with the output, with `{stdout, stderr, exit_code, delay}`, or with what a
     * function `(argv, command)` returns.
     */
    exec: (pattern: unknown, reply?: unknown) => add("exec", pattern, reply),

    /** Stops the clock at a time, for the test and all that it calls. `advance` moves it. Limits still use the real time. */
    now(instant: unknown = Math.ceil(core.now())): Recorder & { advance(by: unknown): void } {
      const record = stop(timeOf(instant));
      return Object.defineProperties({ advance } as never, Object.getOwnPropertyDescriptors(record));
    },

    /** Moves the clock by milliseconds or a duration such as `"1h30m"`, and runs the timers that fall due, in order. */
    advance,

    /** Seeds `Math.random` and the random values of the host, so that they are the same in every run. */
    random(seed: unknown = 1): Recorder {
      if (typeof seed !== "string" && (typeof seed !== "number" || !Number.isFinite(seed)))
        throw new TypeError(`t.mock.random takes a number or a string as its seed, not ${typeof seed}`);
      core.part<Random>("random").seed(String(seed));
      return recorder(() => core.part<Random>("random").restore());
    },

    /** Ends all mocks. */
    restore(): void {
      for (const end of [...restorers]) end();
    },
  };
}
