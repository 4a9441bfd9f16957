"""JSON Schema for processes, tools and assertions. Only this module and `schema_keywords` import the library
jsonschema.

Schemas and values may come from anybody, and a small schema can cause endless work: if each definition refers twice to
the next one, the work doubles with each. So every step is counted, and the work ends after too many. Patterns are Go's
regular expressions, as in Yao; for assertions also those of ECMA-262, within the time. References are never downloaded.
"""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import islice
from typing import Any

from bindings.processes.formats import decode_json
from scripttest.typing_names import Json
from scripttest.values import Value

MAX_STEPS = 300_000
"""Most keywords that are applied in one validation; a reference, which takes longer, counts as several."""
MAX_SECONDS = 5.0
"""Longest validation, which is for patterns and large values, and longest check of a schema."""
MAX_ERRORS = 100
"""Most errors that are looked for."""
_ENDLESS = "it refers to itself endlessly or is nested too deeply"
_UNUSABLE = "invalid JSON Schema"
_LONGEST = 200
"""Letters of what is quoted."""
MAX_PARTS = 300_000
"""Most values of a schema: objects, lists, texts, numbers and the like, at any depth."""


class Misfit(Value):
    """Why a value does not fit a JSON Schema."""

    reasons: str
    """The violations of the schema, with their places; or what is wrong with the schema."""
    unusable: bool = False
    """Whether it is the schema that cannot be used."""

    @property
    def text(self) -> str:
        """The text that scripts get."""
        return f"{_UNUSABLE if self.unusable else 'validation failed'}: {self.reasons}"


def schema_problem(schema: Json) -> str | None:
    """What is wrong with a JSON Schema (an object, or JSON text); None if it is valid. May block for
    `MAX_SECONDS`."""
    try:
        _validator(schema, checked=False)
    except RecursionError:
        return f"{_UNUSABLE}: {_ENDLESS}"
    except ValueError as error:
        return f"{_UNUSABLE}: {error}"
    return None


def validate(value: Json, schema: Json) -> str | None:
    """Why a value does not fit a JSON Schema, as scripts are told; None when it fits. May block as `misfit`."""
    found = misfit(value, schema)
    return None if found is None else found.text


def misfit(value: Json, schema: Json, *, checked: bool = False, ecma: bool = False) -> Misfit | None:
    """Says where a value breaks a JSON Schema, or None when it fits. May block for twice `MAX_SECONDS`. `checked`:
    the schema is known to be a good one. `ecma`: patterns may have what ECMA-262 has and Go lacks, such as
    look-ahead and back-references, and formats are checked."""
    from jsonschema.exceptions import UnknownType
    from referencing.exceptions import Unresolvable

    from bindings.patterns import PatternError
    from bindings.processes.schema_keywords import Budget

    try:
        validator = _validator(schema, checked=checked)
        with Budget(MAX_STEPS, MAX_SECONDS, ecma=ecma):
            found = list(islice(validator.iter_errors(value), MAX_ERRORS))
    except Unresolvable as error:
        return Misfit(reasons=f"cannot resolve {error.ref[:_LONGEST]}", unusable=True)
    except RecursionError:
        return Misfit(reasons=_ENDLESS, unusable=True)
    except (ValueError, PatternError) as error:
        return Misfit(reasons=str(error), unusable=True)
    except (UnknownType, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        # The target of a reference may be at a place that is not a schema, and was not checked then.
        told = str(error).partition("\n")[0][:_LONGEST]
        said = f"it cannot be applied; a reference may point to something that is not a schema ({told})"
        return Misfit(reasons=said, unusable=True)
    if not found:
        return None
    errors = sorted(found, key=lambda error: list(map(str, error.absolute_path)))
    return Misfit(reasons="; ".join(f"{_place(error.absolute_path)}: {error.message}" for error in errors))


def _place(path: Any) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".") or "value"


def _validator(schema: Json, *, checked: bool) -> Any:
    if isinstance(schema, (str, bytes)):
        schema = decode_json(schema if isinstance(schema, str) else schema.decode())
    if type(schema) not in (dict, bool):
        raise ValueError("a schema is an object, true or false")
    if problem := too_large(schema):
        raise ValueError(problem)
    made = _compiled(json.dumps(schema), checked)
    if isinstance(made, ValueError):
        raise ValueError(*made.args)
    return made


@lru_cache(maxsize=256)
def _compiled(schema_text: str, checked: bool) -> Any:
    """The validator of a schema, or the ValueError that says why there is none; checking the schema takes far longer
    than checking a value."""
    import jsonschema
    from jsonschema.validators import validator_for
    from referencing import Registry

    from bindings.processes.schema_keywords import bounded

    schema = json.loads(schema_text)
    kind: Any = validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        if not checked:
            _check(schema, kind)
    except ValueError as error:
        return error.with_traceback(None)
    return bounded(kind)(schema, registry=Registry())


def _check(schema: Json, kind: Any) -> None:
    """Raises ValueError for a schema that is none. The work of it grows with the schema alone, so that only its time
    is bounded."""
    from jsonschema.validators import validator_for

    from bindings.processes.schema_keywords import Budget, WorkError, bounded

    rules = bounded(validator_for(kind.META_SCHEMA, default=kind))(kind.META_SCHEMA)
    try:
        with Budget(1 << 60, MAX_SECONDS):
            for error in rules.iter_errors(schema):
                raise ValueError(f"{_place(error.absolute_path)}: {error.message}")
    except WorkError:
        raise ValueError(f"checking it takes longer than {MAX_SECONDS:g} s; use a smaller one") from None


def too_large(schema: Json) -> str | None:
    """Says that a schema is larger than may be, or None. Takes some milliseconds for the largest."""
    found = 0
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        found += len(inside)
        if found > MAX_PARTS:
            return f"it has more than {MAX_PARTS} values; use a smaller one"
        waiting += inside
    return None
