"""`yao-test doctor`: what is missing for each agent of an application."""

from __future__ import annotations

import pytest
from command import MakeApplication
from doctored import FILES, found, needs_of

HOOKS = """\
import { rate } from "./rates";
const FIND = "models.pet.Find";
// Process("flows.in.comment")
function Create(ctx: any, messages: any) {
  Process(FIND, 1, {});
  Process("models.rat.Get", {});
  Process("models.pet.Sing", 1);
  Process("models.__yao.user.Get", {}); Process("models.__yao.job.Get", {}); Process("models.__yao.job.Exists");
  Process("scripts.books.Add", 1);
  Process("scripts.gone.Add", 1);
  Process(`flows.${messages[0]}.run`);
  Process(messages[0].content);
  const text = 'Process("flows.in.text")';
  ctx.agent.Call("nobody", []);
  ctx.agent.All([{ agent: "nobodies", messages: [] }, { agent: "ready", messages: [] }]);
  ctx.mcp.CallTool("tools", "t", { process: "flows.argument" });
  ctx.mcp.ListTools("noserver");
  ctx.llm.Stream("noconnector", messages);
  ctx.llm.Stream("keyed", messages);
  ctx.search.Web("cats");
  new Query().Get({ select: ["id"], from: "pet" });
  new Query("mysql").Get({});
  http.Get(`https://api.example.org/${rate()}`);
  http.Post("https://hooks.example.org/a", {});
  All([{ process: "flows.one", args: [] }]);
  return { delegate: { agent_id: "delegated", messages } };
}
"""


BOOKS = 'function Add() { Process("flows.of.books"); Process("text.HTMLToMarkdown", ""); Process("utils.pwd.Verify", "", ""); }'


REACHING = {
    **FILES,
    "/models/pet.mod.yao": '{"name": "Pet", "table": {"name": "pet"}, "columns": [{"name": "id", "type": "ID"}]}',
    "/mcps/tools.mcp.yao": '{"label": "t", "transport": "process", "tools": {"a": "flows.of.tool", "b": "scripts.tool.B"}}',
    "/mcps/far.mcp.yao": '{"label": "f", "transport": "http", "url": "http://127.0.0.1:1/", "authorization_token": "$ENV.FAR_TOKEN"}',
    "/scripts/books.ts": BOOKS,
    "/scripts/tool.ts": 'function B() { Process("flows.of.b"); }',
    "/assistants/deep/package.yao": '{"name": "deep", "connector": "scripted", "mcp": {"servers": [{"server_id": "far", "tools": ["x"]}]}}',
    "/assistants/deep/prompts.yml": "- { role: system, content: x }",
    "/assistants/deep/src/index.ts": HOOKS,
    "/assistants/deep/src/rates.ts": 'export function rate() { return Process("flows.rates"); }',
}


def test_doctor_says_what_each_agent_lacks(app: MakeApplication) -> None:
    application = app(FILES)
    done = application.run("doctor", "--json")
    assert done.code == 0
    lacks = found(done)
    assert lacks["ready"] == []
    assert lacks["keyless"] == ["The connector keyed needs it"]
    assert lacks["lost"] == ['Cannot find connector "nowhere": no such file below <app>/connectors']
    assert "gone" in lacks["serverless"][0]
    assert lacks["inline"][0].endswith('"scripts" contains code, and code in package.yao does not run here')
    assert lacks["broken"][0].startswith("Cannot be compiled: ")
    assert lacks["calls"] == [
        "Nothing implements the process flows.a.b",
        "Nothing implements the process text.Nothing",
    ]
    assert list(lacks) == sorted(lacks)
    assert application.run("doctor", "--strict").code == 1


def test_an_application_that_lacks_nothing_passes_strictly(app: MakeApplication) -> None:
    application = app({"/assistants/ready/package.yao": FILES["/assistants/ready/package.yao"]})
    assert application.run("doctor", "--strict").code == 0


def test_doctor_follows_scripts_imports_and_tools_to_what_they_call(app: MakeApplication) -> None:
    done = app(REACHING).run("doctor", "--json")
    assert done.code == 0, done
    needs = {(need["kind"], need["name"]): need for need in needs_of(done, "deep")}
    index = "assistants/deep/src/index.ts"
    missing = {key: need["places"] for key, need in needs.items() if need["missing"]}
    extras = {key for key in needs if key[0] == "extra"}
    assert {key: places for key, places in missing.items() if key[0] != "extra"} == {
        ("mock", "models.rat.Get"): [f"{index}:6"],
        ("mock", "models.pet.Sing"): [f"{index}:7"],
        ("mock", "models.__yao.job.Get"): [f"{index}:8"],
        ("mock", "scripts.gone.Add"): [f"{index}:10"],
        ("mock", "flows.*.run"): [f"{index}:11"],
        ("mock", "nobody"): [f"{index}:14"],
        ("mock", "nobodies"): [f"{index}:15"],
        ("mock", "delegated"): [f"{index}:26"],
        ("mock", "search.Web"): [f"{index}:20"],
        ("mock", "query.mysql.Get"): [f"{index}:22"],
        ("mock", "GET https://api.example.org/*"): [f"{index}:23"],
        ("mock", "POST https://hooks.example.org/a"): [f"{index}:24"],
        ("mock", "flows.one"): [f"{index}:25"],
        ("mock", "flows.rates"): ["assistants/deep/src/rates.ts:1"],
        ("mock", "flows.of.books"): ["scripts/books.ts:1"],
        ("mock", "flows.of.tool"): ["mcps/tools.mcp.yao"],
        ("mock", "flows.of.b"): ["scripts/tool.ts:1"],
        ("key", "DOCTOR_KEY"): [f"{index}:19"],
        ("key", "FAR_TOKEN"): ["assistants/deep/package.yao"],
        ("file", "MCP server noserver"): [f"{index}:17"],
        ("file", "tool t of MCP server tools"): [f"{index}:16"],
        ("file", "connector noconnector"): [f"{index}:18"],
    }
    assert ("extra", "formats") in extras
    assert needs["extra", "formats"]["places"] == ["scripts/books.ts:1"]
    assert needs["unknown", "Process"]["places"] == [f"{index}:12"]


def test_mocks_are_written_that_throw_until_they_are_filled_in(app: MakeApplication) -> None:
    application = app(REACHING)
    done = application.run("doctor", "--write-mocks", "mocks.ts")
    assert (done.code, done.stderr) == (0, "Wrote <app>/mocks.ts\n")
    text = (application.root / "mocks.ts").read_text()
    assert 't.mock.process("flows.a.b", () => missing(t, "flows.a.b", "assistants/calls/src/tools.ts:1"));' in text
    assert 't.mock.agent("nobody", ' in text
    assert 't.mock.http("GET https://api.example.org/*", ' in text
    assert "flows.c.d" not in text
    application.write(
        {
            "/assistants/calls/src/filled_test.ts": 'import { mockCalls } from "../../../mocks";\n'
            'export function TestThrows(t: testing.T) { mockCalls(t); Process("flows.a.b", 1); }\n'
            'export function TestFilled(t: testing.T) { mockCalls(t); t.mock.process("flows.a.b", 7); t.assert.Equal(Process("flows.a.b"), 7); }\n'
        }
    )
    results = application.results("-i", "assistants/calls/src/filled_test.ts", code=1)
    assert results["TestFilled"]["status"] == "passed"
    assert results["TestThrows"]["error"].startswith(
        "flows.a.b is not mocked yet: fill in its mock. It is called in assistants/calls/src/tools.ts:1"
    )
    again = application.run("doctor", "--write-mocks", "mocks.ts")
    assert again.code == 2
    assert again.stderr.startswith("Error: Cannot write mocks to mocks.ts: the file already exists")
    assert (application.root / "mocks.ts").read_text() == text
    assert found(application.run("doctor", "--json"))["calls"] == []


def test_what_a_handler_makes_of_an_unfilled_mock_does_not_hide_it(app: MakeApplication) -> None:
    """A request whose mock throws has the status 0 for its handler, and a hook may catch what a process throws."""
    handler = """\
        export function Ask() { return http.Get("https://api.example.org/rates").status; }
        export function Caught() { try { Process("flows.caught"); } catch {} return 1; }
        function Next() { try { Process("flows.hook"); } catch {} return { data: 1 }; }
    """
    tests = """\
        import { mockQuiet } from "../../../mocks";
        import { Ask, Caught } from "./index";
        export function TestRequest(t: testing.T) { mockQuiet(t); Ask(); }
        export function TestCaught(t: testing.T) { mockQuiet(t); Caught(); }
        export function TestHook(t: testing.T) { mockQuiet(t); Process("agents.quiet.Stream", "x"); }
    """
    application = app(
        {
            "/assistants/quiet/package.yao": '{"name": "quiet"}',
            "/assistants/quiet/src/index.ts": handler,
            "/assistants/quiet/src/index_test.ts": tests,
        }
    )
    assert application.run("doctor", "--write-mocks", "mocks.ts").code == 0
    results = application.results("-i", "scripts.quiet.index", code=1)
    said = {name: result["error"].partition(" is not mocked yet")[0] for name, result in results.items()}
    assert said == {
        "TestRequest": "GET https://api.example.org/rates",
        "TestCaught": "flows.caught",
        "TestHook": "flows.hook",
    }


def test_a_key_that_is_set_is_not_missing(app: MakeApplication) -> None:
    application = app(FILES)
    keyed = application.run("doctor", "--json", env={**application.environment, "DOCTOR_KEY": "sk-0123456789abcdef"})
    assert found(keyed)["keyless"] == []


@pytest.mark.parametrize("text", ['{"files', "[]", '{"files": 3}'])
def test_what_mutate_did_not_write_is_refused(app: MakeApplication, text: str) -> None:
    here = app(
        {"/assistants/ready/package.yao": FILES["/assistants/ready/package.yao"], "/.yao-test/mutation.json": text}
    )
    assert here.run("doctor") == (
        2,
        "",
        "Error: Cannot read <app>/.yao-test/mutation.json: yao-test mutate did not write it so\n"
        "Hint: Remove it, or run yao-test mutate again\n",
    )
