/** Finds the agent mock that answers a call, and gives its reply the form that callers of an agent see. */

import { globMatches } from "../glob";
import type { Kernel } from "../kernel";
import type { Finder } from "./mocked";

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export default function (kernel: Kernel): Finder {
  /** A response as callers of an agent see it. */
  function agentResponse(id: string, reply: unknown): unknown {
    if (isObject(reply) && (typeof reply.passed === "boolean" || reply.judged === false)) return reply;
    if (isObject(reply) && typeof reply.error === "string" && !("content" in reply))
      return { agent_id: id, error: reply.error };
    const known =
      isObject(reply) && ["content", "response", "completion", "next", "data", "tools"].some((key) => key in reply);
    // an object of no known form is what the agent concludes: its data, and as JSON its text
    const fields: Fields = known
      ? (reply as Fields)
      : isObject(reply)
        ? { next: reply, content: JSON.stringify(reply) }
        : { content: reply ?? "" };
    const given = isObject(fields.response) ? fields.response : undefined;
    const completion = (given?.completion ??
      fields.completion ?? { role: "assistant", content: fields.content ?? "", finish_reason: "stop" }) as Fields;
    const next = fields.next ?? fields.data;
    const response = given ?? {
      request_id: "mock",
      context_id: "mock",
      trace_id: "mock",
      chat_id: kernel.context.chat_id,
      assistant_id: id,
      completion,
      ...(next === undefined ? {} : { next }),
      ...(fields.tools === undefined ? {} : { tools: fields.tools }),
    };
    const result: Fields = { agent_id: id, response, content: fields.content ?? completion.content ?? "" };
    if (fields.error !== undefined) result.error = fields.error;
    return result;
  }

  /**
   * The agent that a call is for, with its messages and options:
   * `agent.Call({assistant_id, messages, ...})`, `agent.Validate(id, payload, options)`,
   * `agents.<id>.Stream([ctx,] messages, options)` and `.Call`.
   */
  function agentCall(name: string, args: readonly unknown[]): { id: string; args: unknown[] } | undefined {
    if (/^agent\.(call|validate)$/i.test(name)) {
      const [first] = args;
      if (isObject(first)) {
        const { assistant_id, agent_id, agent, messages, ...options } = first;
        return { id: String(assistant_id ?? agent_id ?? agent ?? ""), args: [messages ?? first, options] };
      }
      return { id: String(first ?? ""), args: args.slice(1) };
    }
    const direct = /^(?:agents|assistants|ai)\.(.+)\.(?:stream|call)$/i.exec(name);
    if (!direct) return undefined;
    const withContext = isObject(args[0]) && ("chat_id" in args[0] || "assistant_id" in args[0]) && args.length > 1;
    return { id: direct[1], args: withContext ? args.slice(1) : [...args] };
  }

  return {
    find(name, args) {
      const call = agentCall(name, args);
      const mock =
        call && kernel.mocks.agent.findLast(({ pattern }) => globMatches(pattern.replace(/^agents:/, ""), call.id));
      return mock && (() => agentResponse(call.id, mock.reply.apply({ name: call.id }, call.args)));
    },
  };
}
