"""JSON values that a case file may hold in its free fields: any, but for numbers that are too large for a double, such
as `1e400`, of which no script and no provider of a model can be told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError, core_schema

from runner.application.json_parts import Path

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

TOO_LARGE = "too_large"
"""Type of the complaint; its `at` is where in the value the number is."""
_LARGEST = sys.float_info.max
T = TypeVar("T")


def _checked(value: T) -> T:
    for place in _too_large(value, ()):
        raise PydanticCustomError(TOO_LARGE, "too large for a number", {"at": place})
    return value


def _too_large(value: Any, place: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _too_large(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _too_large(inner, (*place, index))
    elif isinstance(value, int | float) and not -_LARGEST <= value <= _LARGEST:
        yield place


class _TextsFirst:
    """Takes texts, which most values are, without a look at them."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        checked = core_schema.no_info_after_validator_function(_checked, handler(source))
        return core_schema.union_schema([core_schema.str_schema(strict=True), checked], mode="left_to_right")


FreeValue = Annotated[Any, _TextsFirst, WithJsonSchema({})]
"""Any JSON value."""
FreeObject = Annotated[dict[str, Any], AfterValidator(_checked)]
"""Any JSON object."""
