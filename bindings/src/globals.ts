/** Which part supplies which global name. A part is evaluated when one of its names is first used. */
export const globalsOfPart: Record<string, string> = {
  process: "Process Exception",
  promise: "Promise",
  url: "URL URLSearchParams",
  encoding: "TextEncoder TextDecoder atob btoa",
  clone: "structuredClone",
  console: "console log",
  timers: "setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate",
  fs: "FS",
  http: "http",
  yao: "Store Query Job Plan WebSocket MCP Use Eval All Any Race Authorized $L Trace time",
};
