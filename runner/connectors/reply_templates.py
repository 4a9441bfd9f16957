"""Templates in replies: `{{ tool.result.id }}`, `{{ match.1 | number }}`, within text or anywhere in a JSON value.

A string that is one template and nothing else becomes the value itself, so that JSON gets numbers and objects; in a
longer text a value is written as text, and what is not text as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from runner.connectors.reply_situation import NAMES, ValuePath
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.S)
_EXPRESSION = re.compile(r"\s*([A-Za-z]\w*(?:\.[\w-]+)*)\s*((?:\|\s*\w+\s*)*)")

Lookup = Callable[[ValuePath], Any]
"""Finds the value of a path; raises KeyError."""


class TemplateError(Exception):
    """A template has no value here; the message says which and why."""


class Expression(Value):
    """The expression between the braces of a template."""

    source: str
    path: ValuePath
    filters: tuple[str, ...]

    def value(self, lookup: Lookup) -> Any:
        """Its value. Raises TemplateError."""
        try:
            value = lookup(self.path)
        except KeyError as error:
            raise TemplateError(f"there is no {'.'.join(self.path)}") from error
        for name in self.filters:
            try:
                value = _FILTERS[name](value)
            except ValueError as error:
                raise TemplateError(f"{'.'.join(self.path)} is not a number: {as_json(value)}") from error
        return value


class Template(Value):
    """A string with expressions in it."""

    parts: tuple[str | Expression, ...]

    def value(self, lookup: Lookup) -> Any:
        """The text, or the value of the only expression. Raises TemplateError."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Expression):
            return self.parts[0].value(lookup)
        return "".join(part if isinstance(part, str) else as_text(part.value(lookup)) for part in self.parts)


def compile_templates(value: Any) -> Any:
    """The same JSON value with a Template for each string that is one. Raises ConfigurationError, whose message is the
    detail only."""
    if isinstance(value, str):
        return _compile(value) if "{{" in value else value
    if isinstance(value, dict):
        return {key: compile_templates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [compile_templates(item) for item in value]
    return value


def render(value: Any, lookup: Lookup) -> Any:
    """The JSON value with the templates filled in. Raises TemplateError."""
    if isinstance(value, Template):
        return value.value(lookup)
    if isinstance(value, dict):
        return {key: render(item, lookup) for key, item in value.items()}
    if isinstance(value, list):
        return [render(item, lookup) for item in value]
    return value


def names_in(value: Any) -> set[str]:
    """The first names of all paths in a compiled value."""
    if isinstance(value, Template):
        return {part.path[0] for part in value.parts if isinstance(part, Expression)}
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {name for item in items for name in names_in(item)}


def path_of(text: str, names: tuple[str, ...] = NAMES) -> ValuePath:
    """The parts of a dotted path whose first must be a known name. Raises ConfigurationError, detail only."""
    path = tuple(text.split("."))
    if path[0] not in names:
        hint = did_you_mean(path[0], names) or f"The names are {', '.join(names)}"
        raise ConfigurationError(f'unknown name "{path[0]}"', hint)
    return path


def as_text(value: Any) -> str:
    """Text as it is, nothing for null, anything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else as_json(value)


def as_json(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _compile(text: str) -> Template:
    end = text.rfind("}}") + 2  # behind it, each pair of braces would be searched to the end
    pieces = _BRACES.split(text[:end]) if end > 1 else [""]
    pieces[-1] += text[end:] if end > 1 else text
    parts = [_expression(piece) if index % 2 else piece for index, piece in enumerate(pieces)]
    return Template(parts=tuple(part for part in parts if part != ""))


def _expression(source: str) -> Expression:
    shown = f"{{{{{source}}}}}"
    match = _EXPRESSION.fullmatch(source)
    if match is None:
        raise ConfigurationError(
            f'cannot read the template "{shown}"', "Write it as {{ name.field }} or {{ name | json }}"
        )
    try:
        path = path_of(match[1], (*NAMES, "match"))
    except ConfigurationError as error:
        raise ConfigurationError(f'{error.message} in the template "{shown}"', error.hint) from error
    filters = tuple(name.strip() for name in match[2].split("|")[1:])
    for name in filters:
        if name not in _FILTERS:
            hint = did_you_mean(name, _FILTERS) or f"The filters are {', '.join(_FILTERS)}"
            raise ConfigurationError(f'unknown filter "{name}" in the template "{shown}"', hint)
    return Expression(source=source, path=path, filters=filters)


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(value)
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(value)
    return int(number) if number.is_integer() else number


_FILTERS: dict[str, Callable[[Any], Any]] = {"json": as_json, "number": _number}
