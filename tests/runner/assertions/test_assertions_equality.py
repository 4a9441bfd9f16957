"""`equals`."""

from __future__ import annotations

from typing import Any

import pytest
from judging import judge, outcome
from table_tests import each

from runner.assertions.base import Evidence

FENCED = 'Here you are:\n```json\n{"need_search": false, "n": [1, 2]}\n```\nBye'
SAME: list[tuple[str, Any, Any]] = [
    ("text", "OK", "OK"),
    ("null", None, None),
    ("whole number and float", {"a": 1}, {"a": 1.0}),
    ("order of keys", {"a": {"x": 1, "y": 2}, "b": 3}, {"b": 3, "a": {"y": 2, "x": 1}}),
    ("JSON in text", {"need_search": False, "n": [1, 2]}, '{"n": [1, 2], "need_search": false}'),
    ("fenced JSON", {"need_search": False, "n": [1, 2]}, FENCED),
    ("broken JSON", {"a": [1, 2]}, "{'a': [1, 2,"),
    ("number in text", 42, " 42\n"),
    ("boolean in text", True, "true"),
]
DIFFERENT: list[tuple[str, Any, Any, str]] = [
    ("text", "OK", "ok", '"OK", found "ok"'),
    ("true is not 1", 1, True, "1, found true"),
    ("false is not 0", {"a": [0]}, {"a": [False]}, '{"a": [0]}, found {"a": [false]}; $.a[0] is false instead of 0'),
    ("text of a number", "1", 1, '"1", found 1'),
    ("JSON text is a text", '{"a":1}', {"a": 1}, '"{\\"a\\":1}", found {"a": 1}'),
    ("absent is not null", {"a": None}, {}, '{"a": null}, found {}; $.a is missing'),
    ("more", {"a": 1}, {"a": 1, "b": 2}, '{"a": 1}, found {"a": 1, "b": 2}; $.b is not expected'),
    ("longer", [1], [1, 2], "[1], found [1, 2]; $ has 2 items instead of 1"),
    ("in text", {"a": 1}, 'So: {"a": 2}', '{"a": 1}, found "So: {\\"a\\": 2}"; $.a is 2 instead of 1'),
    ("prose", {"a": 1}, "no idea", '{"a": 1}, found "no idea"'),
    (
        "long texts",
        "a" * 100 + "b",
        "a" * 100 + "c",
        f'"{"a" * 100}b", found "{"a" * 100}c"; from character 101 on "…c" instead of "…b"',
    ),
    (
        "long texts that go on",
        "a" + "b" * 90,
        "c" * 90,
        f'"a{"b" * 90}", found "{"c" * 90}"; from character 1 on "{"c" * 40}…" instead of "a{"b" * 39}…"',
    ),
    (
        "a longer text",
        {"t": "a" * 100},
        {"t": "a" * 101},
        'the expected object, found that from character 101 of $.t on "…a" instead of "…"',
    ),
]


@each(("value", "output"), [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_the_same_json_value_is_equal(value: Any, output: Any) -> None:
    assert outcome({"value": value}, output) == (True, "")
    passed, message = outcome({"value": value, "negate": True}, output)
    assert (passed, message.startswith("Expected the output not to equal ")) == (False, True)


@each(("value", "output", "text"), [row[1:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT])
def test_another_value_is_not_equal_and_the_message_says_where(value: Any, output: Any, text: str) -> None:
    assert outcome({"type": "equals", "value": value}, output) == (False, f"Expected the output to equal {text}")
    assert outcome({"type": "equals", "value": value, "negate": True}, output) == (True, "")


@pytest.mark.parametrize(("output", "passed"), [("OK", True), ("no", False)])
def test_without_a_value_the_output_is_compared_with_what_the_case_expects(output: str, passed: bool) -> None:
    result = judge({"type": "equals"}, Evidence(output=output, expected="OK"))

    assert (result.passed, result.expected) == (passed, "OK")
