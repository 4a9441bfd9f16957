/**
 * `ctx.mcp`, `ctx.agent`, `ctx.llm` and `ctx.search`. They call the processes in the table, which mocks and the host
 * answer, and convert the answers to those of Yao's context.
 *
 * | call | process | arguments of the process | expected answer |
 * | --- | --- | --- | --- |
 * | `mcp.CallTool(server, tool, args)` | `mcp.CallTool` | the same | `{content: [{type, text}], isError}`, or the value itself |
 * | `mcp.ListTools(server, cursor)` and the rest | `mcp.ListTools` ... | the same | returned as it is |
 * | `agent.Call(id, messages, options)` | `agent.Call` | `{assistant_id, messages, ...options}` | `{agent_id, response, content, error?}` |
 * | `llm.Stream(connector, messages, options)` | `llm.Stream` | the same | `{connector, response, content, error?}`, a completion, or text |
 * | `llm.GenerateImage(connector, prompt, options)` | `llm.ImageGeneration` | the same | `{image, format}` |
 * | `search.Web(query, options)`, KB, DB | `search.Web` ... | the same | `{items, total, ...}`, or the items |
 *
 * Calls run one after the other. If the answer has `chunks` (texts or messages), `onChunk` is called with each; otherwise
 * once with the whole content. A text is passed as `{type: "text", props: {content}}`. No more chunks follow after `onChunk`
 * returns a number other than 0.
 */

import { errorText } from "../error-text";
import type { Kernel } from "../kernel";
import { sequence } from "../sequence";

type Fields = Record<string, unknown>;
type OnChunk = (message: unknown) => unknown;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const succeeded = (result: Fields) => !result.error;
const kinds = ["All", "Any", "Race"];

export default function (kernel: Kernel) {
  const fail = (text: string): never => {
    throw new kernel.Exception(text, 400);
  };

  const forward =
    (process: string) =>
    (...args: unknown[]): unknown =>
      kernel.call(process, args);

  /** The answer of a process, or `{error}` with the message if it throws. */
  function attempt(process: string, args: unknown[], shape: (answer: unknown) => Fields): Fields {
    try {
      return shape(kernel.call(process, args));
    } catch (error) {
      return { error: errorText(error) };
    }
  }

  function requestsOf(method: string, value: unknown, needed: string[]): Fields[] {
    if (!Array.isArray(value)) fail(`${method} requires a list of requests`);
    return (value as unknown[]).filter(
      (item): item is Fields => isObject(item) && needed.every((key) => item[key] !== undefined && item[key] !== null),
    );
  }

  function deliver(result: Fields, onChunk: unknown): Fields {
    const { chunks, ...rest } = result;
    if (typeof onChunk === "function") {
      const parts = Array.isArray(chunks) ? chunks : result.content ? [result.content] : [];
      for (const part of parts as unknown[]) {
        const answer = (onChunk as OnChunk)(
          typeof part === "string" ? { type: "text", props: { content: part } } : part,
        );
        if (typeof answer === "number" && answer !== 0) break;
      }
    }
    return rest;
  }

  /** The value of a tool's answer. Texts are parsed as JSON if possible. Several contents become a list. */
  function toolValue(answer: unknown): unknown {
    if (!isObject(answer) || !Array.isArray(answer.content)) return answer ?? null;
    const values = (answer.content as unknown[]).map((part) => {
      if (!isObject(part) || part.type !== "text" || typeof part.text !== "string") return part;
      try {
        return JSON.parse(part.text) as unknown;
      } catch {
        return part.text;
      }
    });
    return values.length === 1 ? values[0] : values;
  }

  const callTool = (server: unknown, tool: unknown, args?: unknown): unknown => {
    if (typeof server !== "string" || typeof tool !== "string")
      fail("CallTool requires the server and the tool as strings");
    return toolValue(kernel.call("mcp.CallTool", [server, tool, args ?? {}]));
  };
  const callTools = (server: unknown, calls: unknown): unknown[] => {
    if (!Array.isArray(calls)) fail("CallTools requires a list of calls");
    return (calls as Fields[]).map((call) => callTool(server, call?.name, call?.arguments));
  };
  const mcp: Fields = { CallTool: callTool, CallTools: callTools, CallToolsParallel: callTools };
  for (const name of [
    "ListTools",
    "ListResources",
    "ReadResource",
    "ListPrompts",
    "GetPrompt",
    "ListSamples",
    "GetSample",
  ]) {
    mcp[name] = forward("mcp." + name);
  }

  function callAgent(id: unknown, messages: unknown, options: unknown, onChunk: unknown): Fields {
    const { onChunk: _own, ...fields } = isObject(options) ? options : ({} as Fields);
    const result = attempt("agent.Call", [{ ...fields, assistant_id: id, messages }], (answer) =>
      isObject(answer) ? answer : { content: answer },
    );
    return deliver({ agent_id: id, ...result }, onChunk);
  }
  const agent: Fields = {
    Call(id: unknown, messages: unknown, options?: Fields) {
      if (typeof id !== "string") fail("Call: agentID must be a string");
      if (!Array.isArray(messages)) fail("Call: messages must be an array");
      return callAgent(id, messages, options, options?.onChunk);
    },
  };

  function stream(connector: unknown, messages: unknown, options: unknown, onChunk: unknown): Fields {
    const { onChunk: _own, ...fields } = isObject(options) ? options : ({} as Fields);
    const result = attempt("llm.Stream", [connector, messages, fields], (answer) => {
      if (!isObject(answer)) return { content: answer };
      const choices = answer.choices as { message?: Fields }[] | undefined;
      return Array.isArray(choices) ? { response: answer, content: choices[0]?.message?.content ?? "" } : answer;
    });
    return deliver({ connector, ...result }, onChunk);
  }
  const llm: Fields = {
    Stream(connector: unknown, messages: unknown, options?: Fields) {
      if (typeof connector !== "string") fail("Stream: connector must be a string");
      if (!Array.isArray(messages)) fail("Stream: messages must be an array");
      return stream(connector, messages, options, options?.onChunk);
    },
    GenerateImage(connector: unknown, prompt: unknown, options?: unknown) {
      if (typeof connector !== "string" || typeof prompt !== "string")
        fail("GenerateImage requires the connector and the prompt as strings");
      return {
        connector,
        ...attempt("llm.ImageGeneration", [connector, prompt, options ?? {}], (answer) =>
          isObject(answer) ? answer : { image: answer },
        ),
      };
    },
  };

  let cited = 0;
  /** What was found, as Yao completes it for a search of a hook; items are numbered through all searches of a context. */
  function find(type: string, query: unknown, options: Fields = {}): Fields {
    const name = /^(kb|db)$/i.test(type) ? type.toUpperCase() : "Web";
    const result = attempt("search." + name, [query, options], (answer) =>
      Array.isArray(answer) ? { items: answer } : isObject(answer) ? answer : {},
    );
    const source = options.source ?? "hook";
    const items = (Array.isArray(result.items) ? result.items : []).map((item) =>
      isObject(item) ? { citation_id: String(++cited), type, source, weight: 0.8, ...item } : item,
    );
    return { type, query, source, total: items.length, duration_ms: 0, ...result, items };
  }
  const search: Fields = {};
  for (const name of ["Web", "KB", "DB"]) {
    search[name] = (query: unknown, options?: Fields) => {
      if (typeof query !== "string") fail(`${name}: query must be a string`);
      return find(name.toLowerCase(), query, isObject(options) ? options : {});
    };
  }

  for (const kind of kinds) {
    mcp[kind] = (requests: unknown) =>
      sequence(
        kind,
        requestsOf(kind, requests, ["mcp", "tool"]),
        ({ mcp: server, tool, arguments: args }): Fields => {
          const result = attempt("mcp.CallTool", [server, tool, args ?? {}], (answer) => ({
            result: toolValue(answer),
          }));
          return { mcp: server, tool, ...result };
        },
        succeeded,
      );
    agent[kind] = (
      requests: unknown,
      options?: { onChunk?: (id: unknown, index: number, message: unknown) => unknown },
    ) =>
      sequence(
        kind,
        requestsOf(kind, requests, ["agent"]),
        (request, index) => {
          const heard = options?.onChunk;
          const onChunk =
            typeof heard === "function" ? (message: unknown) => heard(request.agent, index, message) : undefined;
          return callAgent(request.agent, request.messages ?? [], request.options, onChunk);
        },
        succeeded,
      );
    llm[kind] = (
      requests: unknown,
      options?: { onChunk?: (connector: unknown, index: number, message: unknown) => unknown },
    ) =>
      sequence(
        kind,
        requestsOf(kind, requests, ["connector"]),
        (request, index) => {
          const heard = options?.onChunk;
          const onChunk =
            typeof heard === "function" ? (message: unknown) => heard(request.connector, index, message) : undefined;
          return stream(request.connector, request.messages ?? [], request.options, onChunk);
        },
        succeeded,
      );
    search[kind] = (requests: unknown) =>
      sequence(
        kind,
        requestsOf(kind, requests, ["type", "query"]),
        ({ type, query, ...options }) => find(String(type), query, options),
        succeeded,
      );
  }

  return { members: () => ({ mcp, agent, llm, search }) };
}
