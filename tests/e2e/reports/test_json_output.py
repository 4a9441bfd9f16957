"""`--json`: one document on standard output."""

from __future__ import annotations

import json
import shlex
from io import StringIO
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from agent_files import agent, case_file, server
from command import Application, MakeApplication, on_terminal
from table_tests import each

from runner.commands import COMMANDS
from runner.commands.main import run_command
from runner.environment import environment_of

FILES = {
    "/assistants/demo/package.yao": '{"connector": "scripted"}',
    "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
    "/assistants/demo/replies.yml": "- reply: 'You said {{ input }}'\n",
    "good_test.ts": "export function TestGood(t) { console.log('quiet'); }\n// @tag smoke\nexport function TestToo(t) {}\n",
    "bad_test.ts": """\
export function TestBad(t) {
  console.log("before");
  t.assert.Equal({ a: 1 }, { a: 2 }, "must be the same");
}
export function TestSub(t) {
  t.run("inner one", (t) => { t.run("deep", (t) => t.fail("deep down")); });
}
""",
    "broken_test.ts": "export function TestX(t) {\n",
    "/assistants/demo/tests/cases.jsonl": '{"id": "fine", "input": "Hi"}\n'
    '{"id": "wrong one", "input": "Hi", "assert": {"type": "equals", "value": "No"}}\n'
    '{"id": "lacks", "input": "Hi", "assert": {"type": "agent", "use": "agents:demo", "value": "x"}}\n',
}


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(FILES)


@pytest.fixture(scope="module")
def schema(here: Application) -> Any:
    run = here.run("schema", "result")
    assert run.code == 0
    found = json.loads(run.stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def document(here: Application, schema: Any, *words: str, code: int, **more: Any) -> Any:
    run = here.run(*words, "--json", **more)
    assert (run.code, run.stderr) == (code, ""), run
    found = json.loads(run.stdout)
    schema.validate(found)
    assert found["exit_code"] == code
    return found


def test_a_run_that_passed(here: Application, schema: Any) -> None:
    found = document(here, schema, "-i", "scripts.demo.good", code=0)

    assert found["status"] == "passed"
    assert found["failures"] == found["errors"] == found["warnings"] == found["notes"] == []
    assert (found["summary"]["total"], found["summary"]["passed"]) == (2, 2)


def test_what_failed_with_its_place_its_cause_and_the_command_that_shows_it_again(
    here: Application, schema: Any
) -> None:
    found = document(here, schema, "-o", str(here.home / "report.json"), "--durations", "2", code=1)
    failures = {failure["test"]: failure for failure in found["failures"]}

    assert found["status"] == "failed"
    assert {*failures} == {"TestBad", "TestSub", "broken", "wrong one", "lacks"}
    bad = failures["TestBad"]
    assert (bad["suite"], bad["kind"], bad["cause"], bad["broken"]) == (
        "scripts.demo.bad",
        "script_test",
        "assertion",
        False,
    )
    assert (bad["file"], bad["line"]) == ("assistants/demo/src/bad_test.ts", 3)
    assert "must be the same" in bad["message"]
    assert (bad["problems"][0]["expected"], bad["problems"][0]["actual"]) == ({"a": 2}, {"a": 1})
    assert bad["problems"][0]["frames"][0]["file"] == bad["file"]
    assert bad["logs"] == ["before"]
    assert [step["test"] for step in failures["TestSub"]["subtests"]] == ["TestSub/inner_one", "TestSub/inner_one/deep"]
    assert failures["broken"]["file"] == "assistants/demo/src/broken_test.ts"
    wrong = failures["wrong one"]
    assert (wrong["file"], wrong["line"]) == ("assistants/demo/tests/cases.jsonl", 2)
    assert (wrong["kind"], wrong["output"]) == ("agent_test", "You said Hi")
    assert (
        found["reports"] == [str(here.home / "report.json").replace(str(here.home), str(here.home))]
        or len(found["reports"]) == 1
    )
    assert len(found["slowest"]) == 2
    for failure in found["failures"]:
        name, *words = shlex.split(failure["run_again"])
        again = document(here, schema, *words, code=1)
        assert name == "yao-test"
        assert [one["test"] for one in again["failures"]] == [failure["test"]]


def test_every_result_is_there_with_answer_calls_and_assertions(app: MakeApplication, schema: Any) -> None:
    replies = "- when: { tool: true }\n  reply: { text: '{{ tool.result }}' }\n- reply: { tool_calls: [long] }"
    package = {"mcp": {"servers": ["desk"]}}
    cases = [
        {"id": "a", "input": "Hi", "assert": {"type": "contains", "value": "xxx"}},
        {"id": "b", "input": "Hi", "skip": True},
    ]
    files = agent(package=package, replies=replies, cases=cases)
    files |= server("desk", {"long": "scripts.desk.Long"}) | {
        "/scripts/desk.ts": "function Long() { return 'x'.repeat(50000) }"
    }
    found = document(app(files), schema, "-i", case_file(), code=0)

    done, skipped = found["results"]
    assert (done["test"], done["status"], skipped["test"], skipped["status"]) == ("a", "passed", "b", "skipped")
    assert (len(done["output"]) < 5_000, done["output"].endswith(" more characters")) == (True, True)
    assert ([tool["name"] for tool in done["tools"]], done["assertions"][0]["passed"]) == (["long"], True)
    assert len(json.dumps(done)) < 20_000


def test_a_long_answer_leaves_room_for_every_assertion(app: MakeApplication, schema: Any) -> None:
    held = [{"type": "contains", "value": "x"}, {"type": "regex", "value": "^x"}]
    failed = [{"type": "equals", "value": {"text": "y" * 30_000}}, {"type": "contains", "value": "z"}]
    cases = [
        {"id": "a", "input": "x" * 30_000, "assert": held},
        {"id": "b", "input": "x" * 30_000, "assert": held + failed},
    ]
    found = document(app(agent(replies="- reply: '{{ input }}'", cases=cases)), schema, "-i", case_file(), code=1)

    checked = {one["test"]: [check["passed"] for check in one["assertions"]] for one in found["results"]}
    assert checked == {"a": [True, True], "b": [True, True, False, False]}
    assert [one["output"].count("more characters") for one in found["results"]] == [1, 1]
    assert len(found["failures"][0]["problems"]) == 2
    assert len(json.dumps(found)) < 65_000


def test_another_form_of_json_is_refused(here: Application) -> None:
    (error,) = json.loads(here.run("-i", "scripts.demo.good", "--json=x").stdout)["errors"]

    assert error == {"message": "Cannot use --json x", "hint": "Write --json for one document, or --json=lines"}


def test_files_are_named_from_the_working_directory(here: Application, schema: Any) -> None:
    inside = document(here, schema, "-i", "scripts.demo.bad", code=1, directory="assistants/demo/src")
    outside = document(here, schema, "-i", "scripts.demo.bad", code=1, directory="assistants/demo/tests")

    assert {failure["file"] for failure in inside["failures"]} == {"bad_test.ts"}
    assert {failure["file"] for failure in outside["failures"]} == {"<app>/assistants/demo/src/bad_test.ts"}


REFUSED = {
    "a name": (["-i", "scripts.demo.goood"], "Cannot resolve scripts.demo.goood", 'Did you mean "scripts.demo.good"?'),
    "a flag": (["--runns", "2"], "Unknown flag --runns", "Did you mean --runs?"),
    "a value": (["--runs", "x"], 'Cannot read --runs "x"', None),
    "a pattern": (["-i", "scripts.demo.good", "--run", "nothing here"], "No test or case matches", "There are"),
    "a tag": (["--tag", "smok"], "No test or case has the tag smok", "Did you mean smoke?"),
    "a habit": (["-k", "x"], "Unknown flag -k", "Type: yao-test --run x --json"),
    "another document": (["--reporter", "report.json"], "cannot be used together", None),
    "two at once": (["--quiet"], "cannot be used together", None),
    "no case file": (["-i", "assistants/demo/tests/none.jsonl"], "there is no such file", None),
}


@each("name", REFUSED)
def test_what_cannot_run_is_said_in_the_document(here: Application, schema: Any, name: str) -> None:
    words, message, hint = REFUSED[name]
    found = document(here, schema, *words, code=2)

    (error,) = found["errors"]
    assert found["status"] == "configuration_error"
    assert message in error["message"]
    assert hint is None or hint in error["hint"]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_its_errors_and_its_help_as_json(command: str, schema: Any, tmp_path: Path) -> None:
    for words, code, member in (
        (["--no-such"], 2, "errors"),
        (["--help"], 0, "help"),
        (["none.jsonl", "x"], 2, "errors"),
    ):
        stdout, stderr = StringIO(), StringIO()
        environment = environment_of(tmp_path, {}, stdout, stderr)
        assert run_command([*command.split(), *words, "--json"], environment) == code, words
        found = json.loads(stdout.getvalue())
        schema.validate(found)
        assert (bool(found[member]), found["exit_code"], stderr.getvalue()) == (True, code, "")


def test_everything_wrong_with_a_case_file_is_one_error(app: MakeApplication, schema: Any) -> None:
    here = app({**FILES, "/assistants/demo/tests/cases.jsonl": '{"id": 1}\n{"id": "x", "inputs": 3}\n'})
    (error,) = document(here, schema, "-i", "assistants/demo/tests/cases.jsonl", code=2)["errors"]

    assert "cases.jsonl:1" in error["message"]
    assert "cases.jsonl:2" in error["message"]


def test_the_plan(here: Application, schema: Any) -> None:
    words = ["-i", "scripts.demo.good", "-i", "assistants/demo/tests/cases.jsonl", "--run", "Good|fine"]
    found = document(here, schema, *words, "--dry-run", code=0)

    assert found["status"] == "listed"
    assert found["tests"] == [
        {"suite": "scripts.demo.good", "test": "TestGood"},
        {"suite": "assistants/demo/tests/cases.jsonl", "test": "fine"},
    ]
    broken = document(here, schema, "-i", "scripts.demo.broken", "--dry-run", code=1)
    assert "cannot load the module" in broken["errors"][0]["message"]


def test_a_run_that_stopped_and_one_without_tests(here: Application, app: MakeApplication, schema: Any) -> None:
    stopped = document(here, schema, "-i", "scripts.demo", "--fail-fast", "--parallel", "1", code=1)
    assert stopped["summary"]["stopped"] == "--fail-fast"
    assert stopped["summary"]["not_run"] > 0
    empty = document(app({"env_test.ts": "const x = 1;\n"}), schema, "-i", "scripts.demo.env", code=2)
    assert empty["status"] == "configuration_error"
    assert empty["errors"][0]["message"] == "No tests to run"


def test_a_terminal_gets_the_document_alone(here: Application) -> None:
    code, output = on_terminal(here, "-i", "scripts.demo.good", "--json")

    assert code == 0
    assert json.loads(output)["status"] == "passed"


def test_a_secret_is_in_no_document(app: MakeApplication, schema: Any) -> None:
    here = app({**FILES, "bad_test.ts": "export function TestBad(t) { t.fail('hunter2-hunter2'); }\n"})
    run = here.run("-i", "scripts.demo.bad", "--json", env={**here.environment, "DB_PASSWORD": "hunter2-hunter2"})

    assert run.code == 1
    assert "hunter2" not in run.stdout
    json.loads(run.stdout)
