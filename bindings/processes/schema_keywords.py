"""Keywords of JSON Schema for which the library jsonschema has no limits: patterns, and `unevaluatedProperties` and
`unevaluatedItems`.

Patterns are Go's regular expressions, for assertions also those of ECMA-262 that Go lacks. Properties and items that no
other keyword has evaluated are found with a second kind of validator, whose "errors" are the evaluated places. It
follows the same references as the validator that checks."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from datetime import date, datetime, time
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from time import thread_time
from typing import Any

import attrs
from jsonschema import ValidationError
from jsonschema.validators import create, extend, validator_for

from bindings.patterns import PatternError, search
from scripttest.typing_names import Json

MARGIN = 150
"""Calls inside each other that are left to the library where no keyword begins any more. It has parts in Rust, which do
not survive that Python runs out of them."""
CALLS = 8
"""Most calls from one keyword to the next within it."""
REFERENCE = 10
"""Steps that a reference counts as, which takes longer than a keyword."""
_ECMA_TOKEN = re.compile(r"\\k(?=<)|\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
_IN_REGEX = {r"\k": r"\g", "$": r"\Z"}
"""How what ECMA-262 writes is written for the library regex."""
_BUDGET: ContextVar[Budget] = ContextVar("budget")


class WorkError(ValueError):
    """A validation has used up its limit of work."""


class Budget:
    """Limits the work of one validation, on one thread. It counts within a `with`. With `ecma`, as for assertions,
    patterns may have what ECMA-262 has and Go lacks, and formats are checked."""

    def __init__(self, steps: int, seconds: float, *, ecma: bool = False) -> None:
        self.ecma = ecma
        self._steps = steps
        self._unseen = 0
        self._end = thread_time() + seconds

    def __enter__(self) -> None:
        self._token = _BUDGET.set(self)

    def __exit__(self, *_: object) -> None:
        _BUDGET.reset(self._token)

    @property
    def seconds(self) -> float:
        """The time that is left."""
        return self._end - thread_time()

    def spend(self, steps: int) -> None:
        """Takes steps. Raises WorkError when nothing is left, RecursionError when keywords are nested too deeply."""
        self._steps -= steps
        self._unseen -= 1
        if self._unseen <= 0:
            self._unseen = _calls_left() // CALLS
        if self._steps < 0 or self.seconds < 0:
            raise WorkError("it is too complex; its definitions may refer to each other more than once")


def _calls_left() -> int:
    """How many more calls may be made inside each other. Raises RecursionError when it is none."""
    left, frame = sys.getrecursionlimit() - MARGIN, inspect.currentframe()
    while frame is not None:
        left, frame = left - 1, frame.f_back
    if left < 0:
        raise RecursionError
    return left


@lru_cache(maxsize=32)
def bounded(kind: Any) -> Any:
    """A class of validators whose work is counted, also where a part of the schema names another draft."""
    extended: Any = extend  # untyped
    own = {name: check for name, check in _OWN.items() if name in kind.VALIDATORS}
    made = extended(kind, {name: _counted(name, check) for name, check in {**kind.VALIDATORS, **own}.items()})
    made.evolve = _evolving(made, kind, bounded)
    return made


@lru_cache(maxsize=32)
def _evaluating(kind: Any) -> Any:
    """A class of validators that tell the keys and indexes that a schema evaluates, each as the path of an error."""
    created: Any = create  # untyped
    references = {name: check for name, check in kind.VALIDATORS.items() if _is_reference(name)}
    own = {name: check for name, check in _EVALUATES.items() if name in kind.VALIDATORS}
    made = created(
        meta_schema=kind.META_SCHEMA,
        validators={name: _counted(name, check) for name, check in {**own, **references}.items()},
        type_checker=kind.TYPE_CHECKER,
        id_of=kind.ID_OF,
    )
    made.judge = bounded(kind)
    made.evolve = _evolving(made, kind, _evaluating)
    return made


def _evolving(made: Any, kind: Any, of_kind: Callable[[Any], Any]) -> Callable[..., Any]:
    def evolve(self: Any, **changes: Any) -> Any:
        other = validator_for(changes.setdefault("schema", self.schema), default=kind)
        return _as(made if other is kind else of_kind(other), self, **changes)

    return evolve


def _as(made: Any, validator: Any, **changes: Any) -> Any:
    """A validator of another class, with all that this one knows."""
    fields: Any = attrs.fields(type(validator))
    return made(**{field.alias: getattr(validator, field.name) for field in fields if field.init} | changes)


def _is_reference(name: str) -> bool:
    return name.lower().endswith("ref")


def _counted(name: str, check: Callable[..., Any]) -> Callable[..., Any]:
    steps = REFERENCE if _is_reference(name) else 1

    def run(*given: Any) -> Any:
        _BUDGET.get().spend(steps)
        return check(*given)

    return run


def _matches(pattern: str, text: str) -> bool:
    budget = _BUDGET.get()
    budget.spend(1)
    try:
        return search(pattern, text)
    except PatternError as error:
        if not (budget.ecma and error.is_ecma):
            raise
        return _matches_as_ecma(error, text, budget.seconds)


def _matches_as_ecma(refused: PatternError, text: str, seconds: float) -> bool:
    r"""Whether a pattern that Go refuses matches, as in ECMA-262: `$` is the end of the text alone, and `\d`, `\w`
    and `\b` are of ASCII. Raises `refused` if it is none there either, WorkError when the time is over."""
    import regex

    source = _ECMA_TOKEN.sub(lambda token: _IN_REGEX.get(token[0], token[0]), refused.pattern)
    try:
        flags = 0 if "\\p" in source.lower() else regex.ASCII  # with ASCII, \p{L} would be of ASCII too
        return regex.compile(source, flags).search(text, timeout=max(seconds, 0.001), concurrent=True) is not None
    except regex.error:
        raise refused from None
    except TimeoutError:
        reason = "takes too long; avoid nested repetitions"
        raise WorkError(f"its pattern `{refused.pattern[:200]}` {reason}") from None


def _fits(validator: Any, value: Json, schema: Any) -> bool:
    return next(validator.descend(value, schema), None) is None


def _pattern(validator: Any, pattern: str, value: Json, schema: Any) -> Iterator[Any]:
    if isinstance(value, str) and not _matches(pattern, value):
        yield ValidationError(f"{json.dumps(value)} does not match {json.dumps(pattern)}")


def _format(validator: Any, name: str, value: Json, schema: Any) -> Iterator[Any]:
    """For assertions; elsewhere a format is a remark, as in Yao."""
    if not (_BUDGET.get().ecma and isinstance(value, str) and isinstance(name, str) and name in _FORMATS):
        return
    form, read = _FORMATS[name]
    try:
        if form.fullmatch(value):
            read(value)
            return
    except ValueError:
        pass
    yield ValidationError(f"{json.dumps(value)} does not have the format {name}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], value: Json, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for pattern, subschema in patterns.items():
            for key, item in value.items():
                if _matches(pattern, key):
                    yield from validator.descend(item, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, value: Json, schema: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    extras = _additional(value, schema)
    if isinstance(wanted, dict):
        for key in extras:
            yield from validator.descend(value[key], wanted, path=key)
    elif not wanted and extras:
        named = ", ".join(repr(key) for key in sorted(extras))
        if patterns := schema.get("patternProperties"):
            known = ", ".join(repr(pattern) for pattern in sorted(patterns))
            verb = "does" if len(extras) == 1 else "do"
            yield ValidationError(f"{named} {verb} not match any of the regexes: {known}")
        else:
            yield ValidationError(f"Additional properties are not allowed ({named} {_were(extras)} unexpected)")


def _additional(value: dict[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The keys of an object that neither `properties` nor `patternProperties` of the same schema are about."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [key for key in value if key not in known and not any(_matches(pattern, key) for pattern in patterns)]


def _were(found: list[Any]) -> str:
    return "was" if len(found) == 1 else "were"


def _unevaluated_properties(validator: Any, wanted: Any, value: Json, schema: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    evaluated = _evaluated(validator, value, schema, "unevaluatedProperties")
    left = [key for key, item in value.items() if key not in evaluated and not _fits(validator, item, wanted)]
    if left and wanted is False:
        named = ", ".join(repr(key) for key in sorted(left))
        yield ValidationError(f"Unevaluated properties are not allowed ({named} {_were(left)} unexpected)")
    elif left:
        named = ", ".join(repr(key) for key in left)
        said = f"({named} {_were(left)} unevaluated and invalid)"
        yield ValidationError(f"Unevaluated properties are not valid under the given schema {said}")


def _unevaluated_items(validator: Any, wanted: Any, value: Json, schema: Any) -> Iterator[Any]:
    if not isinstance(value, list):
        return
    evaluated = _evaluated(validator, value, schema, "unevaluatedItems")
    left = [item for index, item in enumerate(value) if index not in evaluated and not _fits(validator, item, wanted)]
    if left:
        named = ", ".join(repr(item) for item in left)
        yield ValidationError(f"Unevaluated items are not allowed ({named} {_were(left)} unexpected)")


def _evaluated(validator: Any, value: Json, schema: Mapping[str, Any], keyword: str) -> set[Any]:
    """The keys or indexes of a value that a schema evaluates without that keyword."""
    others = {name: part for name, part in schema.items() if name != keyword}
    finder = _as(_evaluating(validator_for(validator.META_SCHEMA)), validator)
    return {error.path[-1] for error in finder.descend(value, others) if error.path}  # `false` has no place


def _unique_items(validator: Any, wanted: bool, value: Json, schema: Any) -> Iterator[Any]:
    """The library compares each item with each other one."""
    if wanted and isinstance(value, list):
        texts = [json.dumps(_canonical(item), sort_keys=True) for item in value]
        if len(set(texts)) < len(texts):
            yield ValidationError(f"{value!r} has non-unique elements")


def _canonical(value: Json) -> Json:
    """A value in which equal numbers are written alike: 1 is 1.0."""
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _judged(finder: Any, value: Json, schema: Any) -> bool:
    return _fits(_as(finder.judge, finder), value, schema)


def _places(kind: type, find: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
    """What evaluates the places in values of a kind that `find` finds, given the validator, keyword, value, schema."""

    def run(finder: Any, wanted: Any, value: Json, schema: Any) -> Iterator[Any]:
        if isinstance(value, kind):
            yield from (ValidationError("", path=[place]) for place in find(finder, wanted, value, schema))

    return run


_FIRST_ITEMS = _places(list, lambda finder, schemas, value, schema: range(len(schemas)))
_ALL_ITEMS = _places(list, lambda finder, wanted, value, schema: range(len(value)))


def _items(finder: Any, wanted: Any, value: Json, schema: Any) -> Iterator[Any]:
    """In draft 2019-09 it may be a list, of what the first items are."""
    is_list = isinstance(wanted, list) and "additionalItems" not in schema
    return (_FIRST_ITEMS if is_list else _ALL_ITEMS)(finder, wanted, value, schema)


def _matching_keys(finder: Any, patterns: Any, value: Json, schema: Any) -> Iterator[str]:
    return (key for key in value if any(_matches(pattern, key) for pattern in patterns))


def _branches(finder: Any, schemas: list[Any], value: Json, schema: Any) -> Iterator[Any]:
    for part in schemas:
        if _judged(finder, value, part):
            yield from finder.descend(value, part)


def _condition(finder: Any, condition: Any, value: Json, schema: Any) -> Iterator[Any]:
    holds = _judged(finder, value, condition)
    if holds:
        yield from finder.descend(value, condition)
    yield from finder.descend(value, schema.get("then" if holds else "else", True))


def _dependent(finder: Any, schemas: Mapping[str, Any], value: Json, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, part in schemas.items():
            if key in value:
                yield from finder.descend(value, part)


def _spelled(read: Callable[[str], object]) -> Callable[[str], object]:
    """Reads what RFC 3339 allows and Python does not: small letters, and a leap second."""
    return lambda text: read(text.upper().replace(":60", ":59"))


_TIME = r"\d\d:[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]\d\d:[0-5]\d)"
_FORMATS: dict[str, tuple[re.Pattern[str], Callable[[str], object]]] = {
    name: (re.compile(form, re.ASCII | re.IGNORECASE), read)
    for name, form, read in (
        ("date", r"\d{4}-\d\d-\d\d", date.fromisoformat),
        ("time", _TIME, _spelled(time.fromisoformat)),
        ("date-time", rf"\d{{4}}-\d\d-\d\d[T ]{_TIME}", _spelled(datetime.fromisoformat)),
        ("email", r"[^\s@]+@[^\s@.]+(\.[^\s@.]+)*", str),
        ("uuid", r"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}", str),
        ("uri", r"[a-z][a-z\d+.-]*:[^\s<>]+", str),
        ("ipv4", r"[\d.]+", IPv4Address),
        ("ipv6", r"[\da-f:.]+", IPv6Address),
    )
}
"""Format of a text → its form, and what raises ValueError for one that has the form alone."""
_OWN: dict[str, Callable[..., Iterator[Any]]] = {
    "additionalProperties": _additional_properties,
    "format": _format,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
    "uniqueItems": _unique_items,
}
"""Keyword → what judges it instead of the library."""
_EVALUATES: dict[str, Callable[..., Iterator[Any]]] = {
    "additionalProperties": _places(dict, lambda finder, wanted, value, schema: _additional(value, schema)),
    "allOf": _branches,
    "anyOf": _branches,
    "contains": _places(
        list, lambda finder, wanted, value, _: (at for at, item in enumerate(value) if _judged(finder, item, wanted))
    ),
    "dependentSchemas": _dependent,
    "if": _condition,
    "items": _items,
    "oneOf": _branches,
    "patternProperties": _places(dict, _matching_keys),
    "prefixItems": _FIRST_ITEMS,
    "properties": _places(dict, lambda finder, known, value, schema: known.keys() & value.keys()),
    "unevaluatedItems": _ALL_ITEMS,
    "unevaluatedProperties": _places(dict, lambda finder, wanted, value, schema: value),
}
"""Keyword → the places of a value that it evaluates."""
