"""The validations of columns, as Yao runs them: on the columns that a row has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from bindings.models.definition import Column, Model
from bindings.models.errors import bad
from bindings.patterns import PatternError, compile
from scripttest.typing_names import Json
from scripttest.values import Value

_DATETIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_MOBILE = {"us": re.compile(r"\d{3}-\d{3}-\d{4}")}
_MOBILE_OF_CHINA = re.compile(r"1[3-9]\d{9}")
_EMAIL = re.compile(r"(?:[^<>@]*<)?[^\s<>@,;:\\\"\[\]()]+@[^\s<>@,;:\\\"\[\]()]+>?")


class Invalid(Value):
    """A column whose value breaks its rules."""

    column: str
    messages: tuple[str, ...]


def invalid_of(model: Model, row: Mapping[str, Json]) -> list[Invalid]:
    """The columns of a row that break their rules."""
    found = []
    for name, value in row.items():
        column = model.by_name.get(name)
        if column is None or (value is None and column.nullable):
            continue
        messages = tuple(_message(rule, column, value) for rule in column.validations if not _holds(rule, value))
        if messages:
            found.append(Invalid(column=name, messages=messages))
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
    found = invalid_of(model, row)
    if found:
        raise bad(";".join(part for one in found for part in (one.column, ",".join(one.messages))))


def check_all(model: Model, rows: list[Mapping[str, Json]]) -> None:
    """Raises ProcessError for rows that break rules, in the form that `Insert` has."""
    found = [(at, one) for at, row in enumerate(rows) for one in invalid_of(model, row)]
    if found:
        listed = (f"{{{at} {one.column} [{' '.join(one.messages)}]}}" for at, one in found)
        raise bad(f"[{' '.join(listed)}]")


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


def _email(value: Json, args: list[Json]) -> bool:
    return isinstance(value, str) and bool(_EMAIL.fullmatch(value))


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
    "email": _email,
    "mobile": _mobile,
}
"""In lower case. Methods that are not here are skipped, `typeof` among them."""
