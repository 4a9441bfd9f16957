"""Whether a file has the form of a recording, for people who edit one: the first thing that is wrong, in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from runner.connectors.base import Completion, ToolCall

_TEXTS = ("model", "id", "reasoning", "refusal", "input_hint")
_READ = {*Completion.__annotations__, "chunks", "content_lines", "reasoning_lines"}
"""The fields of an answer."""


def form_problem(value: dict[str, Any]) -> str | None:
    """What is wrong with the content of a file, and where; None when it is a recording."""
    for where, problem in _problems(value):
        return f"{where} does not have the form of a recording: {problem}"
    return None


def _problems(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    whole = "the recording"
    for name in ("calls", "suite", "case", "time"):
        if name not in value:
            yield whole, f"'{name}' is missing"
    yield from ((whole, problem) for problem in _not_texts(value, ("suite", "case", "time"), ("zone",)))
    if problem := _time_problem(value["time"]):
        yield whole, problem
    if not isinstance(value["calls"], list):
        yield whole, "calls is not a list"
    for number, call in enumerate(value["calls"], 1):
        yield from ((f"call {number}", problem) for problem in _of_call(call))


def _time_problem(text: str) -> str | None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return f'time is "{text}", not one such as 2025-01-31T10:00:00+01:00'
    return None


def _of_call(call: Any) -> Iterator[str]:
    if not isinstance(call, dict):
        yield "it is not an object"
        return
    for name in ("completion", "request"):
        if name not in call:
            yield f"'{name}' is missing"
        elif not isinstance(call[name], dict):
            yield f"{name} is not an object"
    yield from _of_request(call["request"])
    yield from _of_completion(call["completion"])


def _of_request(request: dict[str, Any]) -> Iterator[str]:
    messages: Any = request.get("messages")
    if not _is_objects(messages):
        yield "messages is not a list of objects"
        return
    yield from _not_texts(request, (), ("connector", "model", "agent"))
    if not _is_objects(request.get("tools") or []):
        yield "tools is not a list of objects"
    if not isinstance(request.get("parameters") or {}, dict):
        yield "parameters is not an object"
    yield from _not_lines(messages, "content_lines")
    for message in messages:
        calls = message.get("tool_calls") or []
        if not _is_objects(calls) or not all(isinstance(call.get("function", {}), dict) for call in calls):
            yield "tool_calls of a message is not a list of calls"
        parts = message.get("content")
        yield from _not_lines(parts if isinstance(parts, list) else [], "text_lines")


def _of_completion(answer: dict[str, Any]) -> Iterator[str]:
    if unknown := sorted(answer.keys() - _READ):
        yield f"completion has unknown fields: {', '.join(unknown)}"
    yield from _not_texts(answer, ("content",), _TEXTS)
    yield from _not_lines([answer], "content_lines", "reasoning_lines")
    if not isinstance(answer.get("awaiting_input"), bool | None):
        yield "awaiting_input is neither true nor false"
    if not isinstance(answer.get("warnings", []), list):
        yield "warnings is not a list"
    chunks = answer.get("chunks")
    if not isinstance(chunks, list | None) and not all(length.isdecimal() for length in str(chunks).split() or ["-"]):
        yield "chunks is neither a list of texts nor their lengths"
    calls = answer.get("tool_calls", [])
    if not _is_objects(calls):
        yield "tool_calls is not a list of objects"
        return
    yield from _not_lines(calls, "arguments_lines")
    for call in calls:
        named = {name.removesuffix("_lines") if name == "arguments_lines" else name for name in call}
        if odd := sorted(named ^ ToolCall.__annotations__.keys()):
            yield f"a call of a tool has missing or unknown fields: {', '.join(odd)}"
        yield from _not_texts(call, ("id", "name", "arguments"))


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _not_texts(value: dict[str, Any], names: tuple[str, ...], may_be_null: tuple[str, ...] = ()) -> Iterator[str]:
    for name in (*names, *may_be_null):
        if not isinstance(value.get(name, ""), str) and (value[name] is not None or name in names):
            yield f"{name} is not a text"


def _not_lines(values: list[Any], *names: str) -> Iterator[str]:
    for value in values:
        for name in names:
            lines = value.get(name, []) if isinstance(value, dict) else []
            if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
                yield f"{name} is not a list of texts"
