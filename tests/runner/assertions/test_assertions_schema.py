"""`json_schema`."""

from __future__ import annotations

from typing import Any

import pytest
from judging import outcome

SCHEMA = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"enum": ["ok"]}, "items": {"type": "array", "items": {"type": "number"}}},
}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}, {"type": "number"}]}
NOT_EVALUATED = 'Cannot evaluate "json_schema": invalid JSON Schema: '

ROWS: list[tuple[str, dict[str, Any], Any, str]] = [
    ("object", {"value": SCHEMA}, {"status": "ok", "items": [1]}, ""),
    ("fenced JSON", {"value": SCHEMA}, '```json\n{"status": "ok"}\n```', ""),
    ("text as text", {"value": {"type": "string", "pattern": "(?i)^DEAR"}}, "Dear Ann: hello", ""),
    ("older draft", {"value": DRAFT_7}, ["a", 1], ""),
    ("nothing", {"value": {"type": "null"}}, None, ""),
    ("negated holds", {"value": SCHEMA, "negate": True}, {}, ""),
    (
        "every fault with its place",
        {"value": SCHEMA},
        {"status": "no", "items": [1, "b"]},
        'Expected the output to fit the JSON Schema, found {"status": "no", "items": [1, "b"]}; '
        "items[1]: 'b' is not of type 'number'; status: 'no' is not one of ['ok']",
    ),
    (
        "older draft fails",
        {"value": DRAFT_7},
        [1],
        "Expected the output to fit the JSON Schema, found [1]; [0]: 1 is not of type 'string'",
    ),
    (
        "prose",
        {"value": SCHEMA},
        "no",
        "Expected the output to fit the JSON Schema, found \"no\"; value: 'no' is not of type 'object'",
    ),
    (
        "negated",
        {"value": True, "negate": True},
        {"a": 1},
        'Expected the output not to fit the JSON Schema, found {"a": 1}',
    ),
    (
        "no schema, negated",
        {"value": {"type": "thing"}, "negate": True},
        {},
        f"{NOT_EVALUATED}type: 'thing' is not valid under any of the given schemas",
    ),
    (
        "unknown reference",
        {"value": {"$ref": "https://example.com/schema.json"}},
        {},
        f"{NOT_EVALUATED}cannot resolve https://example.com/schema.json",
    ),
]


@pytest.mark.parametrize(("fields", "output", "message"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_output_fits_the_schema(fields: dict[str, Any], output: Any, message: str) -> None:
    assert outcome({"type": "json_schema", **fields}, output) == (not message, message)


def test_many_faults_are_cut_short() -> None:
    passed, message = outcome({"type": "json_schema", "value": {"items": {"type": "number"}}}, ["x"] * 1000)

    assert not passed
    assert len(message) < 1200
    assert "; [0]: 'x' is not of type 'number'; [1]: " in message
