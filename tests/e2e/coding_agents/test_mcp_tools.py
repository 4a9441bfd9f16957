"""`yao-test mcp`: what each tool answers, to the official client."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication
from faults import with_model
from jsonschema import Draft202012Validator
from mcp import ClientSession
from mcp.types import CallToolResult
from mcp_session import talk, text_of
from model_server import ModelServer

HANDLER = """\
const STEPS = [
  { from: 0, percent: 0 },
  { from: 100, percent: 5 },
];

export function Discount(total: number) {
  let percent = 0;
  for (const step of STEPS) {
    if (total <= step.from) break;
    percent = step.percent;
  }
  return (total * percent) / 100;
}

export function Unused() {
  return 1;
}
"""
TESTS = """\
import { Discount } from "./discount";

export function TestAtTheBorder(t: testing.T) {
  t.assert.Equal(Discount(100), 5);
}

// @tag quick
export function TestBelow(t: testing.T) {
  t.assert.Equal(Discount(50), 0);
}
"""
CASES = """\
{"id": "polite", "input": "Hello", "assert": {"type": "contains", "value": "Good day"}}
{"id": "rude", "input": "Hello", "assert": {"type": "contains", "value": "Go away"}}
"""
FILES = {
    "discount.ts": HANDLER,
    "discount_test.ts": TESTS,
    "/assistants/desk/package.yao": '{"name": "Desk", "connector": "scripted"}',
    "/assistants/desk/prompts.yml": "- role: system\n  content: Be polite.\n",
    "/assistants/desk/replies.yml": "- reply: Good day to you.\n",
    "/assistants/desk/tests/talks.jsonl": CASES,
}
Answer = dict[str, Any]


@pytest.fixture
def shop(app: MakeApplication) -> Application:
    return app(FILES)


def asked(app: Application, *calls: tuple[str, Answer]) -> list[CallToolResult]:
    """The answers to calls, each of which fits its schema, and is small."""

    async def ask(client: ClientSession) -> list[CallToolResult]:
        schemas = {tool.name: tool.outputSchema for tool in (await client.list_tools()).tools}
        answers = []
        for name, arguments in calls:
            answer = await client.call_tool(name, arguments)
            if not answer.isError:
                Draft202012Validator(schemas[name] or {}).validate(answer.structuredContent)
            assert len(answer.model_dump_json(by_alias=True, exclude_none=True).encode()) < 20_000
            answers.append(answer)
        return answers

    found: list[CallToolResult] = talk(app, ask)
    return found


def told(answer: CallToolResult) -> Answer:
    assert not answer.isError, text_of(answer)
    assert answer.structuredContent is not None
    return answer.structuredContent


def test_tools_have_schemas_and_annotations_and_are_described_in_few_words(shop: Application) -> None:
    async def look(client: ClientSession) -> Any:
        return await client.list_tools()

    listed = talk(shop, look)
    assert [tool.name for tool in listed.tools] == (
        "list_tests run_tests explain_failure read_result history compare uncovered_lines survivors try_script"
        " describe_api doctor"
    ).split()
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) < 12_000
    for tool in listed.tools:
        for schema in (tool.inputSchema, tool.outputSchema):
            Draft202012Validator.check_schema(schema)
        assert tool.annotations.readOnlyHint is (tool.name != "run_tests")
        assert tool.annotations.openWorldHint is False


def test_a_failure_is_found_and_explained(shop: Application) -> None:
    listed, run, more, why, whole, past = asked(
        shop,
        ("list_tests", {"input": "scripts.demo"}),
        ("run_tests", {"input": "scripts.demo.discount"}),
        ("run_tests", {"cursor": "2.1"}),
        ("explain_failure", {"test": "TestAtTheBorder"}),
        ("read_result", {"test": "TestBelow", "input": "scripts.demo.discount"}),
        ("history", {}),
    )
    assert {one["runs"] for one in told(past)["tests"] if one["test"] == "TestAtTheBorder"} == {1}
    assert text_of(listed) == "2 tests in 1 module\nscripts.demo.discount: TestAtTheBorder, TestBelow"
    place = {"file": "assistants/demo/src/discount_test.ts", "line": 4}
    failure = {"input": "scripts.demo.discount", "test": "TestAtTheBorder", "status": "failed", **place}
    found = told(run)
    assert found["tests"] == [{**failure, "message": "Not equal", "expected": 5, "actual": 0}]
    assert (found["passed"], found["failed"], found["more"], found["cursor"]) == (1, 1, 1, "2.1")
    assert text_of(run).split("\n")[1:] == [
        f"TestAtTheBorder  {place['file']}:4  Not equal: expected 5, actual 0",
        '(1 more: the same call with cursor "2.1")',
    ]
    assert told(more)["tests"] == [{"input": "scripts.demo.discount", "test": "TestBelow", "status": "passed"}]
    explained = told(why)
    assert (explained["expected"], explained["actual"], explained["line"]) == (5, 0, 4)
    assert explained["run_again"] == "yao-test -i scripts.demo.discount --run '^TestAtTheBorder$'"
    assert "> 4 |   t.assert.Equal(Discount(100), 5);" in explained["code"]
    assert json.loads(told(whole)["json"])["id"] == "TestBelow"


def test_cases_are_explained_from_the_newest_run(shop: Application) -> None:
    run, why = asked(
        shop,
        ("run_tests", {"input": "desk"}),
        ("explain_failure", {"test": "rude", "input": "assistants/desk/tests/talks.jsonl"}),
    )
    assert (told(run)["passed"], told(run)["failed"]) == (1, 1)
    assert told(why)["output"] == "Good day to you."
    assert told(why)["note"] == f"as it was in run {told(run)['run']}"
    assert "Go away" in text_of(why)


WRONG = {
    "an unknown tool": ("run_test", {}, 'There is no tool "run_test". Did you mean "run_tests"?'),
    "an unknown argument": ("run_tests", {"inputs": "desk"}, 'run_tests has no argument "inputs". Did you mean "input"?'),
    "another type": ("run_tests", {"coverage": "yes"}, "coverage must be true or false, not 'yes'"),
    "a missing argument": ("explain_failure", {}, "explain_failure needs test: Full name"),
    "an input outside": ("run_tests", {"input": "../elsewhere"}, "../elsewhere is outside of the application"),
    "an absolute path": ("run_tests", {"input": "/etc"}, "/etc is outside of the application"),
    "a name that is a path": ("run_tests", {"input": "scripts.../etc"}, '"scripts.../etc" is not a script name. Names have dots'),
    "a generator that is a path": ("run_tests", {"input": "scripts:../x"}, '"scripts:../x" is not a script name'),
    "a script outside": ("try_script", {"module": "../x", "code": "1"}, '"../x" is not a script name'),
    "an unknown module": ("run_tests", {"input": "scripts.demo.discuont"}, 'Did you mean "scripts.demo.discount"?'),
    "an unknown agent": ("list_tests", {"input": "dekk"}, '"dekk" names no test of the application. Did you mean "desk"?'),
    "a message": ("run_tests", {"input": "Hello you"}, '"Hello you" names no test of the application'),
    "a command": ("run_tests", {"input": "init"}, '"init" names no test of the application'),
    "an unknown test": (
        "explain_failure",
        {"test": "TestBelov", "input": "scripts.demo.discount"},
        'There is no failure of TestBelov in scripts.demo.discount. Did you mean "TestBelow"?',
    ),
    "a test that passes": ("explain_failure", {"test": "TestBelow"}, "TestBelow has not failed"),
    "a pattern": ("run_tests", {"input": "scripts.demo", "run": "("}, "It is a Go (RE2) regular expression"),
    "a pattern without a match": ("run_tests", {"input": "scripts.demo", "run": "Nothing"}, "No test or case matches"),
    "an unknown cursor": ("run_tests", {"cursor": "99.1"}, 'Unknown cursor "99.1". Call run_tests again without cursor'),
    "an unknown run": ("read_result", {"test": "TestBelow", "run": "zzz"}, "No run is stored yet. Call run_tests first"),
    "an unknown process": ("describe_api", {"name": "utils.str.Jion"}, 'Did you mean "utils.str.Join"?'),
    "an unknown name": ("describe_api", {"name": "t.assert.Equals"}, 'Did you mean "Equal"?'),
}  # fmt: skip


def test_wrong_arguments_are_errors_of_the_tool_that_say_what_is_right(shop: Application) -> None:
    answers = asked(shop, *((name, arguments) for name, arguments, _ in WRONG.values()))
    wrong = {
        kind: text_of(answer)
        for (kind, (_, _, said)), answer in zip(WRONG.items(), answers, strict=True)
        if not answer.isError or said not in text_of(answer)
    }
    assert wrong == {}


def test_other_tools_tell_of_coverage_history_runs_the_api_and_the_machine(shop: Application) -> None:
    lines, quick, again, history, compared, api, names, doctor, mocks, process = asked(
        shop,
        ("uncovered_lines", {"input": "scripts.demo"}),
        ("run_tests", {"tag": "quick", "coverage": True}),
        ("run_tests", {"last_failed": True}),
        ("history", {"test": "TestAtTheBorder"}),
        ("compare", {}),
        ("describe_api", {"name": "t.assert.Equal"}),
        ("describe_api", {}),
        ("doctor", {}),
        ("describe_api", {"name": "t.mock"}),
        ("describe_api", {"name": "utils.str.join"}),
    )
    (handler,) = [one for one in told(lines)["files"] if one["file"] == "assistants/demo/src/discount.ts"]
    assert handler["lines"] == "16"
    assert (told(quick)["total"], told(quick)["status"]) == (1, "passed")
    assert {"file": handler["file"], "lines": "16"}.items() <= told(quick)["coverage"]["files"][0].items()
    assert "TestAtTheBorder" in {one["test"] for one in told(again)["tests"]}
    assert told(history)["tests"][0]["test"] == "TestAtTheBorder"
    assert told(compared)["after"] == told(again)["run"]
    assert "deeply equal" in told(api)["found"][0]["text"]
    assert {"testing.Mock.process", "testing.Mock.http"} <= {one["name"] for one in told(mocks)["found"]}
    assert [one["name"] for one in told(process)["found"]] == ["utils.str.Join", "Process"]
    assert (len(told(names)["found"]), "cursor" in told(names)) > (20, False)
    assert told(doctor)["agents"] == []


def test_nothing_is_written_but_the_store(app: MakeApplication) -> None:
    app = app({**FILES, "/yao-test.toml": 'output = "report.html"\nrecord = "recordings"\n'})
    app.write({"kept_test.ts": 'export function TestKept(t: testing.T) {\n  t.snapshot("b");\n}\n'})

    def files() -> set[str]:
        return {path.relative_to(app.root).as_posix() for path in app.root.rglob("*") if path.is_file()}

    before = files()
    assert app.run("--no-writes").code == 1  # also where there is no store
    talks = "assistants/desk/tests/talks.jsonl"
    assert app.run("--no-writes", "-i", talks).code == 1
    assert (files(), [*app.home.rglob("last-failed.json")]) == (before, [])
    run, _ = asked(app, ("run_tests", {}), ("run_tests", {"input": talks}))
    assert {name for name in files() - before if not name.startswith(".yao-test/")} == set()
    kept = next(one for one in told(run)["tests"] if one["test"] == "TestKept")
    assert "--update-snapshots" in kept["message"]
    asked(app, ("run_tests", {"update_snapshots": True}))
    assert {name for name in files() - before if not name.startswith(".yao-test/")} == {
        "assistants/demo/src/__snapshots__/kept_test.ts.snap"
    }


def test_what_is_no_run_tests_is_kept_nowhere(app: MakeApplication) -> None:
    app = app({**FILES, "/yao-test.toml": 'store = "runs"\n'})
    one, *_ = asked(
        app,
        ("run_tests", {"input": "scripts.demo"}),
        ("explain_failure", {"test": "TestAtTheBorder"}),
        ("uncovered_lines", {"input": "scripts.demo"}),
        ("try_script", {"module": "scripts.demo.discount", "code": "Discount(1)"}),
        ("list_tests", {}),
    )
    history = json.loads(app.run("history", "--json").stdout)
    assert [run["id"] for run in history["runs"]] == [told(one)["run"]]


def test_scripted_models_use_up_nothing_of_the_budget_for_all_runs(shop: Application) -> None:
    usage = shop.report("-i", "assistants/desk")["results"][0]["usage"]
    one = 2 * (usage["input_tokens"] + usage["output_tokens"])

    async def ask(client: ClientSession) -> list[CallToolResult]:
        return [await client.call_tool("run_tests", {"input": "desk"}) for _ in range(3)]

    for answer in talk(shop, ask, "--allow-models", "--max-tokens", str(one + 1)):
        assert (told(answer)["passed"], told(answer)["failed"]) == (1, 1)


def test_a_real_model_needs_the_word_of_a_person_and_a_budget_for_all_runs(app: MakeApplication) -> None:
    with ModelServer() as server:
        app = app({**agent(package={"connector": "local"}, cases=[{"id": "one", "input": "x"}]), **with_model(server)})

        async def ask(client: ClientSession) -> list[CallToolResult]:
            return [await client.call_tool("run_tests", {"input": case_file()}) for _ in range(3)]

        for answer in talk(app, ask):
            assert (told(answer)["errors"], told(answer)["failed"], len(server.requests)) == (1, 0, 0)
            assert "has to start yao-test mcp with --allow-models" in text_of(answer)
        first, second, third = talk(app, ask, "--allow-models", "--max-tokens", "20")  # each takes 18
        assert [told(answer)["passed"] for answer in (first, second, third)] == [1, 1, 0]
        assert len(server.requests) == 2
        assert "The budget of this server for real models is used up" in text_of(third)
    refused = app.run("mcp", "--allow-models")
    assert (refused.code, refused.stderr.split("\n")[0]) == (2, "Error: --allow-models needs a budget")


def test_modules_that_do_not_load_and_subtests_are_explained(app: MakeApplication) -> None:
    app = app(
        {
            "broken_test.ts": 'import { x } from "./nowhere";\nexport function TestX(t: testing.T) { x(t); }\n',
            "parts_test.ts": "export function TestParts(t: testing.T) {\n"
            "  for (const n of [1, 2]) t.run(`part (${n})`, (t: testing.T) => t.assert.Equal(n, 1));\n}\n",
        }
    )
    run, broken, part, nothing = asked(
        app,
        ("run_tests", {}),
        ("explain_failure", {"test": "broken"}),
        ("explain_failure", {"test": "TestParts/part_(2)"}),
        ("explain_failure", {"test": "TestPart"}),
    )
    assert {one["test"] for one in told(run)["tests"]} == {"broken", "TestParts"}
    assert (told(broken)["line"], told(broken)["message"]) == (1, 'Cannot find module "./nowhere"')
    assert (told(part)["expected"], told(part)["actual"]) == (1, 2)
    assert told(part)["message"] == "TestParts/part_(2): Not equal"
    assert 'Did you mean "TestParts"?' in text_of(nothing)


def test_a_script_is_tried_in_a_realm_of_its_own(shop: Application) -> None:
    module = {"module": "scripts.demo.discount"}
    code = "const ten = Discount(200);\nfor (const n of [1, 2]) {\n  console.log(n);\n}\nawait Promise.resolve(ten)"
    right, wrong, unknown, bare = asked(
        shop,
        ("try_script", {**module, "code": code}),
        ("try_script", {**module, "code": "nothing()"}),
        ("try_script", {"module": "scripts.demo.discuont", "code": "1"}),
        ("try_script", {"code": "1"}),
    )
    assert told(right) == {"ok": True, "output": "1\n2\n10"}
    assert told(wrong) == {"ok": False, "output": "", "error": "Uncaught ReferenceError: nothing is not defined"}
    assert 'Did you mean "scripts.demo.discount"?' in text_of(unknown)
    assert "try_script needs module" in text_of(bare)
