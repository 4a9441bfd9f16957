"""JSON that people write: its text; what its values may be: for each type of values that fits, what takes one and
returns what is made of it; and sentences about those that do not fit.

Texts are read without pydantic's core where they can be: to load that takes a tenth of a run of one case
(`tests/bench/first_case.py`). Where there is something wrong with a text, or unusual in it, the core decides, and says
what."""

from __future__ import annotations

import json
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import inf, isfinite
from types import NoneType
from typing import Any, Literal, NoReturn

from runner.application.documents import JsonPath
from scripttest.values import Value

Take = Callable[[Any], Any]
"""Returns what is made of a JSON value, or raises Misfit."""
_EMPTY = "{path} must not be empty"
_MUST_BE, _BOUND = "{path} must be", "{bound:g}, not {actual}"
_KINDS = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}

LONGEST = 100_000
"""Characters of JSON that are read here at the most."""
_DEEPEST = 200
"""Brackets that are nested deeper may be so more deeply than pydantic allows."""


_PAIR = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")
"""A character in two escapes."""


class Complaint(Value):
    """What is wrong with a value, or with a part of it."""

    kind: Literal["said", "shape", "missing", "unknown", "choice"]
    """Whether a text says what is wrong; the value has another type; the field has to be there, or does not exist; the
    text is not one of the words of its field."""
    path: JsonPath = ()
    """Of the part, from the value on."""
    text: str = ""
    """With `{path}`, `{name}`, the last part of that, `{inside}`, the rest of it, `{actual}`, the value, and what is
    `said`."""
    said: Mapping[str, Any] = {}
    hint: str | None = None
    wanted: tuple[str, ...] = ()
    """What the value may be, such as `a string`; or the words of its field."""

    def sentence(self, value: Any) -> str:
        """What is wrong with the whole value, or a part of it, for people."""
        path, actual = as_source(self.path), at(value, self.path)
        name, inside = (
            str(self.path[-1]) if self.path else "",
            f" in {as_source(self.path[:-1])}" * (len(self.path) > 1),
        )
        if self.kind == "shape":
            *others, last = self.wanted
            found = f"{actual:g}" if isinstance(actual, float) else _KINDS.get(type(actual), "null")
            return f"{path} must be {' or '.join([', '.join(others), last] if others else [last])}, not {found}"
        if self.kind == "missing":
            return f'"{name}" is missing{inside}'
        if self.kind == "unknown":
            return f'unknown field "{name}"{inside}'
        if self.kind == "choice":
            return f'unknown {name} "{actual}"'
        return self.text.format(**self.said, path=path, name=name, inside=inside, actual=actual)


class Misfit(ValueError):  # noqa: N818
    """A value does not fit."""

    def __init__(self, *complaints: Complaint) -> None:
        super().__init__(complaints)
        self.complaints = complaints


def misfit(text: str, *path: str | int, hint: str | None = None, **said: Any) -> Misfit:
    """What a function that changes values raises for one that it refuses; the path of the part begins at the value."""
    return Misfit(Complaint(kind="said", path=path, text=text, said=said, hint=hint))


def too_large(*path: str | int) -> Misfit:
    """The refusal of a number that cannot be passed to scripts or providers of models."""
    hint = "The largest number is 1.8e308; put a larger one in quotes"
    return misfit("{path} is too large for a number", *path, hint=hint)


def at(value: Any, path: JsonPath) -> Any:
    """What is at the path of a value; None when there is nothing."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def as_source(path: JsonPath) -> str:
    """A path as people write it: `"assert[0].type"`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f'"{text[1:]}"'


class Shape:
    """What may be in a field."""

    def __init__(
        self,
        takes: Mapping[type, Take],
        *wanted: str,
        schemas: Iterable[Mapping[str, Any]] = (),
        items: Shape | None = None,
        model: type[Any] | None = None,
        words: tuple[str, ...] = (),
    ) -> None:
        self.takes = dict(takes)
        self.wanted = wanted
        """The types, for people."""
        self.schemas = [dict(sorted(schema.items())) for schema in schemas]
        """JSON Schemas, of which one holds."""
        self.items = items
        """What may be in a list of it."""
        self.model = model
        """The `Model` of an object of it."""
        self.words = words
        """The texts that it takes, if it does not take all."""

    def take(self, value: Any) -> Any:
        """The value of a field for a JSON value. Raises Misfit."""
        take = self.takes.get(type(value))
        if take is not None:
            return take(value)
        for kind, take in self.takes.items() if type(value) is not bool else ():
            if isinstance(value, kind):
                return take(value)
        raise Misfit(Complaint(kind="shape", wanted=self.wanted))

    def changed(self, change: Take) -> Shape:
        """The same, whose values are changed after they are taken."""
        return self.like({kind: _in_turn(take, change) for kind, take in self.takes.items()})

    def like(self, takes: Mapping[type, Take], schemas: Iterable[Mapping[str, Any]] | None = None) -> Shape:
        """The same with other takes."""
        given = self.schemas if schemas is None else schemas
        return Shape(takes, *self.wanted, schemas=given, items=self.items, model=self.model, words=self.words)

    @property
    def schema(self) -> dict[str, Any]:
        """Its JSON Schema, new at each call."""
        from copy import deepcopy

        schemas = deepcopy(self.schemas)
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def union(*shapes: Shape) -> Shape:
    """What is of one of some shapes."""
    takes: dict[type, Take] = {}
    for shape in shapes:
        if both := takes.keys() & shape.takes.keys():
            raise TypeError(f"two parts of a union take {both}")
        takes |= shape.takes
    return Shape(
        takes,
        *dict.fromkeys(word for shape in shapes for word in shape.wanted),
        schemas=[schema for shape in shapes for schema in shape.schemas],
        items=next((shape.items for shape in shapes if shape.items), None),
        model=next((shape.model for shape in shapes if shape.model), None),
        words=next((shape.words for shape in shapes if shape.words), ()),
    )


def words(every: Iterable[str]) -> Shape:
    """Some texts."""
    known = tuple(every)
    taken = frozenset(known)

    def take(text: str) -> str:
        if text not in taken:
            _text(text)
            raise Misfit(Complaint(kind="choice", wanted=known))
        return text

    schema = {"const": known[0]} if len(known) == 1 else {"enum": list(known)}
    return Shape({str: take}, "a string", schemas=[{"type": "string", **schema}], words=known)


def list_of(items: Shape) -> Shape:
    """A list."""
    take = items.take

    def take_all(value: list[Any]) -> list[Any]:
        try:
            return [take(item) for item in value]
        except Misfit:
            wrong = [one for at, item in enumerate(value) for one in complaints_about(take, at, item)]
        raise Misfit(*wrong)

    return Shape({list: take_all}, "a list", schemas=[{"type": "array", "items": items.schema}], items=items)


def limited(shape: Shape, said: Mapping[str, Any]) -> Shape:
    """A shape with the bounds that a field has, which are those of what it holds when it is not null."""
    takes, schemas = dict(shape.takes), shape.schemas
    for name in said.keys() & LIMITS.keys():
        (kinds, keyword, text, holds), bound = LIMITS[name], said[name]
        types = [_JSON_TYPES[kind] for kind in kinds]
        for kind in takes.keys() & kinds:
            takes[kind] = _bounded(takes[kind], holds(bound), text, bound)
        schemas = [{**one, keyword: bound} if one.get("type") in types else one for one in schemas]
    return shape.like(takes, schemas)


def _bounded(take: Take, holds: Take, text: str, bound: Any) -> Take:
    def take_within(value: Any) -> Any:
        taken = take(value)
        if not holds(taken):
            raise misfit(text, bound=bound)
        return taken

    return take_within


def _in_turn(first: Take, then: Take) -> Take:
    return lambda value: then(first(value))


def complaints_about(take: Take, key: str | int, item: Any) -> Iterator[Complaint]:
    """What is wrong with a part of a value."""
    try:
        take(item)
    except Misfit as error:
        for one in error.complaints:
            yield one.replace(path=(key, *one.path))


def as_it_is(value: Any) -> Any:
    """Takes any value."""
    return value


def _text(value: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise misfit("{path} has a lone surrogate, which is not a character") from None
    return value


def _number(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise too_large()
    return number


_JSON_TYPES = {str: "string", list: "array", int: "integer", float: "number"}
_NUMBERS = (int, float)
LIMITS: dict[str, tuple[tuple[type, ...], str, str, Callable[[Any], Take]]] = {
    "pattern": ((str,), "pattern", _EMPTY, lambda bound: re.compile(bound).search),
    "min_length": ((list,), "minItems", _EMPTY, lambda bound: lambda value: len(value) >= bound),
    "ge": (_NUMBERS, "minimum", f"{_MUST_BE} at least {_BOUND}", partial(partial, operator.le)),
    "gt": (_NUMBERS, "exclusiveMinimum", f"{_MUST_BE} more than {_BOUND}", partial(partial, operator.lt)),
    "le": (_NUMBERS, "maximum", f"{_MUST_BE} at most {_BOUND}", partial(partial, operator.ge)),
}
"""Name of a bound → the types of values that have it, what JSON Schema calls it, what is said of a value that is not
within it, and what tells that for a bound."""
ANY = Shape(dict.fromkeys((str, int, float, bool, NoneType, list, dict, object), as_it_is), schemas=[{}])
"""Any value."""
BASIC = {
    str: Shape({str: _text}, "a string", schemas=[{"type": "string"}]),
    int: Shape({int: as_it_is}, "a whole number", schemas=[{"type": "integer"}]),
    float: Shape({int: _number, float: _number}, "a number", schemas=[{"type": "number"}]),
    bool: Shape({bool: as_it_is}, "true or false", schemas=[{"type": "boolean"}]),
    NoneType: Shape({NoneType: as_it_is}, schemas=[{"type": "null"}]),
    Any: ANY,
}


class DoubtError(ValueError):
    """It is for pydantic to decide."""


def json_of(text: str) -> Any:
    """The value of a JSON text without NaN and Infinity. Raises ValueError, with what pydantic says."""
    if "pydantic_core" not in sys.modules:
        try:
            return plain_json(text)
        except (ValueError, RecursionError):
            pass
    from pydantic_core import from_json

    return from_json(text, allow_inf_nan=False)


def plain_json(text: str) -> Any:
    """The same for a short text that has nothing unusual in it, such as a key twice. Raises ValueError and
    RecursionError."""
    if len(text) > LONGEST or (text.count("[") + text.count("{") > _DEEPEST and _depth(text) > _DEEPEST):
        raise DoubtError
    if "\\u" in text and "\\ud" in _PAIR.sub("", text.lower()):
        raise DoubtError
    if not text.isascii():
        text.encode()  # raises UnicodeEncodeError for half of a pair
    return _DECODER.decode(text)


def _depth(text: str) -> int:
    """How deep the brackets of a JSON text are nested."""
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(depth, deepest)
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise DoubtError
    return value


def _doubtful(_: str) -> NoReturn:
    raise DoubtError


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_doubtful)
