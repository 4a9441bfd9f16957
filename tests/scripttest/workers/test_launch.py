"""Workers that are started before it is known what they run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import WORKER, children

from bindings import SCRIPT_PARTS
from runner.cli.ahead import start_worker
from scripttest import end_ahead, launch_ahead, worker_command
from scripttest.workers.launch import launch


def workers() -> set[int]:
    """The workers that this process has started and that live."""
    return set(children(os.getpid(), WORKER))


@pytest.fixture
def before() -> Iterator[set[int]]:
    """Those that live when a test begins."""
    yield workers()
    end_ahead()


def test_the_first_that_is_launched_is_the_one_that_was_started_ahead(before: set[int]) -> None:
    launch_ahead(SCRIPT_PARTS)
    (ahead,) = workers() - before
    first, second = launch(worker_command(SCRIPT_PARTS)), launch(worker_command(SCRIPT_PARTS))
    assert first.pid == ahead and workers() - before == {ahead, second.pid}
    first.end()
    second.end()
    assert workers() == before


def test_one_that_is_launched_otherwise_is_another(
    before: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch_ahead(SCRIPT_PARTS)
    counting = launch(worker_command(SCRIPT_PARTS, str(tmp_path)))
    assert workers() - before == {counting.pid}
    counting.end()
    launch_ahead(SCRIPT_PARTS)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    (ahead,) = workers() - before
    elsewhere = launch(worker_command(SCRIPT_PARTS))
    assert workers() - before == {elsewhere.pid} and elsewhere.pid != ahead
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
def test_a_run_that_names_script_tests_starts_one(before: set[int], line: str, starts: bool) -> None:
    start_worker(line.split())
    assert len(workers() - before) == starts
    end_ahead()
    assert workers() == before
