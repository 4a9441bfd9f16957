"""Mocks of commands answer in every place; replies and times of mocks that cannot be used are named before a run."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, lines, run_cases, server
from command import Files, MakeApplication

SANDBOX = {"version": "2.0", "computer": {"image": "x"}, "runner": {"name": "claude", "mode": "cli"}}
HOOKS = """\
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
function Create(ctx, messages) {
  const said = messages.at(-1).content;
  if (said === "hook") ctx.memory.chat.Set("ran", tried(() => ctx.computer.Exec("git init").stdout));
  if (said === "tool") ctx.memory.chat.Set("ran", tried(() => ctx.mcp.CallTool("tools", "run", {}).stdout));
  if (said === "script") ctx.memory.chat.Set("ran", tried(() => Process("scripts.demo.tools.Run").stdout));
  return {};
}
function Next(ctx) { return { data: { ran: ctx.memory.chat.Get("ran") } }; }
"""
TOOLS = 'export function Run() { return Process("sandbox.computer.Exec", ["git", "init"]); }'
TESTS = """
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
const ask = (said) => Process("agents.demo.Stream", said).response.next.ran;
const places = (ctx) => [ctx.computer.Exec("git init").stdout, Process("scripts.demo.tools.Run").stdout, ask("hook"), ask("tool"), ask("script")];
export function TestEverywhere(t, ctx) {
  const git = t.mock.exec("git", "made");
  t.assert.Equal(places(ctx), ["made", "made", "made", "made", "made"]);
  t.assert.Equal([git.count, git.last.args], [5, [["git", "init"], "git init"]]);
}
export function TestFunctions(t, ctx) {
  let number = 0;
  t.mock.exec(/^git/, (argv, command) => ({ stdout: `${argv.length} ${command} ${++number}` }));
  t.assert.Equal(places(ctx), [1, 2, 3, 4, 5].map((place) => `2 git init ${place}`));
}
export function TestWrong(t, ctx) {
  const wrong = [{ stdout: { a: 1 } }, { stderr: 1 }, { exit_code: "1" }, 5, [1], { output: "x" }];
  for (const reply of wrong) t.assert.Panic(() => t.mock.exec("git", reply), JSON.stringify(reply));
  t.mock.exec("git", () => 5);
  t.assert.Contains(tried(() => ctx.computer.Exec("git init")), "a reply is a string, or an object with any of stdout");
  for (const place of ["hook", "script"]) t.assert.Contains(ask(place), "a reply is a string");
  t.assert.Equal(tried(() => t.mock.http("*", { status: "x" })), 't.mock.http("*"): status must be a whole number, such as 404');
}
"""


def boxed(cases: list[dict[str, object]]) -> Files:
    return {
        **agent(package={"mcp": {"servers": ["tools"]}}, hooks=HOOKS, cases=cases),
        **server("tools", {"run": "scripts.demo.tools.Run"}),
        "/assistants/demo/sandbox.yao": json.dumps(SANDBOX),
        "/assistants/demo/runner.yml": "- events: [{ type: text, text: done }]\n",
        "/scripts/demo/tools.ts": TOOLS,
        "box_test.ts": TESTS,
        "box.ts": "export {}",
    }


def test_commands_are_mocked_wherever_they_are_called(app: MakeApplication) -> None:
    said = ("hook", "tool", "script")
    mocked = [{"id": place, "input": place, "mocks": {"exec": {"git *": {"stdout": "made"}}}} for place in said]
    bare = [{"id": f"no {place}", "input": place} for place in said]
    application = app(boxed([*mocked, *bare]))
    run = application.run("-i", "scripts.demo.box")
    assert run.code == 0, run.stdout
    records = run_cases(application, code=0)
    for place in said:
        assert records[place]["output"] == {"ran": "made"}
        assert ("exec git init", "mocked") in {(one["call"], one["answered"]) for one in records[place]["outside"]}
        outside = {one["call"]: one["answered"] for one in records[f"no {place}"]["outside"]}
        assert outside["exec git init"] == "missing"
        told = [warning["message"] for warning in records[f"no {place}"]["warnings"]]
        assert 'mocks: {"exec": {"git init": ...}}' in told[0]


@pytest.mark.parametrize(
    ("mocks", "said"),
    [
        (
            {"exec": {"git": {"stdout": {"a": 1}}}},
            'the reply "git" in "mocks.exec" cannot be used: stdout must be a string',
        ),
        ({"exec": {"git": 5}}, 'the reply "git" in "mocks.exec" cannot be used: it must be a string, or an object'),
        ({"exec": {"git": {"exit_code": "1"}}}, "exit_code must be a whole number"),
        ({"http": {"https://x": {"status": "1"}}}, "status must be a whole number"),
        ({"now": "tomorrow"}, 'cannot read now "tomorrow" as a time'),
        ({"now": "2030-13-01T00:00:00Z"}, 'Hint: Write it as "2030-01-31T09:00:00Z"'),
        ({"now": "0001-01-01"}, "Hint: A clock must be between 0001-01-02 and 9999-12-30"),
    ],
)
def test_mocks_that_cannot_be_used_are_named_before_anything_runs(
    app: MakeApplication, mocks: dict[str, object], said: str
) -> None:
    application = app(boxed([]))
    application.write({"/cases.jsonl": lines({"id": "a", "input": "x", "mocks": mocks})})
    run = application.run("-n", "demo", "-i", "cases.jsonl")
    assert run.code == 2
    assert said in run.stdout + run.stderr


def test_scripts_may_have_functions_with_the_names_of_built_ins(app: MakeApplication) -> None:
    store = """
export function Set(key, value) { new Store("s").Set(key, value); return http.Get("https://x.example/").data; }
export function Map(list) { return list.map((one) => new Store("s").Get(one)); }
"""
    test = """
function Set(value) { return value; }
function Map() { return new Store("s").Get("a"); }
export function TestCalled(t) {
  t.mock.http("*", "answered");
  t.assert.Equal([Process("scripts.store.Set", "a", 1), Process("scripts.store.Map", ["a", "a"])], ["answered", [1, 1]]);
  t.assert.Equal([Set(2), Map()], [2, 1]);
}
"""
    application = app({"/scripts/store.ts": store, "built_test.ts": test})
    assert application.run("-i", "scripts.demo.built").code == 0


def test_a_tool_that_a_server_does_not_have_is_a_missing_call(app: MakeApplication) -> None:
    test = """
export function TestNone(t, ctx) { t.assert.Panic(() => ctx.mcp.CallTool("tools", "rum", {})); }
export function TestMocked(t, ctx) { t.mock.process("mcp.CallTool", { content: [] }); new MCP("tools").CallTool("rum", {}); }
"""
    application = app({**boxed([]), "none_test.ts": test, "none.ts": "export {}"})
    records = application.results("-i", "scripts.demo.none")
    [missing] = records["TestNone"]["outside"]
    assert (missing["call"], missing["answered"]) == ("mcp.CallTool tools rum", "missing")
    assert 'there is no such tool. Did you mean "run"?' in missing["message"]
    assert [call["answered"] for call in records["TestMocked"]["outside"]] == ["mocked"]
