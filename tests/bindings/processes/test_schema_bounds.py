"""Validation ends, whatever a schema or a value asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bindings.processes.schemas import MAX_SECONDS, schema_problem, validation_problem


def doubled(
    depth: int, keyword: str = "allOf", more: dict[str, Any] | None = None, last: str = "string"
) -> dict[str, Any]:
    """A schema whose definitions name each other twice."""
    parts: dict[str, Any] = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{depth}": {"type": last}}, **(more or {})}


EVIL = "a" * 60 + "!"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
ENDLESS: dict[str, tuple[Any, Any, str]] = {
    "nested allOf": (doubled(60), "x", "too much work"),
    "nested anyOf": (doubled(60, "anyOf"), 1, "too much work"),
    "nested oneOf": (doubled(60, "oneOf"), "x", "too much work"),
    "of another draft": ({**doubled(60), "$schema": DRAFT_7}, "x", "too much work"),
    "a part of another draft": (
        {"allOf": [{"$schema": DRAFT_7, "allOf": [{"$ref": "#/$defs/d0"}]}], "$defs": doubled(60)["$defs"]},
        "x",
        "too much work",
    ),
    "evaluated properties": (
        doubled(60, more={"unevaluatedProperties": False, "type": "object"}, last="object"),
        {"x": 1},
        "too much work",
    ),
    "a loop": ({"$ref": "#"}, 1, "without end"),
    "a loop of two": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}, 1, "without end"),
    "a pattern": ({"type": "string", "pattern": "^(a|aa)+$"}, EVIL, "took longer than 1 s"),
    "patterns of keys": ({"patternProperties": {"^(a|aa)+$": {}}}, {EVIL: 1}, "took longer than 1 s"),
    "additional properties": (
        {"patternProperties": {"^(a|aa)+$": True}, "additionalProperties": False},
        {EVIL: 1},
        "took longer than 1 s",
    ),
    "unevaluated properties": (
        {"allOf": [{"patternProperties": {"^(b|bb)+$": True}}], "unevaluatedProperties": False},
        {"b" * 60 + "!": 1},
        "took longer than 1 s",
    ),
    "unevaluated properties of draft 2019-09": (
        {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "allOf": [{"patternProperties": {"^(b|bb)+$": True}}],
            "unevaluatedProperties": False,
        },
        {"b" * 60 + "!": 1},
        "took longer than 1 s",
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_schema_that_asks_for_endless_work_is_given_up(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("bindings.processes.schemas.MAX_STEPS", 20_000)
    schema, value, why = ENDLESS[name]
    problem = validation_problem(value, schema)
    assert problem is not None
    assert problem.startswith("invalid JSON Schema: ")
    assert why in problem


def test_many_slow_patterns_are_given_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindings.processes.schemas.MAX_SECONDS", MAX_SECONDS / 20)
    schema = {"items": {"pattern": "^(a|a)*$"}}
    assert "too much work" in str(validation_problem(["a" * 19 + "!"] * 100_000, schema))


@pytest.mark.parametrize("schema", [{"enum": [{"a": number} for number in range(20_000)]}, doubled(60)])
def test_a_large_schema_is_read(schema: Any) -> None:
    assert schema_problem({**schema, "$schema": DRAFT_7}) is None


UNIQUE = [
    ([1, 1.0], False),
    ([1, True], True),
    ([0, False], True),
    (["1", 1], True),
    ([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], False),
    ([[1, 2], [2, 1]], True),
    ([None, None], False),
    ([{"a": [number]} for number in range(20_000)], True),
]


@pytest.mark.parametrize(("items", "fits"), UNIQUE, ids=[json.dumps(items)[:30] for items, _ in UNIQUE])
def test_unique_items_are_told_apart_as_json_is(items: list[Any], fits: bool) -> None:
    assert (validation_problem(items, {"uniqueItems": True}) is None) == fits


def test_ordinary_schemas_with_references_still_judge() -> None:
    schema = {
        "$defs": {
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "integer"}}}
        },
        "$ref": "#/$defs/node",
    }
    value: dict[str, Any] = {"v": 1}
    for _ in range(30):
        value = {"next": value, "v": 2}
    assert validation_problem(value, schema) is None
    assert validation_problem({"next": {"v": "x"}}, schema) == (
        "validation failed: next.v: 'x' is not of type 'integer'"
    )
