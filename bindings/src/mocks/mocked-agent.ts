/**
 * Finds the agent mock that answers a call, and converts its reply to what callers of an agent receive.
 *
 * docs/mocking.md ("Replies of agents") says what a reply means. `runner/agents/mocked.py` does the same for
 * mocks of cases, if no script makes the call.
 */

import { globMatches } from "../glob";
import type { Kernel } from "../kernel";
import type { Finder } from "./mocked";

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

/** An object with one of these keys is an answer. Any other object is the data of an answer. */
const parts = ["content", "data", "next", "tools", "completion", "response", "error"];

export default function (kernel: Kernel): Finder {
  const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  const given = (value: unknown): boolean => value !== undefined && value !== null;
  const empty = (value: unknown): boolean =>
    !given(value) || value === "" || (typeof value === "object" && Object.keys(value!).length === 0);

  /** The fields of an answer, from the reply of a mock. Throws an Exception if the call must fail. */
  function partsOf(id: string, reply: unknown): Fields {
    if (!given(reply) || typeof reply === "string") return { content: reply ?? "" };
    const fields = isObject(reply) && parts.some((key) => Object.hasOwn(reply, key)) ? reply : { data: reply };
    if (typeof fields.error === "string") throw new kernel.Exception(fields.error);
    const known = { ...need(id, fields, "response", isObject, "an object"), ...fields };
    need(id, known, "tools", isList, "a list of objects");
    const completion = need(id, known, "completion", isObject, "an object");
    if (completion) need(id, completion, "tool_calls", isList, "a list of objects");
    return known;
  }

  function need(id: string, fields: Fields, name: string, fits: (value: unknown) => boolean, kind: string) {
    const value = fields[name];
    if (given(value) && !fits(value))
      throw new kernel.Exception(`The mock of agent ${JSON.stringify(id)} cannot answer: its ${name} is not ${kind}`);
    return value as Fields | undefined;
  }

  /** An answer as callers of an agent receive it. */
  function resultOf(id: string, reply: unknown): Fields {
    const known = partsOf(id, reply);
    const { response, tools } = known as { response?: Fields; tools?: unknown };
    const completion = (known.completion ?? {}) as Fields;
    const next = known.data ?? known.next;
    const said = [known.content, completion.content, completion.refusal, next].find((value) => !empty(value));
    const content = said === undefined ? "" : textOf(said);
    const ids = {
      request_id: "mock",
      context_id: "mock",
      trace_id: "mock",
      chat_id: kernel.context.chat_id,
      assistant_id: id,
    };
    return {
      agent_id: id,
      response: {
        ...(response ?? ids),
        completion: { role: "assistant", finish_reason: "stop", ...completion, content },
        ...(given(next) ? { next } : {}),
        ...(given(tools) ? { tools } : {}),
      },
      content,
    };
  }

  /**
   * The agent that a call is for, with its messages and options:
   * `agent.Call({assistant_id, messages, ...})`, `agent.Validate(id, payload, options)`,
   * `agents.<id>.Stream([ctx,] messages, options)` and `.Call`.
   */
  function agentCall(name: string, given: () => unknown[]): { id: string; args: unknown[] } | undefined {
    if (/^agent\.(call|validate)$/i.test(name)) {
      const args = given();
      const [first] = args;
      if (isObject(first)) {
        const { assistant_id, agent_id, agent, messages, ...options } = first;
        return { id: String(assistant_id ?? agent_id ?? agent ?? ""), args: [messages ?? first, options] };
      }
      return { id: String(first ?? ""), args: args.slice(1) };
    }
    const direct = /^(?:agents|assistants|ai)\.(.+)\.(?:stream|call)$/i.exec(name);
    if (!direct) return undefined;
    const args = given();
    const withContext = isObject(args[0]) && ("chat_id" in args[0] || "assistant_id" in args[0]) && args.length > 1;
    return { id: direct[1], args: withContext ? args.slice(1) : args };
  }

  /** The verdict of a validator that gives this reply. The host reads it as it reads answers of agents that ran. */
  const verdictOf = (id: string, reply: unknown): unknown => kernel.host("agent.Verdict", [id, reply ?? null]);

  return {
    find(name, args) {
      const call = agentCall(name, args);
      const mock =
        call && kernel.mocks.agent.findLast(({ pattern }) => globMatches(pattern.replace(/^agents:/, ""), call.id));
      const read = /\.validate$/i.test(name) ? verdictOf : resultOf;
      return mock && (() => read(call.id, mock.reply.apply({ name: call.id }, call.args)));
    },
  };
}
