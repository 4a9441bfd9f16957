/** The operations of `dispatch` that a passing test does not need; see `core.ts` for the others. */

import { bounded } from "../bounded";
import type { Core } from "../core-state";
import { failureText, resultText, revived } from "../border";
import { encode } from "../encode";
import { describeError } from "../errors";
import { declaredFunction } from "../lexical";
import type { Clock } from "../mocks/clock";
import type { Random } from "../mocks/random";
import type { Waiting } from "../mocks/waiting";
import type { WorldState } from "../mocks/world-state";
import type { Flow } from "./flow";
import type { Recorder } from "../check/record";

interface Deadline {
  waiting(): boolean;
  wake(): void;
  waits(text: string): void;
  expire(trace: string): void;
  quit(trace: string): void;
  abandon(reason: string): void;
}

interface Invoke {
  start(name: string, args: string): void;
  answer(): string;
}

export default function (core: Core) {
  const { std } = core;
  let answer = "";

  /** An envelope with what was noticed of a stopped clock here. */
  function marked(text: string): string {
    if (!core.stands) return text;
    const { looks, writes } = core.part<Waiting>("waiting");
    return `{"looks":${looks},"writes":${writes},${std.slice(text, 1)}`;
  }

  /** The lines of a stack that belong to other scripts, which this realm called. */
  function ofOthers(stack: string): string {
    const lines = std.split(stack, "\n");
    let text = "";
    for (let i = 0; i < lines.length; i++) {
      if (std.indexOf(lines[i], "(<") >= 0 && std.indexOf(lines[i], "(<input>") < 0) text += lines[i] + "\n";
    }
    return text;
  }

  /** Ends a call from another realm with an error. */
  function refuse(error: unknown): void {
    answer = failureText(core, error);
    core.ended = true;
    core.timers = undefined; // timers that are still set cannot change that
  }

  function outcome(text: string, stack: string | undefined): string {
    const message = bounded(std, text);
    return encode(std, { name: "", status: "failed", failures: [{ kind: "error", message, stack, phase: "load" }], steps: [] });
  }

  return {
    /** Evaluates code. Returns an empty text; or, if it throws, JSON of an outcome with the error. */
    load(code: string): string {
      try {
        core.evaluate(code);
        return "";
      } catch (error) {
        const { message, stack } = describeError(core, error);
        return outcome(message, stack);
      }
    },

    /** JSON of an outcome with an error of the engine. `text` is a message, a line break and a stack. */
    broken(text: string): string {
      const end = std.indexOf(text, "\n");
      return end < 0 ? outcome(text, undefined) : outcome(std.slice(text, 0, end), std.slice(text, end + 1));
    },

    /** Ends a test, or a call from another realm, that can never end by itself. */
    abandon(reason: string): void {
      reason = core.standstill ?? reason;
      if (core.boot.nested) refuse(new std.Error(reason));
      else core.part<Deadline>("deadline").abandon(reason);
    },

    refuse,

    /** These five are for a test whose time is up; see `deadline.ts`. */
    waiting: (): boolean => core.part<Deadline>("deadline").waiting(),
    wake: (): void => core.part<Deadline>("deadline").wake(),
    waits: (text: string): void => core.part<Deadline>("deadline").waits(text),
    expire: (trace: string): void => core.part<Deadline>("deadline").expire(trace),
    quit: (trace: string): void => core.part<Deadline>("deadline").quit(trace),

    /** Records an exception that reached the worker. `text` is a message, a line break and a stack. */
    uncaught(text: string): void {
      if (std.slice(text, 0, 7) === "Error: ") text = std.slice(text, 7);
      const end = std.indexOf(text, "\n");
      const error = { __proto__: std.Error.prototype, message: end < 0 ? text : std.slice(text, 0, end), stack: end < 0 ? "" : std.slice(text, end) };
      core.part<Recorder>("record").record(error, "uncaught exception");
    },

    /**
     * Calls a process of the script, by its full name, for another realm; `answer` has its envelope once `poll` says -1,
     * or is empty where there is no such function.
     */
    call(name: string, args: string): void {
      const end = name.lastIndexOf(".");
      const short = name.slice(end + 1);
      core.called = name.slice(0, end);
      core.ended = false;
      core.part<Flow>("flow").drive(
        (function* () {
          try {
            const target = declaredFunction(core, short);
            answer = !target ? "" : marked(resultText(core, yield std.apply(target, undefined, revived(core, args))));
          } catch (error) {
            answer = marked(failureText(core, error));
          }
        })(),
        () => (core.ended = true),
      );
    },

    answer: () => answer,

    /**
     * Loads the parts that a call for the host needs, before the function is known and before any script: always three,
     * and of four more those that earlier calls used (names in `used`, with spaces around them).
     */
    ready(used: string): void {
      for (const part of ["invoke", "flow", "loop"]) core.part(part);
      for (const part of ["process", "clock", "date", "fields"]) if (std.indexOf(used, ` ${part} `) >= 0) core.part(part);
    },

    /** Calls a function for the host; see `invoke.ts`. */
    invoke: (name: string, args: string): void => core.part<Invoke>("invoke").start(name, args),
    invoked: (): string => core.part<Invoke>("invoke").answer(),

    /** Lets scripts tell what they do; `settings` are JSON of those in `story.ts`. */
    story: (settings: string): void => core.part<(settings: object) => void>("story")(std.parse(settings) as object),

    /** Gives a realm that a test calls the clock of the test, and a seed from it. */
    adopt(state: string): void {
      const { now, seed } = std.parse(state) as WorldState;
      if (now !== undefined) core.part<Clock>("clock").adopt();
      if (seed !== undefined) core.part<Random>("random").seed(std.String(core.host("world.Random", [])));
    },

    /** Answers a question of the host while the realm waits for it. `args`: the stopped clock's time or null, then arguments. */
    back(name: string, args: string): string {
      try {
        const [now, ...given] = revived(core, args);
        if (typeof now === "number") core.part<Clock>("clock").moved(now);
        return resultText(core, core.part<Record<string, (...args: unknown[]) => unknown>>("host-questions")[name](...given));
      } catch (error) {
        return failureText(core, error, ofOthers);
      }
    },

    /** Answers a call from a nested realm. */
    host(name: string, args: string): string {
      try {
        if (name === "world.Sleep") return resultText(core, core.sleep(revived(core, args)[0] as number) ?? null);
        if (name === "world.Random") return resultText(core, core.part<Random>("random").draw());
        const stood = core.stands;
        const text = marked(resultText(core, core.call(name, revived(core, args))));
        return core.stands && !stood ? '{"now":' + core.now() + "," + std.slice(text, 1) : text;
      } catch (error) {
        return marked(failureText(core, error, ofOthers));
      }
    },
  };
}
