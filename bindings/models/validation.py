"""The validations of columns, as Yao runs them: on the columns that a row has; and what MySQL refuses in its strict
mode, although SQLite takes it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from bindings.errors import bad
from bindings.models.definition import Column, Model
from bindings.patterns import PatternError, compile
from scripttest.typing_names import Json

_DATETIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_MOBILE = {"us": re.compile(r"\d{3}-\d{3}-\d{4}")}
_MOBILE_OF_CHINA = re.compile(r"1[3-9]\d{9}")
_EMAIL = re.compile(r"(?:[^<>@]*<)?[^\s<>@,;:\\\"\[\]()]+@[^\s<>@,;:\\\"\[\]()]+>?")
_NUMBER = re.compile(r"\s*+[-+]?(\d++(?:\.\d*+)?|\.\d++)([eE][-+]?\d++)?\s*+")
_BITS = {"tinyinteger": 8, "smallinteger": 16, "integer": 32, "biginteger": 64, "boolean": 8}
"""Type in lower case, without `unsigned` → the size of its numbers."""
_BYTES = {"text": (1 << 16) - 1, "mediumText": (1 << 24) - 1}
"""Type → the largest size of its texts in bytes."""


def broken_rules(model: Model, row: Mapping[str, Json]) -> dict[str, list[str]]:
    """The columns of a row that break their rules, with what is said of each."""
    found = {}
    for name, value in row.items():
        column = model.by_name.get(name)
        if column is None or (value is None and column.nullable):
            continue
        if messages := [_message(rule, column, value) for rule in column.validations if not _holds(rule, value)]:
            found[name] = messages
    return found


def dead_rules(model: Model) -> dict[str, list[str]]:
    """Methods of validations that do not exist → the columns that have them."""
    found: dict[str, list[str]] = {}
    for column in model.columns:
        for rule in column.validations:
            method = str(rule.get("method") or "")
            if method.lower() not in _METHODS:
                found.setdefault(method or "without a method", []).append(column.name)
    return found


def check(model: Model, row: Mapping[str, Json]) -> None:
    """Raises ProcessError for a row that breaks rules: `column;message,message;column;message`."""
    if found := broken_rules(model, row):
        raise bad(";".join(part for name, messages in found.items() for part in (name, ",".join(messages))))


def check_all(model: Model, rows: list[Mapping[str, Json]]) -> None:
    """Raises ProcessError for rows that break rules, in the form that `Insert` has."""
    broken = ((at, broken_rules(model, row)) for at, row in enumerate(rows))
    found = [f"{{{at} {name} [{' '.join(said)}]}}" for at, columns in broken for name, said in columns.items()]
    if found:
        raise bad(f"[{' '.join(found)}]")


def _message(rule: Mapping[str, Json], column: Column, value: Json) -> str:
    known = {"label": column.name, **column.document, "input": value, "name": column.name, "type": column.type}
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: _text(known.get(found[1], "")), str(rule.get("message") or ""))


def _holds(rule: Mapping[str, Json], value: Json) -> bool:
    method = _METHODS.get(str(rule.get("method") or "").lower())
    args = rule.get("args")
    return method is None or method(value, args if isinstance(args, list) else [])


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)


def _typof(value: Json, args: list[Json]) -> bool:
    """Under the name that upstream registers; `typeof` in model files never runs."""
    if not args:
        return False
    wanted = str(args[0])
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "string": isinstance(value, str),
        "integer": False,  # numbers of scripts are floating
        "float": is_number,
        "number": is_number,
        "datetime": isinstance(value, str) and bool(_DATETIME.fullmatch(value)),
        "bool": isinstance(value, bool),
    }.get(wanted, False)


def _pattern(value: Json, args: list[Json]) -> bool:
    if not args:
        return True
    try:
        return compile(str(args[0])).search(_text(value))
    except PatternError:
        return False


def _bound(most: bool, of_text: bool) -> Callable[[Json, list[Json]], bool]:
    def holds(value: Json, args: list[Json]) -> bool:
        if not args:
            return True
        if of_text:
            if not isinstance(value, str):
                return False
            size: float = len(value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            size = value
        else:
            return False
        return bool(size <= args[0] if most else size >= args[0])

    return holds


def _enum(value: Json, args: list[Json]) -> bool:
    return not args or any(isinstance(value, bool) == isinstance(arg, bool) and value == arg for arg in args)


def _mobile(value: Json, args: list[Json]) -> bool:
    form = _MOBILE.get(str(args[0]) if args else "", _MOBILE_OF_CHINA)
    return isinstance(value, str) and bool(form.fullmatch(value))


_METHODS: dict[str, Callable[[Json, list[Json]], bool]] = {
    "typof": _typof,
    "pattern": _pattern,
    "maxlength": _bound(most=True, of_text=True),
    "minlength": _bound(most=False, of_text=True),
    "max": _bound(most=True, of_text=False),
    "min": _bound(most=False, of_text=False),
    "enum": _enum,
    "email": lambda value, args: isinstance(value, str) and bool(_EMAIL.fullmatch(value)),
    "mobile": _mobile,
}
"""In lower case. Methods that are not here are skipped, `typeof` among them."""


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
