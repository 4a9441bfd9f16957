"""Which cases run, by the real command."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, case_file, run_cases
from command import MakeApplication
from sample_agents import TWO

LABELS = {
    "everything": (("assistants",), ["scripts.demo.sum", "assistants/demo/tests/cases.jsonl", "assistants/workers/other/tests/cases.jsonl", "assistants/workers/other/tests/more.yaml"]),
    "an agent": (("assistants/workers/other",), ["assistants/workers/other/tests/cases.jsonl", "assistants/workers/other/tests/more.yaml"]),
    "a tests folder": (("assistants/demo/tests",), ["assistants/demo/tests/cases.jsonl"]),
    "a src folder": (("assistants/demo/src",), ["scripts.demo.sum"]),
    "several": (("scripts.demo.sum", "assistants/workers/other/tests/more.yaml", "assistants/demo/tests/cases.jsonl"), ["scripts.demo.sum", "assistants/workers/other/tests/more.yaml", "assistants/demo/tests/cases.jsonl"]),
    "the same twice": (("assistants/demo/tests", "assistants/demo/tests/cases.jsonl", "@assistants/demo/tests/cases.jsonl"), ["assistants/demo/tests/cases.jsonl"]),
}  # fmt: skip


@pytest.mark.parametrize("id", LABELS)
def test_inputs_name_modules_and_case_files_in_one_report(app: MakeApplication, id: str) -> None:
    inputs, labels = LABELS[id]

    report = app(TWO).report(*[argument for input in inputs for argument in ("-i", input)], code=0)

    parts = report.get("reports", [report])
    assert [part.get("script") or part["input"] for part in parts] == labels
    passed = {"scripts.demo.sum": 1, "assistants/demo/tests/cases.jsonl": 2}
    assert [part["summary"]["passed"] for part in parts] == [passed.get(label, 1) for label in labels]
    assert report["summary"]["total"] == sum(part["summary"]["total"] for part in parts)


def test_a_mixed_run_has_one_report_and_one_exit_code(app: MakeApplication) -> None:
    application = app(
        {**TWO, "sum_test.ts": "function TestSum(t) { t.assert.Equal(1 + 1, 3); }\nfunction TestFine(t) {}"}
    )
    report = application.report("-i", "scripts.demo.sum", "-i", "assistants/demo", code=1)

    assert report["summary"] | {"duration_ms": 0} == {
        "total": 4,
        "passed": 3,
        "failed": 1,
        "skipped": 0,
        "checks_nothing": 2,
        "checks_nothing_first": ["a", "b"],
        "usage": {"input_tokens": 6, "output_tokens": 4},
        "pass_rate": 1.0,
        "pass_rate_interval": [0.3424, 1.0],
        "duration_ms": 0,
    }
    run = application.run("-i", "scripts.demo.sum", "-i", case_file(), "-q", "-o", str(application.home / "r.jsonl"))
    written = [json.loads(line) for line in (application.home / "r.jsonl").read_text().splitlines()]
    assert run.code == 1
    assert [(record["type"], record.get("id")) for record in written] == [
        ("start", None),
        ("result", "TestSum"),
        ("result", "TestFine"),
        ("result", "a"),
        ("result", "b"),
        ("summary", None),
    ]


@pytest.mark.parametrize(
    ("directory", "arguments", "said"),
    [
        ("assistants/demo", (), "demo: Hello there"),
        ("assistants/workers/other/tests", (), "workers.other: Hello there"),
        ("", ("-n", "workers.other"), "workers.other: Hello there"),
        ("assistants/demo", ("-n", "assistants.workers.other"), "workers.other: Hello there"),
    ],
    ids=["from its folder", "from below it", "by name", "the name wins"],
)
def test_a_message_goes_to_the_agent_of_the_folder_or_of_the_flag(
    app: MakeApplication, directory: str, arguments: tuple[str, ...], said: str
) -> None:
    application = app(TWO)
    before = application.listing()

    run = application.run("-i", "Hello there", *arguments, directory=directory)

    assert run.code == 0, run
    assert f"  Output: {said}\n" in run.stdout
    assert application.listing() == before, "only -o makes a message leave a file"


def test_a_message_without_an_agent_is_a_configuration_error(app: MakeApplication) -> None:
    run = app(TWO).run("-i", "Hello there")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == (
        'Error: Cannot find the agent for message "Hello there": no folder from <app> upward contains package.yao\n'
        "Hint: Set the agent with -n\n"
    )


def test_the_id_of_an_agent_is_taken_for_a_message_and_the_folder_is_named(app: MakeApplication) -> None:
    run = app(TWO).run("-i", "demo")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.splitlines()[-1] == (
        "Hint: Set the agent with -n; demo is an agent, -i assistants/demo runs all its tests"
    )


RUN = {
    "an id": ("^b$", ["b"]),
    "a name": ("First", ["a"]),
    "without case": ("(?i)FIRST", ["a"]),
    "everything": (".", ["a", "b"]),
}


@pytest.mark.parametrize("id", RUN)
def test_run_searches_ids_and_names(app: MakeApplication, id: str) -> None:
    pattern, ids = RUN[id]

    assert list(run_cases(app(TWO), "--run", pattern, code=0)) == ids


def test_a_dry_run_lists_cases_and_runs_nothing(app: MakeApplication) -> None:
    application = app(
        {
            **TWO,
            **agent(
                hooks='function Create() { throw new Error("runs"); }',
                cases=[{"id": "a", "input": "x"}, {"id": "b", "input": "y"}],
            ),
        }
    )
    before = application.listing()

    run = application.run("-i", case_file(), "-i", "scripts.demo.sum", "--dry-run")

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.split("\n") == [
        "assistants/demo/tests/cases.jsonl",
        "  a",
        "  b",
        "scripts.demo.sum",
        "  TestSum",
        "3 tests in 2 inputs",
        "",
    ]
    assert application.listing() == before
