"""What the fields of an entry say about its mode: each condition in Python, and as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GRADING = ("rubrics", "threshold", "criteria", "grader")
"""Fields that make a standard case a graded one, and any other case a conversation."""
RUBRICS = "rubrics"
CONVERSATION_MODE = '"mode": "conversation"'
GIVEN = {"not": {"type": "null"}}


def gives(entry: Mapping[str, Any], *names: str) -> bool:
    """Whether one of the fields is given, and not null."""
    return any(entry.get(name) is not None for name in names)


def has_graders(entry: Any) -> bool:
    """Whether the assertions of a case, or of a turn, have a criterion in words, or a weight."""
    if not isinstance(entry, Mapping):
        return False
    checks = next((entry[name] for name in ("assert", "assertions") if entry.get(name) is not None), ())
    return any(map(_is_grader, checks if isinstance(checks, list) else [checks]))


def _is_grader(check: Any) -> bool:
    """Whether an assertion is a criterion in words, or has a weight."""
    if isinstance(check, str):
        return " " in check.strip()
    return isinstance(check, dict) and (check.get("type") == RUBRICS or gives(check, "weight", "required"))


def has(field: str, rule: dict[str, Any] | None = None) -> dict[str, Any]:
    """A schema of objects with a field, to which a rule applies."""
    return {"required": [field], **({"properties": {field: rule}} if rule else {})}


def given(*names: str) -> list[dict[str, Any]]:
    """Schemas for `gives`, of which one must hold."""
    return [has(name, GIVEN) for name in names]


def graded() -> list[dict[str, Any]]:
    """Schemas for `has_graders`, of which one must hold."""
    return [_graded_by("assert"), _graded_by("assertions")]


def _graded_by(name: str) -> dict[str, Any]:
    grader = {
        "anyOf": [
            {"type": "string", "pattern": r"\S\s+\S"},
            {"type": "object", **has("type", {"const": RUBRICS})},
            *({"type": "object", **has(field, GIVEN)} for field in ("weight", "required")),
        ]
    }
    return has(name, {"anyOf": [grader, {"type": "array", "contains": grader}]})
