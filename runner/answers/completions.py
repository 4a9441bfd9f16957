"""The form in which answers of models are kept, as JSON: `{content, chunks, tool_calls, finish_reason, usage ...}`.

A text of several lines is stored as a list of its lines, under a name that ends in `_lines`. `chunks` has the lengths
of the pieces in which the content arrived, or the pieces themselves if together they are not the content."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from runner.amounts import cost_in, cost_record
from runner.answers.replay import Clean
from runner.connectors.base import Completion, ToolCall, Usage
from runner.connectors.usage import UsageReader, short_json
from scripttest.values import fields_of


def cleaned(completion: Completion, chunks: tuple[str, ...], clean: Clean) -> tuple[Completion, tuple[str, ...]]:
    """An answer without secrets. One that stood across pieces makes them one piece."""
    changed: dict[str, Any] = {}
    if completion.tool_calls:
        calls = map(fields_of, completion.tool_calls)
        changed["tool_calls"] = tuple(ToolCall(**{name: clean(text) for name, text in one.items()}) for one in calls)
    for key in ("content", "reasoning", "refusal", "input_hint", "model", "id"):
        text = getattr(completion, key)
        if text and (found := clean(text)) != text:  # else it stays the same text, and not a copy
            changed[key] = found
    whole = "".join(chunks)
    if whole != completion.content or "content" in changed:
        cleared = clean(whole)
        chunks = chunks if cleared == whole else (cleared,)
    return completion.replace(**changed) if changed else completion, chunks


def lengths_of(chunks: tuple[str, ...], content: str) -> Any:
    """The pieces in which a content arrived as `chunks` of a file has them; None where it came in one."""
    if chunks == pieces_of(content, None):
        return None
    fits = bool(chunks) and "".join(chunks) == content
    return " ".join(str(len(chunk)) for chunk in chunks) if fits else list(chunks)


def completion_to(completion: Completion, lengths: Any) -> dict[str, Any]:
    """An answer in the form of a file, with the `lengths_of` its pieces."""
    record: dict[str, Any] = {"content": completion.content}
    if lengths is not None:
        record["chunks"] = lengths
    if completion.tool_calls:
        record["tool_calls"] = [as_lines(fields_of(call), "arguments") for call in completion.tool_calls]
    if completion.finish_reason:
        record["finish_reason"] = completion.finish_reason
    record["usage"] = _usage_to(completion.usage)
    for key in ("model", "id", "reasoning", "refusal", "awaiting_input", "input_hint"):
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
    usage = figures.usage(
        figures.count("input_tokens"),
        figures.count("output_tokens"),
        figures.count("cached_tokens"),
        cost_in({**(said if isinstance(said, dict) else {}), "cost": figures.amount("cost")}),
        written=figures.count("written_tokens"),
        for_an_hour=figures.count("written_for_an_hour"),
    )
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
