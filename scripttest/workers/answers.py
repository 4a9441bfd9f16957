"""Checks what a worker sends before it is used, because a script may have taken its process over.

`check` knows the form of each frame, the other functions that of the JSON in them. All raise ValueError, which ends the
worker.
"""

from __future__ import annotations

import json
from functools import partial
from math import isfinite
from typing import Any

from scripttest.results import LogLine, MockedCalls

LEVELS = frozenset(("trace", "debug", "info", "warn", "error"))
"""Levels of captured lines."""
LONGEST_NUMBER = 9
"""At most this many digits in an index or in the number of a question."""
DEEPEST = 100
"""Greatest depth of nested subtests, and of the details of an error."""
_COUNTS = {
    "broken": (1,),
    "start": (0, 1),
    "log": (2,),
    "failed": (2,),
    "call": (4,),
    "backed": (3,),
    "library": (2,),
    "result": (3,),
}
_COUNTS["returned"] = (1,)
"""Kind of frame → how many parts it may have. `tests` has pairs."""
_NUMBERED = ("call", "backed", "library", "start")
"""Kinds of frames whose first part is a number."""
_TEXTS = ("stack", "origin", "phase", "type", "reason", "expected_text", "actual_text", "diff")
"""Fields of a failure that are text or absent."""


def check(kind: str, parts: list[str]) -> None:
    """Raises ValueError for a frame that no worker sends."""
    if kind == "tests":
        if len(parts) % 2:
            raise ValueError("a list of tests that are no pairs")
        return
    if len(parts) not in _COUNTS.get(kind, ()):
        raise ValueError(f"unexpected {kind} with {len(parts)} parts")
    if kind == "result":
        _index(kind, parts[0])
        if parts[2]:
            _index(kind, parts[2])
    elif kind in _NUMBERED and parts:
        _index(kind, parts[0])


def _index(kind: str, text: str) -> None:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise ValueError(f"a number of another form in {kind}")


def log_line(parts: list[str]) -> LogLine:
    """A captured line."""
    level, text = parts[0], _value(parts[1])
    if level not in LEVELS or not isinstance(text, str):
        raise ValueError("a line that is not a text")
    return LogLine(level=level, text=text)


def outcome_of(text: str) -> dict[str, Any]:
    """The checked record of an outcome, as `bindings/src/check/record.ts` writes it."""
    return _outcome(_value(text), 0)


def mocked_of(record: dict[str, Any]) -> tuple[MockedCalls, ...]:
    """The calls in a checked record that mocks have answered."""
    return tuple([MockedCalls(name=name, count=count) for name, count in record.get("mocked") or ()])


def failure_of(text: str) -> dict[str, Any]:
    """The checked record of one failure."""
    return _failure(_value(text))


def returned_of(text: str) -> dict[str, Any]:
    """What a function came to: `ok` and `sent`; `missing`; or `error` with `message`, `stack` and `code`. With
    `unloaded` the error is that of loading the script. `world` is what it tells of its world, if it does."""
    record = _object(_value(text))
    _text_or_nothing(record, "world")
    _calls(record)
    if "ok" in record:
        if not isinstance(record.get("sent") or [], list):
            raise ValueError("sent messages that are no list")
        return record
    if record.get("missing"):
        return {"missing": True}
    unloaded = "unloaded" in record
    error = _object(record["error"]) if "error" in record else _first(_outcome(record.get("unloaded", record), 0))
    _text(error, "message")
    _text_or_nothing(error, "stack")
    code = error.get("code")
    if code is not None and (isinstance(code, bool) or not isinstance(code, int | float)):
        raise ValueError("a code that is not a number")
    answer = {name: record[name] for name in ("world", "mocked") if name in record} | {"error": error}
    return {**answer, "unloaded": True} if unloaded else answer


def _first(outcome: dict[str, Any]) -> dict[str, Any]:
    if not outcome.get("failures"):
        raise ValueError("an answer without a reason")
    failure: dict[str, Any] = outcome["failures"][0]
    return failure


def _outcome(value: Any, depth: int) -> dict[str, Any]:
    record = _object(value)
    if record.get("status") not in ("passed", "failed", "skipped") or depth > DEEPEST:
        raise ValueError("an outcome of another kind")
    milliseconds = record.get("duration_ms", 0)
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or milliseconds < 0:
        raise ValueError("a duration of another kind")
    _calls(record)
    for name in ("assertions", "not_judged"):
        _count(record, name)
    _text_or_nothing(record, "skip_reason")
    for failure in _list(record, "failures"):
        _failure(failure)
    for step in _list(record, "steps"):
        _text(_outcome(step, depth + 1), "name")
    for warning in _list(record, "warnings"):
        _text(_object(warning), "kind")
        _text(warning, "message")
        _text_or_nothing(warning, "stack")
    for inlined in _list(record, "inlined"):
        _text(_object(inlined), "text")
        _text_or_nothing(inlined, "stack")
        _text_or_nothing(inlined, "given")
    if record["status"] == "failed" and not record.get("failures") and not record.get("steps"):
        raise ValueError("an outcome that failed for no reason")
    return record


def _failure(value: Any) -> dict[str, Any]:
    record = _object(value)
    _text(record, "kind")
    _text(record, "message")
    for name in _TEXTS:
        _text_or_nothing(record, name)
    for detail in _list(record, "details"):
        _text(_object(detail), "text")
        _text_or_nothing(detail, "stack")
        if _count(detail, "depth") > DEEPEST:
            raise ValueError("details of another kind")
    return record


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("a record that is not an object")
    return value


def _text(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise ValueError(f"a record whose {name} is not a text")
    return value


def _text_or_nothing(record: dict[str, Any], name: str) -> None:
    if record.get(name) is not None:
        _text(record, name)


def _count(record: dict[str, Any], name: str) -> int:
    value = record.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"a record whose {name} is not a count")
    return value


def _calls(record: dict[str, Any]) -> None:
    """`mocked`: pairs of the name of a call and how often a mock answered it."""
    for pair in _list(record, "mocked"):
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int):
            raise ValueError("calls of another kind")


def _list(record: dict[str, Any], name: str) -> list[Any]:
    value = record.get(name, [])
    if not isinstance(value, list):
        raise ValueError(f"a record whose {name} is not a list")
    return value


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("a number without an end")
    return number


def _constant(name: str) -> None:
    raise ValueError(f"{name}, which is not JSON")


_value = partial(json.JSONDecoder.decode, json.JSONDecoder(parse_float=_number, parse_constant=_constant))
"""The value of a JSON text."""
