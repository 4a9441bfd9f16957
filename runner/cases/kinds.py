"""Which model an entry of a case file has, by its fields: each condition is a JSON Schema, of few keywords; and what is
said about fields of another model."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from types import NoneType
from typing import Any

from runner.application.documents import JsonPath
from runner.cases.entries import Finding
from runner.cases.model import Case
from runner.errors import did_you_mean
from runner.shapes.declared import known_fields

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


def unknown_mode(entry: Mapping[str, Any]) -> Finding | None:
    """A complaint about a `mode` that does not exist; None when it does, or is not given."""
    mode = entry.get("mode")
    if mode is None or mode in (modes := named_modes()):
        return None
    every = " or ".join(f'"{name}"' for name in modes)
    if not isinstance(mode, str):
        return Finding(path=("mode",), text=f'"mode" must be a string: {every}')
    hint = did_you_mean(mode, modes) or f"Allowed: {every}; other modes follow from the fields of the case"
    return Finding(path=("mode",), text=f'unknown mode "{mode}"', hint=hint)


def misplaced(path: JsonPath, model: type[Case], entry: Mapping[str, Any]) -> Finding | None:
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
