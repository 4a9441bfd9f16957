/** Warnings about timers and calls that a test left unfinished. */

import type { Call, Core, Timer } from "../core-state";

interface Left {
  kind: "pending";
  message: string;
  stack: string;
  /** true if the host must put the name of the function of the innermost frame before the message. */
  named?: true;
  /** How many have the same message and stack. */
  count: number;
}

/** Most warnings of one result. One more says how many others there are. */
const limit = 20;

export default function (core: Core) {
  const { std } = core;

  function add(found: Left[], message: string, stack: string, named?: true): void {
    for (let i = 0; i < found.length; i++) {
      if (found[i].message === message && found[i].stack === stack) return void found[i].count++;
    }
    found[found.length] = { kind: "pending", message, stack, named, count: 1 };
  }

  function ofTimer({ period, wait, passed }: Timer): string {
    if (period >= 0) return "An interval is still set: clear it in the test or in t.cleanup";
    if (passed === "bound") return "A timer is still set after 1000 others fired: it may keep setting itself";
    return "A timer of " + wait + " ms is still set: clear it, or await what it settles";
  }

  return (): object[] => {
    const found = std.list<Left>();
    const timers = core.timers?.left() ?? [];
    const calls = std.sort(core.calls?.list ?? std.list<Call>(), (a, b) => a.number - b.number);
    for (let i = 0; i < timers.length; i++) add(found, ofTimer(timers[i]), timers[i].stack);
    for (let i = 0; i < calls.length; i++) {
      const { awaited, generator, stack } = calls[i];
      const message = (generator ? "The next value of an async generator" : "") + " is still waiting: await it, or settle what it waits for";
      if (!awaited) add(found, message, stack, generator ? undefined : true);
    }
    const warnings = std.list<object>();
    for (let i = 0; i < found.length && i < limit; i++) {
      const { count, message } = found[i];
      warnings[i] = { ...found[i], message: count > 1 ? message + " (" + count + " of them)" : message };
    }
    if (found.length > limit) warnings[limit] = { kind: "pending", message: found.length - limit + " more timers and calls are left", stack: "" };
    return warnings;
  };
}
