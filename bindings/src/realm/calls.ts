/**
 * What only few tests need for calls of asynchronous functions: asynchronous generators, races, and the places where calls
 * wait and were made, which are shown if a test fails or leaves something unfinished. `promise.ts` has the list of calls.
 */

import type { Call, Core, Executor, Settle } from "../core-state";

export interface MoreOfCalls {
  /** Runs `work`. Promises whose `then` it calls count as awaited. */
  race<V>(work: () => V): V;
  /** The promise of the next value of an asynchronous generator. */
  next(executor: Executor): object;
  /** What an asynchronous generator returns, before it has its methods. */
  iterator(): object;
  /** The callers of the running code, as lines of a stack. The engine's own stack ends at an `await`. */
  callers(): string;
  /** The chain of calls that a promise waits for. Each call waits for the next one. */
  waiting(promise: unknown): Call[];
}

export default function (core: Core): MoreOfCalls {
  const { std } = core;
  const calls = core.calls!;
  let prototype: object | undefined;

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

    iterator: () => Object.create(prototype ??= core.evaluate("Object.getPrototypeOf((async function* () {}).prototype)") as object) as object,

    callers() {
      let text = "";
      for (let call = calls.running; call && text.length < 4000; call = call.caller) {
        const lines = std.split(call.stack, "\n");
        for (let at = 0; at < lines.length; at++) {
          if (std.indexOf(lines[at], "    at __async (") === 0) at++; // the function itself, which is in the stack already
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
