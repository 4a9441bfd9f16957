/**
 * The additional members of `testing.F`: `add` gives seeds, `schema` describes inputs, and `fuzz` runs the inputs that the
 * host sends, one after the other. A stored input runs as a subtest. Inputs of a search run without leaving a trace, and
 * the host gets the first failure.
 */

import type { Core, T } from "../core-state";
import type { Flow } from "./flow";
import type { Recorder } from "../check/record";

interface Input {
  name: string;
  /** JSON of the list of arguments; empty if `problem` says why there is none. */
  args: string;
  problem?: string;
}

/** What the host wants next: one stored input as a subtest, or several inputs of a search; null ends it. */
type Next = { kept: Input; tried?: undefined } | { kept?: undefined; tried: Input[] } | null;

/** A test with its methods. */
type Parent = T & { run(name: string, body: (t: T) => unknown): unknown };
type Target = (t: T, ...args: unknown[]) => unknown;

export default function (core: Core) {
  const { std } = core;

  return (f: T): void => {
    const seeds: string[] = [];
    const schemas: string[] = [];
    let size: number | undefined;
    let begun = false;

    const offer = (name: string, method: (...args: unknown[]) => unknown) => {
      const value = function (...args: unknown[]) {
        if (begun) throw new std.Error(`f.${name} must be called before f.fuzz, which is called once`);
        return std.apply(method, undefined, args);
      };
      std.define(f, name, { __proto__: null, value, writable: true, configurable: true } as PropertyDescriptor);
    };

    /** The value as JSON. Throws a TypeError if JSON cannot represent all of it. */
    function json(value: unknown, what: string): string {
      const text = std.stringify(value) as string | undefined;
      const same = core.part<(a: unknown, b: unknown) => boolean>("equal");
      if (text === undefined || !same(std.parse(text), value)) throw new std.TypeError(`${what} takes JSON values, got ${core.part<Recorder>("record").text([value])}`);
      return text;
    }

    offer("add", (...args) => {
      if (size !== undefined && size !== args.length) throw new std.TypeError(`f.add takes as many arguments as before, ${size}, got ${args.length}`);
      size = args.length;
      let text = "[";
      for (let i = 0; i < args.length; i++) text += (i ? "," : "") + json(args[i], "f.add");
      seeds[seeds.length] = text + "]";
    });

    offer("schema", (...args) => {
      schemas.length = 0;
      for (let i = 0; i < args.length; i++) schemas[i] = json(args[i], "f.schema");
    });

    offer("fuzz", (target) => {
      if (typeof target !== "function") throw new std.TypeError("f.fuzz takes a function, (t, ...args) => ...");
      begun = true;
      let over = false;
      let finish: (() => void) | undefined;
      const { current } = core;
      core.part<Flow>("flow").drive(inputs(target as Target), () => {
        over = true;
        finish?.();
      });
      core.current = current;
      if (over) return;
      const { pending } = core.stateOf(f);
      return (pending[pending.length] = new std.Promise<void>((resolve) => (finish = resolve)));
    });

    function* inputs(target: Target): Generator<unknown, void> {
      core.host("fuzz.Begin", [seeds, schemas, (target as { length: number }).length - 1]);
      for (let result: unknown = null; ; ) {
        const next = core.host("fuzz.Next", [result]) as Next;
        if (!next) return;
        result = null;
        const { kept, tried } = next;
        if (kept) yield (f as Parent).run(kept.name, (t: T) => call(target, t, kept));
        for (let at = 0; tried && at < tried.length && !result; at++) result = yield* attempt(target, tried[at], at);
      }
    }
    inputs.prototype = std.generator;

    function call(target: Target, t: T, { args, problem }: Input): unknown {
      const refuse = () => {
        throw new std.Error("f.fuzz cannot take snapshots: there would be one per input");
      };
      std.define(t, "snapshot", { __proto__: null, value: refuse, configurable: true } as PropertyDescriptor);
      if (problem) {
        core.part<Recorder>("record").fail(t, "fail", problem, { stack: undefined }, true);
        throw core.stop;
      }
      const given = std.parse(args) as unknown[];
      const list: unknown[] = [t];
      for (let i = 0; i < given.length; i++) list[i + 1] = given[i];
      return std.apply(target, undefined, list);
    }

    /** Runs one input of a search. Returns its first failure, with its position in the list of inputs, or null. */
    function* attempt(target: Target, input: Input, at: number): Generator<unknown, object | null> {
      const t = new core.T(f.name + "/" + input.name);
      const state = core.stateOf(t);
      const { open } = core.stateOf(f);
      const { failures: before } = core.outcomeOf(f);
      const known = before.length;
      state.parent = f;
      state.depth = 1;
      state.waits = true;
      core.subtests++;
      open[open.length] = t;
      yield* core.part<Flow>("flow").runBody(t, () => call(target, t, input));
      core.bridge("jobs", "", ""); // promises that nobody awaits
      open.length--;
      core.subtests--;
      core.current = f;
      const { failures } = core.outcomeOf(t);
      const first = (failures[0] ?? before[known]) as { kind: string; message: string } | undefined;
      return first ? { at, kind: first.kind, message: first.message } : null;
    }
    attempt.prototype = std.generator;

    const { cleanups } = core.stateOf(f);
    cleanups[cleanups.length] = () => {
      const { failures, skipped } = core.outcomeOf(f);
      if (!begun && !failures.length && !skipped) {
        core.part<Recorder>("record").fail(f, "fail", f.name + " ended without f.fuzz((t, ...args) => ...)", { stack: undefined });
      }
    };
  };
}
