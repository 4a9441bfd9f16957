"""Which model an entry of a case file has, by its fields; and what is wrong with an entry, by the complaints about its
value, and what to do about it: which mode has the field, which field or word may be meant, or how ours are called that
another tool has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module
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
MODELS = {
    "ConversationCase": ("mode",),
    "MultiTurnCase": ("turns", "type", "simulator"),
    "DynamicCase": ("checkpoints",),
    "GradedCase": GRADING,
}
"""Class in `runner.cases.other_cases` → fields by which entries may be told to have that model. They are loaded for the
first entry with such a field, because most files have only standard cases."""
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
    given = {name for name in TELLING if entry.get(name) is not None}
    is_graded = not given.isdisjoint(GRADING) or _has_graders(entry, *_ASSERTIONS)
    if not given and not is_graded:
        return Case
    is_talk = entry.get("type") == "multi_turn" or not given.isdisjoint(("turns", "simulator", "checkpoints"))
    if is_talk and not is_graded:
        turns = entry["turns"] if isinstance(entry.get("turns"), list) else ()
        of_turns = (_has_graders(turn, *_ASSERTIONS) for turn in turns if isinstance(turn, dict))
        is_graded = _has_graders(entry, *OF_A_TALK) or any(of_turns)
    conversation, multi_turn, dynamic, graded = further_models()
    if "mode" in given or (is_talk and is_graded):
        return conversation
    if is_talk:
        is_dynamic = "checkpoints" in given and "turns" not in given and entry.get("type") != "multi_turn"
        return dynamic if is_dynamic else multi_turn
    return graded if is_graded else Case


def _has_graders(entry: Mapping[str, Any], *fields: str) -> bool:
    """Whether assertions in these fields have a criterion in words, or a weight."""
    return any(_grades(check) for one in map(entry.get, fields) for check in (one if isinstance(one, list) else (one,)))


def _grades(check: Any) -> bool:
    if isinstance(check, dict):
        return check.get("type") == RUBRICS or any(check.get(name) is not None for name in _OF_GRADERS)
    return isinstance(check, str) and re.search(r"\S\s+\S", check) is not None


def without_nulls(entry: Mapping[str, Any], model: type[Case]) -> dict[str, Any]:
    """An entry of a model without fields of other models that are null, which means that they are not given."""
    known = known_fields(model)
    foreign = [name for name, inner in entry.items() if inner is None and name not in known]
    others = known_elsewhere(model) if foreign else ()
    return {name: inner for name, inner in entry.items() if name not in foreign or name not in others}


def _misplaced(path: JsonPath, text: str, entry: Mapping[str, Any]) -> Finding | None:
    """What to say of an unknown field of a case, or of a turn, that others have; None when none has it."""
    name = str(path[-1])
    conversation, multi_turn, dynamic, _ = further_models()
    turn = _model_at(("turns", 0), conversation)
    assert turn is not None
    having: dict[str, type[Model]] = {CONVERSATION_MODE: conversation, '"turns"': multi_turn, '"checkpoints"': dynamic}
    if len(path) == 3 and path[0] == "turns":
        having = {CONVERSATION_MODE: turn}
    elif len(path) != 1:
        return None
    elif "turns" in entry and name in known_fields(turn):
        return Finding(path=path, text=f'"{name}" belongs in a turn, not in the case')
    needed = [words for words, model in having.items() if name in known_fields(model) and words != f'"{name}"']
    if not needed:
        return None
    said = text.removeprefix("unknown field ")
    return Finding(path=path, text=f"{said} needs {' or '.join(needed)}", hint=f'Add it, or remove "{name}"')


def known_elsewhere(model: type[Case]) -> tuple[str, ...]:
    """Field names of the other models."""
    return tuple(dict.fromkeys(name for kind in further_models() if kind is not model for name in known_fields(kind)))


def finding_of(complaint: Complaint, value: dict[str, Any], case: type[Case]) -> Finding:
    """What is wrong with the value of a case of that model."""
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
    if found := _misplaced(path, text, value):
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
    said = "is one of" if len(known) > 1 else "can only be"
    hint = hint or _closest(actual, known) or f"It {said} {', '.join(known)}"
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
