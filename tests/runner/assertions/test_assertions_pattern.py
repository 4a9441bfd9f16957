"""`regex`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import outcome
from table_tests import each

from bindings import compile
from runner.assertions.text import PLAIN

ROWS: list[tuple[str, dict[str, Any], Any, str]] = [
    ("value", {"value": r"\d{3}-\d{4}"}, "call 555-1234 now", ""),
    ("pattern", {"pattern": r"order-\d+"}, "order-7", ""),
    ("flags", {"value": "(?i)HELLO"}, "oh hello", ""),
    ("object as JSON", {"value": '^{"a":1}$'}, {"a": 1}, ""),
    ("no match", {"value": "^b"}, "abc", 'Expected the output to match `^b`, found "abc"'),
    ("negated", {"value": "b", "negate": True}, "abc", 'Expected the output not to match `b`, found "abc"'),
    ("negated holds", {"value": "x", "negate": True}, "abc", ""),
    ("nothing", {"value": "."}, None, "Expected the output to match `.`, found null"),
    (
        "bad pattern",
        {"value": "(a"},
        "a",
        'Cannot evaluate "regex": Cannot use pattern `(a`: missing `)` for the group at position 0',
    ),
    (
        "bad pattern, negated",
        {"value": "(?=a)", "negate": True},
        "a",
        'Cannot evaluate "regex": Cannot use pattern `(?=a)`: look-ahead `(?=` is not supported at position 0',
    ),
]


@each(("fields", "output", "message"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_pattern_of_go_is_searched_for(fields: dict[str, Any], output: Any, message: str) -> None:
    assert outcome({"type": "regex", **fields}, output) == (not message, message)


@pytest.mark.parametrize("negate", [False, True])
def test_a_pattern_that_would_backtrack_is_answered(negate: bool) -> None:
    assert outcome({"type": "regex", "value": "(a+)+(b|a)*$", "negate": negate}, "a" * 50_000 + "c")[0] is negate


@given(st.text(st.sampled_from("aZ0 _-.*+?\\\\ddwS[](){}|^$/\n\"'é"), max_size=12))
def test_a_pattern_that_is_found_plain_is_a_good_one(pattern: str) -> None:
    if PLAIN.fullmatch(pattern):
        compile(pattern)


def test_usual_patterns_are_plain() -> None:
    plain = [r"order-\d+", 'harbours?"', "a.*b", r"v\d+\.\d+"]

    assert [pattern for pattern in plain if not PLAIN.fullmatch(pattern)] == []
    assert [
        pattern for pattern in ("", "a**", "(a", "[a", "*a", r"\q", "a{2}", "a" * 201) if PLAIN.fullmatch(pattern)
    ] == []
