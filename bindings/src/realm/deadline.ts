/**
 * Ends a test whose time is up, or that waits for something that can never happen. None of its code is on the stack then:
 * the worker has stopped it, or there was nothing left to run. The worker calls these functions in this order.
 */

import { bounded } from "../bounded";
import type { Call, Core, T } from "../core-state";
import type { MoreOfCalls } from "./calls";
import type { Flow } from "./flow";
import type { Recorder } from "../check/record";

type Wait = { t: T; call: Call };

export default function (core: Core) {
  const { std } = core;
  const fail: Recorder["fail"] = (t, kind, message, more) => core.part<Recorder>("record").fail(t, kind, message, more, true);
  /** The test and its running subtests, inner ones first. */
  let under: T[] | undefined;
  const waits = std.list<Wait>();
  const traces = new std.Map<T, string>();
  let woken: T;
  /** Whether the cleanups have begun. They run only once. */
  let abandoned = false;

  function collect(t: T, list: T[]): T[] {
    const { open } = core.stateOf(t);
    for (let i = 0; i < open.length; i++) collect(open[i], list);
    list[list.length] = t;
    return list;
  }

  function begin(): void {
    core.era++;
    core.timers = undefined; // timers that are still set no longer matter
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
    /** Whether there are waiting asynchronous functions whose place is not known yet. */
    waiting(): boolean {
      if (!core.root) return false;
      if (!under) begin();
      return waits.length > 0;
    },

    /** Throws the worker's error in the innermost waiting function, which shows where it waits. */
    wake(): void {
      const wait = waits[waits.length - 1];
      waits.length--;
      woken = wait.t;
      wait.call.wake!(core.dispatch.part);
    },

    /** Takes what the engine reported for the function that was woken last: a message, then its stack. */
    waits(text: string): void {
      const end = std.indexOf(text, "\n");
      if (end >= 0) std.mapSet(traces, woken, ((std.mapGet(traces, woken) as string | undefined) ?? "") + std.slice(text, end + 1));
    },

    /** Fails all that is running, and starts the cleanups. `trace` is the engine's report of the place where code was stopped. */
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
     * Fails a test that waits forever, and starts the cleanups. If the cleanups wait forever too, the test ends. For tests
     * whose time is up, see `expire`.
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

    /** Stops the cleanups, because there is no time left for them. */
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
      const message = "cleanup took longer than a second" + (left ? ", and cleanups or After hooks did not run: " + left : "");
      fail(list[0], "timeout", message, { stack: end < 0 ? "" : bounded(std, std.slice(trace, end + 1)), stopped: true, phase });
      for (let i = 0; i < list.length; i++) core.stateOf(list[i]).end?.();
      core.ended = true;
      core.left = 0;
      core.settling = undefined;
      core.milliseconds = core.clock() - core.began;
    },
  };
}
