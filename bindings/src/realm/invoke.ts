/**
 * Calls one function of the loaded scripts for the host: a hook of an agent, a tool, or a function of a case.
 *
 * Calls that the function makes go to the host; no script test is around it. The answer is JSON: `{ok, sent?}`,
 * `{missing: true}` if there is no such function, or `{error: {message, code?, stack?, broke?, stopped?}}`. `sent` lists
 * the messages of `ctx.Send` and the like. If the realm has mocks, `world` and `mocked` are added: its clock, and which
 * calls its mocks answered.
 */

import type { Core } from "../core-state";
import { encode, rawJson } from "../encode";
import { codeOf, describeError } from "../errors";
import { declaredFunction } from "../lexical";
import type { Clock } from "../mocks/clock";
import type { Random } from "../mocks/random";
import type { Flow } from "./flow";

type Given = [pattern: string, value: unknown, number: number | null];

/** Fields that the host may add to the `Boot` of such a realm. */
export interface InvokeBoot {
  /**
   * the world of the case or script test: mocks as `[pattern, value, number]`; the time at which the clock is stopped, in
   * milliseconds; a seed. A `number` refers to a mock of a script test, which is asked for its reply; null means that
   * `value` is the reply.
   */
  mocks?: { process?: Given[]; agent?: Given[]; http?: Given[]; exec?: Given[]; now?: number; seed?: number };
  /** index of the argument that is replaced by the context */
  contextAt?: number | null;
}

/** The beginning of a hook that is written for an old version of Yao. */
const oldHook = /^(?:async\s+)?function\*?\s*\w*\s*\(\s*input\s*,\s*options?\b/;
const oldForm = (name: string) =>
  `${name}(input, option) is an old form of hook that Yao no longer calls: write ${name}(ctx, ` +
  (name === "Create" ? "messages, options), where messages is the former input" : "payload, options)");

const senders = ["Send", "SendStream", "Append", "Replace", "Merge", "Set", "End", "sent"];

export default function (core: Core) {
  const { std } = core;
  const ctx: Record<string, unknown> = {};
  let answer = "";

  function mock(mocks: NonNullable<InvokeBoot["mocks"]>): void {
    const make = () => core.part<Record<string, (pattern: unknown, reply?: unknown) => unknown>>("mock");
    for (const kind of ["process", "agent", "http", "exec"] as const) {
      for (const [pattern, value, number] of mocks[kind] ?? []) {
        const ask = function (this: { name?: string } | undefined, ...args: unknown[]): unknown {
          return core.host("world.Reply", [number, this?.name ?? pattern, ...args]);
        };
        make()[kind](pattern, number === null ? value : ask);
        if (number !== null) core.mocks[kind].at(-1)!.asks = true;
      }
    }
    if (mocks.now !== undefined) core.part<Clock>("clock").set(mocks.now);
    if (mocks.seed !== undefined) core.part<Random>("random").seed(std.String(mocks.seed));
  }

  function failed(error: unknown): string {
    const { message, stack } = describeError(core, error);
    const broke = core.isBroken(error) || undefined;
    return encode(std, { error: { message, stack, ...codeOf(core, error), broke }, ...world() });
  }

  /** What the host must know of the world after the call: its clock, and which calls its mocks answered. */
  function world(): { world?: string; mocked?: unknown } {
    if (!(core.boot as InvokeBoot).mocks && !core.mocked && !core.stands) return {};
    return { world: core.bridge("world-state", "", ""), mocked: core.mocked && [...core.mocked] };
  }

  function returned(value: unknown): string {
    if (value instanceof Uint8Array) {
      value = core.part<{ toBase64(bytes: Uint8Array): string }>("bytes").toBase64(value);
    }
    const used = senders.some((name) => "value" in (Object.getOwnPropertyDescriptor(ctx, name) ?? {}));
    const sent = used ? rawJson(std, ctx.sent ?? [], "what it sent") : undefined;
    return encode(std, { ok: rawJson(std, value, "what it returned"), sent, ...world() });
  }

  return {
    start(name: string, args: string): void {
      core.root = core.current = new core.T(name);
      core.began = core.clock();
      const target = declaredFunction(core, name);
      if (!target) {
        answer = '{"missing":true}';
        return;
      }
      core.ended = false;
      core.part<Flow>("flow").drive(
        (function* () {
          try {
            const { mocks } = core.boot as InvokeBoot;
            if (mocks) mock(mocks);
            const values = std.parse(args) as unknown[];
            const { contextAt } = core.boot as InvokeBoot;
            if (contextAt != null) values[contextAt] = core.ctx = core.blank(ctx);
            if (contextAt === 0 && oldHook.test(std.String(target))) throw new core.Exception(oldForm(name), 400);
            const { root } = core;
            answer = returned(yield (core.stateOf(root).awaits = std.apply(target, undefined, values)));
          } catch (error) {
            answer = failed(error);
          }
        })(),
        () => (core.ended = true),
      );
    },

    /** Takes over the mocks of a test that has changed them meanwhile. */
    adopt(mocks: NonNullable<InvokeBoot["mocks"]>): void {
      for (const kind of ["process", "agent", "http", "exec"] as const) core.mocks[kind].length = 0;
      mock(mocks);
    },

    /** What came of it; a rejection that nobody handled, a deadlock, and time that is up count as thrown. */
    answer(): string {
      const { failures } = core.outcomeOf(core.root);
      if (!failures.length) return answer;
      const { message, stack, stopped } = failures[0];
      return encode(std, { error: { message, stack, stopped }, ...world() });
    },
  };
}
