/** `Process(...)`: passes a call to a mock, to the stores of the realm, to another script, or to the host. */

import { type Result, argumentText, revived, valueOf } from "../border";
import type { Core } from "../core-state";
import { engineStack, giveStack } from "../errors";
import type { Finder } from "../mocks/mocked";
import type { Noticed, Waiting } from "../mocks/waiting";

/** Most characters of the beginning and of the end of a printed line. */
const longest = 65_536;

/** The result of a call, as it crosses between realm and host. */
type Envelope = Noticed & Result & {
  now?: number;
  /** The mocks of the test, where they have changed during the call. */
  mocks?: object;
  /** `hides_code`: the script gets an `Error` without the code, and reports show it. */
  error?: { message: string; code?: number; stack?: string; broke?: boolean; hides_code?: boolean };
};

export default function (core: Core) {
  const { std, bridge, mocks } = core;

  class Exception extends std.Error {
    code: number;
    constructor(message: unknown, code: number = 500) {
      super(std.String(message));
      this.code = code;
      this.name = "Exception|" + code;
    }
  }
  std.define(Exception, "name", { __proto__: null, value: "Exception", configurable: true } as PropertyDescriptor);

  /** The result of a call, or the exception it threw. The stack in the called `script` is put above the caller's stack. */
  function open(text: string, script = ""): unknown {
    const envelope = { __proto__: null, ...(std.parse(text) as Envelope) } as Envelope;
    const { error, now, mocks } = envelope;
    const isOfHost = script === "" && core.plan === undefined && !core.boot.nested;
    if (now !== undefined || (core.stands && isOfHost)) core.part<{ moved(time?: number): void }>("clock").moved(now);
    if (core.stands) core.part<Waiting>("waiting").heard(envelope, script !== "");
    if (mocks) core.part<{ adopt(mocks: object): void }>("invoke").adopt(mocks);
    if (error) {
      const exception = error.hides_code ? new std.Error(error.message) : new Exception(error.message, error.code);
      if (error.hides_code) std.weakSet((core.codes ??= new std.WeakMap()), exception, error.code);
      if (error.broke === true) std.weakAdd((core.broken ??= new std.WeakSet()), exception);
      if (error.stack) {
        const value = std.join(std.split(error.stack, "<input>"), "<" + script + ">") + "\n" + engineStack(core, exception);
        giveStack(core, exception, value);
      }
      throw exception;
    }
    return valueOf(core, envelope);
  }

  function checkName(name: unknown): void {
    if (typeof name !== "string" || !name || name.length > 1000 || !std.isWellFormed(name) || std.indexOf(name, "\0") >= 0) {
      throw new Exception("Process takes a name as its first argument", 400);
    }
  }

  function host(name: string, args: readonly unknown[]): unknown {
    checkName(name);
    return open(bridge(core.boot.nested ? "outer" : "call", name, argumentText(core, name, args)));
  }

  function call(name: string, args: readonly unknown[]): unknown {
    checkName(name);
    core.asked = (core.asked ?? 0) + 1;
    return core.stands ? core.part<Waiting>("waiting").call(name, args, answered) : answered(name, args);
  }

  function answered(name: string, args: readonly unknown[]): unknown {
    if (core.boot.nested) return host(name, args);
    if (mocks.process.length || mocks.agent.length || mocks.http.length || mocks.exec.length) {
      let crossed: unknown[] | undefined;
      const mocked = core.part<Finder>("mocked").find(name, () => (crossed ??= revived(core, argumentText(core, name, args))));
      if (mocked) return mocked() ?? null;
    }
    const words = name.split(".");
    const last = words.length - 1;
    const group = words[0].toLowerCase();
    if (group === "stores" && last > 1) {
      const store = core.part<(id: string, method: string, args: readonly unknown[]) => unknown>("store");
      return store(words.slice(1, last).join("."), words[last], args);
    }
    const agent = group === "agents" || group === "assistants" || group === "ai";
    if (group === "scripts" || group === "services" || (agent && last > 2)) {
      const answer = bridge("script", name, argumentText(core, name, args));
      if (answer === "") return host(name, args); // there is no such function: the host says so, and writes it down
      return open(answer, std.slice(name, 0, name.length - words[last].length - 1));
    }
    return host(name, args);
  }

  return {
    Process: (name: string, ...args: unknown[]) => call(name, args),
    Exception,
    call,
    host,

    /** Captures one line for the running test: of a long one, its beginning and its end. */
    log(level: string, text: string): void {
      const left = text.length - 2 * longest;
      if (left > 0) {
        text = std.slice(text, 0, longest) + " ... (" + left + " characters) ... " + std.slice(text, text.length - longest);
      }
      bridge("log", level, std.stringify(text));
    },
  };
}
