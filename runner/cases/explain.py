"""Converts pydantic's errors about a case to sentences about the file.

If a field may have one of several shapes, pydantic reports for each of them why it does not fit, with the name of the
shape in the path. Only errors about the shape that the value has are kept. If none is left, the message says that the
value has a wrong shape."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from runner.application.documents import JsonPath
from runner.assertions import TYPES
from runner.assertions.model import Assertion
from runner.cases.entries import Finding
from runner.cases.kinds import CONVERSATION_MODE, further_models, known_elsewhere, misplaced
from runner.cases.model import PARTS, UNKNOWN_PART, WRONG_REPLY, Case
from runner.errors import did_you_mean
from runner.shapes.declared import Model, fields_of, schema_of, validation_errors
from runner.shapes.fields import NO_DURATION, NO_TIME, TOO_LARGE, known_fields, model_at, same_fields
from scripttest import filled, row_of
from scripttest.values import Value

_SHAPES = {
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
"""pydantic's complaint about a shape → the shape it wanted."""
_SENTENCES = {
    "string_pattern_mismatch": "{path} must not be empty",
    "too_short": "{path} must not be empty",
    "string_unicode": "{path} has a lone surrogate, which is not a character",
    "finite_number": "{path} is too large for a number",
    TOO_LARGE: "{path} is too large for a number",
    "greater_than": "{path} must be more than {gt:g}, not {actual}",
    "greater_than_equal": "{path} must be at least {ge:g}, not {actual}",
    "less_than_equal": "{path} must be at most {le:g}, not {actual}",
    WRONG_REPLY: 'the reply "{name}"{inside} cannot be used: {problem}',
    NO_TIME: 'cannot read {name} "{actual}" as a time',
    NO_DURATION: 'cannot read {name} "{actual}": {problem}',
}
"""pydantic's other complaints → our sentences."""
_MEANT = {
    "http": {
        **dict.fromkeys(("body", "json", "text", "content", "payload"), "data"),
        **dict.fromkeys(("statusCode", "status_code"), "status"),
        **dict.fromkeys(("statusText", "error"), "message"),
        "header": "headers",
    },
    "exec": {
        **dict.fromkeys(("output", "out", "data"), "stdout"),
        **dict.fromkeys(("error", "err"), "stderr"),
        **dict.fromkeys(("code", "exitCode", "status"), "exit_code"),
        "sleep": "delay",
    },
}
"""Names that other libraries have for the parts; `bindings/src/mocks/mocked-*.ts` have the same for scripts."""
_OWNERS = {"Assertion": "assertion ", "Grader": "assertion ", "Message": "message ", "MessagePart": "part "}
"""Model → what its fields are said to be of."""
_LARGEST = "The largest number is 1.8e308; put a larger one in quotes"
_LONGEST = 160
"""Characters of a line with the values that it replaces; a longer one has none."""
_KINDS = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}


class _Complaint(Value):
    path: JsonPath
    type: str
    misfit: bool
    """It says that the value has another shape."""
    bounds: dict[str, Any]


def explain(error: ValueError, value: dict[str, Any], model: type[Case]) -> list[Finding]:
    """What is wrong with the value of a case of that model by pydantic's ValidationError, in its order."""
    errors = validation_errors(error)
    complaints = [_complaint(item["loc"], item["type"], item.get("ctx", {}), value) for item in errors]
    findings: dict[tuple[JsonPath, str], Finding] = {}
    for complaint in complaints:
        if complaint.misfit and any(_counts_more(other, complaint) for other in complaints):
            continue
        key = (complaint.path, "" if complaint.misfit else complaint.type)
        if key not in findings:
            wanted = [_SHAPES.get(c.type, "a string") for c in complaints if c.misfit and c.path == complaint.path]
            findings[key] = _finding(complaint, value, model, list(dict.fromkeys(wanted)))
    return list(findings.values())


def _counts_more(other: _Complaint, than: _Complaint) -> bool:
    """Whether the other is about the shape that the value has."""
    inside = other.path[: len(than.path)] == than.path
    return inside and (not other.misfit or len(other.path) > len(than.path))


def _complaint(location: tuple[int | str, ...], kind: str, bounds: dict[str, Any], value: Any) -> _Complaint:
    path: list[str | int] = []
    here = value
    for index, part in enumerate(location):
        if (isinstance(here, dict) and part in here) or (isinstance(here, list) and isinstance(part, int)):
            here = at(here, (part,))
            path.append(part)
        elif kind == "missing" and index == len(location) - 1:
            path.append(part)
    path += bounds.get("at", ())
    misfit = kind in _SHAPES or (kind == "literal_error" and not isinstance(here, str))
    return _Complaint(path=tuple(path), type=kind, misfit=misfit, bounds=bounds)


def _finding(complaint: _Complaint, value: dict[str, Any], case: type[Case], wanted: list[str]) -> Finding:
    path, kind, bounds = complaint.path, complaint.type, complaint.bounds
    model = model_at(path[:-1], case)
    name = str(path[-1]) if path else ""
    actual = at(value, path)
    if complaint.misfit:
        shapes = " or ".join([", ".join(wanted[:-1]), wanted[-1]]) if len(wanted) > 1 else wanted[0]
        found = f"{actual:g}" if isinstance(actual, float) else _KINDS.get(type(actual), "null")
        return Finding(path=path, text=f"{as_source(path)} must be {shapes}, not {found}")
    if kind == "extra_forbidden":
        return _unknown(path, value, model, case)
    if kind == "missing":
        hint = 'Add one, such as "id": "T001"' if path == ("id",) else None
        return Finding(path=path, text=f'"{name}" is missing{_inside(path[:-1])}', hint=hint)
    if kind == "literal_error":
        return _no_choice(path, str(actual), model_at(path, case), model, value)
    if kind == UNKNOWN_PART:
        return Finding(
            path=path, text=f'unknown part "{name}"{_inside(path[:-1])}', hint=_known_parts(str(path[-3]), name)
        )
    if kind in _SENTENCES:
        parts = {"path": as_source(path), "name": name, "inside": _inside(path[:-1]), "actual": actual}
        hint = _LARGEST if kind in (TOO_LARGE, "finite_number") else bounds.get("hint")
        return Finding(path=path, text=_SENTENCES[kind].format(**bounds, **parts), hint=hint)
    return Finding(path=path, text=f"{as_source(path)}: {kind.replace('_', ' ')}")


def _unknown(path: JsonPath, value: dict[str, Any], model: type[Model] | None, case: type[Case]) -> Finding:
    """A field that its object does not have."""
    name, around = str(path[-1]), at(value, path[:-1])
    for other in same_fields(model, name) if model else ():
        if other in around:
            text = f'"{other}" and "{name}" set the same field{_inside(path[:-1])}'
            return Finding(path=path, text=text, hint="Keep one of them")
    found = misplaced(path, case, value)
    if found:
        return found
    known = tuple(known_fields(model)) if model else ()
    hint = foreign_word("field", name, around, path) if len(path) == 1 else None
    if model is Assertion and name in TYPES and len(around) == 1:
        hint = f'Write: {{"type": "{name}", "value": {json.dumps(around[name], ensure_ascii=False)[:_LONGEST]}}}'
    hint = hint or _closest(name, known + (known_elsewhere(case) if len(path) == 1 else ()))
    hint = hint or f"Allowed fields: {', '.join(known)}, and any that starts with x-"
    return Finding(path=path, text=f'unknown field "{name}"{_inside(path[:-1])}', hint=hint, unknown=True)


def _no_choice(
    path: JsonPath, actual: str, inside: type[Model] | None, model: type[Model] | None, value: dict[str, Any]
) -> Finding:
    """A word that a field does not accept; `inside` is the model, if the field is its `type`."""
    owner, field = (inside, "type") if inside else (model, str(path[-1]))
    assert owner is not None
    what = f'unknown {_OWNERS.get(owner.__name__, "")}{field} "{actual}"'
    known = _choices(owner, field)
    if issubclass(owner, Case) and not owner.in_turns and field == "type":
        known = tuple(dict.fromkeys(name for model in (owner, *further_models()) for name in _choices(model, field)))
    if owner is Assertion and (actual == "rubrics" or " " in actual):
        return Finding(path=path, text=what, hint=f"Criteria in plain language need {CONVERSATION_MODE}")
    is_type = issubclass(owner, Assertion) and field == "type"
    hint = foreign_word("type", actual, at(value, path[:-1]), path) if is_type else None
    hint = hint or _closest(actual, known) or f"It is {'one of ' * (len(known) > 1)}{', '.join(known)}"
    return Finding(path=path, text=what, hint=hint)


def foreign_word(place: str, word: str, around: Any, path: JsonPath) -> str | None:
    """What to write for a field of a case, or a type of an assertion, that another tool has; None for any other word.
    `around` is the object that it stands in."""
    negated = place == "type" and re.match(r"not[-_]", word) is not None
    base = word[4:] if negated else word
    own = base.replace("-", "_")
    row = (f'"assert": {{"type": "{own}", "value": <value>}}', "") if own in TYPES else row_of(place, base)
    if row is None or (place == "type" and word.replace("-", "_") in TYPES):
        return None
    fields = around if isinstance(around, dict) else {}
    value = fields.get("value", fields.get("threshold", "...")) if place == "type" else fields.get(word)
    each = [{"type": "contains", "value": one} for one in value] if isinstance(value, list) else value
    given = {"value": value, "contains": each}
    line = filled(row[0], **{name: json.dumps(one, ensure_ascii=False) for name, one in given.items()})
    if len(line) > _LONGEST:
        line = filled(row[0], value='"..."', contains="[...]")
    if negated:
        line = line.removesuffix("}") + ', "negate": true}'
    within = [part for part in path[:-1] if isinstance(part, str)]
    if within and within[-1] not in ("assert", "assertions"):
        line = line.removeprefix('"assert": ')
    return f"Write: {line}" + f" ({row[1]})" * bool(row[1])


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


def _known_parts(kind: str, part: str) -> str:
    """What to write instead of an unknown part of a reply of `http` or `exec`."""
    if part in _MEANT[kind]:
        return f'Did you mean "{_MEANT[kind][part]}"?'
    if kind == "exec":
        return f"A reply may have {', '.join(PARTS[kind])}"
    return f'A reply may have {", ".join(PARTS[kind][:-1])}; to reply with an object, write {{"data": ...}}'


@lru_cache(maxsize=256)
def _closest(name: str, known: tuple[str, ...]) -> str | None:
    """A mistake in a large file is often in each of its lines."""
    return did_you_mean(name, known)


def _inside(path: JsonPath) -> str:
    return f" in {as_source(path)}" if path else ""


def _choices(model: type[Model], field: str) -> tuple[str, ...]:
    schema = schema_of(fields_of(model)[field].said["schema"])
    while "schema" in schema:
        schema = schema["schema"]
    return tuple(schema.get("expected", ()))
