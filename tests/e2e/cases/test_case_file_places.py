"""Case files as people write and keep them: with defaults, and anywhere on the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import agent, lines, run_cases
from command import Application, MakeApplication

CASES = lines({"id": "A", "input": "Hi", "assert": {"type": "contains", "value": "reply of"}})


@pytest.fixture
def two(app: MakeApplication) -> Application:
    """An application with two agents."""
    files = agent(replies="- reply: reply of demo\n") | agent("other", replies="- reply: reply of other\n")
    return app({**files, "src/note.txt": ""})


def outside(application: Application, text: str = CASES, name: str = "cases.jsonl") -> Path:
    path = application.home / "elsewhere" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("directory", "flags", "said"),
    [
        ("", ["-n", "other"], "reply of other"),
        ("assistants/demo", [], "reply of demo"),
        ("assistants/other/", [], "reply of other"),
        ("assistants/demo/src", [], "reply of demo"),
        ("assistants/demo", ["-n", "other"], "reply of other"),
    ],
)
def test_a_case_file_outside_the_application_is_of_the_agent_here(
    two: Application, directory: str, flags: list[str], said: str
) -> None:
    report = two.home / "report.json"
    path = outside(two)
    run = two.run("-i", str(path), "-o", str(report), *flags, directory=directory)
    assert run.code == 0, run
    (record,) = json.loads(report.read_text())["results"]
    assert record["output"] == said


def test_without_an_agent_here_it_has_to_be_named(two: Application) -> None:
    run = two.run("-i", str(outside(two)))
    assert run.code == 2
    assert "Cannot find the agent for case file <home>/elsewhere/cases.jsonl, which is outside the application" in (
        run.stderr
    )
    assert "Set the agent with -n" in run.stderr


def test_outside_every_application_both_places_are_named(two: Application) -> None:
    run = two.run("-i", str(outside(two)), directory="../home")
    assert run.code == 2
    assert "no folder from <home>/elsewhere/cases.jsonl or <home> upward contains app.yao" in run.stderr
    assert "--app" in run.stderr


def test_a_case_file_in_another_application_is_of_that_one(
    two: Application, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("second") / "assistants/third/tests"
    folder.mkdir(parents=True)
    (folder.parent / "package.yao").write_text('{"connector": "scripted"}')
    (folder.parent / "prompts.yml").write_text("- {role: system, content: Hi}")
    (folder.parent / "replies.yml").write_text("- reply: reply of third")
    (folder / "cases.jsonl").write_text(CASES)
    report = two.home / "report.json"
    run = two.run("-i", str(folder / "cases.jsonl"), "-o", str(report), directory="assistants/demo")
    assert run.code == 0, run
    assert json.loads(report.read_text())["results"][0]["output"] == "reply of third"


LISTING = {
    "name": "Greetings",
    "description": "What is said",
    "defaults": {"assert": {"type": "contains", "value": "reply"}, "metadata": {"channel": "mail"}},
    "tests": [
        {"id": "A", "input": "Hi"},
        {"id": "B", "input": "Hi", "assert": {"type": "equals", "value": "something else"}},
        {"id": "C", "input": "Hi", "skip": None, "tags": None, "metadata": None},
    ],
}


@pytest.mark.parametrize("name", ["cases.json", "cases.yaml", "cases.jsonl"])
def test_defaults_hold_for_each_case_of_a_run(two: Application, name: str) -> None:
    two.write({f"/assistants/demo/tests/{name}": json.dumps(LISTING)})
    records = run_cases(two, "-i", f"assistants/demo/tests/{name}", code=1)
    assert {id: record["status"] for id, record in records.items()} == {"A": "passed", "B": "failed", "C": "passed"}
    assert records["C"]["metadata"] == {"channel": "mail"}


def test_a_default_assertion_can_fail_a_case(two: Application) -> None:
    listing = {
        "defaults": {"assert": {"type": "contains", "value": "nothing of this"}},
        "tests": [{"id": "A", "input": "x"}],
    }
    two.write({"/assistants/demo/tests/cases.json": json.dumps(listing)})
    records = run_cases(two, "-i", "assistants/demo/tests/cases.json", code=1)
    assert records["A"]["status"] == "failed"


def test_a_failing_case_has_the_place_where_it_begins(app: MakeApplication) -> None:
    check = '"assert": {"type": "contains", "value": "no"}'
    here = app(
        {
            **agent("desk", replies="- reply: yes\n"),
            "/assistants/desk/tests/list.yaml": f"tests:\n  - id: a\n    input: Hi\n    {check}\n",
            "/assistants/desk/tests/lines.jsonl": f'{{"id": "b", "input": "Hi"}}\n{{"id": "c", "input": "Hi", {check}}}\n',
        }
    )
    places = [line.strip() for line in here.run("desk").stdout.splitlines() if line.startswith("     at ")]

    assert sorted(places) == [f"at assistants/desk/tests/{place}" for place in ("lines.jsonl:2:1", "list.yaml:2:5")]
