"""JSON values in the free fields of a case file: any, except numbers that are too large for a double, such
as `1e400`, which cannot be passed to scripts or providers of models."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

from runner.application.json_parts import JsonPath
from runner.shapes.declared import Schema, Shaped, changed, complaint, in_order

TOO_LARGE = "too_large"
"""Type of the complaint; its `at` is where in the value the number is."""
_LARGEST = sys.float_info.max
T = TypeVar("T")


def _checked(value: T) -> T:
    for place in _too_large(value, ()):
        raise complaint(TOO_LARGE, "too large for a number", {"at": place})
    return value


def _too_large(value: Any, place: JsonPath) -> Iterator[JsonPath]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _too_large(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _too_large(inner, (*place, index))
    elif isinstance(value, int | float) and not -_LARGEST <= value <= _LARGEST:
        yield place


def _texts_first(schema: Schema) -> Schema:
    """Takes texts, which most values are, without a look at them."""
    printed: Schema = {"pydantic_js_functions": [lambda schema, handler: {}]}
    return {**in_order({"type": "str", "strict": True}, changed(schema, _checked)), "metadata": printed}


FreeValue = Annotated[Any, Shaped(_texts_first)]
"""Any JSON value."""
FreeObject = Annotated[dict[str, Any], Shaped(lambda schema: changed(schema, _checked))]
"""Any JSON object."""
