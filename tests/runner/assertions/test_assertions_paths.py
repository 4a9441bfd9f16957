"""`json_path` and `type`."""

from __future__ import annotations

from typing import Any

from judging import judge, outcome
from table_tests import each

from runner.assertions.base import Evidence

OUTPUT = {"a": [{"b": 1}, {"b": 2}], "ok": False, "none": None, "tags": ["x", "y"], "user": {"first name": "Ann"}}
FENCED = 'I think:\n\n```json\n{"need_search": false, "confidence": 0.99}\n```'

PATHS: list[tuple[str, dict[str, Any], Any, str]] = [
    ("dollar", {"path": "$.a[0].b", "value": 1}, OUTPUT, ""),
    ("plain", {"path": "ok", "value": False}, OUTPUT, ""),
    ("quoted name", {"path": '$.user["first name"]', "value": "Ann"}, OUTPUT, ""),
    ("root", {"path": "$", "value": [1]}, [1], ""),
    ("object", {"path": "$.a[1]", "value": {"b": 2.0}}, OUTPUT, ""),
    ("wildcard", {"path": "$.a[*].b", "value": [1, 2]}, OUTPUT, ""),
    ("filter", {"path": "$.a[?(@.b > 1)].b", "value": 2}, OUTPUT, ""),
    ("descent", {"path": "$..b", "value": [1, 2]}, OUTPUT, ""),
    ("fenced JSON", {"path": "$.need_search", "value": False}, FENCED, ""),
    ("fenced JSON again", {"path": "confidence", "value": 0.99}, FENCED, ""),
    ("JSON in prose", {"path": "$.status", "value": "ok"}, 'Done: {"status": "ok"}. Anything else?', ""),
    ("one of", {"path": "$.a[0].b", "value": [3, 1]}, OUTPUT, ""),
    ("list is a list", {"path": "$.tags", "value": ["x", "y"]}, OUTPUT, ""),
    ("null", {"path": "$.none", "value": None}, OUTPUT, ""),
    ("missing is null", {"path": "$.x.y", "value": None}, OUTPUT, ""),
    ("missing is one of", {"path": "$.x", "value": ["a", None]}, OUTPUT, ""),
    ("no output is null", {"path": "$.x", "value": None}, None, ""),
    ("negated holds", {"path": "$.ok", "value": True, "negate": True}, OUTPUT, ""),
    ("differs", {"path": "$.a[0].b", "value": 2}, OUTPUT, "Expected $.a[0].b to equal 2, found 1"),
    ("false is not 0", {"path": "$.ok", "value": 0}, OUTPUT, "Expected $.ok to equal 0, found false"),
    ("not one of", {"path": "$.ok", "value": [True, 0]}, OUTPUT, "Expected $.ok to be one of [true, 0], found false"),
    (
        "not one of a list",
        {"path": "$.tags", "value": ["x"]},
        OUTPUT,
        'Expected $.tags to equal ["x"], found ["x", "y"]',
    ),
    (
        "negated",
        {"path": "$.ok", "value": False, "negate": True},
        OUTPUT,
        "Expected $.ok not to equal false, found false",
    ),
    (
        "leads nowhere",
        {"path": "$.user.address.city", "value": "Graz"},
        OUTPUT,
        'Expected $.user.address.city to equal "Graz", found nothing there: $.user is {"first name": "Ann"}',
    ),
    (
        "leads nowhere at once",
        {"path": "status", "value": "ok"},
        {"state": "ok"},
        'Expected status to equal "ok", found nothing there: the output is {"state": "ok"}',
    ),
    (
        "index beyond the end",
        {"path": "$.tags[2]", "value": "z"},
        OUTPUT,
        'Expected $.tags[2] to equal "z", found nothing there: $.tags is ["x", "y"]',
    ),
    (
        "filter leads nowhere",
        {"path": "$.a[?(@.b > 5)].b", "value": 2},
        {"a": [{"b": 2}]},
        'Expected $.a[?(@.b > 5)].b to equal 2, found nothing there: $.a is [{"b": 2}]',
    ),
    (
        "prose",
        {"path": "$.status", "value": "ok"},
        "no idea",
        'Expected the output to contain JSON for the path $.status, found "no idea"',
    ),
    (
        "prose, negated",
        {"path": "$.status", "value": "ok", "negate": True},
        "no idea",
        'Cannot evaluate "json_path": expected the output to contain JSON for the path $.status, found "no idea"',
    ),
]
TYPES: list[tuple[str, dict[str, Any], Any, str]] = [
    ("string", {"value": "string"}, "a", ""),
    ("object", {"value": "object"}, {}, ""),
    ("array", {"value": "array"}, [], ""),
    ("number", {"value": "number"}, 1.5, ""),
    ("boolean", {"value": "boolean"}, True, ""),
    ("null", {"value": "null"}, None, ""),
    ("JSON text is an object", {"value": "object"}, '```json\n{"a": 1}\n```', ""),
    ("JSON text is a string", {"value": "string"}, '{"a": 1}', ""),
    ("number text", {"value": "number"}, "42", ""),
    ("path", {"path": "$.count", "value": "number"}, '{"count": 3}', ""),
    ("missing path is null", {"path": "$.x", "value": "null"}, {"a": 1}, ""),
    ("boolean is not a number", {"value": "number"}, True, "Expected the output to be a number, found a boolean: true"),
    (
        "prose is not an object",
        {"value": "object"},
        "Note: hello",
        'Expected the output to be an object, found a string: "Note: hello"',
    ),
    (
        "array is not an object",
        {"value": "object"},
        "[1]",
        'Expected the output to be an object, found an array: "[1]"',
    ),
    ("prose is not null", {"value": "null"}, "x", 'Expected the output to be null, found a string: "x"'),
    (
        "negated",
        {"value": "object", "negate": True},
        "{}",
        'Expected the output not to be an object, found an object: "{}"',
    ),
    (
        "path to another type",
        {"path": "a", "value": "number"},
        {"a": "1"},
        'Expected a to be a number, found a string: "1"',
    ),
    (
        "path to nothing",
        {"path": "a.b", "value": "number"},
        {"a": {}},
        "Expected a.b to be a number, found nothing there: a is {}",
    ),
    (
        "path in prose, negated",
        {"path": "a", "value": "number", "negate": True},
        "so",
        'Cannot evaluate "type": expected the output to contain JSON for the path a, found "so"',
    ),
]


@each(("fields", "output", "message"), [row[1:] for row in PATHS], ids=[row[0] for row in PATHS])
def test_a_path_leads_to_the_value(fields: dict[str, Any], output: Any, message: str) -> None:
    assert outcome({"type": "json_path", **fields}, output) == (not message, message)


@each(("fields", "output", "message"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES])
def test_the_output_or_a_part_of_it_has_a_type(fields: dict[str, Any], output: Any, message: str) -> None:
    assert outcome({"type": "type", **fields}, output) == (not message, message)


def test_the_result_has_what_the_path_leads_to() -> None:
    result = judge({"type": "json_path", "path": "$.a[*].b", "value": [1]}, Evidence(output=OUTPUT))

    assert (result.expected, result.actual) == ([1], [1, 2])


def test_a_path_that_is_too_much_work_is_an_error() -> None:
    path = "$" + "..*" * 9
    passed, message = outcome({"type": "json_path", "path": path, "value": 1, "negate": True}, OUTPUT)

    assert (passed, message[:56]) == (False, f'Cannot evaluate "json_path": Cannot use JSONPath `{path}`'[:56])
