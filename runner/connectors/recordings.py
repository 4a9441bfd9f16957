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
          "request": {"connector", "model", "agent", "parameters", "tools", "messages"},
          "completion": {"content", "chunks", "tool_calls", "finish_reason", "usage", "model", "id", ...}
        }
      ]
    }

A text of several lines is stored as a list of its lines, under a name that ends in `_lines`. `chunks` has the lengths
of the pieces in which the content arrived, or the pieces themselves if together they are not the content.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from runner.connectors.base import Completion, ToolCall, Usage
from runner.connectors.matching import Clean, Described
from runner.connectors.recording_form import form_problem
from runner.connectors.usage import Figures, shown
from runner.costs import cost_in, cost_record
from runner.security.files import check_target, read_text
from scripttest.values import Value, fields_of

VERSION = 1
"""The version of the format."""
SUFFIX = ".json"
_NAME = 80
"""Characters of a file's name that come from the id."""
_STALE = 60.0
"""Seconds after which a file that was not written to its end belongs to nobody: writing takes milliseconds."""


class RecordingError(Exception):
    """A recording cannot be read; the message says where and why."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class RecordedCall(Value):
    """One request and its answer."""

    request: Described
    completion: Completion
    chunks: tuple[str, ...] = ()
    """The pieces in which the content came."""


class CaseRecording(Value):
    """The calls of one case."""

    suite: str
    case: str
    time: datetime
    """The time of the recording, for `$SYS` variables."""
    calls: list[RecordedCall]


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
        said = f"it is in version {json.dumps(version)} of the format" if version else "it is not a recording"
        raise _unreadable(f"{path}", f"{said}; this yao-test reads version {VERSION}")
    if case is not None and value.get("case") != case:
        raise _unreadable(f"{path}", f"it is of the case {json.dumps(value.get('case'), ensure_ascii=False)}")
    if problem := form_problem(value):
        raise _unreadable(f"{path}", problem)
    calls = []
    for number, call in enumerate(value["calls"], 1):
        try:
            calls.append(_call_from(call))
        except ValueError as error:
            raise _unreadable(f"{path}", f"call {number} does not have the form of a recording: {error}") from error
    return CaseRecording(suite=value["suite"], case=value["case"], time=time_from(value), calls=calls)


def write_recording(path: Path, recording: CaseRecording) -> None:
    """Writes a file whole: at every moment there is the old one or the new one. Raises OSError."""
    seen: dict[str, int] = {}
    calls = []
    for call in recording.calls:
        request = json.dumps(call.request, sort_keys=True, default=str)
        seen[request] = seen.get(request, 0) + 1
        repeat = {"repeat": seen[request]} if seen[request] > 1 else {}
        calls.append(
            {**repeat, "request": _request_to(call.request), "completion": completion_to(call.completion, call.chunks)}
        )
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


def cleaned(completion: Completion, chunks: tuple[str, ...], clean: Clean) -> tuple[Completion, tuple[str, ...]]:
    """An answer without secrets. One that stood across pieces makes them one piece."""
    calls = tuple(
        ToolCall(**{name: clean(text) for name, text in fields_of(call).items()}) for call in completion.tool_calls
    )
    texts: dict[str, Any] = {}
    for key in ("content", "reasoning", "refusal", "input_hint", "model", "id"):
        if getattr(completion, key):
            texts[key] = clean(getattr(completion, key))
    whole = "".join(chunks)
    if clean(whole) != whole:
        chunks = (clean(whole),)
    return completion.replace(tool_calls=calls, **texts), chunks


def _slug(id: str) -> str:
    safe = re.sub(r"[^\w.@=+-]+", "-", id, flags=re.ASCII).lstrip(".")[:_NAME]
    if safe == id:
        return id
    from hashlib import sha256

    return f"{safe.strip('-.') or 'x'}-{sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _unreadable(where: str, why: str) -> RecordingError:
    return RecordingError(f"Cannot read recording {where}: {why}", "Record it again with --record, or remove the file")


def _lines(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The record with texts of several lines as lists, in their places."""
    changed: dict[str, Any] = {}
    for key, value in record.items():
        if key in keys and isinstance(value, str) and "\n" in value:
            changed[f"{key}_lines"] = value.split("\n")
        else:
            changed[key] = value
    return changed


def _unlined(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    names = {f"{key}_lines": key for key in keys}
    return {names.get(key, key): "\n".join(value) if key in names else value for key, value in record.items()}


def _request_to(request: Described) -> Described:
    return {**request, "messages": [_lines(_message_to(message), "content") for message in request["messages"]]}


def _message_to(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    return {**message, "content": [_lines(part, "text") if isinstance(part, dict) else part for part in content]}


def _request_from(value: Mapping[str, Any]) -> Described:
    messages = []
    for message in value["messages"]:
        message = _unlined(message, "content")
        content = message.get("content")
        if isinstance(content, list):
            message["content"] = [_unlined(part, "text") if isinstance(part, dict) else part for part in content]
        messages.append(message)
    return {**value, "messages": messages}


def completion_to(completion: Completion, chunks: tuple[str, ...]) -> dict[str, Any]:
    """An answer, and the pieces in which its text arrived, in the form of a file."""
    record: dict[str, Any] = {"content": completion.content}
    if chunks != _pieces(completion.content, None):
        fits = bool(chunks) and "".join(chunks) == completion.content
        record["chunks"] = " ".join(str(len(chunk)) for chunk in chunks) if fits else list(chunks)
    if completion.tool_calls:
        record["tool_calls"] = [_lines(fields_of(call), "arguments") for call in completion.tool_calls]
    if completion.finish_reason:
        record["finish_reason"] = completion.finish_reason
    record["usage"] = _usage_to(completion.usage)
    for key in ("model", "id", "reasoning", "refusal", "awaiting_input", "input_hint"):
        value = getattr(completion, key)
        if value not in ("", None):
            record[key] = value
    if completion.warnings:
        record["warnings"] = list(completion.warnings)
    return _lines(record, "content", "reasoning")


def time_from(value: Mapping[str, Any]) -> datetime:
    """The `time` of a file, in the `zone` that it names."""
    time = datetime.fromisoformat(value["time"])
    offset, name = time.utcoffset(), value.get("zone")
    return time if offset is None or not name else time.replace(tzinfo=timezone(offset, str(name)))


def _call_from(value: Mapping[str, Any]) -> RecordedCall:
    answer, request = value["completion"], _request_from(value["request"])
    completion, chunks = completion_from(answer)
    return RecordedCall(request=request, completion=completion, chunks=chunks)


def completion_from(value: Mapping[str, Any]) -> tuple[Completion, tuple[str, ...]]:
    """The answer that `completion_to` has written, and its pieces. Raises AttributeError, IndexError, KeyError,
    TypeError or ValueError when it is none."""
    record = _unlined(value, "content", "reasoning")
    chunks = record.pop("chunks", None)
    calls = (ToolCall(**_unlined(call, "arguments")) for call in record.pop("tool_calls", ()))
    said = tuple(str(warning) for warning in record.pop("warnings", ()))
    usage, odd = _usage_from(record.pop("usage", None))
    reason = record.get("finish_reason", "")
    if not isinstance(reason, str):
        odd = (*odd, f"The recording gives a finish_reason that is not a text: {shown(reason)}")
        record["finish_reason"] = ""
    completion = Completion(**record, tool_calls=tuple(calls), usage=usage, warnings=(*said, *odd))
    if not isinstance(completion.content, str):
        raise TypeError("content is not a text")
    if "content" not in record and not completion.tool_calls and not completion.refusal:
        raise ValueError("the completion has no content, no refusal and no call of a tool")
    return completion, _pieces(completion.content, chunks)


def _usage_to(usage: Usage) -> dict[str, Any]:
    """Without tokens that are not known."""
    if usage.unknown:
        return cost_record(usage.cost)
    tokens = {key: value for key, value in fields_of(usage).items() if key not in ("unknown", "cost")}
    kept = {key: value for key, value in tokens.items() if value or not key.startswith("written")}
    return {**kept, **cost_record(usage.cost)}


def _usage_from(said: Any) -> tuple[Usage, tuple[str, ...]]:
    """The tokens and cost of a recorded call, and warnings about them."""
    figures = Figures(said)
    usage = figures.usage(
        figures.count("input_tokens"),
        figures.count("output_tokens"),
        figures.count("cached_tokens"),
        cost_in({**(said if isinstance(said, dict) else {}), "cost": figures.amount("cost")}),
        written=figures.count("written_tokens"),
        for_an_hour=figures.count("written_for_an_hour"),
    )
    return usage, tuple(f"The recording {warning}" for warning in figures.warnings)


def _pieces(content: str, chunks: Any) -> tuple[str, ...]:
    """The pieces of a content; of one that was edited since, all that the last one has to be."""
    if isinstance(chunks, list):
        return tuple(str(chunk) for chunk in chunks)
    if chunks is None:
        return (content,) if content else ()
    pieces, start = [], 0
    *lengths, _ = [int(length) for length in str(chunks).split()]
    for length in lengths:
        pieces.append(content[start : start + length])
        start += length
    return tuple(piece for piece in (*pieces, content[start:]) if piece)
