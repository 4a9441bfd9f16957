/**
 * The clock of a test that has stopped it with `t.mock.now`. `Date`, `performance.now`, timers and times to live read it,
 * and it moves only on request. Limits and deadlines of the test still use the real time.
 *
 * `advance` moves it and fires the timers that fall due. `time.Sleep` moves it too. So does a wait for a timer in other
 * realms than that of the test, because nobody could call `advance` there.
 */

import type { Core } from "../core-state";
import type { Dates } from "../realm/date";
import type { Waiting } from "./waiting";
import type { WorldSender, WorldState } from "./world-state";

/** The times that it can be set to, a day off from the years that hosts know, for time zones. */
const first = Date.parse("0001-01-02T00:00:00Z");
const last = Date.parse("9999-12-30T00:00:00Z");

export interface Clock {
  /** The time at which it is stopped, in milliseconds since 1970; undefined if it is running. */
  readonly stands: number | undefined;
  /** Stops it at a time, or starts it again. The time that is left for each timer stays the same. */
  set(time: number | undefined): void;
  /** Moves it to the time at which others have moved it, or stopped it; undefined: they have let it go. */
  moved(time: number | undefined): void;
  /** Moves it on, and runs the timers that fall due, in their order, each with the promise jobs that follow. */
  advance(milliseconds: number): void;
  /** For a realm that the test calls: uses the clock of the test from now on. */
  adopt(): void;
}

export default function (core: Core): Clock {
  const { std } = core;
  const real = { now: core.now, sleep: core.sleep };
  const world = core.part<WorldSender>("world-state");
  const isTest = () => core.plan !== undefined && !core.boot.nested;
  let stands: number | undefined;
  let restore: (() => void) | undefined;

  const current = () => (core.boot.nested ? ((std.parse(core.bridge("world-state", "", "") || "{}") as WorldState).now ?? real.now()) : stands!);
  const now = () => current() + core.ahead;

  function read(): number {
    const time = now();
    core.part<Waiting>("waiting").look(time);
    return time;
  }

  function check(time: number): void {
    if (!(time >= first && time <= last)) {
      throw new RangeError("The clock of a test must stay between 0001-01-02 and 9999-12-30");
    }
  }

  /** It stands at whole milliseconds, as `Date` has them, and not before what is due. */
  function put(time: number): void {
    check(time);
    stands = world.now = Math.ceil(time);
    world.send();
  }

  function begin(): void {
    const { performance } = core.globals as { performance: object };
    const [measured, from] = [core.clock(), now()];
    core.globals.performance = { __proto__: performance, now: () => measured + read() - from };
    const date = core.part<Dates>("date").replace(read);
    core.now = now;
    core.sleep = sleep;
    core.stands = wait;
    core.look = read;
    restore = () => {
      core.globals.performance = performance;
      date();
      core.now = real.now;
      core.sleep = real.sleep;
      core.stands = core.look = undefined;
    };
  }

  function sleep(milliseconds: number): void {
    const wait = Math.max(0, +milliseconds || 0);
    check(current() + wait);
    if (core.boot.nested) core.host("world.Sleep", [wait]);
    else put(current() + wait);
  }

  /** Called instead of waiting for a timer; see `Core.stands`. */
  function wait(milliseconds: number): number {
    if (!isTest()) {
      sleep(milliseconds);
      return 0;
    }
    core.standstill =
      `the test waits for a timer that is due in ${milliseconds} ms, but t.mock stopped the clock: ` +
      `call t.mock.advance(${milliseconds}) before it is awaited`;
    return NaN;
  }

  const self = {
    get stands() {
      return stands;
    },
    set(time: number | undefined): void {
      const before = core.now();
      if (time === undefined) {
        restore?.();
        restore = stands = world.now = undefined;
        world.send();
      } else {
        put(time);
        if (!restore) begin();
      }
      core.timers?.shift(core.now() - before);
    },
    moved(time: number | undefined): void {
      if (core.boot.nested) {
        if (!restore) begin(); // it reads the clock of the test
      } else if (time === undefined || stands === undefined) self.set(time);
      else if (time !== stands) put(time);
    },
    advance(milliseconds: number): void {
      const until = current() + milliseconds;
      check(until);
      if (core.timers) core.timers.advance(until, put, () => void core.bridge("jobs", "", ""));
      if (until > current()) put(until); // a callback may have moved it further
    },
    adopt: begin,
  };
  return self;
}
