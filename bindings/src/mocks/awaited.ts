/** Waits for the promise that a mock answers with, as the caller of a process waits for an asynchronous function. */

import type { Core } from "../core-state";
import type { Recorder } from "../check/record";
import type { Promises } from "../realm/flow";

export default function (core: Core) {
  /** Runs the next timer, when it is due. */
  function goOn(name: string): void {
    let wait = -1;
    try {
      if (core.timers) wait = core.part<{ poll(now: number): number }>("timers").poll(core.now());
    } catch (error) {
      core.part<Recorder>("record").record(error, "uncaught exception");
      return;
    }
    if (wait > 0 && core.stands) wait = core.stands(wait);
    if (wait > 0) core.sleep(wait);
    if (wait >= 0) return;
    throw new core.std.Error(core.standstill ?? `deadlock: the mock of ${name} waits for a promise that can never settle`);
  }

  /** The value of a promise, or what is no promise. Throws the reason of a rejection. */
  return (name: string, value: PromiseLike<unknown>): unknown => {
    let end: { value: unknown } | { reason: unknown } | undefined;
    core.part<Promises>("promise").subscribe(
      value,
      (value) => (end ??= { value }),
      (reason) => (end ??= { reason }),
    );
    for (;;) {
      core.bridge("jobs", "", "");
      if (end === undefined) goOn(name);
      else if ("value" in end) return end.value;
      else throw end.reason;
    }
  };
}
