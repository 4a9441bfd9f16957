/** Runs a test that is not simple: with hooks in its module, a fuzz test, a benchmark, or a function that is gone. */

import type { Core, T } from "../core-state";
import type { Flow } from "./flow";
import type { Recorder } from "../check/record";

type Body = (t: T, ctx: unknown) => unknown;

export default function (core: Core) {
  const { std } = core;
  const { begin, drive, guard, runBody } = core.part<Flow>("flow");
  const thrown = (t: T, error: unknown, phase?: string) => core.part<Recorder>("record").thrown(t, error, phase);

  /** One test with its hooks: TestMain, BeforeAll, BeforeEach, the test, AfterEach, cleanups, AfterAll. */
  function* world(t: T, body: Body | undefined): Generator<unknown, void> {
    if (!body) return thrown(t, new std.TypeError(t.name + " is no longer a function"));
    const { kind } = core.plan!;
    if (kind) core.part<(t: T) => void>(kind)(t);
    const { ctx, declared } = core;
    const inner = function* (): Generator<unknown, number> {
      const beforeAll = declared("BeforeAll");
      const beforeEach = declared("BeforeEach");
      const afterEach = declared("AfterEach");
      const afterAll = declared("AfterAll");
      const between = function* (): Generator<unknown, void> {
        if (afterEach) yield* guard(t, () => afterEach(t, ctx), "AfterEach");
      };
      const last = function* (): Generator<unknown, void> {
        core.last = undefined;
        if (afterAll) yield* guard(t, () => afterAll(ctx), "AfterAll");
      };
      between.prototype = last.prototype = std.generator;
      if (afterEach) core.stateOf(t).between = between;
      if (afterAll) core.last = last;
      const ready =
        (!beforeAll || (yield* guard(t, () => beforeAll(ctx), "BeforeAll"))) &&
        (!beforeEach || (yield* guard(t, () => beforeEach(t, ctx), "BeforeEach")));
      yield* runBody(t, ready ? () => body(t, ctx) : () => undefined, afterEach && between);
      yield* last();
      return core.outcomeOf(t).failures.length ? 1 : 0;
    };
    inner.prototype = std.generator;
    const main = declared("TestMain");
    if (!main) return void (yield* inner());
    let ran = false;
    let running: Promise<number> | undefined;
    const run = () => {
      if (ran) throw new std.Error("m.Run() can only be called once");
      ran = true;
      let code: number | undefined;
      let finish: ((code: number) => void) | undefined;
      const work = function* () {
        code = yield* inner();
      };
      work.prototype = std.generator;
      drive(work(), () => finish?.(code!));
      return code ?? (running = new std.Promise<number>((resolve) => (finish = resolve)));
    };
    yield* guard(t, () => main({ Run: run }, ctx), "TestMain");
    yield running; // also when TestMain has not waited for it
    const { failures, skipped } = core.outcomeOf(t);
    if (!ran && !failures.length && !skipped) {
      thrown(t, new std.Error("TestMain did not call m.Run(), so the test did not run"), "TestMain");
    }
  }

  world.prototype = std.generator;
  return (t: T, body: Body | undefined): void => begin(world(t, body));
}
