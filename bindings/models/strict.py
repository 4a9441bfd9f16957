"""What MySQL refuses in its strict mode, although SQLite takes it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bindings.models.definition import Column, Model
from scripttest.typing_names import Json

_NUMBER = re.compile(r"\s*+[-+]?(\d++(?:\.\d*+)?|\.\d++)([eE][-+]?\d++)?\s*+")
_BITS = {"tinyinteger": 8, "smallinteger": 16, "integer": 32, "biginteger": 64, "boolean": 8}
"""Type in lower case, without `unsigned` → the size of its numbers."""
_BYTES = {"text": (1 << 16) - 1, "mediumText": (1 << 24) - 1}
"""Type → the largest size of its texts in bytes."""


def strict_problem(model: Model, row: Mapping[str, Json], *, is_new: bool) -> str | None:
    """What MySQL would say of a row that it refuses: columns that are missing, lengths, types, ranges. `row` is as it
    is stored."""
    if is_new:
        for column in model.columns:
            needed = not column.nullable and column.default is None and not column.is_key
            if needed and column.kind != "time" and column.name not in row:
                return f"Field '{column.name}' doesn't have a default value"
    return next((said for name, value in row.items() if (said := _problem(model.by_name[name], value))), None)


def _problem(column: Column, value: Json) -> str | None:
    if value is None:
        return None if column.nullable or column.is_key else f"Column '{column.name}' cannot be null"
    if column.kind == "text" and isinstance(value, str) and _is_long(column, value):
        return f"Data too long for column '{column.name}' at row 1"
    if column.kind in ("number", "boolean") and isinstance(value, (int, float, str)):
        if isinstance(value, str) and not _NUMBER.fullmatch(value):
            kind = "integer" if "INT" in column.declaration or column.kind == "boolean" else "decimal"
            return f"Incorrect {kind} value: '{value}' for column '{column.name}' at row 1"
        least, most = _range(column)
        if not least <= float(value) <= most:
            return f"Out of range value for column '{column.name}' at row 1"
    return None


def _is_long(column: Column, text: str) -> bool:
    if "CHAR" in column.declaration:
        return len(text) > int(column.declaration.partition("(")[2].rstrip(")"))
    return column.type in _BYTES and len(text.encode("utf-8", "surrogatepass")) > _BYTES[column.type]


def _range(column: Column) -> tuple[float, float]:
    """The least and the greatest number that a column holds."""
    type = column.type.lower()
    unsigned = type.startswith("unsigned")
    bits = _BITS.get(type.removeprefix("unsigned"))
    if bits is not None:
        return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    digits, _, places = column.declaration.partition("(")[2].rstrip(")").partition(",")
    most = 10.0 ** (int(digits) - int(places)) if places else float("inf")
    return (0 if unsigned else -most, most)
