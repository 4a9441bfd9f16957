"""What belongs to a test follows it: mocks, session, stores, memory and the clock, in all that it calls; for cases too."""

from __future__ import annotations

import pytest
from agent_files import agent, run_cases
from command import MakeApplication
from world_app import passes, shop


def test_mocks_of_a_script_test_answer_in_tools_hooks_and_scripts(app: MakeApplication) -> None:
    application = app(
        shop("""
export function TestOrder(t) {
  let made = 40;
  const create = t.mock.process("models.c.Create", (row) => ({ ...row, number: ++made, said: Process("utils.str.Hex", "x") }));
  const find = t.mock.process("models.c.F*", (id) => "found " + id);
  const rates = t.mock.http("GET https://rates.example/*", (request) => ({ data: { eur: Number(request.url.split("day=")[1]) } }));
  const helper = t.mock.agent("deep.helper", (messages) => "mocked: " + JSON.stringify(messages));
  const [result] = call("order", { id: 7 }).tools;
  t.assert.Equal(result.row, { id: 7, number: 41, said: "78" });
  t.assert.Equal(result.rate, { eur: 1 });
  t.assert.Contains(result.summary, "mocked: ");
  t.assert.Equal(result.nested, "found 7");
  t.assert.Equal([create.count, find.count, rates.count, helper.count], [1, 1, 1, 1]);
  t.assert.Equal([create.last.args, create.last.result.number], [[{ id: 7 }], 41]);
  find.restore();
  t.assert.Contains(JSON.stringify(call("order", { id: 8 }).tools), "models.c.Find");
}
export function TestThrown(t) {
  t.mock.process("models.c.Create", () => { throw new Exception("sold out", 409); });
  t.assert.Contains(JSON.stringify(call("order", { id: 7 }).tools), "sold out");
}
export function TestToolItself(t) {
  t.mock.process("scripts.demo.shop.Order", (args) => ({ instead: +args.id }));
  t.assert.Equal(call("order", { id: 9 }).tools, [{ instead: 9 }]);
}
export function TestNothingIsLeft(t) {
  t.assert.Contains(JSON.stringify(call("order", { id: 7 }).tools), "not available");
}
export function TestAMockThatAsksTheAgentAgain(t) {
  t.mock.process("models.c.Create", (row) => row.id < 3 ? call("order", { id: row.id + 1 }).tools[0].row : "deepest");
  t.mock.process("models.c.Find", null);
  t.mock.http("*", "");
  t.mock.agent("deep.helper", "");
  t.assert.Equal(call("order", { id: 1 }).tools[0].row, "deepest");
}
""")
    )
    passes(application)


CHANGED = """\
const year = () => new Date().getFullYear();
const tried = (work) => { try { return work(); } catch (error) { return "not here"; } };
export function Seen() {
  Process("flows.change");
  return [tried(() => Process("flows.late")), tried(() => http.Get("https://late/1").data), tried(() => Process("agents.ghost.Stream", "x").content), year(), Process("utils.now.Date")];
}
"""
CHANGES = """\
import { Seen } from "./changed";
const at = "2031-02-03T00:00:00Z";
const ways = [() => Seen(), () => Process("scripts.demo.changed.Seen"), () => Process("agents.demo.Stream", "x").response.next, () => Process("agents.outer.Stream", "x").response.next];
function add(t) {
  return [t.mock.now(at), t.mock.process("flows.l*", "late"), t.mock.http("https://late/*", { data: "late http" }), t.mock.agent("ghost", "late agent")];
}
export function TestAdded(t) {
  for (const way of ways) {
    let mocks;
    const change = t.mock.process("flows.change", () => { mocks = add(t); });
    t.assert.Equal(way(), ["late", "late http", "late agent", 2031, "2031-02-03"]);
    t.assert.Equal(mocks.slice(1).map((mock) => mock.last.name), ["flows.late", "GET https://late/1", "ghost"]);
    for (const mock of [change, ...mocks]) mock.restore();
  }
}
export function TestTakenAway(t) {
  for (const way of ways) {
    const mocks = add(t);
    t.mock.process("flows.change", () => { for (const mock of mocks) mock.restore(); });
    const [late, answer, agent, year, today] = way();
    t.assert.Equal([late, agent], ["not here", "not here"]);
    t.assert.NotEqual(answer, "late http");
    t.assert.True(year < 2031 && today < "2031");
  }
}
export function TestOnceThenAnother(t) {
  t.mock.process("flows.change", () => { t.mock.process("flows.change", "second"); return "first"; });
  t.assert.Equal(Process("agents.twice.Stream", "x").response.next, ["first", "second", "second"]);
}
"""


def test_mocks_that_change_while_something_runs_change_there_too(app: MakeApplication) -> None:
    """A mock that answers a hook, or a script, adds other mocks, takes some away, stops the clock and lets it go."""
    outer = (
        'function Next(ctx) { const { next } = ctx.agent.Call("demo", [{ role: "user", content: "x" }]).response;\n'
        '  return { data: [...next.slice(0, 3), new Date().getFullYear(), Process("utils.now.Date")] }; }'
    )
    application = app(
        {
            "world_test.ts": CHANGES,
            "world.ts": "export {}",
            "changed.ts": CHANGED,
            **agent(
                prompts=None,
                replies=None,
                hooks='import { Seen } from "./changed";\nfunction Next() { return { data: Seen() }; }',
            ),
            **agent("outer", prompts=None, replies=None, hooks=outer),
            **agent(
                "twice",
                prompts=None,
                replies=None,
                hooks='function Next() { return { data: [1, 2, 3].map(() => Process("flows.change")) }; }',
            ),
        }
    )
    passes(application)


def test_a_mock_that_loops_costs_its_test_only(app: MakeApplication) -> None:
    application = app(
        shop("""
export function TestLoops(t) { t.mock.process("models.c.Create", () => { for (;;); }); call("order", { id: 1 }); }
export function TestGoesOn(t) { t.mock.process("models.c.Create", { ok: true }); t.assert.True(true); }
""")
    )
    records = application.results("-i", "assistants/demo/src/world_test.ts", "--timeout", "300ms")
    assert [records[name]["status"] for name in ("TestLoops", "TestGoesOn")] == ["failed", "passed"]
    assert "timeout after 0.3s" in records["TestLoops"]["error"]


def test_session_stores_and_memory_are_shared_with_what_is_called(app: MakeApplication) -> None:
    application = app(
        shop("""
export function TestShared(t, ctx) {
  Process("session.Set", "who", "test");
  new Store("cart").Set("items", ["from the test"]);
  ctx.memory.chat.Set("seen", "by the test");
  t.assert.Equal(call("keep").tools, [{ session: "test", store: ["from the test"], memory: "by the test" }]);
  t.assert.Equal(Process("session.Get", "who"), "tool");
  t.assert.Equal(new Store("cart").Get("items"), ["from the test", "from the tool"]);
  t.assert.Equal(ctx.memory.chat.Get("seen"), "by the tool");
}
export function TestAlone(t) { t.assert.Equal(call("keep").tools, [{ session: null, store: null, memory: null }]); }
""")
    )
    passes(application)
    passes(application, "--runs", "2")


def test_a_case_has_one_world_too(app: MakeApplication) -> None:
    mocks = {
        "now": "2030-01-01T00:00:00Z",
        "process": {"models.c.Create": {"number": 1}, "models.c.Find": "found"},
        "http": {"https://rates.example/*": {"data": 2}},
        "agent": {"deep.helper": "mocked"},
    }
    application = app(
        shop(
            "",
            cases=[
                {"id": "order", "input": '{"tool":"order","args":{"id":7}}', "mocks": mocks},
                {"id": "now", "input": '{"tool":"now","args":{"sleep":60000}}', "mocks": mocks},
                {
                    "id": "keep",
                    "input": '{"tool":"keep","args":{}}',
                    "before": "env_test.Before",
                    "after": "env_test.After",
                },
            ],
        )
        | {
            "/assistants/demo/src/env_test.ts": """
export function Before() { Process("session.Set", "who", "hook"); new Store("cart").Push("items", "from the hook"); return 1; }
export function After() { if (Process("session.Get", "who") !== "tool") throw new Error("another session"); }
"""
        }
    )
    records = run_cases(application, code=0)
    start = 1893456000000
    [order] = records["order"]["output"]["tools"]
    assert order == {"row": {"number": 1}, "rate": 2, "summary": "mocked", "nested": "found"}
    assert records["now"]["output"] == {
        "tools": [dict.fromkeys(("after", "host", "inner"), start + 60000) | {"before": start}],
        "here": start + 60000,
    }
    assert records["keep"]["output"]["tools"] == [{"session": "hook", "store": ["from the hook"], "memory": None}]


@pytest.mark.parametrize("kind", ["All", "Any", "Race"])
def test_all_of_several_calls_are_made(app: MakeApplication, kind: str) -> None:
    application = app(
        {
            "world_test.ts": f"""
export function TestAgents(t, ctx) {{
  const mock = t.mock.agent("*", (messages) => {{ if (messages[0].content === "bad") throw new Error("no"); return messages[0].content; }});
  const asked = ["bad", "one", "two"].map((content) => ({{ agent: "x", messages: [{{ role: "user", content }}] }}));
  const seen = ctx.agent.{kind}(asked).map((result) => result && (result.content ?? "failed"));
  t.assert.Equal(mock.count, 3);
  t.assert.Equal(seen, {{ All: ["failed", "one", "two"], Any: ["failed", "one", null], Race: ["failed", null, null] }}.{kind});
}}
""",
            "world.ts": "export {}",
            **agent(),
        }
    )
    passes(application)
