"""Validation ends, whatever a schema or a value asks for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from table_tests import each

from bindings.processes.schemas import Misfit, misfit, schema_problem


def doubled(
    depth: int, keyword: str = "allOf", more: dict[str, Any] | None = None, last: str = "string"
) -> dict[str, Any]:
    """A schema whose definitions name each other twice."""
    parts: dict[str, Any] = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{depth}": {"type": last}}, **(more or {})}


def deep(levels: int) -> dict[str, Any]:
    """A schema with that many in each other."""
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"allOf": [schema]}
    return schema


EVIL = "a" * 10_000 + "!"
DRAFT_2019 = {"$schema": "https://json-schema.org/draft/2019-09/schema"}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
ENDLESS: dict[str, tuple[Any, Any, str]] = {
    "nested allOf": (doubled(60), "x", "too complex"),
    "nested anyOf": (doubled(60, "anyOf"), 1, "too complex"),
    "nested oneOf": (doubled(60, "oneOf"), "x", "too complex"),
    "of another draft": ({**doubled(60), "$schema": DRAFT_7}, "x", "too complex"),
    "a part of another draft": (
        {"allOf": [{"$schema": DRAFT_7, "allOf": [{"$ref": "#/$defs/d0"}]}], "$defs": doubled(60)["$defs"]},
        "x",
        "too complex",
    ),
    "evaluated properties": (
        doubled(60, more={"unevaluatedProperties": False, "type": "object"}, last="object"),
        {"x": 1},
        "too complex",
    ),
    "a loop": ({"$ref": "#"}, 1, "endlessly"),
    "a loop of two": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}, 1, "endlessly"),
    "a loop through its negation": ({"type": "integer", "not": {"$ref": "#"}}, 1, "endlessly"),
    "a loop of anchors": ({"$dynamicAnchor": "n", "anyOf": [{"$dynamicRef": "#n"}] * 2}, 1, "endlessly"),
    "a loop of draft 2019-09": (
        {**DRAFT_2019, "$recursiveAnchor": True, "$recursiveRef": "#"},
        1,
        "endlessly",
    ),
    "a loop in what is evaluated": ({"unevaluatedProperties": False, "$ref": "#"}, {"a": 1}, "endlessly"),
    "a deep one": (deep(300), 1, "endlessly"),
    "a large one": ({"enum": [{"a": 1}] * 150_001}, 1, "more than 300000 values"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_schema_that_asks_for_endless_work_is_given_up(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("bindings.processes.schemas.MAX_STEPS", 20_000)
    schema, value, why = ENDLESS[name]
    problem = misfit(value, schema)
    assert problem is not None
    assert problem.unusable
    assert why in problem.reasons
    assert problem.text.startswith("invalid JSON Schema: ")


@each(
    ("schema", "value"),
    [
        ({"pattern": "^(a|aa)+$"}, EVIL),
        ({"patternProperties": {"^(a|aa)+!$": False}}, {EVIL: 1}),
        ({"patternProperties": {"^(a|aa)+$": True}, "additionalProperties": False}, {EVIL: 1}),
        ({"allOf": [{"patternProperties": {"^(a|aa)+$": True}}], "unevaluatedProperties": False}, {EVIL: 1}),
        (
            {**DRAFT_2019, "allOf": [{"patternProperties": {"^(a|aa)+$": True}}], "unevaluatedProperties": False},
            {EVIL: 1},
        ),
    ],
)
def test_patterns_that_would_backtrack_are_answered(schema: Any, value: Any) -> None:
    problem = misfit(value, schema)
    assert problem is not None
    assert not problem.unusable


@pytest.mark.parametrize(
    "schema", [{"enum": [{"a": number} for number in range(20_000)]}, doubled(60), {"allOf": [{"format": "x"}] * 5000}]
)
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


@each(("items", "fits"), UNIQUE, ids=[json.dumps(items)[:30] for items, _ in UNIQUE])
def test_unique_items_are_told_apart_as_json_is(items: list[Any], fits: bool) -> None:
    assert (misfit(items, {"uniqueItems": True}) is None) == fits


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
    assert misfit(value, schema) is None
    assert misfit({"next": {"v": "x"}}, schema) == Misfit(reasons="next.v: 'x' is not of type 'integer'")


NO_SCHEMAS: list[tuple[Any, Any]] = [
    ({"multipleOf": 0}, 1),
    ({"properties": 3}, {"a": 1}),
    (7, 1),
    ({"pattern": 7}, "a"),
    ({"type": "thing"}, 1),
    ({"minimum": "a"}, 1),
    ({"required": 5}, {}),
    ({"unevaluatedProperties": False, "patternProperties": 7}, {"a": 1}),
]


@each(("part", "value"), NO_SCHEMAS)
def test_what_a_reference_leads_to_may_be_no_schema(part: Any, value: Any) -> None:
    problem = misfit(value, {"$ref": "#/part", "part": part})
    assert problem is not None
    assert problem.unusable
    assert problem.reasons.startswith("it cannot be applied"), problem


def test_what_is_left_over_takes_no_longer_than_there_is() -> None:
    keys = {f"k{number}": 1 for number in range(15_000)}
    assert misfit(keys, {"patternProperties": {"^k": True}, "unevaluatedProperties": False}) is None
    assert misfit([1] * 15_000, {"contains": {"const": 1}, "unevaluatedItems": False}) is None


LEFT_OVER: list[tuple[dict[str, Any], Any, str]] = [
    ({"$ref": "#/$defs/d", "unevaluatedProperties": False}, {"a": 1}, ""),
    (
        {"$ref": "#/$defs/d", "unevaluatedProperties": False},
        {"b": 1},
        "Unevaluated properties are not allowed ('b' was",
    ),
    (
        {"anyOf": [{"$ref": "#/$defs/d"}, {"required": ["x"]}], "unevaluatedProperties": {"type": "integer"}},
        {"b": 1},
        "",
    ),
    (
        {"if": {"required": ["a"]}, "then": {"properties": {"b": True}}, "unevaluatedProperties": False},
        {"a": 1, "b": 1},
        "'a'",
    ),
    ({"if": {"required": ["a"]}, "else": False, "unevaluatedProperties": False}, {}, "False schema does not allow"),
    ({"dependentSchemas": {"a": {"properties": {"a": True}}}, "unevaluatedProperties": False}, {"a": 1}, ""),
    ({"prefixItems": [True], "unevaluatedItems": False}, [1, 2], "Unevaluated items are not allowed (2 was"),
    ({"allOf": [{"items": {"const": 1}}], "unevaluatedItems": False}, [1, 1], ""),
    ({**DRAFT_2019, "items": [True], "unevaluatedItems": False}, [1, 2], "Unevaluated items are not allowed (2 was"),
    ({**DRAFT_2019, "items": [True], "additionalItems": True, "unevaluatedItems": False}, [1, 2], ""),
    (
        {"properties": {"a": True}, "additionalProperties": False},
        {"a": 1, "b": 1, "c": 1},
        "('b', 'c' were unexpected)",
    ),
    ({"additionalProperties": {"type": "integer"}}, {"b": "x"}, "b: 'x' is not of type 'integer'"),
]


@each(("schema", "value", "said"), LEFT_OVER)
def test_what_is_left_over_is_judged(schema: dict[str, Any], value: Any, said: str) -> None:
    problem = misfit(value, {"$defs": {"d": {"properties": {"a": True}}}, **schema})
    assert (problem is None) if not said else (said in str(problem)), problem


def test_a_schema_that_takes_too_long_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"title": "checked once", "allOf": [{"minLength": n} for n in range(100)]}
    monkeypatch.setattr("bindings.processes.schemas.MAX_SECONDS", 0.0)
    first = schema_problem(schema)
    monkeypatch.undo()

    assert first is not None
    assert "checking it takes longer than 0 s" in first
    assert schema_problem(schema) == first
    assert (found := misfit("x", schema)) is not None
    assert found.text == first
