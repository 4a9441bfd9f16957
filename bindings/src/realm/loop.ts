/** `poll` of a test that has not ended or has made promises: reports rejections, then runs at most one timer. */

import type { Core } from "../core-state";
import type { Flow } from "./flow";
import type { Recorder } from "../check/record";

export default function (core: Core) {
  /** Returns -1 if the test has ended, NaN if it is deadlocked, else the milliseconds to wait. `made`: the loaded parts. */
  return (made: { promise?: unknown; timers?: unknown }): number => {
    if (made.promise) core.part<{ report(): void }>("promise").report();
    const { settling } = core;
    let wait = -1;
    try {
      if (settling && !core.timers?.fire(settling.of)) {
        core.settling = undefined;
        settling.done();
      }
      if (settling) return 0;
      if (core.ended) {
        if (!core.timers?.hasLate()) return -1;
        core.ended = false;
        core.part<Flow>("flow").resume();
        return 0;
      }
      if (made.timers) wait = core.part<{ poll(now: number): number }>("timers").poll(core.now());
      if (wait > 0 && core.stands) return core.stands(wait);
    } catch (error) {
      core.part<Recorder>("record").record(error, "uncaught exception");
      return 0;
    }
    return wait < 0 ? (core.ended ? 0 : NaN) : wait;
  };
}
