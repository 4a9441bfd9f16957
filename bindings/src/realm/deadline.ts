/**
 * What becomes of a test whose time is up, or that waits for what nothing can settle: nothing of it is on the stack any more,
 * since the worker has stopped its code, or none was left to run. The worker takes these steps in this order.
 */

import { bounded } from "../bounded";
import type { Core, T } from "../core";
import type { MoreOfCalls } from "./calls";
import type { Flow } from "./flow";
import type { Call } from "./promise";
import type { Recorder } from "../check/record";

type Wait = { t: T; call: Call };

export default function (core: Core) {
  const { std } = core;
  const fail: Recorder["fail"] = (...args) => core.part<Recorder>("record").fail(...args);
  /** The test and its subtests that are under way, inner ones first. */
  let under: T[] | undefined;
  const waits = std.list<Wait>();
  const traces = new std.Map<T, string>();
  let woken: T;
  /** Whether cleaning up has begun: it does so once. */
  let abandoned = false;

  function collect(t: T, list: T[]): T[] {
    const { open } = core.stateOf(t);
    for (let i = 0; i < open.length; i++) collect(open[i], list);
    list[list.length] = t;
    return list;
  }

  function begin(): void {
    core.era++;
    core.timers = undefined; // what is left is no matter any more
    core.settling = undefined;
    core.late = undefined;
    (std.Error as { prepareStackTrace?: unknown }).prepareStackTrace = undefined;
    under = collect(core.root, std.list());
    for (let i = 0; i < under.length && core.calls; i++) {
      const { open, awaits } = core.stateOf(under[i]);
      if (open.length) continue;
      const found = core.part<MoreOfCalls>("calls").waiting(awaits);
      for (let at = 0; at < found.length; at++) waits[waits.length] = { t: under[i], call: found[at] };
    }
    core.calls = undefined;
  }

  function* ending(): Generator<unknown, void> {
    const list = under!;
    for (let i = 0; i < list.length; i++) {
      const t = list[i];
      const state = core.stateOf(t);
      yield* core.part<Flow>("flow").cleanUp(t);
      state.end?.();
    }
    if (core.last) yield* core.last();
    core.left = 0;
  }
  ending.prototype = std.generator;

  return {
    /** Whether there are asynchronous functions that wait, and were not asked where. */
    waiting(): boolean {
      if (!core.root) return false;
      if (!under) begin();
      return waits.length > 0;
    },

    /** Throws the error that the worker lends where the innermost of them waits. */
    wake(): void {
      const wait = waits[waits.length - 1];
      waits.length--;
      woken = wait.t;
      wait.call.wake!(core.dispatch.part);
    },

    /** What the engine said of the function that was woken last. */
    waits(text: string): void {
      const end = std.indexOf(text, "\n");
      if (end >= 0) std.mapSet(traces, woken, ((std.mapGet(traces, woken) as string | undefined) ?? "") + std.slice(text, end + 1));
    },

    /** Fails what is under way, and begins to clean up. `trace`: what the engine said where code was stopped. */
    expire(trace: string): void {
      abandoned = true;
      core.stood = core.stands !== undefined;
      const list = under!;
      const end = std.indexOf(trace, "\n");
      const stopped = end < 0 ? "" : std.slice(trace, end + 1);
      let inner = "";
      let inside = false;
      for (let i = 0; i < list.length; i++) {
        const state = core.stateOf(list[i]);
        const { open, phase } = state;
        state.phase = undefined;
        if (!open.length) {
          const waited = (std.mapGet(traces, list[i]) as string | undefined) ?? "";
          inside = stopped !== "" && (list[i] === core.current || !waited);
          inner = (inside ? stopped : "") + waited;
        }
        const waits = !inner && list[i] === core.root && !phase && state.awaits !== undefined;
        fail(list[i], "timeout", "", { stack: bounded(std, inner), stopped: inside, waits, phase: open.length ? undefined : phase });
      }
      core.ended = false;
      core.part<Flow>("flow").begin(ending());
    },

    /**
     * Fails what waits forever, and begins to clean up; where that waits forever too, the test is over. `expire` is for
     * tests whose time is up.
     */
    abandon(reason: string): void {
      const list = abandoned ? undefined : under;
      abandoned = true;
      if (!list) {
        fail(core.root, "error", reason, { phase: "deadlock", stack: undefined });
        core.ended = true;
        core.left = 0;
        core.milliseconds = core.clock() - core.began;
        return;
      }
      let stack = "";
      for (let i = 0; i < list.length; i++) {
        const state = core.stateOf(list[i]);
        state.phase = undefined;
        if (!state.open.length) stack = (std.mapGet(traces, list[i]) as string | undefined) ?? "";
        fail(list[i], "error", reason, { phase: "deadlock", stack: stack ? bounded(std, stack) : undefined });
      }
      core.part<Flow>("flow").begin(ending());
    },

    /** Gives up cleaning up, because there is no time left for that. */
    quit(trace: string): void {
      core.era++;
      const list = collect(core.root, std.list());
      let left = core.last ? 1 : 0;
      let phase: string | undefined;
      for (let i = 0; i < list.length; i++) {
        const state = core.stateOf(list[i]);
        left += state.cleanups.length + (state.between ? 1 : 0);
        phase ??= state.phase;
      }
      const end = std.indexOf(trace, "\n");
      const message = "cleaning up took longer than a second" + (left ? ", and cleanups or After hooks did not run: " + left : "");
      fail(list[0], "timeout", message, { stack: end < 0 ? "" : bounded(std, std.slice(trace, end + 1)), stopped: true, phase });
      for (let i = 0; i < list.length; i++) core.stateOf(list[i]).end?.();
      core.ended = true;
      core.left = 0;
      core.settling = undefined;
      core.milliseconds = core.clock() - core.began;
    },
  };
}
