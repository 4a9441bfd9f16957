"""Recordings as files: `<folder>/<suite>/<case>.json`, one for each case, with its calls in order.

    {
      "version": 1,
      "suite": "assistants/expense/tests/filing.jsonl",
      "case": "taxi",
      "time": "2025-01-31T10:00:00+01:00",       the time for `$SYS` variables, in the time zone with this name
      "zone": "CET",
      "calls": [
        {
          "repeat": 2,                           the second time of this request; missing the first time
          "request": {"connector", "model", "agent", "parameters", "options", "tools", "messages"},
          "completion": {"content", "chunks", "tool_calls", "finish_reason", "usage", "model", "id", ...}
        }
      ]
    }

A text of several lines is a list of its lines, as in `completions.py`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from runner.answers.completions import as_lines, completion_from, completion_to, from_lines, lengths_of, time_from
from runner.answers.replay import CaseRecording, Described, RecordedCall, RecordingError
from runner.connectors.base import Completion, ToolCall
from runner.security.files import check_target, read_text

VERSION = 1
"""The version of the format."""
SUFFIX = ".json"
_NAME = 80
"""Characters of a file's name that come from the id."""
_STALE = 60.0
"""Seconds after which a file that was not written to its end belongs to nobody: writing takes milliseconds."""
_TEXTS = ("model", "id", "reasoning", "refusal", "input_hint")
_READ = {*Completion.__annotations__, "chunks", "content_lines", "reasoning_lines"}
"""The fields of an answer."""


def folder_of(suite: str, is_message: bool) -> str:
    """The folder of a suite below that of all recordings; that of a message is one, whatever it says."""
    if is_message:
        return _slug(suite)
    return "/".join(_slug(part) for part in suite.split("/") if part) or "@run"


def file_of(case: str, run: int = 1) -> str:
    """The name of the file of a case in the folder of its suite."""
    return _slug(case or "@report") + (f"~{run}" if run > 1 else "") + SUFFIX


def read_recording(path: Path, case: str | None = None) -> CaseRecording | None:
    """The recording in a file; None when there is no such file. Raises RecordingError, also when it is of another case
    than the one that is asked for."""
    try:
        value = json.loads(read_text(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(f"{path}", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(f"{path}", "it is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise _unreadable(f"{path}:{error.lineno}:{error.colno}", error.msg) from error
    except RecursionError as error:
        raise _unreadable(f"{path}", "it is nested too deeply") from error
    version = value.get("version") if isinstance(value, dict) else None
    if version != VERSION:
        said = f"it has format version {json.dumps(version)}" if version else "it is not a recording"
        raise _unreadable(f"{path}", f"{said}; this yao-test reads version {VERSION}")
    if case is not None and value.get("case") != case:
        raise _unreadable(f"{path}", f"it belongs to the case {json.dumps(value.get('case'), ensure_ascii=False)}")
    if problem := _form_problem(value):
        raise _unreadable(f"{path}", problem)
    calls = []
    for number, call in enumerate(value["calls"], 1):
        try:
            calls.append(_call_from(call))
        except ValueError as error:
            raise _unreadable(f"{path}", f"call {number} is not a valid recording: {error}") from error
    return CaseRecording(suite=value["suite"], case=value["case"], time=time_from(value), calls=calls)


def write_recording(path: Path, recording: CaseRecording) -> None:
    """Writes a file whole: at every moment there is the old one or the new one. Raises OSError."""
    seen: dict[str, int] = {}
    calls = []
    for call in recording.calls:
        request = json.dumps(call.request, sort_keys=True, default=str)
        seen[request] = seen.get(request, 0) + 1
        repeat = {"repeat": seen[request]} if seen[request] > 1 else {}
        calls.append({**repeat, "request": _request_to(call.request), "completion": _completion_to(call)})
    content = {
        "version": VERSION,
        "suite": recording.suite,
        "case": recording.case,
        "time": recording.time.isoformat(timespec="seconds"),
        "zone": recording.time.tzname(),
        "calls": calls,
    }
    try:
        data = json.dumps(content, ensure_ascii=False, indent=2, default=str).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot have
        data = json.dumps(content, indent=2, default=str).encode()
    check_target(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        temporary.write_bytes(data + b"\n")
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sweep(folder: Path, now: float) -> None:
    """Removes what runs that were killed left half written; `now` in seconds since the epoch."""
    for path in folder.glob(".*.tmp"):
        try:
            if now - path.stat().st_mtime > _STALE:
                path.unlink()
        except OSError:
            continue


def _slug(id: str) -> str:
    safe = re.sub(r"[^\w.@=+-]+", "-", id, flags=re.ASCII).lstrip(".")[:_NAME]
    if safe == id:
        return id
    from hashlib import sha256

    return f"{safe.strip('-.') or 'x'}-{sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _unreadable(where: str, why: str) -> RecordingError:
    return RecordingError(f"Cannot read recording {where}: {why}", "Record it again with --record, or remove the file")


def _completion_to(call: RecordedCall) -> dict[str, Any]:
    return completion_to(call.completion, lengths_of(call.chunks, call.completion.content))


def _request_to(request: Described) -> Described:
    return {**request, "messages": [as_lines(_message_to(message), "content") for message in request["messages"]]}


def _message_to(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    return {**message, "content": [as_lines(part, "text") if isinstance(part, dict) else part for part in content]}


def _request_from(value: Mapping[str, Any]) -> Described:
    messages = []
    for message in value["messages"]:
        message = from_lines(message, "content")
        content = message.get("content")
        if isinstance(content, list):
            message["content"] = [from_lines(part, "text") if isinstance(part, dict) else part for part in content]
        messages.append(message)
    return {**value, "messages": messages}


def _call_from(value: Mapping[str, Any]) -> RecordedCall:
    answer, request = value["completion"], _request_from(value["request"])
    completion, chunks = completion_from(answer)
    return RecordedCall(request=request, completion=completion, chunks=chunks)


# whether a file has the form of a recording, for people who edit one


def _form_problem(value: dict[str, Any]) -> str | None:
    """What is wrong with the content of a file, and where; None when it is a recording."""
    for where, problem in _problems(value):
        return f"{where} is not a valid recording: {problem}"
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
    for name in ("parameters", "options"):
        if not isinstance(request.get(name) or {}, dict):
            yield f"{name} is not an object"
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
        yield "chunks is neither a list of strings nor their lengths"
    calls = answer.get("tool_calls", [])
    if not _is_objects(calls):
        yield "tool_calls is not a list of objects"
        return
    yield from _not_lines(calls, "arguments_lines")
    for call in calls:
        named = {name.removesuffix("_lines") if name == "arguments_lines" else name for name in call}
        if odd := sorted(named ^ ToolCall.__annotations__.keys()):
            yield f"a tool call has missing or unknown fields: {', '.join(odd)}"
        yield from _not_texts(call, ("id", "name", "arguments"))


def _is_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _not_texts(value: dict[str, Any], names: tuple[str, ...], may_be_null: tuple[str, ...] = ()) -> Iterator[str]:
    for name in (*names, *may_be_null):
        if not isinstance(value.get(name, ""), str) and (value[name] is not None or name in names):
            yield f"{name} is not a string"


def _not_lines(values: list[Any], *names: str) -> Iterator[str]:
    for value in values:
        for name in names:
            lines = value.get(name, []) if isinstance(value, dict) else []
            if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
                yield f"{name} is not a list of strings"
