/**
 * A clock that a test has stopped: `Date`, `performance.now`, timers and times to live all read it, and it moves only when
 * it is told to. Limits and deadlines of the test keep the real time.
 *
 * A test moves it with `advance`, which fires what falls due; `time.Sleep` moves it, and so does a wait for a timer outside
 * of the test's own realm, where nobody could advance it.
 */

import type { Core } from "../core";
import type { Dates } from "../realm/date";
import type { Teller, Told } from "./told";

/** How often the time is read while it stands before that is taken for a loop that waits. */
const patience = 1_000_000;
/** For how many times one counts that follows the callback of a timer, as in a loop that polls. */
const polled = 50;
/** The times that it can be set to, a day off from the years that hosts know, for time zones. */
const first = Date.parse("0001-01-02T00:00:00Z");
const last = Date.parse("9999-12-30T00:00:00Z");

export interface Clock {
  /** Milliseconds at which it stands; undefined: it goes. */
  readonly stands: number | undefined;
  /** Stops it at a time, or lets it go again. Timers keep what is left of their time. */
  set(time: number | undefined): void;
  /** Moves it to the time at which others have moved it, or stopped it; undefined: they have let it go. */
  moved(time: number | undefined): void;
  /** Moves it on, and runs the timers that fall due, in their order, each with the promise jobs that follow. */
  advance(milliseconds: number): void;
  /** In a realm that the test calls: reads the clock of the test. */
  adopt(): void;
}

export default function (core: Core): Clock {
  const { std } = core;
  const real = { now: core.now, sleep: core.sleep };
  const told = core.part<Teller>("told");
  const isTest = () => core.plan !== undefined && !core.boot.nested;
  let stands: number | undefined;
  let reads = 0;
  /** How many callbacks of timers had run when it was read last. */
  let fired = 0;
  let restore: (() => void) | undefined;

  const current = () => (core.boot.nested ? ((std.parse(core.bridge("told", "", "") || "{}") as Told).now ?? real.now()) : stands!);
  const now = () => current() + core.ahead;

  function read(): number {
    const polls = core.fired ?? 0;
    reads += polls === fired ? 1 : polled;
    fired = polls;
    if (reads > patience) {
      reads = 0;
      throw new core.Exception(
        "The clock stands still, and something waits for it to go on: it was looked at over and over. t.mock.now, or mocks.now of a " +
          "case, has stopped it; move it with t.mock.advance or time.Sleep",
      );
    }
    return now();
  }

  function check(time: number): void {
    if (!(time >= first && time <= last)) {
      throw new RangeError("The clock of a test stands in the years 1 to 9999, and cannot be moved beyond them");
    }
  }

  /** It stands at whole milliseconds, as `Date` has them, and not before what is due. */
  function put(time: number): void {
    check(time);
    stands = told.now = Math.ceil(time);
    reads = 0;
    told.tell();
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

  /** What becomes of a wait for a timer: see `Core.stands`. */
  function wait(milliseconds: number): number {
    if (!isTest()) {
      sleep(milliseconds);
      return 0;
    }
    core.standstill =
      `the test waits for a timer that falls due in ${milliseconds} ms, and t.mock has stopped the clock: ` +
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
        restore = stands = told.now = undefined;
        told.tell();
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
