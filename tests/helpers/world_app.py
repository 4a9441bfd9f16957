"""An agent whose tools keep, draw and tell the time, and tests that call them."""

from __future__ import annotations

from agent_files import agent, server
from command import Application, Files

SHOP = """\
function Order(args, ctx) {
  args.id = Number(args.id);
  const row = Process("models.c.Create", { id: args.id });
  const rate = http.Get("https://rates.example/eur?day=1");
  return { row, rate: rate.data, summary: Process("agents.deep.helper.Stream", "sum up").content, nested: Process("scripts.demo.inner.Ask", args.id) };
}
function Keep(args, ctx) {
  const before = { session: Process("session.Get", "who"), store: new Store("cart").Get("items") ?? null, memory: ctx.memory.chat.Get("seen") };
  Process("session.Set", "who", "tool");
  new Store("cart").Push("items", "from the tool");
  ctx.memory.chat.Set("seen", "by the tool");
  return before;
}
function Now(args, ctx) {
  const before = Date.now();
  time.Sleep(+(args.sleep ?? 0) / 2);
  Process('utils.time.Sleep', +(args.sleep ?? 0) / 2);
  return { before, after: Date.now(), host: Process("utils.now.Timestampms"), inner: Process("scripts.demo.inner.Now") };
}
function Draw() { return [Math.random(), Process("utils.str.UUID")]; }
"""
INNER = """\
export function Ask(id) { return Process("models.c.Find", id); }
export function Now() { return Date.now(); }
export function Sleep(ms) { time.Sleep(ms); }
export function Draw() { return Math.random(); }
"""
HOOKS = """\
function Next(ctx, payload) {
  return { data: { tools: payload.tools.map((tool) => tool.error ?? tool.result), here: Date.now() } };
}
"""
CALL = (
    "const call = (tool, args = {}) => Process('agents.demo.Stream', JSON.stringify({ tool, args })).response.next;\n"
)
REPLIES = "".join(
    f"""\
- when: {{ input: {{ regex: '"tool":"{tool}","args":\\{{"{name}":(\\d+)\\}}' }} }}
  reply: {{ tool_calls: [{{ name: {tool}, arguments: {{ {name}: "{{{{ match.1 }}}}" }} }}] }}
"""
    for tool, name in (("order", "id"), ("now", "sleep"))
) + "".join(
    f"""- {{ when: {{ input: {{ regex: '"tool":"{tool}"' }} }}, reply: {{ tool_calls: [{tool}] }} }}\n"""
    for tool in ("keep", "draw", "now")
)


def shop(tests: str, **more: object) -> Files:
    """An agent whose tools do what their names say, and tests of it."""
    tools = {name: f"scripts.demo.shop.{name.capitalize()}" for name in ("order", "keep", "now", "draw")}
    return {
        "world_test.ts": CALL + tests,
        "world.ts": "export {}",
        **agent(package={"mcp": {"servers": ["shop"]}}, replies=REPLIES, hooks=HOOKS, **more),  # type: ignore[arg-type]
        **agent("deep.helper", replies="- reply: the real helper"),
        **server("shop", tools),
        "/assistants/demo/src/shop.ts": SHOP,
        "/assistants/demo/src/inner.ts": INNER,
    }


def passes(application: Application, *arguments: str) -> str:
    run = application.run("-i", "assistants/demo/src/world_test.ts", "-v", *arguments)
    assert run.code == 0, run.stdout + run.stderr
    return run.stdout
