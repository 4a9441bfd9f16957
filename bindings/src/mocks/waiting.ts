/**
 * Tells a loop that waits for a stopped clock from code that works.
 *
 * A loop that looks at the clock and does nothing else can only wait. A loop that also calls processes waits too when its
 * calls repeat: the same calls with the same arguments get the same answers, nothing is written, and the clock is looked
 * at in between. A new call, another answer and a write are progress. Since work may repeat itself for a while, a loop
 * counts as waiting only after thousands of such rounds that also took seconds.
 */

import type { Core } from "../core-state";

/** How often the clock can be looked at in a row without a call. */
const patience = 1_000_000;
/** For how many times one look counts that follows the callback of a timer, as in a loop that polls. */
const polled = 50;
/** Rounds of repeated calls, each with a look at the clock, and the real milliseconds that they must have taken too. */
const rounds = 3000;
const longest = 2000;
/** The same for slow calls, such as those of agents: fewer rounds that took longer. */
const slowRounds = 1000;
const slowest = 10_000;
/** How many rounds of repeated calls one round with progress makes up for. */
const worth = 300;
/** How often another answer to the same call, or a write by it, is progress: numbers such as UUIDs never end. */
const variety = 20_000;
/** Most characters of calls and answers that are remembered. */
const remembered = 4_000_000;

/** What a realm, or the host, reports of the stopped clock with an answer. */
export interface Noticed {
  /** How often the clock was looked at. */
  looks?: number;
  /** How often something was written. */
  writes?: number;
}

export interface Waiting extends Required<Noticed> {
  /** Counts a look at the clock, which shows `time`. Throws when a loop waits for it to go on. */
  look(time: number): void;
  /** Answers a call by `answered`, and compares it with the calls before. Throws as `look` does. */
  call(name: string, args: readonly unknown[], answered: (name: string, args: readonly unknown[]) => unknown): unknown;
  /** Takes over what came with an answer. `ofScript`: from the new realm of a script, and not from where it came before. */
  heard(noticed: Noticed, ofScript: boolean): void;
}

export default function (core: Core): Waiting {
  const { std } = core;
  /** The calls since the clock moved, with their arguments, and what they were answered last. */
  const known = new Map<string, { answer: string; times: number }>();
  let size = 0;
  let shown = NaN;
  /** Looks in a row without a call; how many callbacks of timers had run at the last one. */
  let reads = 0;
  let fired = 0;
  /** Rounds without progress, and when the first was. */
  let idle = 0;
  let since = 0;
  /** Of the current round: its last call, whether there was progress, and what the answer to the current call reported. */
  let last = "";
  let progress = false;
  let looked = false;
  let wrote = false;
  let before: Required<Noticed> | undefined;
  let unwritten = 0;

  function written(value: unknown): string {
    try {
      return std.stringify(value) ?? "";
    } catch {
      return `? ${unwritten++}`; // it is like no other
    }
  }

  function remember(call: string, answer: string): void {
    size += call.length + answer.length;
    if (size > remembered) {
      known.clear();
      size = 0;
    } else known.set(call, { answer, times: 0 });
  }

  function compare(call: string, answer: string): void {
    const found = known.get(call);
    if (!found) {
      progress = true;
      remember(call, answer);
    } else if (wrote || found.answer !== answer) {
      size += answer.length - found.answer.length;
      found.answer = answer;
      if (++found.times <= variety) progress = true;
    }
    wrote = false;
  }

  function startAnew(time: number): void {
    shown = time;
    reads = idle = size = 0;
    known.clear();
  }

  const self = {
    looks: 0,
    writes: 0,

    look(time: number): void {
      self.looks++;
      if (time !== shown) startAnew(time);
      const polls = core.fired ?? 0;
      reads += polls === fired ? 1 : polled;
      fired = polls;
      const call = last;
      if (call && progress) {
        idle = Math.max(0, idle - worth);
        reads = 0;
      } else if (call && idle++ === 0) since = core.clock();
      last = "";
      progress = false;
      const took = idle > slowRounds ? core.clock() - since : 0;
      const repeats = (idle > rounds && took > longest) || took > slowest;
      if (!repeats && reads <= patience) return;
      startAnew(time);
      throw new core.Exception(
        "The clock is stopped, and the test waits for it to advance: it was read over and over" +
          (repeats ? `, and calls such as ${call} in between were answered the same each time` : "") +
          ". t.mock.now, or mocks.now of a case, stopped it; advance it with t.mock.advance or time.Sleep",
      );
    },

    call(name: string, args: readonly unknown[], answered: (name: string, args: readonly unknown[]) => unknown): unknown {
      const call = name + written(args);
      let answer = "";
      try {
        const value = answered(name, args);
        answer = written(value);
        return value;
      } catch (error) {
        answer = written((error as { message?: unknown } | null)?.message);
        throw error;
      } finally {
        compare(call, answer);
        last = name;
        if (looked) {
          looked = false;
          self.look(core.now());
        }
      }
    },

    heard({ looks = 0, writes = 0 }: Noticed, ofScript: boolean): void {
      const from = ofScript ? { looks: 0, writes: 0 } : (before ?? { looks, writes });
      if (!ofScript) before = { looks, writes };
      if (looks > from.looks) looked = true;
      if (writes > from.writes) {
        self.writes++;
        wrote = true;
      }
    },
  };
  return self;
}
