"""Recordings as files: what is written is read again, whatever it is, and what cannot be read is said."""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from runner.answers.files import (
    CaseRecording,
    RecordedCall,
    RecordingError,
    cleaned,
    file_of,
    folder_of,
    read_recording,
    sweep,
    write_recording,
)
from runner.connectors.base import Completion, ToolCall, Usage

NOON = datetime(2024, 1, 31, 12, 0, 0, tzinfo=timezone(timedelta(hours=1), "CET"))
TEXTS = {
    "one line": "hello",
    "nothing": "",
    "lines": "one\ntwo\n\n",
    "other line ends": "one\r\ntwo\rthree\u2028four\u0085five",
    "blanks": "  one  \n\ttwo ",
    "letters of the world": "Grüße, 世界 👩‍👩‍👧",
    "half a pair": "broken \ud83d here",
    "control characters": "\x00\x1b[31m\x7f",
    "quotes": '{"passed": true, "reason": "it \\"is\\""}',
}


def call(text: str = "hello", chunks: tuple[str, ...] | None = None, **more: Any) -> RecordedCall:
    request = {"connector": "gpt", "model": "m", "agent": "demo", "messages": [{"role": "user", "content": text}]}
    pieces = ((text,) if text else ()) if chunks is None else chunks
    return RecordedCall(
        request=request, completion=Completion(**{"content": text, "finish_reason": "stop", **more}), chunks=pieces
    )


def stored(folder: Path, *calls: RecordedCall) -> Path:
    path = folder / "suite" / "case.json"
    write_recording(path, CaseRecording(suite="suite", case="case", time=NOON, calls=list(calls)))
    return path


def read(path: Path) -> CaseRecording:
    recording = read_recording(path, "case")
    assert recording is not None
    return recording


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_text_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    calls = [
        call(text, reasoning=text, refusal=text or None, input_hint=text or None),
        call(text, tool_calls=(ToolCall(id="1", name="book", arguments=text),), finish_reason="tool_calls"),
    ]

    assert read(stored(tmp_path, *calls)) == CaseRecording(suite="suite", case="case", time=NOON, calls=calls)


PIECES = {
    "several": ("hel", "lo"),
    "one by one": tuple("hello"),
    "nobody heard any": (),
    "a beginning that was given up": ("hul", "hello"),
    "blank ones": ("hel", "", "lo"),
}


@pytest.mark.parametrize("chunks", PIECES.values(), ids=PIECES)
def test_pieces_come_back_as_they_were_heard(tmp_path: Path, chunks: tuple[str, ...]) -> None:
    (found,) = read(stored(tmp_path, call("hello", chunks))).calls

    assert [piece for piece in found.chunks if piece] == [piece for piece in chunks if piece]


def test_everything_that_an_answer_has_comes_back(tmp_path: Path) -> None:
    completion = Completion(
        content="text", tool_calls=(ToolCall(id="a", name="b", arguments="{}"),), finish_reason="length", usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=3, cost=0.0), model="m-1", id="id-1", reasoning="because", refusal="no", awaiting_input=False, input_hint="when?"
    )  # fmt: skip

    (found,) = read(
        stored(tmp_path, RecordedCall(request=call().request, completion=completion, chunks=("text",)))
    ).calls

    assert found.completion == completion


def test_parts_tools_and_parameters_come_back(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "one\ntwo"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    request = {
        "connector": "gpt",
        "parameters": {"temperature": 0.5, "stop": ["\n"]},
        "tools": [{"name": "book", "description": "Books\na trip", "parameters": {"type": "object"}}],
        "messages": [{"role": "user", "content": parts}],
    }

    (found,) = read(
        stored(tmp_path, RecordedCall(request=request, completion=Completion(content="ok"), chunks=("ok",)))
    ).calls

    assert found.request == request


def test_a_file_is_readable_and_counts_repeats(tmp_path: Path) -> None:
    path = stored(tmp_path, call("a\nb", ("a", "\nb")), call("c"), call("a\nb"))

    assert json.loads(path.read_text()) == {
        "version": 1,
        "suite": "suite",
        "case": "case",
        "time": "2024-01-31T12:00:00+01:00",
        "zone": "CET",
        "calls": [
            {
                "request": {
                    "connector": "gpt",
                    "model": "m",
                    "agent": "demo",
                    "messages": [{"role": "user", "content_lines": ["a", "b"]}],
                },
                "completion": {
                    "content_lines": ["a", "b"],
                    "chunks": "1 2",
                    "finish_reason": "stop",
                    "usage": {},
                },
            },
            {
                "request": {
                    "connector": "gpt",
                    "model": "m",
                    "agent": "demo",
                    "messages": [{"role": "user", "content": "c"}],
                },
                "completion": {
                    "content": "c",
                    "finish_reason": "stop",
                    "usage": {},
                },
            },
            {
                "repeat": 2,
                "request": {
                    "connector": "gpt",
                    "model": "m",
                    "agent": "demo",
                    "messages": [{"role": "user", "content_lines": ["a", "b"]}],
                },
                "completion": {
                    "content_lines": ["a", "b"],
                    "finish_reason": "stop",
                    "usage": {},
                },
            },
        ],
    }


def test_an_answer_that_was_edited_is_heard_as_it_is_now(tmp_path: Path) -> None:
    path = stored(tmp_path, call("hello world", ("hello", " ", "world")))
    path.write_text(
        path.read_text().replace('"hello world",\n        "chunks"', '"hi there, you all",\n        "chunks"')
    )

    (found,) = read(path).calls

    assert found.completion.content == "hi there, you all"
    assert found.chunks == ("hi th", "e", "re, you all")


def test_there_may_be_no_recording(tmp_path: Path) -> None:
    assert read_recording(tmp_path / "none.json", "case") is None


GOOD = '{"version": 1, "suite": "s", "case": "case", "time": "2024-01-31T12:00:00", "calls": %s}'
BROKEN: dict[str, tuple[str | bytes, str]] = {
    "no JSON": ('{\n  "version": 1,\n  oops\n}', ":3:3: Expecting property name enclosed in double quotes"),
    "cut off": (GOOD[:40], ":1:38: Unterminated string starting at"),
    "empty": ("", ":1:1: Expecting value"),
    "not text": (b"\xff\xfe\x00", ": it is not UTF-8 text"),
    "nested": ("[" * 100_000, ": it is nested too deeply"),
    "a list": ("[]", ": it is not a recording; this yao-test reads version 1"),
    "a later version": ('{"version": 7}', ": it has format version 7; this yao-test reads version 1"),
    "another case": (GOOD.replace('"case"', '"case"', 1).replace(': "case"', ': "other"') % "[]", ': it belongs to the case "other"'),
    "no calls": ('{"version": 1, "case": "case"}', ": the recording is not a valid recording: 'calls' is missing"),
    "no request": (GOOD % '[{"completion": {}}]', ": call 1 is not a valid recording: 'request' is missing"),
    "no answer": (GOOD % "[{}]", ": call 1 is not a valid recording: 'completion' is missing"),
    "a call that is none": (GOOD % "[1]", ": call 1 is not a valid recording: it is not an object"),
    "an unknown field": (
        GOOD % '[{"request": {"messages": []}, "completion": {"text": "hi"}}]',
        ": call 1 is not a valid recording: completion has unknown fields: text",
    ),
    "a content that is not a string": (
        GOOD % '[{"request": {"messages": []}, "completion": {"content": 7}}]',
        ": call 1 is not a valid recording: content is not a string",
    ),
    "no time": (GOOD.replace("2024-01-31T12:00:00", "noon") % "[]", ": the recording is not a valid recording: time is \"noon\", not one such as 2025-01-31T10:00:00+01:00"),
    "a suite that is none": (GOOD.replace('"s"', "5") % "[]", ": the recording is not a valid recording: suite is not a string"),
    "a time that is none": (GOOD.replace('"2024-01-31T12:00:00"', "5") % "[]", ": the recording is not a valid recording: time is not a string"),
    "calls that are none": (GOOD % "5", ": the recording is not a valid recording: calls is not a list"),
    "messages that are none": (GOOD % '[{"request": {"messages": [5]}, "completion": {"content": ""}}]', ": call 1 is not a valid recording: messages is not a list of objects"),
    "lines that are none": (GOOD % '[{"request": {"messages": []}, "completion": {"content_lines": [5]}}]', ": call 1 is not a valid recording: content_lines is not a list of strings"),
    "pieces that are none": (GOOD % '[{"request": {"messages": []}, "completion": {"content": "a", "chunks": "x"}}]', ": call 1 is not a valid recording: chunks is neither a list of strings nor their lengths"),
    "a call of a tool that is none": (GOOD % '[{"request": {"messages": []}, "completion": {"tool_calls": [{"id": 5}]}}]', ": call 1 is not a valid recording: a tool call has missing or unknown fields: arguments, name"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), BROKEN.values(), ids=BROKEN)
def test_a_recording_that_cannot_be_read_is_said_with_its_place(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    path = tmp_path / "case.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(RecordingError) as caught:
        read_recording(path, "case")

    assert caught.value.message == f"Cannot read recording {path}{said}"
    assert caught.value.hint == "Record it again with --record, or remove the file"


def test_a_folder_in_the_place_of_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="Is a directory"):
        read_recording(tmp_path, "case")


IDS = [
    "T001",
    "t 1",
    "t/1",
    "t-1",
    "../../etc/passwd",
    ".",
    "..",
    "",
    "ö",
    "o",
    "x" * 300,
    "x" * 299,
    "a\nb",
    "CON:",
    "-",
]


def test_every_case_has_a_file_of_its_own_in_the_folder_of_its_suite() -> None:
    names = [file_of(id) for id in IDS]

    assert len(set(names)) == len(IDS)
    assert [name for name in names if "/" in name or name.startswith(".") or len(name) > 120] == []
    assert file_of("T001") == "T001.json"
    assert file_of("T001", 2) == "T001~2.json"


def test_suites_are_folders_below_that_of_the_recordings() -> None:
    assert folder_of("assistants/expense/tests/filing.jsonl", False) == "assistants/expense/tests/filing.jsonl"
    assert folder_of("scripts.expense.setup", False) == "scripts.expense.setup"
    assert folder_of("message a/b", True) != folder_of("message a b", True)
    for suite in ("../x/cases.jsonl", "/etc/passwd", "message .. / ..", "agents:a?b=1&c=../.."):
        for is_message in (True, False):
            assert ".." not in Path(folder_of(suite, is_message)).parts
            assert not Path(folder_of(suite, is_message)).is_absolute()


def test_a_secret_is_cleaned_also_where_it_stood_across_pieces() -> None:
    completion = Completion(
        content="the key sk-12345 is",
        tool_calls=(ToolCall(id="1", name="t", arguments='{"k":"sk-12345"}'),),
        reasoning="sk-12345",
    )

    found, chunks = cleaned(completion, ("the key sk-", "12345", " is"), lambda text: text.replace("sk-12345", "***"))

    assert found == Completion(
        content="the key *** is", tool_calls=(ToolCall(id="1", name="t", arguments='{"k":"***"}'),), reasoning="***"
    )
    assert chunks == ("the key *** is",)


def test_who_reads_while_others_write_sees_whole_files(tmp_path: Path) -> None:
    path = stored(tmp_path, call("start"))
    done = threading.Event()
    texts = ["a" * 50_000, "b" * 70_000]

    def write(text: str) -> None:
        for _ in range(30):
            stored(tmp_path, call(text))

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    watcher = threading.Thread(target=lambda: [thread.join() for thread in threads] and done.set())
    for thread in (*threads, watcher):
        thread.start()
    seen = set()
    while not done.is_set():
        seen.add(read(path).calls[0].completion.content)

    assert seen <= {"start", *texts}
    assert os.listdir(path.parent) == ["case.json"]


def test_what_a_killed_run_left_half_written_is_removed_once_it_is_old(tmp_path: Path) -> None:
    now = datetime.now(UTC).timestamp()
    for name, age in ((".old.json.1.tmp", 7200), (".new.json.2.tmp", 5), ("case.json", 7200)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - age, now - age))

    sweep(tmp_path, now)

    assert sorted(os.listdir(tmp_path)) == [".new.json.2.tmp", "case.json"]
