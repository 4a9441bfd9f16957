/**
 * The additional members of `testing.B`. `b.loop()` measures the code in the loop, as `B.Loop` of Go's `testing` does. The
 * first round is not measured. Mocks do not stop the clock that is used.
 */

import type { Core, T } from "../core-state";
import type { Recorder } from "../check/record";

type Body = (b: T, ctx: unknown) => unknown;

/** Most rounds of one benchmark. */
const mostRounds = 1e9;
const blank = /\s/;

export default function (core: Core) {
  const { std } = core;
  const { run } = core.T.prototype as unknown as { run: unknown };
  /** Milliseconds that a benchmark takes at least. */
  const goal = core.host("benchmark.Begin", []) as number;

  return function prepare(b: T): void {
    let began = false;
    let over = false;
    let isParent = false;
    /** Rounds so far. */
    let rounds = 0;
    /** The clock is read again after this many rounds. */
    let limit = 1;
    let warm = true;
    let running = false;
    let since = 0;
    let spent = 0;
    let from = 0;
    let calls = 0;
    const metrics: [value: number, unit: string][] = [];

    const start = () => {
      if (running) return;
      running = true;
      from = core.asked ?? 0;
      since = core.clock();
    };
    const stop = () => {
      if (!running) return;
      spent += core.clock() - since;
      calls += (core.asked ?? 0) - from;
      running = false;
    };
    const reset = () => {
      const ran = running;
      stop();
      spent = calls = 0;
      if (ran) start();
    };

    /** Whether another round follows. `limit` grows as in `predictN` of Go's `testing`. */
    function more(): boolean {
      if (over) throw new std.Error("b.loop has ended: a benchmark can have only one loop");
      if (!began) {
        began = true;
        rounds = 1;
        reset();
        start();
        return true;
      }
      const elapsed = spent + (running ? core.clock() - since : 0);
      const failed = core.outcomeOf(b).failures.length > 0; // every further round would fail again
      if (failed || elapsed >= goal || (!warm && rounds >= mostRounds)) {
        stop();
        over = true;
        return false;
      }
      let next = elapsed > 0 ? (goal * rounds * 1.2) / elapsed : 100 * rounds;
      if (next > 100 * rounds) next = 100 * rounds;
      if (next < rounds + 1) next = rounds + 1;
      limit = next > mostRounds ? mostRounds : next - (next % 1);
      if (warm) {
        warm = false;
        rounds = 0;
        reset();
      }
      rounds++;
      return true;
    }

    const outside = (take: unknown) =>
      function (...args: unknown[]): unknown {
        if (began && !over) throw new std.Error("a snapshot in the loop of a benchmark would be taken in every round: take it before or after the loop");
        return std.apply(take as Body, undefined, args as never);
      };
    const { snapshot } = b as unknown as { snapshot: { inline: unknown } };
    const taken = outside(snapshot);
    std.define(taken, "inline", { __proto__: null, value: outside(snapshot.inline), writable: true, configurable: true } as PropertyDescriptor);

    const offer = (name: string, value: unknown) =>
      std.define(b, name, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
    offer("snapshot", taken);
    offer("loop", () => (rounds < limit && began ? (rounds++, true) : more()));
    offer("startTimer", start);
    offer("stopTimer", stop);
    offer("resetTimer", reset);
    offer("reportMetric", (value: unknown, unit: unknown) => {
      if (typeof value !== "number" || value - value !== 0 || typeof unit !== "string" || !unit || std.exec(blank, unit)) {
        throw new std.TypeError('b.reportMetric takes (number, unit), such as (12, "tokens/op")');
      }
      metrics[metrics.length] = [value, unit];
    });
    offer("run", (name: unknown, body: unknown) => {
      isParent = true;
      const inner = (sub: T, ctx: unknown) => {
        prepare(sub);
        return (body as Body)(sub, ctx);
      };
      return std.apply(run as Body, b, [name, typeof body === "function" ? inner : body] as never) as unknown;
    });

    const { cleanups } = core.stateOf(b);
    cleanups[cleanups.length] = () => {
      const { failures, skipped } = core.outcomeOf(b);
      if (failures.length || skipped) return;
      if (over) {
        core.host("benchmark.Report", [b.name, rounds, (spent * 1e6) / rounds, calls / rounds, metrics]);
        return;
      }
      if (!began && isParent) return;
      const problem = began ? " left its loop before b.loop() returned false" : " ended without while (b.loop()) { ... }";
      core.part<Recorder>("record").fail(b, "fail", b.name + problem, { stack: undefined });
    };
  };
}
