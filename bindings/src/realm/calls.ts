/**
 * What few tests need of calls of asynchronous functions: generators, races, and where calls wait and who made them, which
 * is told when a test fails or leaves something unfinished. `promise.ts` keeps the calls themselves.
 */

import type { Core } from "../core";
import type { Call, Executor, Settle } from "./promise";

export interface MoreOfCalls {
  /** Has the promises that `work` gives a `then` count as awaited. */
  race<V>(work: () => V): V;
  /** The promise of the next value of an asynchronous generator. */
  next(executor: Executor): object;
  /** Who called the code that runs, as lines of a stack, where the engine's own ends at an `await`. */
  callers(): string;
  /** The calls that a promise waits for, each waiting for the next. */
  waiting(promise: unknown): Call[];
}

export default function (core: Core): MoreOfCalls {
  const { std } = core;
  const calls = core.calls!;

  return {
    race(work) {
      calls.racing = true;
      try {
        return work();
      } finally {
        calls.racing = false;
      }
    },

    next(executor) {
      const call = calls.started(true);
      const end = (settle: Settle) => (value: unknown) => {
        calls.ended(call);
        settle(value);
      };
      const promise = new calls.Promise((resolve: Settle, reject: Settle) => executor(end(resolve), end(reject)));
      calls.known(promise, call);
      return promise;
    },

    callers() {
      let text = "";
      for (let call = calls.running; call && text.length < 4000; call = call.caller) {
        const lines = std.split(call.stack, "\n");
        for (let at = 0; at < lines.length; at++) {
          if (std.indexOf(lines[at], "    at __async (") === 0) at++; // the function itself, whose code is told already
          else if (lines[at]) text += lines[at] + "\n";
        }
      }
      return text;
    },

    waiting(promise) {
      const found = std.list<Call>();
      while (found.length < 50) {
        const call = std.weakGet(calls.of, promise) as Call | undefined;
        if (!call?.wake) break;
        found[found.length] = call;
        promise = call.waits;
      }
      return found;
    },
  };
}
