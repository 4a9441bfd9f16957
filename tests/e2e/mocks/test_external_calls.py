"""Calls that go outside a test are recorded as served, mocked or missing; missing ones are always reported."""

from __future__ import annotations

from agent_files import agent, case_file, run_cases
from command import Application, MakeApplication

HOOKS = """\
function Next(ctx) {
  const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
  return { data: [tried(() => Process("models.a.Find", 1)), tried(() => ctx.agent.Call("nobody", [{ role: "user", content: "x" }]).error), Process("text.ExtractJSON", "{}")] };
}
"""
TESTS = """
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
export function TestCaught(t) {
  t.assert.Contains(tried(() => Process("models.a.Find", 1)), 't.mock.process("models.a.Find", ...)');
  tried(() => Process("models.a.Find", 2));
  t.mock.process("models.b.*", 1);
  Process("models.b.Get");
  Process("text.ExtractJSON", "{}");
}
export function TestHTTP(t) { tried(() => http.Get("https://example.org/a?b=c")); t.mock.http("https://mocked/*", "x"); http.Post("https://mocked/1?x=2", {}); }
export function TestAgents(t, ctx) {
  t.mock.agent("known", "hi");
  ctx.agent.Call("known", [{ role: "user", content: "x" }]);
  ctx.agent.Call("nobody", [{ role: "user", content: "x" }]);
  tried(() => Process("mcp.CallTool", "noserver", "tool", {}));
  tried(() => Process("llm.ChatCompletions", "noconnector", "x"));
}
export function TestMember(t) { t.assert.Equal(tried(() => Process("utils.str.Pinyin")), 'Process "utils.str.Pinyin" is not available here: mock it with t.mock.process("utils.str.Pinyin", ...)'); }
export function TestInTheAgent(t) { Process("agents.demo.Stream", "x"); }
export function TestNoSuch(t, ctx) {
  const names = ["scripts.demo.world.Nix", "agents.demo.world.Nix", "scripts.nix.Fn", "agents.demo.nix.Fn", "mcp.Nix", "agent.Nix", "models.__yao.role.Nix", "session.Nix", "query.mysql.Get"];
  for (const name of names) t.assert.Contains(tried(() => Process(name, "x")), `t.mock.process("${name}", ...)`);
  t.assert.Contains(tried(() => Process("yao.table.Search", "pet")), 'or call the model behind it, such as Process("models.pet.Paginate", ...)');
  t.assert.Contains(tried(() => ctx.mcp.CallTool("noserver", "x")), 't.mock.process("mcp.CallTool", ...)');
}
export function TestEngines(t) {
  t.assert.Equal(tried(() => new Query("mysql")), 'Query Engine mysql does not loaded: here is only default; mock it with t.mock.process("query.mysql.*", ...)');
  t.mock.process("query.pg.Get", [1]);
  t.assert.Equal([new Query("pg").Get({}), new Query().engine], [[1], "default"]);
}
export function TestNodes(t) {
  t.assert.Equal(tried(() => workspace.Create({})), 'Process "workspace.Create" needs a Yao node, which is not available offline: mock it with t.mock.process("workspace.Create", ...), or use ctx.computer and ctx.workspace of an agent with sandbox.yao');
  t.mock.process("sandbox.*", "made");
  t.assert.Equal(sandbox.Create({ image: "x" }), "made");
  const own = () => { const workspace = 1; return workspace; };
  t.assert.Equal(own(), 1);
}
export function TestUncaught(t) { Process("flows.a"); }
export function TestNothing(t) { t.assert.True(true); }
"""


def write(app: MakeApplication) -> Application:
    cases = [
        {"id": "a", "input": "x"},
        {"id": "b", "input": "x", "mocks": {"process": {"models.*": 1}, "agent": {"nobody": "y"}}},
    ]
    return app(
        {
            "world_test.ts": TESTS,
            "world.ts": "export {}",
            **agent(prompts=None, replies=None, hooks=HOOKS, cases=cases),
        }
    )


def test_calls_are_kept_as_served_mocked_or_missing(app: MakeApplication) -> None:
    application = write(app)
    records = application.results("-i", "assistants/demo/src/world_test.ts", code=1)
    seen = {
        name: {(one["call"], one["answered"], one["count"]) for one in record.get("outside", [])}
        for name, record in records.items()
    }
    assert seen == {
        "TestCaught": {
            ("models.a.Find", "missing", 2),
            ("models.b.Get", "mocked", 1),
            ("text.ExtractJSON", "served", 1),
        },
        "TestHTTP": {("GET https://example.org/a", "missing", 1), ("POST https://mocked/1", "mocked", 1)},
        "TestAgents": {
            ("agents.known", "mocked", 1),
            ("agents.nobody", "missing", 1),
            ("mcp.CallTool noserver tool", "missing", 1),
            ("llm.ChatCompletions noconnector", "missing", 1),
        },
        "TestMember": {("utils.str.Pinyin", "missing", 1)},
        "TestEngines": {("query.mysql.Open", "missing", 1), ("query.pg.Get", "mocked", 1)},
        "TestNodes": {("workspace.Create", "missing", 1), ("sandbox.Create", "mocked", 1)},
        "TestNoSuch": {
            *((name, "missing", 1) for name in ("scripts.demo.world.Nix", "agents.demo.world.Nix")),
            *((name, "missing", 1) for name in ("scripts.nix.Fn", "agents.demo.nix.Fn", "mcp.Nix x", "agent.Nix")),
            *((name, "missing", 1) for name in ("models.__yao.role.Nix", "session.Nix", "query.mysql.Get")),
            ("mcp.CallTool noserver x", "missing", 1),
            ("yao.table.Search", "missing", 1),
        },
        "TestInTheAgent": {
            ("agents.demo", "served", 1),
            ("models.a.Find", "missing", 1),
            ("agents.nobody", "missing", 1),
            ("text.ExtractJSON", "served", 1),
        },
        "TestUncaught": {("flows.a", "missing", 1)},
        "TestNothing": set(),
    }
    said = [warning["message"] for warning in records["TestCaught"]["warnings"]]
    assert len(said) == 1
    assert said[0].startswith("Nothing answered models.a.Find (2 times): ")
    assert "warnings" not in records["TestUncaught"]
    assert [record["status"] for record in records.values()].count("failed") == 1


def test_missing_calls_are_shown_and_strict_fails_them(app: MakeApplication) -> None:
    application = write(app)
    run = application.run("-i", "assistants/demo/src/world_test.ts", "--run", "TestCaught|TestNothing")
    assert run.code == 0, run.stdout
    assert "Nothing answered models.a.Find (2 times)" in run.stdout
    assert "2 passed, 0 failed, 0 skipped, 1 warning, 2 missing calls" in run.stdout
    report = application.report("-i", "assistants/demo/src/world_test.ts", "-i", case_file())
    assert report["summary"]["missing_calls"] == 23 + 2
    assert "\n  Missing calls: 2\n" in application.run("-i", case_file()).stdout
    strict = application.results("-i", "assistants/demo/src/world_test.ts", "--strict", code=1)
    assert {name for name, record in strict.items() if record["status"] == "passed"} == {"TestNothing"}


def test_messages_for_cases_name_the_mocks_of_cases(app: MakeApplication) -> None:
    application = write(app)
    records = run_cases(application, code=0)
    told = records["a"]["output"]
    assert 'mocks: {"process": {"models.a.Find": ...}}' in told[0]
    assert 'mocks: {"agent": {"nobody": ...}}' in told[1]
    assert "t.mock" not in str(told)
    kept = {id: {(one["call"], one["answered"]) for one in record["outside"]} for id, record in records.items()}
    served = ("text.ExtractJSON", "served")
    assert kept["a"] == {("models.a.Find", "missing"), ("agents.nobody", "missing"), served}
    assert kept["b"] == {("models.a.Find", "mocked"), ("agents.nobody", "mocked"), served}
    assert "warnings" not in records["b"]
    assert application.run("-i", case_file(), "--strict").code == 1


AROUND = """\
function tried(name) { try { Process(name); } catch (error) { return error.message; } }
export function BeforeAll() { return [tried("flows.all"), Math.random(), Process("utils.str.UUID")]; }
export function AfterAll(ctx, results, before) { tried("flows.after"); new FS("data").WriteFile("before.json", JSON.stringify(before)); }
export function Generator() { return [{ id: "made", input: JSON.stringify([tried("flows.made"), Math.random(), Process("utils.str.UUID")]) }]; }
"""


def test_what_surrounds_cases_says_what_is_missing_and_has_the_seed_too(app: MakeApplication) -> None:
    """Hooks around all cases, and generators: they belong to no case, have no mocks, and are warnings of the run."""
    application = app({"around.ts": AROUND, **agent(cases=[{"id": "a", "input": "x"}])})
    hooks = ("-i", case_file(), "--before", "around.BeforeAll", "--after", "around.AfterAll")
    generated = ("-i", "scripts:around.Generator", "-n", "demo")
    advice = "mock it with mocks, which only tests and cases have"

    said = application.run(*hooks, "--seed", "4").stdout
    before = (application.root / "data/before.json").read_text()
    for name in ("flows.all", "flows.after"):
        assert f"{case_file()}: in the hooks before or after all cases: Nothing answered {name}: " in said
    assert advice in said
    application.run(*hooks, "--seed", "4")
    assert (application.root / "data/before.json").read_text() == before
    application.run(*hooks)
    assert (application.root / "data/before.json").read_text() != before

    assert "scripts:around.Generator: Nothing answered flows.made: " in application.run(*generated).stdout
    made = [
        run_cases(application, *generated, *more)["made"]["input"] for more in (["--seed", "4"], ["--seed", "4"], [])
    ]
    assert made[0] == made[1] != made[2]
