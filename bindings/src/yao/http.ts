/**
 * `http`: an object whose methods call `http.<Method>`.
 *
 * The results are `{status, code, data, headers, message}`. A failed connection has the status 0, wrong arguments have 400;
 * neither throws. A host that scripts may not reach throws an Exception.
 *
 * `Stream` calls the process `http.Stream` with `(method, url, payload, query, headers)`, which returns
 * `{lines, response?}`. Then the callback gets the lines one by one.
 */

import type { Kernel } from "../kernel";

const failure = (status: number, message: string) => ({ status, code: status, data: null, headers: {}, message });

export default function (kernel: Kernel) {
  function send(method: string, args: unknown[], needed: number): unknown {
    for (let i = 0; i < needed; i++) {
      if (typeof args[i] !== "string" || !args[i])
        return failure(400, `http.${method}: argument ${i + 1} must be a string`);
    }
    while (args.length && args[args.length - 1] === undefined) args.pop();
    return kernel.call("http." + method, args);
  }

  const http: Record<string, (...args: unknown[]) => unknown> = {
    Send: (...args) => send("Send", args, 2),
    /** The callback takes a line and returns 0 to stop or -1 to abort; 1 or any other value continues. */
    Stream(method, url, callback, payload, query, headers) {
      if (typeof callback !== "function") return failure(400, "http.Stream: argument 3 must be a function");
      const answer = send("Stream", [method, url, payload, query, headers], 2) as {
        lines?: unknown;
        response?: unknown;
      } | null;
      if (!answer || !Array.isArray(answer.lines)) return answer;
      for (const line of answer.lines as unknown[]) {
        const verdict = (callback as (line: unknown) => unknown)(line);
        if (verdict === 0) break;
        if (verdict === -1) return failure(400, "http.Stream: aborted by its callback");
      }
      return answer.response ?? { status: 200, code: 200, data: null, headers: {}, message: "ok" };
    },
  };
  for (const method of ["Get", "Post", "Put", "Patch", "Delete", "Head"])
    http[method] = (...args) => send(method, args, 1);
  return { http };
}
