"""How JSON values are compared by assertions: equality, kinds, texts, parts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from runner.assertions.base import CutAnswer, NotEvaluated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assertions.base import Evidence

KINDS = ("string", "number", "boolean", "array", "object", "null")
REGEX = "regex:"
"""Start of an expected text that is a pattern."""

_MOST_KEPT = 1_000_000
"""Longest text whose JSON is kept for the next assertion, in characters."""


def equal(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same: 1 is 1.0, a boolean is never a number, the order of keys is free."""
    return first == second and _alike(first, second)


def _alike(first: Any, second: Any) -> bool:
    """Whether values that Python finds equal have booleans in the same places."""
    if isinstance(first, dict):
        return all(_alike(item, second[key]) for key, item in first.items())
    if isinstance(first, list):
        return all(map(_alike, first, second))
    return isinstance(first, bool) == isinstance(second, bool)


def kind_of(value: Any) -> str:
    """One of `KINDS`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"


def text_of(value: Any) -> str:
    """A string as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_of(text: str, *, yaml: bool = True) -> Any:
    """The JSON value in a text (`runner.reading.json_in_text.extract_json`), or None."""
    return (_kept if len(text) <= _MOST_KEPT else _extract)(text, yaml)


def json_in(evidence: Evidence, *, yaml: bool = True) -> Any:
    """The JSON value that an output is or holds, or None. An output that is not whole holds one only if all of its text
    is JSON: raises CutAnswer otherwise."""
    output = evidence.output
    if not isinstance(output, str) or not evidence.cut:
        return json_of(output, yaml=yaml) if isinstance(output, str) else output
    from bindings.processes.formats import decode_json
    from runner.reading.thinking import behind_thinking

    try:
        return decode_json(behind_thinking(output))
    except (ValueError, RecursionError) as error:
        raise CutAnswer(f"the answer was {evidence.cut}") from error


def _extract(text: str, yaml: bool) -> Any:
    from runner.reading.json_in_text import extract_json

    return extract_json(text, yaml=yaml)


_kept = lru_cache(maxsize=4)(_extract)


def within(value: Any) -> Iterator[Any]:
    """The value and all values in it, at any depth."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def is_part(expected: Any, actual: Any, *, as_text: bool = False) -> bool:
    """Whether the actual value has what is expected: an object at least these fields, an array these items, anything
    else the same value; `regex:` texts are searched for in the text of the actual value. `as_text`: an expected text
    is also compared with the text of a value that is none. Raises NotEvaluated for a pattern that cannot be used."""
    if isinstance(expected, str):
        if expected == actual or (as_text and not isinstance(actual, str) and expected == text_of(actual)):
            return True
        return expected.startswith(REGEX) and _matches(expected.removeprefix(REGEX), text_of(actual))
    if isinstance(expected, (dict, list)) and isinstance(actual, str):
        actual = json_of(actual, yaml=False)
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and is_part(item, actual[key], as_text=as_text) for key, item in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(is_part(item, found, as_text=as_text) for item, found in zip(expected, actual, strict=True))
        )
    return equal(expected, actual)


def pattern_problem(value: Any) -> str | None:
    """What is wrong with the first `regex:` text in an expected value that cannot be used, or None."""
    from bindings import PatternError, compile

    for item in within(value):
        if isinstance(item, str) and item.startswith(REGEX):
            try:
                compile(item.removeprefix(REGEX))
            except PatternError as error:
                return str(error)
    return None


def _matches(pattern: str, text: str) -> bool:
    from bindings import PatternError, compile

    try:
        return compile(pattern).search(text)
    except PatternError as error:
        raise NotEvaluated(str(error)) from error
