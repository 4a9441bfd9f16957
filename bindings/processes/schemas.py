"""JSON Schema, for processes, tools and assertions. The one place that imports the library jsonschema.

Schemas and values come from anybody, and a small schema can ask for endless work: definitions that name each other
twice double it with each of them. So every step is counted, and the work ends when there are too many. Patterns are
Go's regular expressions, each with a time bound of its own. References are never fetched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from itertools import islice
from time import monotonic
from typing import Any

from bindings.processes.formats import decode_json
from bindings.services import Json

MAX_STEPS = 300_000
"""Most keywords that are applied in one validation; a reference, which takes longer, counts as many."""
REFERENCE = 10
MAX_SECONDS = 5.0
"""Longest validation, which is for patterns and large values."""
MAX_ERRORS = 100
"""Most errors that are looked for."""
_ENDLESS = "it refers to itself without end, or is nested too deeply"


def schema_problem(schema: Json) -> str | None:
    """Says what is wrong with a JSON Schema (an object, or JSON text), or None when it is a good one."""
    given = _BUDGET.set(_Budget())
    try:
        _validator(schema)
    except RecursionError:
        return f"invalid JSON Schema: {_ENDLESS}"
    except ValueError as error:
        return f"invalid JSON Schema: {error}"
    finally:
        _BUDGET.reset(given)
    return None


def validation_problem(value: Json, schema: Json) -> str | None:
    """Says where a value breaks a JSON Schema, or None when it fits. May block for `MAX_SECONDS`."""
    from referencing.exceptions import Unresolvable

    from bindings.patterns import PatternError

    given = _BUDGET.set(_Budget())
    try:
        found = islice(_validator(schema).iter_errors(value), MAX_ERRORS)
        errors = sorted(found, key=lambda error: list(map(str, error.absolute_path)))
    except Unresolvable as error:
        return f"invalid JSON Schema: cannot resolve {error.ref}"
    except RecursionError:
        return f"invalid JSON Schema: {_ENDLESS}"
    except (ValueError, PatternError) as error:
        return f"invalid JSON Schema: {error}"
    finally:
        _BUDGET.reset(given)
    if not errors:
        return None
    return "validation failed: " + "; ".join(f"{_place(error.absolute_path)}: {error.message}" for error in errors)


class _Budget:
    """What is left of the work that one validation may be."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS
        self._end = monotonic() + MAX_SECONDS

    def spend(self, steps: int) -> None:
        """Takes steps. Raises ValueError when nothing is left."""
        self._steps -= steps
        if self._steps < 0 or monotonic() > self._end:
            raise ValueError("it asks for too much work; do its definitions name each other more than once?")


_BUDGET: ContextVar[_Budget] = ContextVar("budget")


def _place(path: Any) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".") or "value"


def _validator(schema: Json) -> Any:
    if isinstance(schema, (str, bytes)):
        schema = decode_json(schema if isinstance(schema, str) else schema.decode())
    if type(schema) not in (dict, bool):
        raise ValueError("a schema is an object, true or false")
    return _compiled(json.dumps(schema))


@lru_cache(maxsize=256)
def _compiled(schema_text: str) -> Any:
    """The validator of a schema; checking the schema takes far longer than checking a value."""
    import jsonschema
    from jsonschema.validators import validator_for
    from referencing import Registry

    schema = json.loads(schema_text)
    kind: Any = validator_for(schema, default=jsonschema.Draft202012Validator)
    rules = _bounded(validator_for(kind.META_SCHEMA, default=kind))(kind.META_SCHEMA)
    for error in rules.iter_errors(schema):
        raise ValueError(f"{_place(error.absolute_path)}: {error.message}")
    return _bounded(kind)(schema, registry=Registry())


@lru_cache(maxsize=32)
def _bounded(kind: Any) -> Any:
    """A class of validators whose work is counted, also where a part of the schema names another draft."""
    from jsonschema import _legacy_keywords, _utils
    from jsonschema.validators import extend, validator_for

    for module in (_utils, _legacy_keywords):  # how it knows additional properties: its own patterns have no time bound
        vars(module)["re"] = _Patterns
    own = {"pattern": _pattern, "patternProperties": _pattern_properties, "uniqueItems": _unique_items}
    checks = {name: own.get(name, check) for name, check in kind.VALIDATORS.items()}
    extended: Any = extend  # untyped
    steps = {name: REFERENCE if name.lower().endswith("ref") else 1 for name in checks}
    bounded = extended(kind, {name: _counted(check, steps[name]) for name, check in checks.items()})

    def evolve(self: Any, **changes: Any) -> Any:
        schema = changes.setdefault("schema", self.schema)
        other = validator_for(schema, default=kind)
        kept = {"format_checker": self.format_checker, "registry": self._registry, "_resolver": self._resolver}
        return (bounded if other is kind else _bounded(other))(**{**kept, **changes})

    bounded.evolve = evolve
    return bounded


def _counted(check: Callable[..., Any], steps: int) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        _BUDGET.get().spend(steps)
        return check(*given)

    return run


class _Patterns:
    """What the library needs of the module `re`, with Go's patterns and their bound."""

    @staticmethod
    def search(pattern: str, text: str) -> bool:
        from bindings.patterns import search

        if budget := _BUDGET.get(None):  # the SDK of MCP uses the library too
            budget.spend(1)
        return search(pattern, text)


def _pattern(validator: Any, pattern: str, value: Json, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and not _Patterns.search(pattern, value):
        yield ValidationError(f"{json.dumps(value)} does not match {json.dumps(pattern)}")


def _pattern_properties(validator: Any, patterns: dict[str, Any], value: Json, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for pattern, subschema in patterns.items():
            for key, item in value.items():
                if _Patterns.search(pattern, key):
                    yield from validator.descend(item, subschema, path=key, schema_path=pattern)


def _unique_items(validator: Any, wanted: bool, value: Json, schema: Any) -> Iterator[Any]:
    """The library compares each item with each other one."""
    from jsonschema import ValidationError

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
