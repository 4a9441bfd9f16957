// Logs what a script really sees: the members of one value per declared interface, and the global names.

/** A value per interface, by the name of its declaration. */
function values(t: testing.T, ctx: agent.Context): Record<string, unknown> {
  const fs = new FS("data");
  fs.WriteFile("/members.txt", "text");
  t.cleanup(() => fs.Remove("/members.txt"));

  const process = t.mock.process("declarations.call");
  Process("declarations.call");
  let request: testing.HttpRequest | undefined;
  t.mock.http("POST https://example.com/*", (seen) => ((request = seen), { status: 200, data: {} }));
  const httpResult = http.Post("https://example.com/orders", {});
  t.mock.agent("helpers.*", { content: "text", data: 1 });
  const answer = ctx.agent.Call("helpers.one", []);
  const node = ctx.trace.Add("input", { label: "step" });
  ctx.Send("text");

  return {
    "testing.T": t,
    "testing.Assert": t.assert,
    "testing.Require": t.require,
    "testing.Mock": t.mock,
    "testing.Snapshot": t.snapshot,
    "testing.Db": t.db,
    "testing.Recorder": process,
    "testing.Clock": t.mock.now(),
    "testing.Call": process.last,
    "testing.HttpRequest": request,
    "testing.M": main,

    "agent.Context": ctx,
    "agent.Context.client": ctx.client,
    "agent.Context.Client": ctx.Client,
    "agent.Identity": ctx.User,
    "agent.Authorized": ctx.authorized,
    "agent.SentMessage": ctx.sent[0],
    "agent.Memory": ctx.memory,
    "agent.MemoryNamespace": ctx.memory.user,
    "agent.Trace": ctx.trace,
    "agent.TraceNode": node,
    "agent.TraceRecord": ctx.trace.records[0],
    "agent.TraceSpace": ctx.trace.CreateSpace({ label: "space" }),
    "agent.MCP": ctx.mcp,
    "agent.Agents": ctx.agent,
    "agent.AgentResult": answer,
    "agent.Response": answer.response,
    "agent.LLM": ctx.llm,
    "agent.Search": ctx.search,

    FS: fs,
    Store: new Store("declarations"),
    Query: new Query(),
    Job: new Job("utils.str.UUID"),
    Plan: new Plan("declarations"),
    MCP: new MCP("declarations"),
    Trace: new Trace(),
    WebSocket: new WebSocket("ws://localhost"),
    Exception: new Exception("text"),
    "yao.Log": log,
    "yao.Time": time,
    "yao.Http": http,
    "yao.HttpResult": httpResult,
    "yao.Reader": fs.ReadCloser("/members.txt"),
    "yao.TaskResult": All([{ process: "utils.str.UUID" }])[0],

    Console: console,
    Performance: performance,
    URL: new URL("https://example.com"),
    URLSearchParams: new URLSearchParams(),
    TextEncoder: new TextEncoder(),
    TextDecoder: new TextDecoder(),
    DOMException: new DOMException(),
  };
}

/** Prototypes that belong to the language: what a value has from there on, no declaration needs to name. */
const ends = new Set<unknown>([Object.prototype, Array.prototype, Function.prototype, Error.prototype]);

/** Own and inherited members of a value, each with its `typeof`. */
function members(value: any): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (let holder = value; holder && !ends.has(holder); holder = Object.getPrototypeOf(holder)) {
    for (const key of Reflect.ownKeys(holder)) {
      if (key === "constructor" || key === Symbol.toStringTag) continue;
      found[typeof key === "symbol" ? `[${key.description}]` : key] ??= typeof value[key];
    }
  }
  return found;
}

/** What belongs to a function or class itself; other values have no statics. */
function statics(value: any): Record<string, string> {
  const names = typeof value === "function" ? Object.getOwnPropertyNames(value) : [];
  const found = names.filter((name) => !["length", "name", "prototype"].includes(name));
  return Object.fromEntries(found.map((name) => [name, typeof value[name]]));
}

let main: testing.M;

export function TestMain(m: testing.M) {
  main = m;
  return m.Run();
}

export function TestMembers(t: testing.T, ctx: agent.Context) {
  for (const [name, value] of Object.entries(values(t, ctx))) {
    t.log(JSON.stringify(["value", name, members(value)]));
  }
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    t.log(JSON.stringify(["global", name, statics((globalThis as any)[name])]));
  }
}

export function FuzzMembers(f: testing.F) {
  f.log(JSON.stringify(["value", "testing.F", members(f)]));
  f.add(1);
  f.fuzz(() => {});
}

export function BenchmarkMembers(b: testing.B) {
  b.log(JSON.stringify(["value", "testing.B", members(b)]));
  while (b.loop()) {}
}
