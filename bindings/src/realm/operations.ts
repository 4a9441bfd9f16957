/** The operations of `dispatch` that a passing test does not need; see `core.ts` for the others. */

import { bounded } from "../bounded";
import type { Core } from "../core";
import { encode, Raw } from "../encode";
import { describeError } from "../errors";
import type { Clock } from "../mocks/clock";
import type { Random } from "../mocks/random";
import type { Told } from "../mocks/told";
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

  const base64 = () => core.part<{ toBase64(bytes: Uint8Array): string; fromBase64(text: string): Uint8Array }>("bytes");

  function envelope(value: unknown): string {
    if (value instanceof Uint8Array) return encode(std, { bytes: base64().toBase64(value) });
    if (value instanceof std.Error) return encode(std, { returned: { message: describeError(core, value).message } });
    return encode(std, { ok: new Raw(std.stringify(value) ?? "null") });
  }

  /** `stackOf` says what of its stack the caller is to know. */
  function failure(error: unknown, stackOf: (text: string) => string): string {
    const code = (error as { code?: unknown } | null)?.code;
    const { message, stack } = describeError(core, error);
    return encode(std, { error: { message, stack: stack && bounded(std, stackOf(stack)), code: typeof code === "number" ? code : undefined, broke: core.isBroken(error) || undefined } });
  }

  const whole = (stack: string) => stack;

  /** The frames of scripts that this realm called. */
  function ofOthers(stack: string): string {
    const lines = std.split(stack, "\n");
    let text = "";
    for (let i = 0; i < lines.length; i++) {
      if (std.indexOf(lines[i], "(<") >= 0 && std.indexOf(lines[i], "(<input>") < 0) text += lines[i] + "\n";
    }
    return text;
  }

  /** Ends a call for another realm with an error. */
  function refuse(error: unknown): void {
    answer = failure(error, whole);
    core.ended = true;
    core.timers = undefined; // nothing that is still set can change that
  }

  function outcome(text: string, stack: string | undefined): string {
    const message = bounded(std, text);
    return encode(std, { name: "", status: "failed", failures: [{ kind: "error", message, stack, phase: "load" }], steps: [] });
  }

  return {
    /** Evaluates code; "" or, when it throws, JSON of an outcome that says what. */
    load(code: string): string {
      try {
        core.evaluate(code);
        return "";
      } catch (error) {
        const { message, stack } = describeError(core, error);
        return outcome(message, stack);
      }
    },

    /** JSON of an outcome that says what the engine said: message, line break, stack. */
    broken(text: string): string {
      const end = std.indexOf(text, "\n");
      return end < 0 ? outcome(text, undefined) : outcome(std.slice(text, 0, end), std.slice(text, end + 1));
    },

    /** Ends a test, or a call for another realm, that cannot end by itself. */
    abandon(reason: string): void {
      reason = core.standstill ?? reason;
      if (core.boot.nested) refuse(new std.Error(reason));
      else core.part<Deadline>("deadline").abandon(reason);
    },

    refuse,

    /** For a test whose time is up; see `deadline.ts`. */
    waiting: (): boolean => core.part<Deadline>("deadline").waiting(),
    wake: (): void => core.part<Deadline>("deadline").wake(),
    waits: (text: string): void => core.part<Deadline>("deadline").waits(text),
    expire: (trace: string): void => core.part<Deadline>("deadline").expire(trace),
    quit: (trace: string): void => core.part<Deadline>("deadline").quit(trace),

    /** Records an exception that reached the worker: what the engine said, message, line break, stack. */
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
      const short = name.slice(name.lastIndexOf(".") + 1);
      core.ended = false;
      core.part<Flow>("flow").drive(
        (function* () {
          try {
            const target = core.declared(short);
            answer = !target ? "" : envelope(yield std.apply(target, undefined, revived(args)));
          } catch (error) {
            answer = failure(error, whole);
          }
        })(),
        () => (core.ended = true),
      );
    },

    answer: () => answer,

    /**
     * Loads what calling a function for the host needs, before it is known which, and before any script: with `used`, what
     * others have used, of the parts that change nothing by being there.
     */
    ready(used: string): void {
      for (const part of ["invoke", "flow", "loop"]) core.part(part);
      for (const part of ["process", "clock", "date", "fields"]) if (std.indexOf(used, ` ${part} `) >= 0) core.part(part);
    },

    /** Calls a function for the host; see `invoke.ts`. */
    invoke: (name: string, args: string): void => core.part<Invoke>("invoke").start(name, args),
    invoked: (): string => core.part<Invoke>("invoke").answer(),

    /** Makes a realm that a test calls tell the time of the test, and draw random numbers from its seed. */
    adopt(told: string): void {
      const { now, seed } = std.parse(told) as Told;
      if (now !== undefined) core.part<Clock>("clock").adopt();
      if (seed !== undefined) core.part<Random>("random").seed(std.String(core.host("world.Random", [])));
    },

    /** A question of the host, while the realm waits for it: the time on a stopped clock, then arguments; JSON envelope. */
    back(name: string, args: string): string {
      try {
        const [now, ...given] = revived(args);
        if (typeof now === "number") core.part<Clock>("clock").moved(now);
        return envelope(core.part<Record<string, (...args: unknown[]) => unknown>>("back")[name](...given));
      } catch (error) {
        return failure(error, ofOthers);
      }
    },

    /** A call from a nested realm: JSON envelope. */
    host(name: string, args: string): string {
      try {
        if (name === "world.Sleep") return envelope(core.sleep(revived(args)[0] as number) ?? null);
        if (name === "world.Random") return envelope(core.part<Random>("random").draw());
        const stood = core.stands;
        const text = envelope(core.call(name, revived(args)));
        return core.stands && !stood ? '{"now":' + core.now() + "," + std.slice(text, 1) : text;
      } catch (error) {
        return failure(error, ofOthers);
      }
    },
  };

  /** The arguments of a call from their text, which `argumentText` in `process.ts` has made. */
  function revived(text: string): unknown[] {
    const given = std.parse(text) as unknown[] | { args: unknown[]; bytes: number[] };
    if (std.isArray(given)) return given;
    const { args, bytes } = given as { args: string[]; bytes: number[] };
    for (let i = 0; i < bytes.length; i++) args[bytes[i]] = base64().fromBase64(args[bytes[i]]) as never;
    return args;
  }
}
