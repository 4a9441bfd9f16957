"""Keywords of JSON Schema for which the library jsonschema has no limits, and the limit on the work of the others.

Patterns are Go's regular expressions, for assertions also those of ECMA-262 that Go lacks."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from time import thread_time
from typing import Any

import attrs
from jsonschema import ValidationError
from jsonschema.validators import extend, validator_for

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
    """Limits the work of one validation, on one thread. It counts within a `with`. With `ecma`, patterns may have what
    ECMA-262 has and Go lacks."""

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

    def evolve(validator: Any, **changes: Any) -> Any:
        other = validator_for(changes.setdefault("schema", validator.schema), default=kind)
        fields: Any = attrs.fields(type(validator))
        known = {field.alias: getattr(validator, field.name) for field in fields if field.init}
        return (made if other is kind else bounded(other))(**known | changes)

    made.evolve = evolve
    return made


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


def _pattern(validator: Any, pattern: str, value: Json, schema: Any) -> Iterator[Any]:
    if isinstance(value, str) and not _matches(pattern, value):
        yield ValidationError(f"{json.dumps(value)} does not match {json.dumps(pattern)}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], value: Json, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for pattern, subschema in patterns.items():
            for key, item in value.items():
                if _matches(pattern, key):
                    yield from validator.descend(item, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, value: Json, schema: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extras = [key for key in value if key not in known and not any(_matches(pattern, key) for pattern in patterns)]
    if isinstance(wanted, dict):
        for key in extras:
            yield from validator.descend(value[key], wanted, path=key)
    elif not wanted and extras:
        named = ", ".join(repr(key) for key in sorted(extras))
        verb = "was" if len(extras) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({named} {verb} unexpected)")


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


_OWN: dict[str, Callable[..., Iterator[Any]]] = {
    "additionalProperties": _additional_properties,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "uniqueItems": _unique_items,
}
"""Keyword → what judges it instead of the library."""
