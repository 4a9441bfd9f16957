"""Command lines and reports of Yao's own test command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent
from command import MakeApplication

FILES = {
    **agent("diner", replies='- reply: "You said: {{ input }}"', cases=[{"id": "soup", "input": "soup"}]),
    "/assistants/diner/src/menu_test.ts": "export function TestMenu(t: any) { t.assert.Equal(2 + 2, 4); }",
}
CASES = "assistants/diner/tests/cases.jsonl"
LINES = {
    "agent test": (["agent", "test", "-i", CASES], "soup"),
    "agent eval": (["agent", "eval", "diner", "Hi"], "You said: Hi"),
    "test": (["test", "-i", CASES, "-v"], "You said: soup"),
    "run": (["run", "-i", "scripts.diner.menu", "-run", "TestMenu"], "TestMenu"),
    "a message to an agent": (["run", "diner", "Hi"], "You said: Hi"),
    "eval": (["eval", "diner", "A table for two"], "You said: A table for two"),
    "eval with flags around": (["eval", "-v", "-u", "eva", "diner", "Hi", "--locale", "de-de"], "You said: Hi"),
    "eval of a file": (["eval", "diner", f"@{CASES}"], "soup"),
    "eval without a message": (["eval", "diner"], "soup"),
    "eval of a test module": (["eval", "diner", "-s", "menu"], "TestMenu"),
    "test module after --scripts=": (["agent", "test", "--scripts=menu", "-n", "assistants.diner"], "TestMenu"),
    "test module by its whole name": (["-s", "scripts.diner.menu"], "TestMenu"),
}


@pytest.mark.parametrize(("line", "shows"), LINES.values(), ids=LINES.keys())
def test_a_command_line_of_yao_runs_as_it_is(app: MakeApplication, line: list[str], shows: str) -> None:
    result = app(FILES).run(*line)

    assert (result.code, shows in result.stdout) == (0, True), result


def test_a_test_module_without_an_agent_is_refused_with_the_line_to_type(app: MakeApplication) -> None:
    result = app(FILES).run("agent", "test", "-s", "menu")

    assert result.code == 2
    assert result.stderr == (
        "Error: Cannot tell to which agent the test module menu belongs\nHint: Type: yao-test -i scripts.<agent>.menu\n"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["eval", "diner", "A", "table", "-v"], "Type: yao-test diner 'A table' -v"),
        (["eval", "diner", "--scripts", "-q"], "--scripts needs a test module"),
        (["agent", "test", "-n", "diner", "-s"], "-s needs a test module"),
    ],
)
def test_a_line_that_cannot_be_meant_is_refused(app: MakeApplication, line: list[str], said: str) -> None:
    result = app(FILES).run(*line)

    assert (result.code, said in result.stderr) == (2, True), result


def test_yao_root_names_the_application(app: MakeApplication, tmp_path: Path) -> None:
    application = app(FILES)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = {**application.environment, "YAO_ROOT": str(application.root)}

    found = application.run("eval", "diner", "Hi", directory=str(elsewhere), env=env)
    named = application.run("eval", "diner", "Hi", "-a", "/nowhere", directory=str(elsewhere), env=env)

    assert (found.code, "You said: Hi" in found.stdout) == (0, True), found
    assert (named.code, "--app /nowhere" in named.stderr) == (2, True), named


UPSTREAM: dict[str, Any] = {
    "summary": {
        "total": 3,
        "passed": 1,
        "failed": 0,
        "errors": 1,
        "timeouts": 1,
        "duration_ms": 10,
        "agent_id": "diner",
    },
    "environment": {"user_id": "u", "team_id": "t", "locale": "en-us"},
    "results": [
        {"id": "soup", "status": "passed", "input": "soup", "output": "hi", "duration_ms": 5},
        {
            "id": "bread",
            "status": "timeout",
            "input": "x",
            "duration_ms": 5,
            "error": "timeout after 5m0s",
            "trace": {"tool_calls": [{"tool": "look", "arguments": {"a": 1}, "result": 2}]},
        },
        {"id": "oil", "status": "error", "input": "x", "duration_ms": 0, "error": "agent error: model is down"},
    ],
    "metadata": {
        "started_at": "2026-01-01T00:00:00Z",
        "completed_at": "2026-01-01T00:00:01Z",
        "input_file": "tests/in.jsonl",
    },
}


def test_a_report_of_yao_is_shown_compared_and_extracted(app: MakeApplication) -> None:
    application = app({**FILES, "/old.json": json.dumps(UPSTREAM)})

    shown = application.run("show", "old.json").stdout
    compared = application.run("diff", "old.json", "old.json").stdout
    extracted = application.run("agent", "extract", "old.json", "-o", "cut", "--format", "markdown")

    assert "  Passed:  1\n  Failed:  1\n  Errors:  1\n" in shown
    assert "timeout after 5m0s" in shown and 'look({"a": 1}) → 2' in shown
    assert "Still failing (1)\n  tests/in.jsonl › bread" in compared
    assert (extracted.code, sorted(file.name for file in (application.root / "cut").iterdir())) == (
        0,
        ["bread.md", "oil.md", "soup.md"],
    )


def test_a_copy_of_a_report_of_yao_is_no_further_run(app: MakeApplication) -> None:
    again = {**UPSTREAM, "metadata": {**UPSTREAM["metadata"], "started_at": "2026-01-01T00:01:00Z"}}
    copies = {"/old.json": json.dumps(UPSTREAM), "/copy.json": json.dumps(UPSTREAM, indent=1)}
    application = app({**FILES, **copies, "/again.json": json.dumps(again)})

    copied = application.run("merge", "old.json", "copy.json", "--as-runs", "-o", "both.json")
    honest = application.run("merge", "old.json", "again.json", "--as-runs", "-o", "both.json")

    assert (copied.code, "Cannot merge copy.json: old.json also has the run" in copied.stderr) == (2, True), copied
    assert honest.code == 0, honest
