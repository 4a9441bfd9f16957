"""Which model an entry of a case file has, by its fields: each condition is a JSON Schema, of few keywords; and what is
wrong with an entry, by the complaints about its value, and what to do about it: which mode has the field, which field
or word may be meant, or how ours are called that another tool has."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from types import NoneType
from typing import Any

from runner.application.documents import JsonPath
from runner.assertions import TYPES
from runner.assertions.model import Assertion
from runner.cases.entries import Finding
from runner.cases.model import Case
from runner.errors import did_you_mean
from runner.shapes.declared import Model, fields_of, known_fields, shape_of
from runner.shapes.shape import ANY, Complaint, at
from scripttest import filled, row_of

GRADING = ("rubrics", "threshold", "criteria", "grader")
"""Fields that make a standard case a graded one, and any other case a conversation."""
RUBRICS = "rubrics"
_ASSERTIONS = ("assert", "assertions")
_OF_GRADERS = ("weight", "required")
"""Fields of assertions by which they give a score."""
OF_A_TALK = ("turn_assertions", "final_assertions")
"""Fields with assertions that only talks have."""
CONVERSATION_MODE = '"mode": "conversation"'
GIVEN = {"not": {"type": "null"}}
MODELS = {
    "ConversationCase": ("mode",),
    "MultiTurnCase": ("turns", "type", "simulator"),
    "DynamicCase": ("checkpoints",),
    "GradedCase": GRADING,
}
"""Class in `runner.cases.other_cases` → fields by which entries may be told to have that model. The first model that
claims an entry is the entry's. They are loaded for the first entry with such a field, because most files have only
standard cases."""
TELLING = tuple(name for names in MODELS.values() for name in names)

_OWNERS = {"Assertion": "assertion ", "Grader": "assertion ", "Message": "message ", "MessagePart": "part "}
"""Model → what its fields are said to be of."""
_LONGEST = 160
"""Characters of a line with the values that it replaces; a longer one has none."""


@cache
def further_models() -> tuple[type[Case], ...]:
    """The models of the table."""
    module = import_module("runner.cases.other_cases")
    return tuple(getattr(module, name) for name in MODELS)


def model_of(entry: Mapping[str, Any]) -> type[Case]:
    """The model of an entry, by its fields."""
    if all(entry.get(name) is None for name in TELLING) and not any(map(_may_grade, _assertions(entry))):
        return Case
    return next((model for model in further_models() if fits(entry, model.condition)), Case)


def _assertions(entry: Mapping[str, Any]) -> Iterator[Any]:
    for one in map(entry.get, _ASSERTIONS):
        yield from one if isinstance(one, list) else (one,)


def _may_grade(check: Any) -> bool:
    """Whether an assertion may be one that gives a score: a quick look, since most are plain objects."""
    if isinstance(check, dict):
        return check.get("type") == RUBRICS or not check.keys().isdisjoint(_OF_GRADERS)
    return isinstance(check, str)


def without_nulls(entry: Mapping[str, Any], model: type[Case]) -> dict[str, Any]:
    """An entry of a model without fields of other models that are null, which means that they are not given."""
    known = known_fields(model)
    foreign = [name for name, inner in entry.items() if inner is None and name not in known]
    others = known_elsewhere(model) if foreign else ()
    return {name: inner for name, inner in entry.items() if name not in foreign or name not in others}


def named_modes() -> tuple[str, ...]:
    """The modes that `mode` of an entry names; the others are known by their fields."""
    return tuple(model.runs for model in further_models() if "mode" in known_fields(model))


def _unknown_mode(entry: Mapping[str, Any]) -> Finding | None:
    """A complaint about a `mode` that does not exist; None when it does, or is not given."""
    mode = entry.get("mode")
    if mode is None or mode in (modes := named_modes()):
        return None
    every = " or ".join(f'"{name}"' for name in modes)
    if not isinstance(mode, str):
        return Finding(path=("mode",), text=f'"mode" must be a string: {every}')
    hint = did_you_mean(mode, modes) or f"Allowed: {every}; other modes follow from the fields of the case"
    return Finding(path=("mode",), text=f'unknown mode "{mode}"', hint=hint)


def _misplaced(path: JsonPath, model: type[Case], entry: Mapping[str, Any]) -> Finding | None:
    """What to say of an unknown field of an entry that another mode has; None when none has it."""
    if finding := model.misplaced(path, entry):
        return finding
    name = str(path[-1])
    having = [other.kind for other in further_models() if other.kind is not Case.kind and name in known_fields(other)]
    having = [kind for kind in having if not kind.has_all] or having
    if len(path) != 1 or not having:
        return None
    text = f'"{name}" is a field of {" and ".join(kind.several for kind in having)}, but this is {model.kind.one}'
    return Finding(path=path, text=text, hint=f'Leave "{name}" out' if model.in_turns else having[0].hint)


def known_elsewhere(model: type[Case]) -> tuple[str, ...]:
    """Field names of the other models."""
    return tuple(dict.fromkeys(name for kind in further_models() if kind is not model for name in known_fields(kind)))


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value fits a schema that has only the keywords of conditions."""
    return all(_KEYWORDS[keyword](value, rule) for keyword, rule in schema.items())


def explain(complaints: Iterable[Complaint], value: dict[str, Any], model: type[Case]) -> list[Finding]:
    """What is wrong with the value of a case of that model, in the order of the complaints; or only that its mode does
    not exist."""
    odd_mode = _unknown_mode(value)
    return [odd_mode] if odd_mode else [_finding(complaint, value, model) for complaint in complaints]


def _finding(complaint: Complaint, value: dict[str, Any], case: type[Case]) -> Finding:
    path, text = complaint.path, complaint.sentence(value)
    model = _model_at(path[:-1], case)
    if complaint.kind == "unknown":
        return _unknown(path, text, value, model, case)
    if complaint.kind == "choice":
        return _no_choice(path, str(at(value, path)), _model_at(path, case), model, value)
    is_id = complaint.kind == "missing" and path == ("id",)
    return Finding(path=path, text=text, hint='Add one, such as "id": "T001"' if is_id else complaint.hint)


def _unknown(path: JsonPath, text: str, value: dict[str, Any], model: type[Model] | None, case: type[Case]) -> Finding:
    """A field that its object does not have."""
    name, around = str(path[-1]), at(value, path[:-1])
    fields = known_fields(model) if model else {}
    for other in fields[name].spellings if name in fields else ():
        if other != name and other in around:
            said = text.replace(f'unknown field "{name}"', f'"{other}" and "{name}" set the same field', 1)
            return Finding(path=path, text=said, hint="Keep one of them")
    if found := _misplaced(path, case, value):
        return found
    known = tuple(fields)
    hint = foreign_word("field", name, around, path) if len(path) == 1 else None
    if model is Assertion and name in TYPES and len(around) == 1:
        hint = f'Write: {{"type": "{name}", "value": {json.dumps(around[name], ensure_ascii=False)[:_LONGEST]}}}'
    hint = hint or _closest(name, known + (known_elsewhere(case) if len(path) == 1 else ()))
    hint = hint or f"Allowed fields: {', '.join(known)}, and any that starts with x-"
    return Finding(path=path, text=text, hint=hint, unknown=True)


def _no_choice(
    path: JsonPath, actual: str, inside: type[Model] | None, model: type[Model] | None, value: dict[str, Any]
) -> Finding:
    """A word that a field does not accept; `inside` is the model, if the field is its `type`."""
    owner, field = (inside, "type") if inside else (model, str(path[-1]))
    assert owner is not None
    what = f'unknown {_OWNERS.get(owner.__name__, "")}{field} "{actual}"'
    known = fields_of(owner)[field].shape.words
    if issubclass(owner, Case) and not owner.in_turns and field == "type":
        known = tuple(
            dict.fromkeys(name for model in (owner, *further_models()) for name in fields_of(model)[field].shape.words)
        )
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


def _model_at(path: JsonPath, model: type[Model]) -> type[Model] | None:
    """The model of the object at a path of a value of that model; None for free values."""
    shape = shape_of(model)
    for part in path:
        if isinstance(part, int):
            shape = shape.items or ANY
        else:
            field = known_fields(shape.model).get(part) if shape.model else None
            shape = field.shape if field else ANY
    return shape.model


@lru_cache(maxsize=256)
def _closest(name: str, known: tuple[str, ...]) -> str | None:
    """A mistake in a large file is often in each of its lines."""
    return did_you_mean(name, known)


def has(field: str, rule: dict[str, Any] | None = None) -> dict[str, Any]:
    """A schema of objects with a field, to which a rule applies."""
    return {"required": [field], **({"properties": {field: rule}} if rule else {})}


def given(*names: str) -> list[dict[str, Any]]:
    """Schemas of objects in which one of the fields is given, and not null; one of them must hold."""
    return [has(name, GIVEN) for name in names]


def with_graders(*names: str) -> list[dict[str, Any]]:
    """Schemas of cases, or turns, whose assertions have a criterion in words, or a weight, also those in fields with
    further names; one of them must hold."""
    return [has(name, {"anyOf": [_GRADER, {"type": "array", "contains": _GRADER}]}) for name in (*_ASSERTIONS, *names)]


_GRADER = {
    "anyOf": [
        {"type": "string", "pattern": r"\S\s+\S"},
        {"type": "object", **has("type", {"const": RUBRICS})},
        *({"type": "object", **has(field, GIVEN)} for field in _OF_GRADERS),
    ]
}
_TYPES: dict[str, type] = {"array": list, "null": NoneType, "object": dict, "string": str}
_KEYWORDS: dict[str, Callable[[Any, Any], bool]] = {
    "type": lambda value, name: isinstance(value, _TYPES[name]),
    "const": operator.eq,
    "pattern": lambda value, pattern: re.search(pattern, value) is not None,
    "required": lambda value, names: all(name in value for name in names),
    "properties": lambda value, rules: all(fits(value[name], rule) for name, rule in rules.items() if name in value),
    "contains": lambda value, rule: any(fits(item, rule) for item in value),
    "not": lambda value, rule: not fits(value, rule),
    "anyOf": lambda value, rules: any(fits(value, rule) for rule in rules),
    "allOf": lambda value, rules: all(fits(value, rule) for rule in rules),
}
"""Keyword → whether a value fits the rule. What is only about values of one type comes behind `type`."""
