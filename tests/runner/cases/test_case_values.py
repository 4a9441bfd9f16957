"""Cases that come as JSON values: checked like those of a file, and named by their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.cases.model import Case
from runner.cases.reader import MadeCases, cases_from_values
from runner.errors import ConfigurationError

A, B = Case(id="A", input="Hi"), Case(id="B", input="Bye")
GOOD = {"id": "B", "input": "Bye"}
BAD: list[Any] = [{"id": "A", "input": "Hi", "kind": 1}, "B", GOOD, {"id": "B", "input": "b"}, {"id": "C"}]


def test_values_become_cases(tmp_path: Path) -> None:
    values = [{"id": "A", "input": "Hi", "x-a": 1}, GOOD]
    assert cases_from_values(values, "agents:gen", tmp_path) == MadeCases(cases=(A, B), warnings=())


def test_bad_values_are_refused_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        cases_from_values(BAD, "agents:gen", tmp_path)
    assert (caught.value.message, caught.value.hint) == (
        "Cannot use 4 of 5 cases from agents:gen:\n"
        '  entry 1: case "A": unknown field "kind". Did you mean "id"?\n'
        "  entry 2: it is not a case: an object was expected\n"
        '  entry 4: case "B": the id is already used by an earlier case\n'
        '  entry 5: case "C": "input" is missing. Put the message to the agent in "input" or "messages"',
        "--lenient runs the remaining cases",
    )


def test_the_good_ones_are_kept_when_lenient(tmp_path: Path) -> None:
    assert cases_from_values(BAD, "agents:gen", tmp_path, lenient=True) == MadeCases(
        cases=(A, B),
        warnings=(
            'agents:gen: entry 1: case "A": unknown field "kind". Did you mean "id"?',
            "agents:gen: left out, entry 2: it is not a case: an object was expected",
            'agents:gen: left out, entry 4: case "B": the id is already used by an earlier case',
            'agents:gen: left out, entry 5: case "C": "input" is missing. '
            'Put the message to the agent in "input" or "messages"',
        ),
    )


@pytest.mark.parametrize("lenient", [False, True])
def test_values_of_which_none_is_good_are_refused(tmp_path: Path, lenient: bool) -> None:
    with pytest.raises(ConfigurationError) as caught:
        cases_from_values([1, 2], "agents:gen", tmp_path, lenient)
    assert (caught.value.message, caught.value.hint) == (
        "Cannot use 2 of 2 cases from agents:gen:\n"
        "  entry 1: it is not a case: an object was expected\n"
        "  entry 2: it is not a case: an object was expected",
        None,
    )


def test_half_of_a_letter_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match='"id" has a lone surrogate, which is not a character'):
        cases_from_values([{"id": "a\udfff", "input": "Hi"}], "scripts:gen", tmp_path)


def test_no_values_are_no_cases(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there are none"):
        cases_from_values([], "agents:gen", tmp_path)


def test_a_case_whose_dependency_is_left_out_is_left_out_with_it(tmp_path: Path) -> None:
    turns = {"mode": "conversation", "turns": [{"input": "Hi"}]}
    values = [
        {"id": "first", **turns, "depends_on": ["zero"]},
        {"id": "second", **turns, "depends_on": ["first"]},
        GOOD,
    ]

    made = cases_from_values(values, "agents:gen", tmp_path, lenient=True)

    assert made.cases == (B,)
    assert list(made.warnings) == [
        'agents:gen: left out, case "first": there is no case "zero"',
        'agents:gen: left out, case "second": it depends on case "first", which cannot be used',
    ]


def test_a_circle_of_cases_and_what_depends_on_a_wrong_case_are_named(tmp_path: Path) -> None:
    values = [
        {"id": "a", "input": "Hi", "depends_on": ["b"]},
        {"id": "b", "input": "Hi", "depends_on": ["a"]},
        {"id": "c", "kind": 1},
        {"id": "d", "input": "Hi", "depends_on": ["c"]},
    ]
    with pytest.raises(ConfigurationError) as caught:
        cases_from_values(values, "agents:gen", tmp_path)
    lines = caught.value.message.splitlines()
    assert lines[0] == "Cannot use 4 of 4 cases from agents:gen:"
    assert lines[-3:] == [
        '  case "d": it depends on case "c", which cannot be used',
        '  case "a": cases that depend on each other: a → b → a. Remove one of these dependencies',
        '  case "b": it depends on case "a", which cannot be used',
    ]


def test_many_bad_values_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        cases_from_values([1] * 30, "agents:gen", tmp_path)
    assert caught.value.message.endswith("\n  and 10 more")
