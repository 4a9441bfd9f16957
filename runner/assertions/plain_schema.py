"""Whether a JSON Schema is valid and so simple that it can be used without a library.

The library jsonschema takes a sixth of the time of a run of one case to load, and most schemas in case files say types,
properties and little more. `is_plain` knows those; what it does not know is for the library to judge.
"""

from __future__ import annotations

from typing import Any

from runner.assertions.values import KINDS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXTS = ("title", "description", "$comment")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_FREE = ("const", "default")
_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames")
_LISTS = ("anyOf", "allOf", "oneOf")
_DEEPEST = 20


def is_plain(schema: Any, depth: int = 0) -> bool:
    """Whether a schema is a good one of draft 2020-12, and has only keywords that are known here."""
    if isinstance(schema, bool):
        return True
    return (
        isinstance(schema, dict)
        and depth < _DEEPEST
        and all(_holds(key, value, depth) for key, value in schema.items())
    )


def _holds(key: str, value: Any, depth: int) -> bool:
    if key in _FREE:
        return True
    if key in _TEXTS:
        return isinstance(value, str)
    if key in _COUNTS:
        return type(value) is int and value >= 0
    if key in _NUMBERS:
        return type(value) in (int, float)
    if key in _SCHEMAS:
        return is_plain(value, depth + 1)
    if key in _LISTS:
        return isinstance(value, list) and bool(value) and all(is_plain(part, depth + 1) for part in value)
    if key == "properties":
        return isinstance(value, dict) and all(is_plain(part, depth + 1) for part in value.values())
    if key == "required":
        return _are_names(value)
    if key == "enum":
        return isinstance(value, list)
    if key == "type":
        return _is_type(value) or (_are_names(value) and bool(value) and all(map(_is_type, value)))
    return key == "$schema" and value == DIALECT and depth == 0


def _is_type(name: Any) -> bool:
    return name == "integer" or (isinstance(name, str) and name in KINDS)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len({*value}) == len(value)
