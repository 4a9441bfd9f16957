"""`yao-test doctor`: what is missing for each agent of an application."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from command import COMMAND, MakeApplication, Run

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
FILES = {
    "/connectors/keyed.conn.yao": '{"type": "openai", "options": {"model": "m", "key": "$ENV.DOCTOR_KEY"}}',
    "/assistants/ready/package.yao": '{"name": "ready", "connector": "scripted"}',
    "/assistants/keyless/package.yao": '{"name": "keyless", "connector": "keyed"}',
    "/assistants/lost/package.yao": '{"name": "lost", "connector": "nowhere"}',
    "/assistants/serverless/package.yao": '{"name": "s", "connector": "scripted", "mcp": {"servers": ["gone"]}}',
    "/assistants/inline/package.yao": '{"name": "inline", "scripts": {"index": "function Create() {}"}}',
    "/assistants/broken/package.yao": '{"name": "broken", "connector": "scripted"}',
    "/assistants/broken/src/index.ts": "function Create( {",
    "/assistants/calls/package.yao": '{"name": "calls", "connector": "scripted"}',
    "/assistants/calls/src/tools.ts": 'Process("flows.a.b", 1);\nProcess(\'flows.c.d\');\nProcess("text.ExtractJSON");\n'
    'Process("text.Nothing");\nProcess("flows.e.f");\nProcess("flows.g.h");\n',
    "/assistants/calls/src/tools_test.ts": 'export function TestA(t: any) { t.mock.process("flows.c.d", 1); t.mock.process("flows.e.*", 1); }\n',
    "/assistants/calls/tests/cases.yaml": "- id: a\n  input: x\n  mocks:\n    process:\n      flows.g.h: 1\n",
}
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


def found(run: Run) -> dict[str, list[str]]:
    """What is missing for each agent, from `doctor --json`."""
    agents: list[dict[str, Any]] = json.loads(run.stdout)["agents"]
    return {agent["id"]: agent["lacks"] for agent in agents}


def needs_of(run: Run, agent: str) -> list[dict[str, Any]]:
    """What an agent needs, of `doctor --json`."""
    found: list[dict[str, Any]] = next(one["needs"] for one in json.loads(run.stdout)["agents"] if one["id"] == agent)
    return found


def test_doctor_says_what_each_agent_lacks(app: MakeApplication) -> None:
    application = app(FILES)
    done = application.run("doctor", "--json")
    assert done.code == 0
    lacks = found(done)
    assert lacks["ready"] == []
    assert lacks["keyless"] == ["The connector keyed needs it"]
    assert lacks["lost"] == ['Cannot find connector "nowhere": no such file below <app>/connectors']
    assert "gone" in lacks["serverless"][0]
    assert lacks["inline"][0].endswith('"scripts" holds code, and code in a package does not run here')
    assert lacks["broken"][0].startswith("Cannot be compiled: ")
    assert lacks["calls"] == [
        "Nothing here answers the process flows.a.b",
        "Nothing here answers the process text.Nothing",
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
    assert results["TestThrows"]["error"].startswith("flows.a.b is not mocked yet: fill it in where it is written")
    again = application.run("doctor", "--write-mocks", "mocks.ts")
    assert again.code == 2
    assert again.stderr.startswith("Error: Cannot write mocks to mocks.ts: it exists")
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


def test_doctor_sees_functions_that_a_script_does_not_have(app: MakeApplication) -> None:
    hooks = """\
Process("scripts.books.Add"); Process("scripts.books.Ad"); Process("scripts.books.Arrow"); Process("scripts.books.Again");
Process("agents.demo.tools.Own"); Process("agents.demo.tools.Other"); Process("scripts.books.*"); Process("scripts.cut.Fn");
Process("scripts.books.Mocked"); Process("scripts.books.add");
All([{ process: "scripts.books.Task" }]);
function Next(ctx) { return ctx.agent.Call("none"); }
"""
    application = app(
        {
            "/assistants/demo/package.yao": '{"connector": "scripted", "mcp": {"servers": ["tools"]}}',
            "/assistants/demo/src/index.ts": hooks,
            "/assistants/demo/src/tools.ts": "export async function Own() {}",
            "/assistants/demo/src/index_test.ts": 'export function TestA(t) { t.mock.process("scripts.books.Mocked", 1); }',
            "/scripts/books.ts": 'export * from "./more";\nfunction Add() {}\nconst Arrow = () => 1;\nexport { Arrow as Again };',
            "/scripts/more.ts": "export function Task() {}",
            "/scripts/cut.ts": "function Fn( {",
            "/mcps/tools.mcp.yao": '{"tools": {"a": "scripts.books.Add", "b": "scripts.books.Tool"}}',
        }
    )
    needs = needs_of(application.run("doctor", "--json"), "demo")
    told = {need["name"]: need["message"] for need in needs if need["kind"] == "mock" and need["missing"]}
    assert told == {
        "none": "There is no agent none",
        "scripts.books.Ad": 'scripts/books.ts has no function Ad. Did you mean "Add"?',
        "scripts.books.add": 'scripts/books.ts has no function add. Did you mean "Add"?',
        "scripts.books.Tool": "scripts/books.ts has no function Tool. It has Add, Again, Arrow, Task",
        "agents.demo.tools.Other": "assistants/demo/src/tools.ts has no function Other. It has Own",
    }


def test_doctor_sees_tools_and_handlers_that_do_not_exist(app: MakeApplication) -> None:
    package = {
        "connector": "scripted",
        "mcp": {"servers": [{"server_id": "here", "tools": ["add", "ad"]}, {"far": ["any"]}, "here"]},
        "uses": {"vision": "seer", "audio": "ready", "search": "builtin", "fetch": "mcp:nowhere.get", "web": "$ENV.X"},
    }
    hooks = 'function Create(ctx) { ctx.mcp.CallTool("here", "sub", {}); ctx.mcp.CallTool("here", "add", {}); ctx.mcp.CallTool("far", "x", {}); Process("mcp.CallTool", "here", "mul", {}); }'
    application = app(
        {
            "/assistants/demo/package.yao": json.dumps(package),
            "/assistants/ready/package.yao": '{"connector": "scripted"}',
            "/assistants/demo/src/index.ts": hooks,
            "/scripts/sums.ts": "export function Add() {}",
            "/mcps/here.mcp.yao": '{"transport": "process", "tools": {"add": "scripts.sums.Add"}}',
            "/mcps/far.mcp.yao": '{"transport": "http", "url": "http://127.0.0.1:1/"}',
        }
    )
    needs = needs_of(application.run("doctor", "--json"), "demo")
    told = {need["name"]: (need["message"], need["places"]) for need in needs if need["kind"] == "file"}
    package_file, index = "assistants/demo/package.yao", "assistants/demo/src/index.ts:1"
    assert told.pop("MCP server nowhere")[1] == [package_file]
    assert told == {
        "agent seer": ('There is no agent seer, which "uses.vision" names', [package_file]),
        "tool ad of MCP server here": ('The MCP server here has no tool ad. Did you mean "add"?', [package_file]),
        "tool sub of MCP server here": ("The MCP server here has no tool sub. It has add", [index]),
        "tool mul of MCP server here": ("The MCP server here has no tool mul. It has add", [index]),
    }


def test_doctor_prints_a_table(app: MakeApplication) -> None:
    done = app(FILES).run("doctor")
    assert done.code == 0
    assert "\n  ok     ready\n" in done.stdout
    assert '\n  lacks  lost\n         missing  file  connector nowhere: Cannot find connector "nowhere"' in done.stdout
    assert "there    mock  flows.c.d: " in done.stdout


def test_doctor_names_every_extra(app: MakeApplication) -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]

    shown = app({}).run("doctor", "--json").stdout

    assert {part["name"] for part in json.loads(shown)["parts"]} == set(project["optional-dependencies"]) - {"dev"}


def test_doctor_works_without_an_application(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "doctor"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.endswith("No application here\n")


def test_doctor_refuses_an_application_that_is_no_folder(app: MakeApplication) -> None:
    done = app(FILES).run("doctor", "-a", "nowhere")
    assert (done.code, done.stderr) == (2, "Error: Cannot use --app nowhere: it is not a folder\n")


def test_a_sandbox_needs_a_runner_and_mocks_of_its_commands(app: MakeApplication) -> None:
    application = app(
        {
            "/assistants/boxed/package.yao": '{"name": "boxed", "connector": "nowhere"}',
            "/assistants/boxed/prompts.yml": "- { role: system, content: x }",
            "/assistants/boxed/sandbox.yao": '{"version": "2.0", "runner": {"name": "claude"}}',
            "/assistants/boxed/src/index.ts": 'function Create(ctx: any) { ctx.computer.Exec("git init"); ctx.computer.Exec(["ls", ctx.x]); }',
        }
    )
    needs = {
        (need["kind"], need["name"]): need["places"] for need in needs_of(application.run("doctor", "--json"), "boxed")
    }
    assert needs == {
        ("mock", "git init"): ["assistants/boxed/src/index.ts:1"],
        ("mock", "ls *"): ["assistants/boxed/src/index.ts:1"],
        ("file", "runner.yml"): ["assistants/boxed/sandbox.yao"],
    }


FORMS: dict[str, list[str]] = {
    'const all = { agent: "of.object", other: 1 }; ctx.agent.Call(all.agent, []); ctx.agent.Call(all.other, []);': ["of.object"],
    'const all = { agent: "a.b" }; all.agent = "c.d"; ctx.agent.Call(all.agent, []);': [],
    'Use(MCP, "used", (mcp) => mcp.ListTools()); Use(Query, "mysql", (query) => query.Get({}));': ["MCP server used", "query.mysql.Get"],
    'new Plan("p").Add("t", 1, "flows.task", 2); const plan = new Plan("q"); plan.Subscribe("key", "flows.heard"); plan.Add("t", 2, () => 1);': ["flows.heard", "flows.task"],
    'cart.Add("t", 1, "red.large"); list.Subscribe("key", "a.b");': [],
    'globalThis.Process("flows.global"); Process("flows." + ("inner"));': ["flows.global", "flows.inner"],
    'const call = Process; call("flows.alias"); call("http.Get", "https://a.example/");': ["flows.alias", "GET https://a.example/"],
    'const call = globalThis.Process, other = Process; call("flows.a"); other("flows.b");': ["flows.a", "flows.b"],
    'const { Process: call, x } = globalThis; call("flows.taken");': ["flows.taken"],
    'const { Process } = globalThis; Process("flows.taken");': ["flows.taken"],
    'let call = Process; call = ctx.other; call("flows.not.sure");': ["Process"],
    'const call = Process; ["flows.a"].map((name) => call(name)); run(call);': ["Process"],
    'const run = (call) => call("flows.passed"); run(Process);': ["Process"],
    'const call = Process; ctx.call("flows.other"); const kinds = { call: 1 };': [],
    'typeof Process; const kinds = { Process: 1 };': [],
    'Process(ctx.x ? "flows.a" : "flows.b"); Process(named("flows.c"));': ["Process"],
    'return { connector: "nowhere", temperature: 0 };': ["connector nowhere"],
    'ctx.agent.Call("demo", [], { connector: "nowhere", metadata: {} });': ["connector nowhere"],
    'ctx.Send({ type: "cable", connector: "usb-c" }); ctx.agent.Call("demo", [], { connector });': [],
    'const process = "flows.short"; All([{ process }]);': ["flows.short"],
}  # fmt: skip
"""What a hook does → the names of what it needs."""


def test_doctor_reads_the_forms_in_which_scripts_name_what_they_call(app: MakeApplication) -> None:
    files = {"/assistants/demo/package.yao": '{"connector": "scripted"}'}
    for number, form in enumerate(FORMS):
        files[f"/assistants/a{number}/package.yao"] = '{"connector": "scripted"}'
        files[f"/assistants/a{number}/src/index.ts"] = f"function Create(ctx) {{ {form} }}"
    agents = json.loads(app(files).run("doctor", "--json").stdout)["agents"]
    found = {agent["id"]: sorted(need["name"] for need in agent["needs"]) for agent in agents}
    for number, (form, names) in enumerate(FORMS.items()):
        assert found[f"a{number}"] == sorted(names), form


def test_doctor_sees_tables_that_queries_name(app: MakeApplication) -> None:
    hooks = """\
import { SOLD } from "./sql";
const from = "short";
const kept = { select: ["id"], from: "kept as k", joins: [{ from: "owner as o", key: "k.id", foreign: "o.id" }] };
function Create() {
  const q = new Query();
  q.Get({ select: ["id"], from: "pet as p", wheres: [{ ":name": "name", "=": "from" }] });
  q.First({ select: ["$shop.order.id", "$pet.name"], from: "$shop.order" });
  q.Run({ sql: { stmt: "DELETE FROM sold WHERE id IN (SELECT id FROM pet JOIN `basket` b)" } });
  q.Get({ sql: { stmt: SOLD } });
  q.Get(kept);
  q.Get({ select: ["id"], from });
  q.Get({ select: ["id"], from: "yao_job" });
  q.Get({ select: ["id"], from: q.table });
  Process("query.default.Paginate", { select: "id", from: "paged", query: { select: ["id"], from: "inner_one" } });
  Process("schemas.default.TableCreate", "log", {});
  q.Run({ sql: { stmt: "insert into log values (1)" } });
  q.Run({ sql: { stmt: "create table if not exists own (id)" } });
  q.Run({ sql: { stmt: "with w as (select 1) select extract(year from day), 'from text' from w, own" } });
  q.Run({ sql: { stmt: "update mocked set a = 1" } });
  http.Post("https://mail.example/", { from: "me" });
  Process("flows.mail", { from: "me", to: "you" });
}
"""
    application = app(
        {
            "/models/pet.mod.yao": '{"name": "Pet", "table": {"name": "pet"}, "columns": [{"name": "id", "type": "ID"}]}',
            "/assistants/demo/package.yao": '{"connector": "scripted"}',
            "/assistants/demo/src/index.ts": hooks,
            "/assistants/demo/src/sql.ts": "export const SOLD = `\n  select * from sold\n  left join gone on gone.id = sold.id`;",
            "/assistants/other/package.yao": '{"connector": "scripted"}',
            "/assistants/other/src/index.ts": 'new Query("mysql").Get({ select: ["id"], from: "there" });',
            "/assistants/none/package.yao": '{"connector": "scripted"}',
            "/assistants/none/src/index.ts": 'Process("flows.send", { select: 1, from: "me" });',
            "/assistants/mocks/package.yao": '{"connector": "scripted"}',
            "/assistants/mocks/src/index.ts": 'new Query().Get({ select: ["id"], from: "gone" });\n'
            'Process("query.default.First", { select: ["id"], from: "gone" });',
            "/assistants/mocks/tests/cases.yaml": "- { id: a, input: x, mocks: { process: { query.default.Get: [] } } }",
        }
    )
    done = application.run("doctor", "--json")
    told = {
        agent: {need["name"]: need["message"] for need in needs_of(done, agent) if need["missing"]}
        for agent in ("demo", "other", "none", "mocks")
    }
    queries = {name: message.split("; ") for name, message in told["demo"].items() if name.startswith("query.")}
    unknown = "The columns of __yao.job are not known here, only its name"
    assert queries.pop("query.default.First") == ["There is no model shop.order"]
    assert {name: [said.rpartition(" the table ")[2] for said in messages] for name, messages in queries.items()} == {
        "query.default.Get": ["sold", "gone", "short", unknown],
        "query.default.Run": ["sold", "basket", "mocked"],
        "query.default.*": ["kept", "owner", "paged", "inner_one"],
    }
    assert told["other"] == {"query.mysql.Get": "Nothing here answers the process query.mysql.Get"}
    assert told["none"] == {"flows.send": "Nothing here answers the process flows.send"}
    assert told["mocks"] == {}
