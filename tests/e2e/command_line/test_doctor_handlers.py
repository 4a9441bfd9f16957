"""`yao-test doctor` on handlers, tools and sandboxes, and without an application."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

from command import COMMAND, MakeApplication
from doctored import FILES, needs_of


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
    """All but those for work on yao-test itself."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]

    parts = json.loads(app({}).run("doctor", "--json").stdout)["parts"]

    assert {part["name"] for part in parts} == set(project["optional-dependencies"]) - {"dev", "docs"}


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
    unknown = "The columns of __yao.job are not known, only its name"
    assert queries.pop("query.default.First") == ["There is no model shop.order"]
    assert {name: [said.rpartition(" the table ")[2] for said in messages] for name, messages in queries.items()} == {
        "query.default.Get": ["sold", "gone", "short", unknown],
        "query.default.Run": ["sold", "basket", "mocked"],
        "query.default.*": ["kept", "owner", "paged", "inner_one"],
    }
    assert told["other"] == {"query.mysql.Get": "Nothing implements the process query.mysql.Get"}
    assert told["none"] == {"flows.send": "Nothing implements the process flows.send"}
    assert told["mocks"] == {}
