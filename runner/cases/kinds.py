"""Which model an entry of a case file has, by its fields: each condition in Python, and as JSON Schema; and what is
said about fields of another model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
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
    if not gives(entry, *TELLING) and not has_graders(entry):
        return Case
    return next((model for model in further_models() if model.claims(entry)), Case)


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


def gives(entry: Mapping[str, Any], *names: str) -> bool:
    """Whether one of the fields is given, and not null."""
    return any(entry.get(name) is not None for name in names)


def has_graders(entry: Any, *names: str) -> bool:
    """Whether the assertions of a case, or of a turn, have a criterion in words, or a weight; also those in fields with
    further names."""
    if not isinstance(entry, Mapping):
        return False
    fields = [entry.get(name) for name in (*_ASSERTIONS, *names)]
    return any(_is_grader(check) for one in fields for check in (one if isinstance(one, list) else [one]))


def has(field: str, rule: dict[str, Any] | None = None) -> dict[str, Any]:
    """A schema of objects with a field, to which a rule applies."""
    return {"required": [field], **({"properties": {field: rule}} if rule else {})}


def given(*names: str) -> list[dict[str, Any]]:
    """Schemas for `gives`, of which one must hold."""
    return [has(name, GIVEN) for name in names]


def graded(*names: str) -> list[dict[str, Any]]:
    """Schemas for `has_graders`, of which one must hold."""
    return [_graded_by(name) for name in (*_ASSERTIONS, *names)]


def _is_grader(check: Any) -> bool:
    """Whether an assertion is a criterion in words, or has a weight."""
    if isinstance(check, str):
        return " " in check.strip()
    return isinstance(check, dict) and (check.get("type") == RUBRICS or gives(check, "weight", "required"))


def _graded_by(name: str) -> dict[str, Any]:
    grader = {
        "anyOf": [
            {"type": "string", "pattern": r"\S\s+\S"},
            {"type": "object", **has("type", {"const": RUBRICS})},
            *({"type": "object", **has(field, GIVEN)} for field in ("weight", "required")),
        ]
    }
    return has(name, {"anyOf": [grader, {"type": "array", "contains": grader}]})
