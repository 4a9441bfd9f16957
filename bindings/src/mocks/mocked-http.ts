/** Finds the HTTP mock that answers a request, and converts its reply to what `http.*` returns. */

import { globMatches } from "../glob";
import type { Kernel, Mock } from "../kernel";
import type { Finder } from "./mocked";

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `http.<method>` → the positions of its arguments. */
const layouts: Record<
  string,
  { method?: number; url: number; data?: number; query: number; headers: number; files?: number }
> = {
  get: { url: 0, query: 1, headers: 2 },
  post: { url: 0, data: 1, files: 2, query: 3, headers: 4 },
  put: { url: 0, data: 1, query: 2, headers: 3 },
  patch: { url: 0, data: 1, query: 2, headers: 3 },
  delete: { url: 0, data: 1, query: 2, headers: 3 },
  head: { url: 0, data: 1, query: 2, headers: 3 },
  send: { method: 0, url: 1, data: 2, query: 3, headers: 4, files: 5 },
  stream: { method: 0, url: 1, data: 2, query: 3, headers: 4 },
};

/** The fields of a reply. */
const parts = ["status", "data", "headers", "lines", "message", "code"];
/** Names of other libraries → our fields. `runner/cases/http_replies.py` has the same table for cases. */
const meant: Record<string, string> = {
  __proto__: null as never,
  body: "data",
  json: "data",
  text: "data",
  content: "data",
  payload: "data",
  statusCode: "status",
  status_code: "status",
  statusText: "message",
  error: "message",
  header: "headers",
};

/** Finds mocks and checks their replies. */
export interface HttpFinder extends Finder {
  /** Throws a TypeError if a reply has an unknown field or, for commands, a wrong value. */
  check(pattern: string, reply: unknown): void;
}

export default function (kernel: Kernel): HttpFinder {
  function check(pattern: string, reply: unknown): void {
    if (!isObject(reply)) return;
    const unknown = Object.keys(reply).find((key) => !parts.includes(key));
    if (unknown === undefined) {
      if (Number.isInteger(reply.status ?? 0) && Number.isInteger(reply.code ?? 0)) return;
      throw new TypeError(`t.mock.http(${JSON.stringify(pattern)}): status must be a whole number, such as 404`);
    }
    const hint = meant[unknown] ? `Did you mean ${JSON.stringify(meant[unknown])}? ` : "";
    throw new TypeError(
      `t.mock.http(${JSON.stringify(pattern)}): a reply has no ${JSON.stringify(unknown)}. ${hint}` +
        `It may have ${parts.slice(0, -1).join(", ")}; to reply with an object, write {data: ...}`,
    );
  }

  function httpRequest(name: string, given: () => unknown[]): Fields | undefined {
    const method = /^http\.(\w+)$/i.exec(name)?.[1].toLowerCase() ?? "";
    if (!Object.hasOwn(layouts, method)) return undefined;
    const args = given();
    const at = layouts[method];
    const query = fieldsOf(args[at.query]);
    const url = String(args[at.url] ?? "");
    const pairs = Object.entries(query).flatMap(([key, value]) =>
      (Array.isArray(value) ? value : [value]).map(
        (item) => `${encodeURIComponent(key.toWellFormed())}=${encodeURIComponent(String(item).toWellFormed())}`,
      ),
    );
    return {
      method: String(at.method === undefined ? method : (args[at.method] ?? "")).toUpperCase(),
      url: pairs.length ? url + (url.includes("?") ? "&" : "?") + pairs.join("&") : url,
      query,
      headers: fieldsOf(args[at.headers]),
      data: (at.data === undefined ? undefined : args[at.data]) ?? null,
      ...(at.files !== undefined && args[at.files] ? { files: args[at.files] } : {}),
    };
  }

  /** Query values or headers, given as an object, as `"a=1&b=2"`, or as a list of these. A repeated name gets a list. */
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
      else if (isObject(item))
        for (const [name, field] of Object.entries(item))
          for (const one of Array.isArray(field) ? (field as unknown[]) : [field]) add(name, one);
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
    const fields: Fields =
      isObject(reply) ? reply : { data: reply };
    const status = Number(fields.status ?? 200);
    const headers: Fields = {};
    for (const [name, value] of Object.entries(fieldsOf(fields.headers))) {
      headers[name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())] = (
        Array.isArray(value) ? value : [value]
      ).map(String);
    }
    return {
      status,
      code: Number(fields.code ?? status),
      data: fields.data ?? null,
      headers,
      message: String(fields.message ?? ""),
    };
  }

  function answerHttp(mock: Mock, request: Fields, stream: boolean): Fields {
    let reply: unknown;
    try {
      reply = mock.reply.call({ name: `${request.method as string} ${request.url as string}` }, request);
    } catch (error) {
      // a failed request: `http.*` does not throw, but returns a status of 0
      if (!(error instanceof Error)) throw error;
      reply = { status: 0, message: error.message };
    }
    check(mock.pattern, reply);
    const response = httpResponse(reply);
    if (!stream || !response.status) return response;
    const lines =
      isObject(reply) && Array.isArray(reply.lines)
        ? reply.lines
        : typeof response.data === "string"
          ? response.data.replace(/\n$/, "").split("\n")
          : [];
    return { lines, response: { ...response, data: null } };
  }

  return {
    check,
    find(name, args) {
      const request = httpRequest(name, args);
      const mock = request && kernel.mocks.http.findLast(({ pattern }) => httpMatches(pattern, request));
      return mock && (() => answerHttp(mock, request, /stream$/i.test(name)));
    },
  };
}
