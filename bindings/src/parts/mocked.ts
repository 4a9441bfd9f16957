/**
 * Finds the mock that answers a call, newest first: process mocks by name, then agent mocks by agent id, then HTTP mocks
 * by method and URL.
 */

import { globMatches } from "../glob";
import type { Kernel, Mock } from "../kernel";

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Where the parts of a request are among the arguments of `http.<Method>`. */
const layouts: Record<string, { method?: number; url: number; data?: number; query: number; headers: number; files?: number }> = {
  get: { url: 0, query: 1, headers: 2 },
  post: { url: 0, data: 1, files: 2, query: 3, headers: 4 },
  put: { url: 0, data: 1, query: 2, headers: 3 },
  patch: { url: 0, data: 1, query: 2, headers: 3 },
  delete: { url: 0, data: 1, query: 2, headers: 3 },
  head: { url: 0, data: 1, query: 2, headers: 3 },
  send: { method: 0, url: 1, data: 2, query: 3, headers: 4, files: 5 },
  stream: { method: 0, url: 1, data: 2, query: 3, headers: 4 },
};

export default function (kernel: Kernel) {
  const newest = (mocks: Mock[], matches: (pattern: string) => boolean): Mock | undefined => mocks.findLast(({ pattern }) => matches(pattern));

  /** A response as callers of an agent see it. */
  function agentResponse(id: string, reply: unknown): unknown {
    if (isObject(reply) && typeof reply.passed === "boolean") return reply;
    if (isObject(reply) && typeof reply.error === "string" && !("content" in reply)) return { agent_id: id, error: reply.error };
    const known = isObject(reply) && ["content", "response", "completion", "next", "data", "tools"].some((key) => key in reply);
    // an object of no known form is what the agent concludes: its data, and as JSON its text
    const fields: Fields = known ? (reply as Fields) : isObject(reply) ? { next: reply, content: JSON.stringify(reply) } : { content: reply ?? "" };
    const given = isObject(fields.response) ? fields.response : undefined;
    const completion = (given?.completion ?? fields.completion ?? { role: "assistant", content: fields.content ?? "", finish_reason: "stop" }) as Fields;
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

  function httpRequest(name: string, args: readonly unknown[]): Fields | undefined {
    const method = /^http\.(\w+)$/i.exec(name)?.[1].toLowerCase() ?? "";
    if (!Object.hasOwn(layouts, method)) return undefined;
    const at = layouts[method];
    const query = fieldsOf(args[at.query]);
    const url = String(args[at.url] ?? "");
    const pairs = Object.entries(query).flatMap(([key, value]) => (Array.isArray(value) ? value : [value]).map((item) => `${encodeURIComponent(key)}=${encodeURIComponent(String(item))}`));
    return {
      method: String(at.method === undefined ? method : (args[at.method] ?? "")).toUpperCase(),
      url: pairs.length ? url + (url.includes("?") ? "&" : "?") + pairs.join("&") : url,
      query,
      headers: fieldsOf(args[at.headers]),
      data: (at.data === undefined ? undefined : args[at.data]) ?? null,
      ...(at.files !== undefined && args[at.files] ? { files: args[at.files] } : {}),
    };
  }

  /** Query values or headers, given as an object, `"a=1&b=2"`, or a list of either. A name given twice has a list. */
  function fieldsOf(value: unknown): Fields {
    const result: Fields = {};
    const add = (name: string, item: unknown) => {
      const old = Object.hasOwn(result, name) ? result[name] : undefined;
      const now = old === undefined ? item : [...(Array.isArray(old) ? (old as unknown[]) : [old]), item];
      Object.defineProperty(result, name, { value: now, writable: true, enumerable: true, configurable: true });
    };
    const decode = (text: string) => {
      try {
        return decodeURIComponent(text.replace(/\+/g, " "));
      } catch {
        return text;
      }
    };
    const read = (item: unknown): void => {
      if (Array.isArray(item)) item.forEach(read);
      else if (isObject(item)) for (const [name, field] of Object.entries(item)) for (const one of Array.isArray(field) ? (field as unknown[]) : [field]) add(name, one);
      else if (typeof item === "string") {
        for (const pair of item.replace(/^\?/, "").split("&").filter(Boolean)) {
          const at = pair.indexOf("=");
          add(decode(at < 0 ? pair : pair.slice(0, at)), at < 0 ? "" : decode(pair.slice(at + 1)));
        }
      }
    };
    read(value);
    return result;
  }

  function httpMatches(pattern: string, request: Fields): boolean {
    const [, method, glob] = /^(?:([a-z]+|\*)\s+)?([^]*)$/i.exec(pattern.trim())!;
    if (method && method !== "*" && method.toUpperCase() !== request.method) return false;
    const url = request.url as string;
    return globMatches(glob, url) || globMatches(glob, url.split("?")[0]);
  }

  /** `{status, code, data, headers, message}` as `http.*` gives it. */
  function httpResponse(reply: unknown): Fields {
    const fields: Fields = isObject(reply) && ["status", "data", "headers", "lines", "message"].some((key) => key in reply) ? reply : { data: reply };
    const status = Number(fields.status ?? 200);
    const headers: Fields = {};
    for (const [name, value] of Object.entries(fieldsOf(fields.headers))) {
      headers[name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())] = (Array.isArray(value) ? value : [value]).map(String);
    }
    return { status, code: Number(fields.code ?? status), data: fields.data ?? null, headers, message: String(fields.message ?? "") };
  }

  function answerHttp(mock: Mock, request: Fields, stream: boolean): Fields {
    let reply: unknown;
    try {
      reply = mock.reply.call({ name: `${request.method as string} ${request.url as string}` }, request);
    } catch (error) {
      // a request that breaks: `http.*` tells of it and does not throw
      if (!(error instanceof Error)) throw error;
      reply = { status: 0, message: error.message };
    }
    const response = httpResponse(reply);
    if (!stream || !response.status) return response;
    const lines = isObject(reply) && Array.isArray(reply.lines) ? reply.lines : typeof response.data === "string" ? response.data.replace(/\n$/, "").split("\n") : [];
    return { lines, response: { ...response, data: null } };
  }

  return {
    /** A function that answers the call `name(...args)`, or undefined when no mock does. */
    find(name: string, args: readonly unknown[]): (() => unknown) | undefined {
      const { process, agent, http } = kernel.mocks;
      const lower = name.toLowerCase();
      const mock = newest(process, (pattern) => globMatches(pattern.toLowerCase(), lower));
      if (mock) return () => mock.reply.apply({ name }, [...args]);

      const call = agent.length ? agentCall(name, args) : undefined;
      const mockOfAgent = call && newest(agent, (pattern) => globMatches(pattern.replace(/^agents:/, ""), call.id));
      if (mockOfAgent) return () => agentResponse(call.id, mockOfAgent.reply.apply({ name: call.id }, call.args));

      const request = http.length ? httpRequest(name, args) : undefined;
      const mockOfHttp = request && newest(http, (pattern) => httpMatches(pattern, request));
      if (mockOfHttp) return () => answerHttp(mockOfHttp, request, /stream$/i.test(name));
      return undefined;
    },
  };
}
