"""Which tests flags select, and in which order they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import ConfigurationError
from runner.planning.names import functions_in, tags_in
from runner.planning.selection import Order, Selection, hint_of
from scripttest import Outcome, Status

ROOT = Path("/app")


@pytest.mark.parametrize(
    ("pattern", "name", "runs"),
    [("Ready", "TestReady", True), ("^TestReady$", "TestReadyToo", False), ("TestA/sub", "TestA", True)],
)
def test_a_pattern_selects_tests_by_their_names(pattern: str, name: str, runs: bool) -> None:
    assert Selection(pattern, f"--run {pattern}").test(name) is runs


def test_a_test_that_ran_for_subtests_that_it_lacks_is_skipped() -> None:
    selection = Selection("TestA/sub", "--run TestA/sub")
    passed = Outcome(name="TestA", status=Status.PASSED, milliseconds=1)
    assert selection.checked("m", passed).skip_reason == "no subtest matches --run TestA/sub"
    assert selection.subtest("m", ["TestA/sub"])
    assert selection.checked("m", passed) == passed


@pytest.mark.parametrize("flag", ["--run", "--fuzz", "--bench"])
def test_nothing_that_matches_is_an_error_with_what_there_is(flag: str) -> None:
    error = Selection("Redy", f"{flag} Redy", flag).nothing(["TestReady", "TestOther"])
    assert isinstance(error, ConfigurationError)
    assert error.message.endswith(f"matches {flag} Redy")
    assert "There are: TestReady, TestOther" in (error.hint or "")


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        ([], "There are no tests"),
        (["TestReady"], "Did you mean TestReady? There are: TestReady"),
        ([f"T{number}" for number in range(7)], "There are: T0, T1, T2, T3, T4 and 2 more"),
    ],
)
def test_a_hint_names_what_may_be_meant(names: list[str], hint: str) -> None:
    assert hint_of("ready", names, "tests") == hint


def test_failed_tests_come_first_and_others_keep_their_order() -> None:
    order = Order(root=ROOT, seed=None, failed={"tests/b.jsonl": ["y"]})
    assert order.suites(["/app/tests/a.jsonl", "/app/tests/b.jsonl"], str) == [
        "/app/tests/b.jsonl",
        "/app/tests/a.jsonl",
    ]
    assert order.tests("/app/tests/b.jsonl", ["x", "y", "z"]) == [1, 0, 2]


def test_a_shuffled_order_is_that_of_its_seed_whatever_else_runs() -> None:
    names = [f"c{number}" for number in range(9)]
    order = Order(root=ROOT, seed=3, failed={})
    shuffled = [names[at] for at in order.tests("s", names)]
    assert sorted(shuffled) == names
    assert shuffled != names
    left = names[::2]
    assert [left[at] for at in order.tests("s", left)] == [name for name in shuffled if name in left]


SOURCE = """\
// @tag smoke, slow
// of the shop
export function TestA(t) {}

/* @tag lost */
const helper = 1;
export async function TestB(t) {}
// function TestC(t) {}
"""


def test_tags_stand_above_their_tests_and_those_that_do_not_are_told() -> None:
    tags = tags_in(SOURCE)
    assert tags.of == {"TestA": frozenset({"smoke", "slow"})}
    assert tags.stray == ((5, "lost"),)


def test_tests_are_found_in_source_text_with_their_lines() -> None:
    assert list(functions_in(SOURCE)) == [("TestA", 3), ("TestB", 7)]
