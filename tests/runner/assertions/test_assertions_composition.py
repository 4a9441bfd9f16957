"""`any_of` and `all_of`."""

from __future__ import annotations

from typing import Any

import pytest
from judging import Judges, judge, outcome
from table_tests import each

from runner.assertions.base import AssertionResult, Evidence

YES, NO, BROKEN = (
    {"type": "contains", "value": "a"},
    {"type": "contains", "value": "z"},
    {"type": "regex", "value": "("},
)
NO_SAID = 'contains: Expected the output to contain "z", found "a"'
BROKEN_SAID = 'regex: Cannot evaluate "regex": Cannot use pattern `(`: missing `)` for the group at position 0'

ROWS: list[tuple[str, list[Any], bool, str]] = [
    ("any_of", [NO, YES], False, ""),
    ("any_of", [BROKEN, YES], False, ""),
    ("any_of", [NO, NO], True, ""),
    ("any_of", [NO, NO], False, f"Expected any of 2 assertions to pass, found 1. {NO_SAID}; 2. {NO_SAID}"),
    ("any_of", [NO, YES], True, f"Expected any of 2 assertions not to pass, found 1. {NO_SAID}; 2. contains: passed"),
    ("any_of", [NO, BROKEN], False, f'Cannot evaluate "any_of": 2. {BROKEN_SAID}'),
    ("any_of", [NO, BROKEN], True, f'Cannot evaluate "any_of": 2. {BROKEN_SAID}'),
    ("all_of", [YES, YES], False, ""),
    ("all_of", [YES, NO], True, ""),
    ("all_of", [{**NO, "negate": True}, "equals"], True, ""),
    ("all_of", [YES, NO], False, f"Expected all of 2 assertions to pass, found 1. contains: passed; 2. {NO_SAID}"),
    ("all_of", [YES], True, "Expected all of 1 assertions not to pass, found 1. contains: passed"),
    ("all_of", [NO, BROKEN], False, f"Expected all of 2 assertions to pass, found 1. {NO_SAID}; 2. {BROKEN_SAID}"),
    ("all_of", [YES, BROKEN], False, f'Cannot evaluate "all_of": 2. {BROKEN_SAID}'),
    ("all_of", [YES, BROKEN], True, f'Cannot evaluate "all_of": 2. {BROKEN_SAID}'),
    ("any_of", [{"type": "all_of", "value": [YES, {"type": "any_of", "value": [NO, YES]}]}], False, ""),
    ("any_of", [{**YES, "x-note": "free"}], False, ""),
]


@each(("kind", "value", "negate", "message"), ROWS)
def test_assertions_together(kind: str, value: list[Any], negate: bool, message: str) -> None:
    assert outcome({"type": kind, "value": value, "negate": negate}, "a") == (not message, message)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([{"type": "containz"}], 'unknown assertion type "containz"; Did you mean "contains"?'),
        ([{"type": "contains", "valeu": "x"}], 'unknown field "valeu"; Did you mean "value"?'),
        ([{"type": "contains", "value": "x", "negate": "yes"}], '"negate" must be true or false, not a string'),
        ([5], "an assertion is an object with a type, not 5"),
    ],
)
def test_what_is_no_assertion_is_an_error(value: Any, why: str) -> None:
    passed, message = outcome({"type": "any_of", "value": value, "negate": True}, "a")

    assert (passed, message) == (False, f'Cannot evaluate "any_of": ValueError: {why}')


def test_the_parts_are_kept_with_their_own_parts() -> None:
    value = [NO, {"type": "all_of", "value": [YES]}, {"type": "script", "script": "s"}]
    result = judge(
        {"type": "any_of", "value": value}, Evidence(output="a"), Judges({"pass": False, "message": "m", "score": 0})
    )
    parts = (
        AssertionResult(
            type="contains",
            passed=False,
            expected="z",
            actual="a",
            message='Expected the output to contain "z", found "a"',
        ),
        AssertionResult(
            type="all_of",
            passed=True,
            expected=[YES],
            actual="a",
            details=(AssertionResult(type="contains", passed=True, expected="a", actual="a"),),
        ),
        AssertionResult(
            type="script",
            passed=False,
            expected=None,
            actual="a",
            message="Expected s to accept the output, but it says: m",
            error=False,
            score=0,
        ),
    )

    assert result == AssertionResult(type="any_of", passed=True, expected=value, actual="a", details=parts)


def test_the_parts_are_kept_when_they_cannot_decide() -> None:
    result = judge({"type": "all_of", "value": [YES, BROKEN]}, Evidence(output="a"))

    assert (result.error, [(part.type, part.error) for part in result.details]) == (
        True,
        [("contains", False), ("regex", True)],
    )
