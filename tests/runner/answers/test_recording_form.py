"""Recordings that somebody has edited: each is replayed, or refused in words, whatever stands where."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import MakeApplication

from runner.answers.files import RecordingError, read_recording
from runner.answers.recording import Recording
from runner.connectors.base import ConnectorError, ModelRequest, Origin
from runner.connectors.load import Connectors

MESSAGES = [
    {"role": "user", "content_lines": ["a", "b"]},
    {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text_lines": ["x", "y"]}]},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "x", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "x"},
]
GOOD = {
    "version": 1,
    "suite": "s",
    "case": "c",
    "time": "2024-01-31T12:00:00+01:00",
    "zone": "CET",
    "calls": [
        {
            "request": {
                "connector": "gpt",
                "model": "m",
                "agent": "demo",
                "parameters": {"temperature": 0.5},
                "tools": [{"name": "b", "description": "x", "parameters": {}}],
                "messages": MESSAGES,
            },
            "completion": {
                "content": "abc",
                "chunks": "1 2",
                "tool_calls": [{"id": "1", "name": "n", "arguments": "{}"}],
                "finish_reason": "stop",
                "usage": {"input_tokens": 1},
                "model": "m",
                "id": "i",
                "reasoning": "r",
                "awaiting_input": True,
                "input_hint": "h",
                "warnings": ["w"],
            },
        }
    ],
}
WRONG: list[Any] = [5, None, [], {}, "x", True, [5], {"a": 1}, -1.5]
PYTHON = re.compile(r"'\w+' object|NoneType|\(\) |argument must|isoformat|literal|unexpected|Completion|ToolCall")


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*place, key)
        yield from places(item, (*place, key))


def changed(place: tuple[Any, ...], wrong: Any) -> dict[str, Any]:
    value: Any = copy.deepcopy(GOOD)
    inside = value
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = wrong
    return dict(value)


@pytest.mark.parametrize("place", [*places(GOOD)], ids=lambda place: ".".join(map(str, place)))
def test_anything_anywhere_is_replayed_or_refused_in_words(tmp_path: Path, place: tuple[Any, ...]) -> None:
    path = tmp_path / "s/c.json"
    path.parent.mkdir()
    connectors = Connectors(tmp_path, {})
    for wrong in WRONG:
        path.write_text(json.dumps(changed(place, wrong)), "utf-8")
        try:
            read_recording(path, "c")
        except RecordingError as error:
            assert not PYTHON.search(error.message.partition(": ")[2]), error.message
            continue
        recording = Recording(tmp_path, "rec", "replay", tmp_path)
        request = ModelRequest(messages=[{"role": "user", "content": "another"}], agent="demo")
        with pytest.raises(ConnectorError) as missed:
            asyncio.run(recording.complete(Origin(suite="s", case="c"), "scripted", request, connectors))
        assert "No recorded response" in str(missed.value)


def test_a_recording_whose_suite_is_no_text_is_not_replayed(app: MakeApplication) -> None:
    here = app(agent(cases=[{"id": "a", "input": "hello"}]))
    assert here.run("-i", case_file(), "--record", "rec").code == 0
    path = here.root / "rec" / case_file() / "a.json"
    record = {**json.loads(path.read_text("utf-8")), "suite": 5}
    path.write_text(json.dumps(record), "utf-8")
    run = here.run("-i", case_file(), "--replay", "rec")
    assert run.code == 1
    assert "is not a valid recording: suite is not a string" in " ".join(run.stdout.split())
