"""Workers that are started before it is known what they run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bindings import SCRIPT_PARTS
from runner.commands import start_worker
from scripttest import end_ahead, launch_ahead, worker_command
from scripttest.process import Child, spawn
from scripttest.workers.launch import launch


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Child]]:
    """The processes that are started, in their order."""
    found: list[Child] = []

    def noted(command: list[str], environment: dict[str, str]) -> Child:
        found.append(spawn(command, environment))
        return found[-1]

    monkeypatch.setattr("scripttest.workers.launch.spawn", noted)
    yield found
    end_ahead()


def lives(child: Child) -> bool:
    try:
        os.kill(child.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_first_that_is_launched_is_the_one_that_was_started_ahead(started: list[Child]) -> None:
    launch_ahead(SCRIPT_PARTS)
    (ahead,) = started
    command = worker_command(SCRIPT_PARTS)
    first, second = launch(command), launch(command)
    assert first is ahead and started == [ahead, second] and lives(ahead) and lives(second)
    first.end()
    second.end()


def test_one_that_is_launched_otherwise_is_another(started: list[Child], tmp_path: Path) -> None:
    launch_ahead(SCRIPT_PARTS)
    counting = launch(worker_command(SCRIPT_PARTS, str(tmp_path)))
    assert started == [started[0], counting] and not lives(started[0]) and lives(counting)
    counting.end()


def test_one_in_another_environment_is_another(started: list[Child], monkeypatch: pytest.MonkeyPatch) -> None:
    launch_ahead(SCRIPT_PARTS)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    elsewhere = launch(worker_command(SCRIPT_PARTS))
    assert started == [started[0], elsewhere] and not lives(started[0]) and lives(elsewhere)
    elsewhere.end()


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("-i scripts.demo.a -v", True),
        ("--run TestA -i scripts.demo.*", True),
        ("-i assistants/demo/tests/inputs.jsonl", False),
        ("history scripts.demo.a", False),
        ("-i scripts.demo.a --cluster local", False),
        ("-i scripts.demo.a --coverage", False),
        ("-i scripts.demo.a --coverage=src", False),
        ("", False),
    ],
)
def test_a_run_that_names_script_tests_starts_one(started: list[Child], line: str, starts: bool) -> None:
    start_worker(line.split())
    assert [lives(child) for child in started] == [True] * starts
    end_ahead()
    assert not any(map(lives, started))
