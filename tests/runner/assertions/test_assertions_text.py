"""`contains`, `not_contains`, `icontains`, `starts_with`."""

from __future__ import annotations

from typing import Any

from judging import outcome
from table_tests import each

ROWS: list[tuple[str, dict[str, Any], Any, str]] = [
    ("text in text", {"type": "contains", "value": "hi"}, "oh hi", ""),
    ("case counts", {"type": "contains", "value": "Hi"}, "oh hi", 'Expected the output to contain "Hi", found "oh hi"'),
    ("nothing", {"type": "contains", "value": "hi"}, None, 'Expected the output to contain "hi", found null'),
    ("number in text", {"type": "contains", "value": 42}, "It is 42", ""),
    ("boolean in text", {"type": "contains", "value": False}, '{"need": false}', ""),
    ("text in object", {"type": "contains", "value": '"a":1'}, {"a": 1}, ""),
    ("key in object", {"type": "contains", "value": "need_search"}, {"need_search": True}, ""),
    ("quotes in object", {"type": "contains", "value": 'say "hi"'}, {"a": ['I say "hi" to you']}, ""),
    ("line break in object", {"type": "contains", "value": "a\nb"}, {"a": "a\nb"}, ""),
    ("non-ASCII in object", {"type": "contains", "value": "Grüße"}, {"a": "Viele Grüße"}, ""),
    ("element", {"type": "contains", "value": "b"}, ["a", "b"], ""),
    ("number element", {"type": "contains", "value": 1}, [2, 1.0], ""),
    ("number is no digit", {"type": "contains", "value": 1}, [10], "Expected the output to contain 1, found [10]"),
    ("true is not 1", {"type": "contains", "value": True}, [1], "Expected the output to contain true, found [1]"),
    ("object element", {"type": "contains", "value": {"a": 1, "b": 2}}, [{"b": 2, "a": 1}], ""),
    ("object in fenced JSON", {"type": "contains", "value": {"a": 1}}, 'So:\n```json\n[{"a": 1}]\n```', ""),
    (
        "negated",
        {"type": "contains", "value": "error", "negate": True},
        "an error",
        'Expected the output not to contain "error", found "an error"',
    ),
    ("negated holds", {"type": "contains", "value": "error", "negate": True}, "fine", ""),
    ("not_contains", {"type": "not_contains", "value": "error"}, "fine", ""),
    (
        "not_contains fails",
        {"type": "not_contains", "value": "error"},
        {"status": "error"},
        'Expected the output not to contain "error", found {"status":"error"}',
    ),
    (
        "not_contains negated",
        {"type": "not_contains", "value": "error", "negate": True},
        "fine",
        'Expected the output to contain "error", found "fine"',
    ),
    ("icontains", {"type": "icontains", "value": "STRASSE"}, "Lange Straße", ""),
    ("icontains in object", {"type": "icontains", "value": 'SAY "'}, {"a": 'say "x"'}, ""),
    (
        "icontains fails",
        {"type": "icontains", "value": "x"},
        "abc",
        'Expected the output to contain, ignoring case, "x", found "abc"',
    ),
    ("starts_with", {"type": "starts_with", "value": "Dear"}, "Dear Ann", ""),
    (
        "starts_with fails",
        {"type": "starts_with", "value": "Ann"},
        "Dear Ann",
        'Expected the output to start with "Ann", found "Dear Ann"',
    ),
    ("starts_with object", {"type": "starts_with", "value": '{"a'}, {"a": 1}, ""),
]


@each(("fields", "output", "message"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_text_is_found_or_the_message_says_what_was_there(fields: dict[str, Any], output: Any, message: str) -> None:
    assert outcome(fields, output) == (not message, message)


def test_long_texts_are_shortened_in_the_middle_of_a_message_only() -> None:
    from judging import judge

    from runner.assertions.base import Evidence

    output = "a" * 600 + "b" * 600
    result = judge({"type": "contains", "value": "c"}, Evidence(output=output))

    assert result.message == f'Expected the output to contain "c", found "{"a" * 250} …700 more… {"b" * 250}"'
    assert (result.expected, result.actual) == ("c", output)
