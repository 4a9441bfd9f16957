"""Judges, delegates, calls of other agents, resources of MCP servers, assertions by scripts, and prompts: all of them see
the mocks, the clock, the session, the stores and the database of the test or case that they work for, and no other."""

from __future__ import annotations

import json

from agent_files import agent, run_cases, server
from command import Files, MakeApplication

WITNESS = """\
export function Seen(place) {
  Process("models.note.Create", { text: place });
  new Store("places").Push("all", place);
  return [Process("flows.mocked", place), new Date().toISOString(), Process("session.Get", "who"), Process("models.note.Get", {}).length];
}
export function Resource() { return JSON.stringify(Seen("resource")); }
export function Held(output, input, expected) {
  const seen = Seen("script");
  return { pass: JSON.stringify(seen.slice(0, 3)) === JSON.stringify(expected), message: JSON.stringify(seen) };
}
export function Places() { return new Store("places").Get("all"); }
"""
BACK = 'function Next() { return { data: Process("scripts.demo.witness.Seen", "back") }; }'
CALLER = 'function Next(ctx, payload) { return { data: ctx.agent.Call("back", payload.messages).response.next }; }'
FRONT = 'function Create(ctx, messages) { return { delegate: { agent_id: "back", messages } }; }'
JUDGE = """\
function Next() { const seen = Process("scripts.demo.witness.Seen", "judge"); return { data: { passed: seen[0] === "mock", reason: JSON.stringify(seen) } }; }
"""
DEMO = """\
function Next(ctx) {
  const contents = ctx.mcp.ReadResource("library", "note://x").contents;
  const { completion } = ctx.agent.Call("dated", [{ role: "user", content: "x" }]).response;
  return { data: [JSON.parse(contents[0].text), JSON.parse(completion.content).system] };
}
"""
TESTS = """\
const at = "2031-02-03T04:05:06.000Z";
function set(t, who) {
  t.mock.now(at);
  Process("session.Set", "who", who);
  return t.mock.process("flows.mocked", "mock");
}
export function TestAll(t, ctx) {
  const mock = set(t, "me");
  const next = (id) => Process(`agents.${id}.Stream`, "x").response.next;
  t.assert.Equal(next("front"), ["mock", at, "me", 1]);
  t.assert.Equal(next("caller"), ["mock", at, "me", 2]);
  t.assert.Equal(next("demo"), [["mock", at, "me", 3], "2031-02-03 04:05:06 2031-02-03 Monday"]);
  t.assert.Agent("anything", "judge", { criteria: "good" });
  t.assert.Equal(t.db.rows("note").map((row) => [row.text, row.created_at]), ["back", "back", "resource", "judge"].map((text) => [text, "2031-02-03 04:05:06"]));
  t.assert.Equal(Process("scripts.demo.witness.Places"), ["back", "back", "resource", "judge"]);
  t.assert.Equal(mock.calls.map((call) => call.args[0]), ["back", "back", "resource", "judge"]);
}
export function TestAnother(t) {
  set(t, "you");
  t.assert.Equal(Process("agents.front.Stream", "x").response.next, ["mock", at, "you", 1]);
}
"""
NOTE = {
    "name": "Note",
    "table": {"name": "note"},
    "columns": [{"name": "id", "type": "ID"}, {"name": "text", "type": "string"}],
    "option": {"timestamps": True},
}
AT = "2031-02-03T04:05:06.000Z"


def files(**more: object) -> Files:
    """The agents of all places; `more` belongs to `demo`."""
    resource = {"uri": "note://x", "name": "x", "mimeType": "text/plain"}
    library = json.dumps(
        {"label": "l", "transport": "process", "resources": {"x": "scripts.demo.witness.Resource"}, "tools": {}}
    )
    return {
        "/models/note.mod.yao": json.dumps(NOTE),
        "world_test.ts": TESTS,
        "world.ts": "export {}",
        "/assistants/demo/src/witness.ts": WITNESS,
        **agent(prompts=None, replies=None, hooks=DEMO, **more),  # type: ignore[arg-type]
        **agent("front", prompts=None, replies=None, hooks=FRONT),
        **agent("back", prompts=None, replies=None, hooks=BACK),
        **agent("caller", prompts=None, replies=None, hooks=CALLER),
        **agent("judge", prompts=None, replies=None, hooks=JUDGE),
        **agent("dated", prompts="- { role: system, content: $SYS.DATETIME $SYS.DATE $SYS.WEEKDAY }"),
        **server("library", {}),
        "/mcps/library.mcp.yao": library,
        "/mcps/mapping/library/resources/x.res.yao": json.dumps(resource),
    }


def test_a_script_test_is_followed_everywhere(app: MakeApplication) -> None:
    run = app(files()).run("-i", "assistants/demo/src/world_test.ts", "-v")
    assert run.code == 0, run.stdout + run.stderr


def test_a_case_is_followed_everywhere(app: MakeApplication) -> None:
    asserts = [
        {"type": "agent", "use": "agents:judge", "value": "good"},
        {"type": "script", "script": "scripts.demo.witness.Held", "value": ["mock", AT, "case"]},
    ]
    common = {
        "input": "x",
        "mocks": {"now": AT, "process": {"flows.mocked": "mock"}},
        "before": "env_test.Before",
        "assert": asserts,
    }
    hooks = {"/assistants/demo/src/env_test.ts": 'export function Before() { Process("session.Set", "who", "case"); }'}
    application = app(files(cases=[{"id": "a", **common}, {"id": "b", **common}]) | hooks)
    records = run_cases(application, code=0)
    for record in records.values():
        assert record["output"] == [["mock", AT, "case", 1], "2031-02-03 04:05:06 2031-02-03 Monday"]
    delegated = [{"id": "a", **common}, {"id": "b", **common}]
    for id in ("front", "caller"):
        application.write(
            agent(id, prompts=None, replies=None, hooks=FRONT if id == "front" else CALLER, cases=delegated)
        )
        application.write({f"/assistants/{id}/src/env_test.ts": hooks["/assistants/demo/src/env_test.ts"]})
        outputs = run_cases(application, "-i", f"assistants/{id}/tests/cases.jsonl", code=0)
        assert [record["output"] for record in outputs.values()] == [["mock", AT, "case", 1]] * 2
