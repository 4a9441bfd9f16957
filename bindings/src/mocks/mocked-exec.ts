/** Finds the mock that answers a command of `ctx.computer.Exec`, and converts its reply to a result. */

import { millisecondsOf } from "../durations";
import { globMatches } from "../glob";
import type { Kernel } from "../kernel";
import type { HttpFinder } from "./mocked-http";

type Fields = Record<string, unknown>;

/** The fields of a reply. */
const parts = ["stdout", "stderr", "exit_code", "delay"];
/** Names of other libraries → our fields. `runner/cases/exec_replies.py` has the same table for cases. */
const meant: Record<string, string> = {
  __proto__: null as never,
  output: "stdout",
  out: "stdout",
  data: "stdout",
  error: "stderr",
  err: "stderr",
  code: "exit_code",
  exitCode: "exit_code",
  status: "exit_code",
  sleep: "delay",
};

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a pattern matches a command or its first words. `*` stands for anything; `/.../` is a regular expression. */
function fits(pattern: string, command: string): boolean {
  const expression = /^\/([^]+)\/([a-z]*)$/.exec(pattern);
  if (expression) return new RegExp(expression[1], expression[2].replace(/[gy]/g, "")).test(command);
  return globMatches(pattern, command) || globMatches(pattern + " *", command);
}

export default function (kernel: Kernel): HttpFinder {
  function check(pattern: string, reply: unknown): void {
    const wrong = (what: string) => new TypeError(`t.mock.exec(${JSON.stringify(pattern)}): ${what}`);
    if (reply === null || reply === undefined || typeof reply === "string") return;
    if (!isObject(reply)) throw wrong(`a reply is a string, or an object with any of ${parts.join(", ")}`);
    const unknown = Object.keys(reply).find((key) => !parts.includes(key));
    if (unknown !== undefined) {
      const hint = meant[unknown] ? `Did you mean ${JSON.stringify(meant[unknown])}? ` : "";
      throw wrong(`a reply has no ${JSON.stringify(unknown)}. ${hint}It may have ${parts.join(", ")}`);
    }
    const text = ["stdout", "stderr"].find((key) => typeof (reply[key] ?? "") !== "string");
    if (text !== undefined) throw wrong(`${text} must be a string`);
    const { exit_code: code = 0, delay = 0 } = reply;
    if (!Number.isInteger(code)) throw wrong("exit_code must be a whole number");
    try {
      millisecondsOf(delay);
    } catch {
      throw wrong('delay must be milliseconds or a string such as "2s"');
    }
  }

  return {
    check,

    find(name, args) {
      if (name.toLowerCase() !== "sandbox.computer.exec") return undefined;
      const [words] = args();
      if (!Array.isArray(words)) return undefined;
      const argv = words.map(String);
      const command = argv.join(" ");
      const mock = kernel.mocks.exec.findLast(({ pattern }) => fits(pattern, command));
      if (!mock) return undefined;
      return () => {
        const reply = mock.reply.apply({ name: command }, [argv, command]);
        check(mock.pattern, reply);
        const { stdout = "", stderr = "", exit_code = 0, delay = 0 } = isObject(reply) ? reply : { stdout: reply ?? "" };
        if (delay) kernel.sleep(millisecondsOf(delay));
        return { stdout: String(stdout), stderr: String(stderr), exit_code };
      };
    },
  };
}
