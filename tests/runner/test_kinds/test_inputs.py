"""What inputs of a search look like: literals, shapes, schemas."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample
from table_tests import each

from bindings.processes.schemas import misfit
from runner.test_kinds.search import Literals, literals_in, schemas_of_arguments
from runner.test_kinds.strategies import Shapes, Strategy, UnusableSchemaError, by_schemas

CODE = r"""
var pattern = "a\"b\u00e9\x41\n", other = 'it\'s', half = `one ${x + 1} two`;
if (n === 4096 || n < 1.5e3 || m === 0xff || big === 9007199254740993 || part > .25) f(x1, v2.y3, 10n);
// a comment with "text" and 77
/* and 88 */
"""


def made(strategy: Strategy, count: int = 150, seed: int = 1) -> list[Any]:
    """Values of a strategy."""
    values: list[Any] = []
    chosen = settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(NoSuchExample):
        find(strategy, lambda value: bool(values.append(value)), settings=chosen, random=random.Random(seed))
    return values


def test_literals_of_a_source() -> None:
    found = literals_in(CODE)
    assert found.texts == ('a"bé' + "A\n", "it's", "one ", " two")
    assert {4096, 4095, 4097, -4096, 1500, 255, 0.25, -0.25, 10} <= set(found.numbers)
    assert not {77, 88, 1, 2, 3} & set(found.numbers)
    assert 9007199254740993 not in found.numbers


def test_shapes_of_examples() -> None:
    shapes = Shapes(Literals(numbers=(4096,), texts=("magic",)))
    values = made(
        shapes.arguments(
            [[1, "a", True, None, [1.5], {"k": {"in": "x"}, "opt": 1}], [2, "b", False, None, [], {"k": {}}]]
        )
    )
    for whole, text, flag, nothing, numbers, record in values:
        assert type(whole) is int and isinstance(text, str) and isinstance(flag, bool) and nothing is None
        assert all(isinstance(number, int | float) for number in numbers)
        assert record.keys() <= {"k", "opt"} and record.get("k", {}).keys() <= {"in"}
    assert any(value[0] == 4096 for value in values)
    assert any("magic" in value[1] for value in values)
    assert any("k" not in value[5] for value in values) and any({"k", "opt"} == value[5].keys() for value in values)


@each(
    "schema",
    [
        True,
        {"type": "integer", "minimum": 3, "exclusiveMaximum": 9},
        {"type": "integer", "multipleOf": 7, "minimum": 20, "maximum": 50},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "number", "multipleOf": 0.5, "minimum": 0, "maximum": 3},
        {"type": ["string", "null"], "minLength": 2, "maxLength": 4},
        {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
        {"type": "string", "format": "date"},
        {"enum": ["a", 1, None]},
        {"const": {"a": [1]}},
        {"minimum": 5},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
        {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True},
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
        {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1, "maxProperties": 2},
        {"type": "object", "required": ["x"], "additionalProperties": {"type": "boolean"}},
        {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 4}]},
        {"type": "object", "oneOf": [{"required": ["a"], "properties": {"a": {"type": "null"}}}, {"required": ["b"]}]},
        {"allOf": [{"type": "integer", "minimum": 2}, {"maximum": 5}]},
        {
            "$ref": "#/$defs/tree",
            "$defs": {
                "tree": {
                    "type": "object",
                    "required": ["kids"],
                    "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}, "maxItems": 2}},
                }
            },
        },
    ],
    ids=str,
)
def test_values_of_a_schema_fit_it(schema: Any) -> None:
    values = made(by_schemas([schema], Shapes(Literals(texts=("AB12",), numbers=(4,)))), 12)
    assert values
    assert [value for (value,) in values if misfit(value, schema)] == []


@each(
    "schema",
    [
        {"type": "nothing"},
        {"$ref": "https://example.com/a"},
        {"$ref": "#/nowhere"},
        3,
        {"type": "string", "pattern": "^\\p{L}+$"},
    ],
    ids=str,
)
def test_schemas_that_make_no_values(schema: Any) -> None:
    with pytest.raises(UnusableSchemaError):
        made(by_schemas([schema], Shapes(Literals())), 5)


def test_one_schema_may_be_that_of_all_arguments() -> None:
    pair = {"type": "array", "prefixItems": [{"type": "string"}, True]}
    assert schemas_of_arguments([pair], 2) == [{"type": "string"}, True]
    assert schemas_of_arguments([pair], 1) == [pair]
    assert schemas_of_arguments([{"type": "object"}], 2) == [{"type": "object"}]
    assert schemas_of_arguments([True, False], 2) == [True, False]
