"""Turns what pydantic says about a case into sentences about the file.

Where a field takes one of several shapes, pydantic reports why each of them does not fit, with the name of the shape in
the path. What counts is the shape that the value has: complaints about the others are dropped, and only when none is
left the value is said to have a wrong shape.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from runner.cases.entries import Path
from runner.cases.fields import model_at, parts_of
from runner.errors import did_you_mean

_SHAPES = {
    "string_type": "a string",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
}
"""pydantic's complaint about a shape → the shape it wanted."""
_KINDS = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}


class Finding(NamedTuple):
    """Something wrong within a case."""

    path: Path
    text: str
    hint: str | None = None
    unknown: bool = False
    """It is a field that does not exist."""


class _Complaint(NamedTuple):
    path: Path
    type: str
    misfit: bool
    """It says that the value has another shape."""


def explain(error: ValidationError, value: dict[str, Any]) -> list[Finding]:
    """What is wrong with the value of a case, in pydantic's order."""
    complaints = [_complaint(item["loc"], item["type"], value) for item in error.errors(include_url=False)]
    findings: dict[tuple[Path, str], Finding] = {}
    for complaint in complaints:
        if complaint.misfit and any(_counts_more(other, complaint) for other in complaints):
            continue
        key = (complaint.path, "" if complaint.misfit else complaint.type)
        if key not in findings:
            wanted = [_SHAPES.get(c.type, "a string") for c in complaints if c.misfit and c.path == complaint.path]
            findings[key] = _finding(complaint, value, list(dict.fromkeys(wanted)))
    return list(findings.values())


def _counts_more(other: _Complaint, than: _Complaint) -> bool:
    """Whether the other is about the shape that the value has."""
    inside = other.path[: len(than.path)] == than.path
    return inside and (not other.misfit or len(other.path) > len(than.path))


def _complaint(location: tuple[int | str, ...], kind: str, value: Any) -> _Complaint:
    path: list[str | int] = []
    here = value
    for index, part in enumerate(location):
        if (isinstance(here, dict) and part in here) or (isinstance(here, list) and isinstance(part, int)):
            here = at(here, (part,))
            path.append(part)
        elif kind == "missing" and index == len(location) - 1:
            path.append(part)
    misfit = kind in _SHAPES or (kind == "literal_error" and not isinstance(here, str))
    return _Complaint(tuple(path), kind, misfit)


def _finding(complaint: _Complaint, value: dict[str, Any], wanted: list[str]) -> Finding:
    path, kind, _ = complaint
    model = model_at(path[:-1])
    name = str(path[-1]) if path else ""
    actual = at(value, path)
    if complaint.misfit:
        shapes = " or ".join([", ".join(wanted[:-1]), wanted[-1]]) if len(wanted) > 1 else wanted[0]
        return Finding(path, f"{written(path)} must be {shapes}, not {_KINDS.get(type(actual), 'null')}")
    if kind == "extra_forbidden":
        if path == ("assertions",) and "assert" in value:
            return Finding(path, '"assert" and "assertions" are the same field', "Keep one of them")
        known = tuple(parts_of(model)) if model else ()
        hint = _closest(name, known) or f"It takes {', '.join(known)}, and any field that starts with x-"
        return Finding(path, f'unknown field "{name}"{_inside(path[:-1])}', hint, True)
    if kind == "missing":
        return Finding(path, f'"{name}" is missing{_inside(path[:-1])}')
    if kind == "literal_error":
        owner = model_at(path) or model
        field = "type" if isinstance(path[-1], int) or name in ("assert", "assertions") else name
        known = _choices(owner, field)
        hint = _closest(str(actual), known) or f"It is one of {', '.join(known)}"
        return Finding(path, f'unknown {owner.__name__.lower() if owner else ""} {field} "{actual}"', hint)
    if kind == "string_pattern_mismatch":
        return Finding(path, f"{written(path)} must not be empty")
    return Finding(path, f"{written(path)}: {kind.replace('_', ' ')}")


def at(value: Any, path: Path) -> Any:
    """What is at the path of a value; None when there is nothing."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def written(path: Path) -> str:
    """A path as people write it: `"assert[0].type"`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f'"{text[1:]}"'


@lru_cache(maxsize=256)
def _closest(name: str, known: tuple[str, ...]) -> str | None:
    """A mistake in a large file is often in each of its lines."""
    return did_you_mean(name, known)


def _inside(path: Path) -> str:
    return f" in {written(path)}" if path else ""


def _choices(model: Any, field: str) -> tuple[str, ...]:
    annotation = model.model_fields[field].annotation
    names = get_args(annotation)
    return tuple(name for inner in (names, *map(get_args, names)) for name in inner if isinstance(name, str))
