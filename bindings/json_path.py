"""JSONPath for `t.assert.JSONPath` and the `json_path` assertion. Only this module imports the library jsonpath-ng.

Plain paths (names, indexes and quoted names, with or without `$` at the beginning) are evaluated here, without the
library: `$.a.b[0].c`, `a.b`, `user-name`, `items[-1]` (from the end), `$["a b"]`, `items.0`. All other paths (`..`,
`*`, slices, unions, filters) are evaluated by jsonpath-ng, with limits on memory and time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scripttest.typing_names import Json

MAX_PATH = 2000
"""Longest path, in characters."""
MAX_WORK = 300_000
"""Most values that a path may have to look at, as estimated beforehand."""

_STEP = re.compile(
    r"""
    (?: \.? \[ \s* (?: (?P<index> -?\d{1,15} ) | '(?P<single> [^'\\]* )' | "(?P<double> [^"\\]* )" ) \s* \]
      | \. (?P<name> [^\s.\[\]()'"`*?@$,:|&!=<>~+/\\]+ )
    )
    """,
    re.VERBOSE,
)


class JsonPathError(ValueError):
    """A path that cannot be read, or that is too much work for the value."""

    def __init__(self, path: str, reason: str) -> None:
        shown = path if len(path) <= 200 else path[:200] + "..."
        super().__init__(f"Cannot use JSONPath `{shown}`: {reason}")
        self.path = path
        self.reason = reason


def find(value: Json, path: str) -> list[Json]:
    """All values that a path matches, in document order; none if it matches nothing. Raises JsonPathError: the path
    is not a JSONPath, or takes too much work for this value."""
    steps = _plain_steps(path)
    return [match.value for match in _matches_of(value, path)] if steps is None else _follow(value, steps)


def places(value: Json, path: str) -> list[list[str | int]]:
    """The places of all values that a path matches, each as the keys and indexes on the way to it. Raises
    JsonPathError: as `find` does."""
    steps = _plain_steps(path)
    if steps is None:
        return [_place(match) for match in _matches_of(value, path)]
    place: list[str | int] = []
    for step in steps:
        found = _follow(value, [step])
        if not found:
            return []
        place.append(int(step) % len(value) if isinstance(value, list) else str(step))
        value = found[0]
    return [place]


def _place(match: Any) -> list[str | int]:
    """The keys and indexes on the way to a match of the library."""
    place: list[str | int] = []
    while match.context is not None:
        path = match.path
        place += path.fields if hasattr(path, "fields") else path.indices if hasattr(path, "indices") else []
        match = match.context
    return place[::-1]


def _plain_steps(path: str) -> list[str | int] | None:
    """Names and indexes of a plain path; None when it is not one. Raises JsonPathError when it is too long."""
    if len(path) > MAX_PATH:
        raise JsonPathError(path, f"it is longer than {MAX_PATH} characters")
    path = path.strip()
    if path == "$":
        return []
    if path.startswith("$"):
        path = path[1:]
    elif path and path[0] not in ".[":
        path = "." + path
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return None
        kind = match.lastgroup or ""
        steps.append(int(match[kind]) if kind == "index" else match[kind])
        at = match.end()
    return steps or None


def _follow(value: Json, steps: list[str | int]) -> list[Json]:
    for step in steps:
        if isinstance(value, list):
            if isinstance(step, str):
                if not (step.isascii() and step.isdigit() and len(step) < 16):
                    return []
                step = int(step)
            if not -len(value) <= step < len(value):
                return []
            value = value[step]
        elif isinstance(value, dict) and str(step) in value and isinstance(step, str):
            value = value[step]
        else:
            return []
    return [value]


def _matches_of(value: Json, path: str) -> list[Any]:
    """What the library finds."""
    parse = _library()
    try:
        tree = parse(path)
    except Exception as error:  # the library raises its own errors, and bare ones for bad escapes and functions
        raise JsonPathError(path, _reason(error)) from error
    _check_work(value, path, tree)
    try:
        return list(tree.find(value))
    except RecursionError as error:
        raise JsonPathError(path, "the path or the value is nested too deeply") from error
    except Exception as error:  # comparing or sorting values of different kinds, a pattern that Go refuses
        raise JsonPathError(path, _reason(error)) from error


def _library() -> Any:
    from jsonpath_ng.ext import filter as filters
    from jsonpath_ng.ext.parser import parse

    filters.OPERATOR_MAP["=~"] = _matches  # the library's own backtracks
    return parse


def _matches(text: Any, pattern: Any) -> bool:
    from bindings.patterns import search

    return isinstance(text, str) and search(str(pattern), text)


def _reason(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text[0].lower() + text[1:].rstrip("!.")


def _check_work(value: Json, path: str, tree: Any) -> None:
    """Refuses what costs more than it can be worth: each `..` after the first multiplies the work by the depth."""
    descents, choices = 0, 1
    for node in _nodes(tree):
        kind = type(node).__name__.strip("_")
        if kind in ("Operation", "Sub"):
            raise JsonPathError(path, "arithmetic and sub() are not supported")
        descents += kind == "Descendants"
        choices *= 2 if kind == "Union" else max(len(getattr(node, "fields", ())), len(getattr(node, "indices", ())), 1)
        if choices > MAX_WORK:
            raise JsonPathError(path, "too many alternatives")
    count, depth = _measure(value)
    if descents > 8 or count * choices * depth ** max(descents - 1, 0) > MAX_WORK:
        raise JsonPathError(path, f"too slow for a value with {count} parts")


def _nodes(tree: Any) -> Iterator[Any]:
    """Every node of a parsed path, filters included."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (list, tuple)):
            waiting.extend(node)
        elif type(node).__module__.startswith("jsonpath_ng"):
            yield node
            waiting.extend(vars(node).values())


def _measure(value: Json) -> tuple[int, int]:
    """How many values are in a value, itself included, and how deeply they are nested."""
    count = depth = 0
    level = [value]
    while level:
        count += len(level)
        depth += 1
        level = [
            child
            for item in level
            if isinstance(item, (list, dict))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return count, depth
