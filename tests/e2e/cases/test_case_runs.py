"""Runs of cases by the real command: what is written, how a run ends, and bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from agent_files import agent, case_file, errors, run_cases
from command import MakeApplication, Record, eventually
from model_server import ModelServer, status
from sample_agents import TWO


def test_runs_of_the_same_second_do_not_share_a_report(app: MakeApplication) -> None:
    application = app(TWO)

    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda _: application.fork("-i", case_file()), range(4)))

    assert [run.code for run in runs] == [0, 0, 0, 0], runs
    reports = list((application.root / "assistants/demo/tests").glob("output-*.jsonl"))
    assert [len(path.read_text().splitlines()) for path in reports] == [4, 4, 4, 4]


def test_results_go_beside_the_case_file_by_default(app: MakeApplication) -> None:
    application = app(TWO)

    run = application.run("-i", case_file())

    assert run.code == 0, run
    (written,) = [path for path in (application.root / "assistants/demo/tests").iterdir() if path.name != "cases.jsonl"]
    assert re.fullmatch(r"output-20\d{12}\.jsonl", written.name)
    start, first, second, summary = [json.loads(line) for line in written.read_text().splitlines()]
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", start.pop("timestamp"))
    assert start.pop("version")
    assert re.fullmatch("[0-9a-f]{12}", start.pop("run_id"))
    resume = start.pop("resume")
    assert resume.pop("key")
    assert resume == {
        "options": {"inputs": [case_file()]},
        "planned": {case_file(): {"cases": 2, "ids": [first["id"], second["id"]]}},
    }
    assert start == {
        "type": "start",
        "agent_id": "demo",
        "total_cases": 2,
        "scripts": [],
        "inputs": ["assistants/demo/tests/cases.jsonl"],
        "suites": [
            {
                "id": "assistants/demo/tests/cases.jsonl",
                "kind": "agent_test",
                "label": "assistants/demo/tests/cases.jsonl",
                "file": case_file(),
                "agent": "demo",
                "connector": "",
            }
        ],
        "environment": {"user_id": "test-user", "team_id": "test-team", "locale": "en-us"},
    }
    assert {
        key: first[key]
        for key in ("type", "id", "name", "status", "output", "response", "messages_count", "assertions")
    } == {
        "type": "result",
        "id": "a",
        "name": "First case",
        "status": "passed",
        "output": "demo: x",
        "response": "demo: x",
        "messages_count": 1,
        "assertions": [],
    }
    assert isinstance(first["duration_ms"], int) and "name" not in second
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", summary.pop("completed_at"))
    assert summary | {"duration_ms": 0} == {
        "type": "summary",
        "total": 2,
        "passed": 2,
        "failed": 0,
        "skipped": 0,
        "checks_nothing": 2,
        "checks_nothing_first": ["a", "b"],
        "usage": {"input_tokens": 6, "output_tokens": 4},
        "duration_ms": 0,
        "pass_rate": 1.0,
        "pass_rate_interval": [0.3424, 1.0],
        "status": "passed",
    }


def test_a_json_report_has_the_keys_of_the_seed(app: MakeApplication) -> None:
    cases = [
        {"id": "a", "input": "x", "expected": "demo: x"},
        {"id": "b", "input": "y", "assert": {"type": "contains", "value": "z"}},
        {"id": "c", "input": "z", "skip": True},
    ]
    report = app(agent(replies="- reply: '{{ agent }}: {{ input }}'", cases=cases)).report("-i", case_file(), code=1)

    assert list(report) == ["type", "input", "file", "summary", "environment", "results", "metadata"]
    assert report["file"] == case_file()
    assert report["summary"] | {"duration_ms": 0} == {
        "total": 3,
        "passed": 1,
        "failed": 1,
        "skipped": 1,
        "pass_rate": 0.5,
        "pass_rate_interval": [0.0945, 0.9055],
        "usage": {"input_tokens": 6, "output_tokens": 4},
        "duration_ms": 0,
        "agent_id": "demo",
        "connector": "scripted",
        "runs_per_case": 1,
        "overall_pass_rate": 50.0,
    }
    assert list(report["metadata"]) == ["started_at", "completed_at", "version", "run_id"]
    first, second, _ = report["results"]
    assert {key: first[key] for key in ("id", "status", "input", "output", "expected", "error")} == {
        "id": "a",
        "status": "passed",
        "input": "x",
        "output": "demo: x",
        "expected": "demo: x",
        "error": None,
    }
    (assertion,) = second["assertions"]
    assert {key: assertion[key] for key in ("type", "value", "passed")} == {
        "type": "contains",
        "value": "z",
        "passed": False,
    }
    assert second["error"] == f"assertion failed: {assertion['message']}"
    assert second["assertion_errors"] == [second["error"]]


def test_the_console_has_the_layout_of_the_seed(app: MakeApplication) -> None:
    cases = [
        {"id": "turn1", "name": "First turn", "input": "x", "assert": {"type": "contains", "value": "x"}},
        {
            "id": "turn2",
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": "y"},
                {"role": "user", "content": "z"},
            ],
            "assert": [{"type": "contains", "value": "z"}, {"type": "contains", "value": "q"}],
        },
    ]
    run = app(
        agent(
            replies="- reply: { text: 'heard {{ input }}', usage: { input_tokens: 0, output_tokens: 0 } }", cases=cases
        )
    ).run("-i", case_file(), "-o", "report.json")

    text = re.sub(r"\d+(\.\d+)?m?s\b", "0ms", run.stdout)
    head, _, rest = text.partition("Running Tests")
    assert "  Agent Test\n" in head
    assert "ℹ Agent: demo\nℹ Input: assistants/demo/tests/cases.jsonl (2 test cases)\n" in head
    assert "✓ [turn1] First turn (0ms)\n  Messages: 1, Assertions: 1/1 passed\n\n" in rest
    assert "✗ [turn2] (0ms)\n  Messages: 3, Assertions: 1/2 passed\n" in rest
    assert "  Total:   2 tests\n  Passed:  1\n  Failed:  1\n  Time:    0ms\n" in rest
    assert "  Rerun: yao-test -i assistants/demo/tests/cases.jsonl --run '^turn2$'\n" in rest


def test_results_keep_the_order_of_the_file_when_cases_run_in_parallel(app: MakeApplication) -> None:
    replies = "- when: { input: slow }\n  reply: { text: x, delay: 200ms }\n- reply: y\n"
    cases = [{"id": str(number), "input": "fast" if number % 5 else "slow"} for number in range(12)]
    application = app(agent(replies=replies, cases=cases))

    assert list(run_cases(application, "--parallel", "4", code=0)) == [str(number) for number in range(12)]
    shown = application.run("-i", case_file(), "--parallel", "4", "-o", str(application.home / "r.json")).stdout
    assert re.findall(r"✓ \[(\d+)\]", shown) == [str(number) for number in range(12)]


def test_fail_fast_begins_no_further_case_and_no_further_input(app: MakeApplication) -> None:
    cases = [{"id": "a", "input": "x"}, {"id": "b", "input": "x", "expected": "y"}, {"id": "c", "input": "x"}]
    application = app({**agent(cases=cases), **agent("zero", cases=[{"id": "z", "input": "x"}])})

    report = application.report("-i", case_file(), "-i", case_file("zero"), "--fail-fast", code=1)

    assert [record["id"] for part in report["reports"] for record in part["results"]] == ["a", "b"]
    assert report["summary"]["total"] == 2


def test_the_hook_after_all_cases_runs_when_the_first_failure_ends_the_run(app: MakeApplication) -> None:
    cases = [{"id": "a", "input": "x", "expected": "y"}, {"id": "b", "input": "x"}]
    hooks = """\
function BeforeAll() { return "prepared"; }
function AfterAll(ctx, results, data) { throw new Error(data + " " + results.map(({ id }) => id)); }
"""
    application = app({**agent(cases=cases), "env_test.ts": hooks})

    around = ("--before", "env_test.BeforeAll", "--after", "env_test.AfterAll")
    run = application.run("-i", case_file(), "--fail-fast", *around, "-o", "r.json")

    assert run.code == 1
    assert "Warning: assistants/demo/tests/cases.jsonl: after env_test.AfterAll: prepared a\n" in run.stdout


def test_unknown_fields_are_an_error_and_a_warning_when_lenient(app: MakeApplication) -> None:
    application = app(agent(cases=[{"id": "a", "input": "x", "asert": {"value": "x"}}]))

    strict = application.run("-i", case_file())
    lenient = application.run("-i", case_file(), "--lenient", "-o", "r.json")

    assert (strict.code, strict.stdout) == (2, "")
    assert "assistants/demo/tests/cases.jsonl:1:" in strict.stderr and 'Did you mean "assert"?' in strict.stderr
    assert lenient.code == 0
    assert "Warning: " in lenient.stdout and '"asert"' in lenient.stdout


# Ends of a run


def test_an_interrupt_reports_what_ended_and_leaves_no_process(app: MakeApplication, tmp_path: Path) -> None:
    replies = "- when: { input: slow }\n  reply: { text: late, delay: 1h }\n- reply: done\n"
    hooks = "function Create(ctx, messages) { if (messages[0].content === 'slow') Process('agent.Call', { assistant_id: 'slow', messages }); }"
    cases = [{"id": f"c{number}", "input": "fast" if number < 10 else "slow"} for number in range(30)]
    application = app({**agent(replies=replies, hooks=hooks, cases=cases), **agent("slow", replies=replies)})
    path = tmp_path / "r.jsonl"

    def ended() -> list[str]:
        written = path.read_text().splitlines() if path.exists() else []
        return [record["id"] for record in map(json.loads, written) if record["type"] == "result"]

    process = application.start("-i", case_file(), "--parallel", "20", "-o", str(path), "-o", str(tmp_path / "r.json"))
    eventually(lambda: len(ended()) == 10, "the quick cases end")
    process.send_signal(signal.SIGINT)
    run = application.finish(process)

    assert run.code == 130, run
    assert "Traceback" not in run.stdout + run.stderr
    assert sorted(ended()) == sorted(f"c{number}" for number in range(10))
    assert json.loads(path.read_text().splitlines()[-1])["status"] == "interrupted"
    report = json.loads((tmp_path / "r.json").read_text())
    assert [record["id"] for record in report["results"]] == [f"c{number}" for number in range(10)]
    assert (report["summary"]["total"], report["summary"]["passed"]) == (10, 10)
    eventually(lambda: not session_members(process.pid), "all processes of the command end")


def session_members(leader: int) -> list[str]:
    """The living processes of the session of a command."""
    listed = subprocess.run(["ps", "-eo", "sid,stat,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return [row[2] for row in rows if row[0] == str(leader) and not row[1].startswith("Z")]


# Bad input

BAD: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "no such case file": ({}, ("-i", "assistants/demo/tests/none.jsonl"), "Error: Cannot read case file <app>/assistants/demo/tests/none.jsonl: there is no such file\n"),
    "no such folder": ({}, ("-i", "assistants/dmeo/tests"), "Error: Cannot use -i assistants/dmeo/tests: there is no such file or folder\n"),
    "an empty input": ({}, ("-i", "", "-n", "demo"), "Error: Cannot use -i: it is empty\n"),
    "unknown agent": ({}, ("-i", "Hello there", "-n", "dmeo"), 'Hint: Did you mean "demo"?\n'),
    "unknown part of an agent": ({}, ("-i", "Hello there", "-n", "demo.other"), 'Error: Cannot find agent "demo.other": there is no <app>/assistants/demo/other/package.yao\n'),
    "bad timeout": ({}, ("-i", case_file(), "--timeout", "soon"), 'Error: Cannot read --timeout "soon": not a duration\n'),
    "unknown connector": ({"/connectors/model.conn.yao": '{"type": "scripted"}'}, ("-i", case_file(), "-c", "modl"), 'Error: Cannot use -c modl: Cannot find connector "modl": no such file below <app>/connectors\nHint: Did you mean "model"?\n'),
    "bad case": ({"/assistants/demo/tests/cases.jsonl": '{"id": "a", "input": "x"}\n{"id": "a", "input": 5}\n'}, ("-i", case_file()), "assistants/demo/tests/cases.jsonl:2:"),
}  # fmt: skip


@pytest.mark.parametrize("id", BAD)
def test_what_cannot_be_used_is_a_configuration_error_before_anything_runs(app: MakeApplication, id: str) -> None:
    files, arguments, said = BAD[id]
    application = app({**agent(cases=[{"id": "a", "input": "x"}]), **files})
    before = application.listing()

    run = application.run(*arguments)

    assert (run.code, run.stdout) == (2, ""), run
    assert said in run.stderr
    assert run.stderr.startswith("Error: ") and "Traceback" not in run.stderr
    assert application.listing() == before


CONNECTORS: dict[str, tuple[Record, dict[str, str], str]] = {
    "missing key": (
        {"connector": "model"},
        {"/connectors/model.conn.yao": '{"type": "openai",\n "options": {"model": "gpt-4o", "key": "$ENV.DEMO_KEY"}}'},
        "DEMO_KEY",
    ),
    "broken file": (
        {"connector": "model"},
        {"/connectors/model.conn.yao": '{"type": "openai",\n "options": {"model" "gpt-4o"}}'},
        "connectors/model.conn.yao:2:22",
    ),
    "unknown": ({"connector": "modl"}, {"/connectors/model.conn.yao": '{"type": "scripted"}'}, 'Did you mean "model"?'),
    "none": ({"connector": ""}, {}, 'Cannot resolve the connector of role "default"'),
    "no variable": ({"connector": "$ENV.WHICH"}, {}, "the environment variable WHICH is not set"),
}
HOOKS = "function Create() { return {}; }"
CHOOSES = 'function Create() { return { connector: "scripted" }; }'


@pytest.mark.parametrize("id", CONNECTORS)
def test_a_connector_that_cannot_be_used_keeps_the_run_from_beginning(app: MakeApplication, id: str) -> None:
    package, files, said = CONNECTORS[id]
    application = app({**agent(package=package, hooks=HOOKS, cases=[{"id": "a", "input": "x"}]), **files})
    run = application.run("-i", case_file())
    assert (run.code, run.stdout) == (2, ""), run
    assert run.stderr.startswith("Error: Cannot run the cases of demo: ")
    assert said in run.stderr


@pytest.mark.parametrize("id", CONNECTORS)
def test_a_connector_that_may_not_be_asked_is_no_error_before(app: MakeApplication, id: str) -> None:
    package, files, said = CONNECTORS[id]
    case = {"id": "a", "input": "x"}
    application = app({**agent(package=package, cases=[case]), **files, **agent("other", cases=[{**case, "id": "b"}])})
    assert said.lower() in run_cases(application, "-i", "assistants", code=1)["a"]["error"].lower()
    for hooks, options, flags in (
        (None, {}, ("-c", "scripted")),
        (None, {"connector": "scripted"}, ()),
        (CHOOSES, {}, ()),
    ):
        cases = [{**case, "options": options}]
        application = app({**agent(package=package, replies="- reply: yes", hooks=hooks, cases=cases), **files})
        assert run_cases(application, *flags, code=0)["a"]["output"] == "yes"


def test_missing_replies_fail_the_case_with_the_reason(app: MakeApplication) -> None:
    replies = "- when: { input: q }\n  reply: x"
    error = errors(app(agent(replies=replies, cases=[{"id": "a", "input": "x"}])))["a"]
    assert error is not None and "replies.yml" in error


def test_a_key_is_never_written(app: MakeApplication, tmp_path: Path) -> None:
    key = "sk-very-secret-1234567890"
    with ModelServer(status(401, f"Incorrect API key provided: {key}")) as models:
        options = {"host": models.url, "model": "gpt-4o", "key": "$ENV.DEMO_KEY"}
        application = app(
            {
                **agent(package={"connector": "model"}, cases=[{"id": "a", "input": "x"}]),
                "/connectors/model.conn.yao": json.dumps({"type": "openai", "options": options}),
                "/.env": f"DEMO_KEY={key}\n",
            }
        )
        run = application.run("-i", case_file(), "-v", "-v", "-o", str(tmp_path / "r.json"))

    assert run.code == 1
    assert models.requests[0].headers["authorization"] == f"Bearer {key}"
    written = run.stdout + run.stderr + (tmp_path / "r.json").read_text()
    assert "401" in written and "sk-very-secret" not in written
