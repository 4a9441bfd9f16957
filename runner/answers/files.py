"""Kept answers of models as JSON, and recordings as files: `<folder>/<suite>/<case>.json`, one for each case, with
its calls in order.

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

An answer has the same form in the journal of a run. A text of several lines is stored as a list of its lines, under a
name that ends in `_lines`. `chunks` has the lengths of the pieces in which the content arrived, or the pieces
themselves if together they are not the content."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

from runner.amounts import cost_in, cost_record
from runner.answers.replay import CaseRecording, Clean, Described, RecordedCall, RecordingError
from runner.connectors.base import Completion, ToolCall, Usage
from runner.connectors.usage import UsageReader, short_json
from runner.security.files import read_text, write_whole
from scripttest.values import fields_of, names_of


class JournalFile(Protocol):
    """A file to which lines are added."""

    def replace(self, lines: Iterable[str]) -> None:
        """Replaces all of its lines. Raises OSError."""

    def write(self, line: str) -> None:
        """Writes a line. Raises OSError."""

    def close(self) -> None:
        """Waits until the disk has it. Raises OSError."""


def cleaned(completion: Completion, chunks: tuple[str, ...], clean: Clean) -> tuple[Completion, tuple[str, ...]]:
    """An answer without secrets. One that stood across pieces makes them one piece."""
    changed: dict[str, Any] = {}
    if completion.tool_calls:
        calls = map(fields_of, completion.tool_calls)
        changed["tool_calls"] = tuple(ToolCall(**{name: clean(text) for name, text in one.items()}) for one in calls)
    for key in ("content", "reasoning", "returned", "refusal", "input_hint", "model", "id"):
        text = getattr(completion, key)
        if text and (found := clean(text)) != text:  # else it stays the same text, and not a copy
            changed[key] = found
    whole = "".join(chunks)
    if whole != completion.content or "content" in changed:
        cleared = clean(whole)
        chunks = chunks if cleared == whole else (cleared,)
    return completion.replace(**changed) if changed else completion, chunks


def completion_to(completion: Completion, chunks: tuple[str, ...]) -> dict[str, Any]:
    """An answer in the form of a file; `chunks` are the pieces in which its content arrived."""
    record: dict[str, Any] = {"content": completion.content}
    if chunks != pieces_of(completion.content, None):
        fits = bool(chunks) and "".join(chunks) == completion.content
        record["chunks"] = " ".join(str(len(chunk)) for chunk in chunks) if fits else list(chunks)
    if completion.tool_calls:
        record["tool_calls"] = [as_lines(_call_to(call), "arguments") for call in completion.tool_calls]
    if completion.finish_reason:
        record["finish_reason"] = completion.finish_reason
    record["usage"] = _usage_to(completion.usage)
    for key in ("model", "id", "reasoning", "returned", "refusal", "awaiting_input", "input_hint"):
        value = getattr(completion, key)
        if value not in ("", None):
            record[key] = value
    if completion.warnings:
        record["warnings"] = list(completion.warnings)
    return as_lines(record, "content", "reasoning")


def time_from(value: Mapping[str, Any]) -> datetime:
    """The `time` of a file, in the `zone` that it names."""
    time = datetime.fromisoformat(value["time"])
    offset, name = time.utcoffset(), value.get("zone")
    return time if offset is None or not name else time.replace(tzinfo=timezone(offset, str(name)))


def completion_from(value: Mapping[str, Any]) -> tuple[Completion, tuple[str, ...]]:
    """The answer that `completion_to` has written, and its pieces. Raises AttributeError, IndexError, KeyError,
    TypeError or ValueError when it is none."""
    record = from_lines(value, "content", "reasoning")
    chunks = record.pop("chunks", None)
    calls = (ToolCall(**from_lines(call, "arguments")) for call in record.pop("tool_calls", ()))
    said = tuple(str(warning) for warning in record.pop("warnings", ()))
    usage, odd = _usage_from(record.pop("usage", None))
    reason = record.get("finish_reason", "")
    if not isinstance(reason, str):
        odd = (*odd, f"The recording has a finish_reason that is not a string: {short_json(reason)}")
        record["finish_reason"] = ""
    completion = Completion(**record, tool_calls=tuple(calls), usage=usage, warnings=(*said, *odd))
    if not isinstance(completion.content, str):
        raise TypeError("content is not a string")
    if "content" not in record and not completion.tool_calls and not completion.refusal:
        raise ValueError("the completion has no content, no refusal and no tool call")
    return completion, pieces_of(completion.content, chunks)


def _usage_to(usage: Usage) -> dict[str, Any]:
    """Without tokens that are not known."""
    if usage.unknown:
        return cost_record(usage.cost)
    tokens = {key: value for key, value in fields_of(usage).items() if key not in ("unknown", "cost")}
    kept = {key: value for key, value in tokens.items() if value or not key.startswith("written")}
    return {**kept, **cost_record(usage.cost)}


def _usage_from(said: Any) -> tuple[Usage, tuple[str, ...]]:
    """The tokens and cost of a recorded call, and warnings about them."""
    figures = UsageReader(said)
    tokens = {name: figures.count(name) for name in names_of(Usage) if name not in ("unknown", "cost")}
    cost = cost_in({**(said if isinstance(said, dict) else {}), "cost": figures.amount("cost")})
    usage = figures.usage(cost, **tokens)
    return usage, tuple(f"The recording {warning}" for warning in figures.warnings)


def pieces_of(content: str, chunks: Any) -> tuple[str, ...]:
    """The pieces of a content, by `chunks` of a file; of one that was edited since, all that the last one has to be."""
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


def as_lines(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The record with texts of several lines as lists, in their places."""
    changed: dict[str, Any] = {}
    for key, value in record.items():
        if key in keys and isinstance(value, str) and "\n" in value:
            changed[f"{key}_lines"] = value.split("\n")
        else:
            changed[key] = value
    return changed


def from_lines(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The same with texts again."""
    names = {f"{key}_lines": key for key in keys}
    return {names.get(key, key): "\n".join(value) if key in names else value for key, value in record.items()}


VERSION = 1
"""The version of the format."""
SUFFIX = ".json"
_NAME = 80
"""Characters of a file's name that come from the id."""
_STALE = 60.0
"""Seconds after which a file that was not written to its end belongs to nobody: writing takes milliseconds."""
_MAY_LACK = {"extra_content"}
"""Fields of a tool call that are not written when they are empty."""
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
        completion = completion_to(call.completion, call.chunks)
        calls.append({**repeat, "request": _request_to(call.request), "completion": completion})
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
    write_whole(path, data + b"\n")


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


def _form_problem(value: dict[str, Any]) -> str:
    """What is wrong with the content of a file, and where; empty when it is a recording."""
    if problem := _problem(value, _RECORDING) or _time_problem(value["time"]):
        return f"the recording is not a valid recording: {problem}"
    for number, call in enumerate(value["calls"], 1):
        if problem := _problem(call, _CALL):
            return f"call {number} is not a valid recording: {problem}"
    return ""


def _problem(value: Any, form: Any, name: str = "it") -> str:
    """What is wrong with a value, by a form: a type; `(form,)`, where null is fine; `[form]`, a list of strings or of
    objects; `{name: form}`, an object, of which fields with `!` are needed; or a function that says it."""
    if isinstance(form, tuple):
        return "" if value is None else _problem(value, form[0], name)
    if isinstance(form, list):
        kind, kinds = (str, "strings") if form[0] is str else (dict, "objects")
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            return f"{name} is not a list of {kinds}"
        return next(filter(None, (_problem(item, form[0], name) for item in value)), "")
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return f"{name} is not an object"
        for key, inner in form.items():
            field = key.removesuffix("!")
            if field not in value and field != key:
                return f"'{field}' is missing"
            if field in value and (problem := _problem(value[field], inner, field)):
                return problem
        return ""
    if form in _KINDS:
        return "" if isinstance(value, form) else f"{name} is not {_KINDS[form]}"
    return str(form(value))


def _time_problem(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return f'time is "{text}", not one such as 2025-01-31T10:00:00+01:00'
    return ""


def _parts_problem(content: Any) -> str:
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return _problem(parts, [{"text_lines": [str]}], "content")


def _completion_problem(answer: Any) -> str:
    unknown = sorted(answer.keys() - _READ) if isinstance(answer, dict) else []
    return (
        f"completion has unknown fields: {', '.join(unknown)}" if unknown else _problem(answer, _ANSWER, "completion")
    )


def _chunks_problem(chunks: Any) -> str:
    fits = isinstance(chunks, list | None) or all(length.isdecimal() for length in str(chunks).split() or ["-"])
    return "" if fits else "chunks is neither a list of strings nor their lengths"


def _call_to(call: ToolCall) -> dict[str, str]:
    return {name: text for name, text in fields_of(call).items() if text or name not in _MAY_LACK}


def _tool_call_problem(call: Any) -> str:
    named = {"arguments" if name == "arguments_lines" else name for name in call}
    if odd := sorted((named | _MAY_LACK) ^ ToolCall.__annotations__.keys()):
        return f"a tool call has missing or unknown fields: {', '.join(odd)}"
    return _problem(call, {"arguments_lines": [str], **dict.fromkeys(ToolCall.__annotations__, str)})


_KINDS = {str: "a string", bool: "true or false", list: "a list", dict: "an object"}
_RECORDING = {"calls!": list, "suite!": str, "case!": str, "time!": str, "zone": (str,)}
_REQUEST = {
    "messages!": [{"content_lines": [str], "content": _parts_problem, "tool_calls": ([{"function": dict}],)}],
    **dict.fromkeys(("connector", "model", "agent"), (str,)),
    "tools": ([dict],),
    "parameters": (dict,),
    "options": (dict,),
}
_ANSWER = {
    "content": str,
    **dict.fromkeys(("model", "id", "reasoning", "returned", "refusal", "input_hint"), (str,)),
    "content_lines": [str],
    "reasoning_lines": [str],
    "awaiting_input": (bool,),
    "warnings": list,
    "chunks": _chunks_problem,
    "tool_calls": [_tool_call_problem],
}
_CALL = {"completion!": _completion_problem, "request!": _REQUEST}
