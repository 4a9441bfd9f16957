"""Which mode an entry of a case file is for, by its fields, and what is said about fields of another mode.

The modes' models are imported on use, because most files have only standard cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.application.json_parts import JsonPath
from runner.cases.model import Case
from runner.cases.problems import Finding
from runner.errors import did_you_mean
from runner.shapes.declared import Model
from runner.shapes.fields import as_checked, known_fields

DECIDING = ("mode", "turns", "type", "checkpoints", "simulator")
"""Fields that make a case anything but a standard one."""
CONVERSATION = "conversation"
GRADING = ("rubrics", "threshold", "criteria", "grader")
"""Fields that make a standard case a graded one, and any other case a conversation."""
RUBRICS = "rubrics"
CONVERSATION_MODE = '"mode": "conversation"'


def model_of(entry: Mapping[str, Any]) -> type[Case]:
    """The model of an entry, by its fields."""
    if all(entry.get(name) is None for name in DECIDING):
        return _standard(entry)
    from runner.cases.conversations import ConversationCase, DynamicCase, MultiTurnCase

    if entry.get("mode") is not None or any(entry.get(name) is not None for name in GRADING):
        return ConversationCase
    turns = entry.get("turns")
    if isinstance(turns, list) and any(map(_has_graders, turns)):
        return ConversationCase
    if entry.get("turns") is not None or entry.get("type") == "multi_turn":
        return MultiTurnCase
    if entry.get("checkpoints") is not None:
        return DynamicCase
    return MultiTurnCase if entry.get("simulator") is not None else Case


def _standard(entry: Mapping[str, Any]) -> type[Case]:
    if not any(entry.get(name) is not None for name in GRADING) and not _has_graders(entry):
        return Case
    from runner.cases.conversations import GradedCase

    return GradedCase


def _has_graders(entry: Any) -> bool:
    """Whether the assertions of a case, or of a turn, have a criterion in words, or a weight."""
    if not isinstance(entry, Mapping):
        return False
    checks = next((entry[name] for name in ("assert", "assertions") if entry.get(name) is not None), ())
    return any(map(_is_grader, checks if isinstance(checks, list) else [checks]))


def _is_grader(check: Any) -> bool:
    """Whether an assertion is a criterion in words, or has a weight."""
    if isinstance(check, str):
        return " " in check.strip()
    return isinstance(check, dict) and (
        check.get("type") == RUBRICS or any(check.get(name) is not None for name in ("weight", "required"))
    )


def as_case(entry: Mapping[str, Any]) -> tuple[type[Case], dict[str, Any]]:
    """The model of an entry, and what is checked of it: without the user's own fields, and those that are null."""
    model = model_of(entry)
    value = as_checked(entry, model)
    unknown = [name for name, inner in value.items() if inner is None and name not in known_fields(model)]
    for name in unknown:
        if name in known_elsewhere(model):
            del value[name]
    return model, value


def unknown_mode(entry: Mapping[str, Any]) -> Finding | None:
    """A complaint about a `mode` that does not exist; None when it does, or is not given."""
    mode = entry.get("mode")
    if mode is None or mode == CONVERSATION:
        return None
    if not isinstance(mode, str):
        return Finding(path=("mode",), text=f'"mode" must be a string, and it is "{CONVERSATION}"')
    hint = did_you_mean(mode, (CONVERSATION,)) or f'It is "{CONVERSATION}"; other modes are known by their fields'
    return Finding(path=("mode",), text=f'unknown mode "{mode}"', hint=hint)


def misplaced(path: JsonPath, model: type[Case], entry: Mapping[str, Any]) -> Finding | None:
    """What to say of an unknown field of an entry that another mode has; None when none has it."""
    from runner.cases.conversations import (
        ConversationCase,
        ConversationTurn,
        DynamicCase,
        GradedCase,
        MultiTurnCase,
    )

    name = str(path[-1])
    if len(path) == 3 and path[0] == "turns" and path[1:2] != (name,):
        if name in known_fields(ConversationTurn) and model is MultiTurnCase:
            return Finding(
                path=path,
                text=f'"{name}" in "turns[{path[1]}]" needs {CONVERSATION_MODE}',
                hint='Add it beside "turns"',
            )
        return None
    if len(path) != 1:
        return None
    if name == "expected_output" and "turns" in entry:
        return Finding(
            path=path, text='"expected_output" is a field of turns, not of the whole case', hint="Move it into its turn"
        )
    if name == "checkpoints" and "turns" in entry and model is MultiTurnCase:
        text = '"turns" and "checkpoints" cannot be used together'
        return Finding(path=path, text=text, hint=f"Add {CONVERSATION_MODE}, which has both")
    kinds: list[tuple[type[Model], str, str]] = [
        (MultiTurnCase, "multi-turn cases", 'Add "type": "multi_turn"'),
        (DynamicCase, "dynamic cases", 'Add "simulator" and "checkpoints"'),
        (ConversationCase, "conversations", f"Add {CONVERSATION_MODE} and turns"),
    ]
    having = [(words, hint) for kind, words, hint in kinds if name in known_fields(kind)]
    having = [one for one in having if one[0] != "conversations"] or having
    if not having:
        return None
    if model is MultiTurnCase and name in known_fields(ConversationCase):
        return Finding(path=path, text=f'"{name}" needs {CONVERSATION_MODE}', hint=f'Add it, or leave "{name}" out')
    this = {
        Case: "a standard case",
        MultiTurnCase: "a multi-turn case",
        DynamicCase: "a dynamic case",
        ConversationCase: "a conversation",
        GradedCase: "a standard case",
    }[model]
    text = f'"{name}" is a field of {" and ".join(words for words, _ in having)}, and this is {this}'
    is_standard = model in (Case, GradedCase)
    return Finding(path=path, text=text, hint=having[0][1] if is_standard else f'Leave "{name}" out')


def known_elsewhere(model: type[Case]) -> tuple[str, ...]:
    """Field names of the other modes."""
    from runner.cases.conversations import ConversationCase, DynamicCase, GradedCase, MultiTurnCase

    models = (MultiTurnCase, DynamicCase, ConversationCase, GradedCase)
    return tuple(dict.fromkeys(name for kind in models if kind is not model for name in known_fields(kind)))
