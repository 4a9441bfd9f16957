/**
 * The prompt of `yao-test repl`: a test that asks for inputs, evaluates them as global code, and tells what they come to.
 * `scripttest/workers/repl_host.py` has the other side.
 */

import type { Core } from "../core-state";
import type { T } from "../core";
import { engineStack } from "../errors";
import type { Limits, Shown } from "./shown";

interface Input {
  code: string;
  /** Whether it gives a promise of a list with the value. */
  waits: boolean;
}

const limits: Limits = { depth: 6, items: 100, text: 10_000, length: 20_000 };
const most = 200;

export default function (core: Core) {
  const { std } = core;
  const shown = core.part<Shown>("shown");

  /** The names of the members of an object and of its classes, for completion. */
  function members(it: unknown): string[] {
    const found = std.list<string>();
    try {
      for (let from = it as object | null; from !== null && from !== std.objectPrototype; from = std.getPrototypeOf(from) as object | null) {
        const keys = std.ownKeys(from);
        for (let i = 0; i < keys.length && found.length < most; i++) if (typeof keys[i] === "string") found[found.length] = keys[i] as string;
      }
    } catch {
      // a proxy that refuses
    }
    return found;
  }

  function stackOf(error: unknown): string {
    try {
      return std.String(engineStack(core, error as Error) ?? "");
    } catch {
      return ""; // null, or an object that refuses
    }
  }

  async function repl(t: T, ctx: unknown): Promise<void> {
    core.part("methods");
    const globals = core.globals as Record<string, unknown>;
    globals.t = t;
    globals.ctx = ctx;
    let said: Record<string, unknown> = {};
    for (let failed = 0; ; ) {
      said.members = { t: members(t), ctx: members(ctx) };
      const input = core.host("repl.Next", [said]) as Input | null;
      if (input === null) return;
      said = {};
      try {
        let value = core.evaluate(input.code);
        if (input.waits) value = ((await value) as unknown[] | undefined)?.[0];
        if (value !== undefined) said = { value: shown(value, limits) };
        globals._ = value;
      } catch (error) {
        if (core.isStop(error)) throw error;
        said = { error: shown(error, limits), stack: stackOf(error) };
      }
      const { failures } = core.outcomeOf(t);
      const checks = std.list<string>();
      for (; failed < failures.length; failed++) checks[checks.length] = std.String((failures[failed] as { message?: unknown }).message);
      if (checks.length) said.failures = checks;
    }
  }

  return { $yaoRepl: repl };
}
