"""`--json` and `--json=lines` of runs of every kind, against the schema; and the errors of all commands."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, eventually
from table_tests import each

CHAT = {
    "id": "chat",
    "turns": [{"input": "One", "assert": {"type": "contains", "value": "One"}}, {"input": "Two"}],
    "final_assertions": {"type": "contains", "value": "Nothing like it"},
}
GRADED = {
    "id": "graded",
    "mode": "conversation",
    "trials": 2,
    "turns": [{"input": "One", "assertions": [{"type": "contains", "value": "One", "weight": 2}]}],
}
DYNAMIC = {
    "id": "dynamic",
    "input": "Hello",
    "simulator": {"use": "scripts:demo.people.Simulate"},
    "checkpoints": [{"id": "greeted", "assert": {"type": "contains", "value": "Hello"}}],
}
FILES = agent(
    replies="- reply: 'You said {{ input }}'",
    cases=[{"id": "plain", "input": "Hi", "tags": ["a"], "metadata": {"n": 1}}, CHAT, GRADED, DYNAMIC],
) | {
    "people.ts": "export function Simulate() { return { input: 'More', goal_achieved: true }; }\n",
    "all_test.ts": """\
export function TestGood(t) { console.warn("said"); t.run("part", (t) => t.assert.Equal(1, 1)); setTimeout(() => {}, 9e9); }
export function TestBad(t) { t.assert.Equal([1, 2], [1, 3]); t.run("part", (t) => t.assert.True(false)); }
export function TestThrows(t) { throw new Error("out"); }
export function TestAway(t) { t.skip("not today"); }
export function FuzzSum(f) { f.add(3); f.fuzz((t, n) => t.assert.True(n > -1000)); }
export function BenchmarkSum(b) { while (b.loop()) Math.sqrt(2); }
""",
    "broken_test.ts": "export function TestX(t) {\n",
}
KINDS = {
    "script tests": (["-i", "scripts.demo.all", "--story=all"], 1),
    "a broken module": (["-i", "scripts.demo.broken"], 1),
    "cases": (["-i", case_file()], 1),
    "several runs": (["-i", "scripts.demo.all", "-i", case_file(), "--runs", "2", "--run", "Good|Bad|plain"], 1),
    "a benchmark": (["-i", "scripts.demo.all", "--bench", ".", "--bench-time", "1ms"], 0),
    "a search": (["-i", "scripts.demo.all", "--fuzz", ".", "--fuzz-time", "1s", "--seed", "1"], 1),
    "a message": (["demo", "Hello"], 0),
}


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(FILES)


@pytest.fixture(scope="module")
def schema(here: Application) -> Any:
    found = json.loads(here.run("schema", "result").stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    assert (found["$id"], found["version"]) == ("urn:yao-test:result:1", 1)
    return jsonschema.Draft202012Validator(found)


@each("kind", KINDS)
def test_lines_and_document_of_a_run_say_the_same_and_fit_the_schema(here: Application, schema: Any, kind: str) -> None:
    words, code = KINDS[kind]
    document = json.loads(here.run(*words, "--json").stdout)
    run = here.run(*words, "--json=lines")
    lines = [json.loads(line) for line in run.stdout.splitlines()]

    assert run.code == document["exit_code"] == code
    for one in (document, *document["results"], *lines):
        schema.validate(one)
    first, *results, last = lines
    assert (first["type"], first["format"]) == ("start", 1)
    assert {"timestamp", "agent_id", "total_cases"} <= first.keys()
    assert (last["type"], last["status"], last["exit_code"]) == ("summary", document["status"], code)
    assert {line["type"] for line in results} == {"result"}
    failures = {one["test"]: one for one in document["failures"]}
    for result in document["results"]:
        (line,) = [line for line in results if line["test"] == result["test"]]
        assert (result | failures.get(result["test"], {})).keys() <= line.keys()
        assert line["id"] == line["test"]
    assert len(results) == len(document["results"]) == document["summary"]["total"]
    assert ("benchmarks" in document, "benchmarks" in last) == (kind == "a benchmark",) * 2
    assert ("searches" in document) == (kind == "a search")  # the second run finds the kept input


def test_results_have_what_their_kind_has(here: Application) -> None:
    document = json.loads(here.run("-i", "scripts.demo.all", "-i", case_file(), "--json", "--story").stdout)
    found = {one["test"]: one for one in document["results"]}
    assert found["TestThrows"]["story"][-1]["file"] == "assistants/demo/src/all_test.ts"

    good, chat, graded = found["TestGood"], found["chat"], found["graded"]
    assert (good["steps"][0]["name"], good["logs"], good["warnings"][0]["kind"]) == (
        "TestGood/part",
        ["[warn] said"],
        "pending",
    )
    assert found["TestAway"]["skip_reason"] == "not today"
    assert [turn["output"] for turn in chat["turns"]] == ["You said One", "You said Two"]
    assert (chat["final_assertions"][0]["passed"], graded["score"], len(graded["trials"])) == (False, 1, 2)
    assert found["dynamic"]["checkpoints"][0]["passed"] is True
    assert (found["plain"]["input"], found["plain"]["output"], found["plain"]["tags"]) == ("Hi", "You said Hi", ["a"])


def test_the_schema_notices_a_result_of_another_form(here: Application, schema: Any) -> None:
    (result,) = json.loads(here.run("demo", "Hello", "--json").stdout)["results"]

    for wrong in ({"status": "good"}, {"assertions": [3]}, {"duration_ms": "1"}, {"usage": {"input_tokens": "x"}}):
        with pytest.raises(jsonschema.ValidationError):
            schema.validate(result | wrong)


REFUSED = {
    "a flag": ["--no-such-flag"],
    "an input": ["-i", "nowhere.jsonl"],
    "a report of diff": ["diff", "no.jsonl", "nor.jsonl"],
    "a command's flag": ["history", "--no-such-flag"],
    "no store": ["history"],
    "no application": ["doctor", "--app", "/nowhere"],
    "a flag of view": ["view", "--port", "x"],
    "nothing to mutate": ["mutate", "-i", "scripts.demo.nowhere"],
    "a command without documents": ["trust"],
    "no report": ["show", "none.jsonl"],
}


@each("name", REFUSED)
@each("form", ["--json", "--json=lines"])
def test_errors_of_every_command_are_json(here: Application, schema: Any, name: str, form: str) -> None:
    run = here.run(*REFUSED[name], form)

    assert (run.code, run.stderr) == (2, "")
    found = json.loads(run.stdout)
    schema.validate(found)
    assert (found["status"], found["exit_code"]) == ("configuration_error", 2)
    assert (found["errors"][0] if form == "--json" else found)["message"]


def test_a_broken_configuration_and_case_file_are_json(app: MakeApplication) -> None:
    for files in ({"/yao-test.toml": "runs = [\n"}, agent(cases=[{"id": "a", "inputs": 1}])):
        run = app({"good_test.ts": "export function TestA(t) {}\n", **files}).run("--json=lines")
        assert (run.code, json.loads(run.stdout)["type"]) == (2, "error")


def test_commands_print_their_document_alone(app: MakeApplication) -> None:
    here = app(FILES)
    for name in ("a", "b"):
        here.run("-i", "scripts.demo.all", "-o", f"{name}.jsonl", "--store", ".yao-test")
    words = (["history"], ["store", "list"], ["doctor"], ["config"], ["diff", "a.jsonl", "b.jsonl", "-o", "c.md"])
    found = [json.loads(here.run(*one, "--json").stdout) for one in words]

    assert len(found[0]["runs"]) == len(found[1]["runs"]) == 2
    assert (found[4]["regressions"], "verdict" in found[4], (here.root / "c.md").exists()) == (0, True, True)


def test_mutate_says_as_json_that_tests_fail_before(here: Application) -> None:
    run = here.run("mutate", "-i", "scripts.demo.all", "--json")

    assert (run.code, run.stderr) == (1, "")
    assert "without any mutant" in json.loads(run.stdout)["errors"][0]["message"]


def test_mutate_has_no_lines(here: Application) -> None:
    run = here.run("mutate", "-i", "scripts.demo.all", "--json=lines")

    assert (run.code, json.loads(run.stdout)["message"]) == (2, "--json=lines is for runs, and not for mutate")


def test_lines_come_as_results_end_and_an_interrupted_run_ends_its_output(app: MakeApplication, schema: Any) -> None:
    here = app({"slow_test.ts": "export function TestA(t) {}\nexport function TestB(t) { time.Sleep(1e6); }\n"})
    words, saved = ("-i", "scripts.demo.slow", "--timeout", "1h"), here.home / "r.jsonl"
    lines = here.start(*words, "--json=lines")
    document = here.start(*words, "--json", "-o", str(saved))
    begun = [json.loads(lines.stdout.readline()) for _ in range(2)]
    eventually(lambda: saved.exists() and "TestA" in saved.read_text(), "the first result is written")
    for process in (lines, document):
        process.send_signal(signal.SIGINT)
    ends = {here.finish(process) for process in (lines, document)}

    assert [line["type"] for line in begun] == ["start", "result"]
    assert (begun[1]["test"], begun[1]["status"]) == ("TestA", "passed")
    for end in ends:
        last = json.loads(end.stdout if end.stdout.startswith("{\n") else end.stdout.splitlines()[-1])
        schema.validate(last)
        assert (end.code, last["status"], last["exit_code"]) == (130, "interrupted", 130)


@pytest.mark.parametrize("form", ["--json", "--json=lines"])
def test_an_interrupt_before_a_run_begins_is_json(schema: Any, form: str) -> None:
    code = f"import sys; sys.argv[1:] = ['history', '{form}']; from runner.execution.stopping import leave; leave(2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    found = json.loads(done.stdout)
    schema.validate(found)
    assert (done.returncode, found["exit_code"], found["status"]) == (130, 130, "interrupted")
