"""What a worker sends is taken only in the form that workers send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from table_tests import each

from scripttest import LogLine
from scripttest.protocol import MessageError
from scripttest.workers.answers import (
    AnsweredBack,
    Begun,
    EarlyFailure,
    FunctionResult,
    Functions,
    HostCall,
    LibraryCall,
    Logged,
    Message,
    Result,
    Unusable,
    read_message,
)

OUTCOME = {"name": "TestA", "status": "passed", "duration_ms": 1.5, "assertions": 2, "failures": [], "steps": []}
FAILURE = {"kind": "error", "message": "boom", "stack": "    at TestA (<input>:3)\n"}
FAILED = {**OUTCOME, "status": "failed", "failures": [FAILURE]}

GOOD: list[tuple[str, list[str], Message]] = [
    ("tests", [], Functions(sources={})),
    ("tests", ["TestA", "function TestA() {}"], Functions(sources={"TestA": "function TestA() {}"})),
    ("broken", [json.dumps(FAILED)], Unusable(record=FAILED)),
    ("start", ["0"], Begun(index=0)),
    ("start", [], Begun(index=0)),
    ("log", ["warn", '"x\\ny"'], Logged(line=LogLine(level="warn", text="x\ny"))),
    ("failed", ["TestA", json.dumps(FAILURE)], EarlyFailure(test="TestA", record=FAILURE)),
    ("call", ["1", "fs.data.ReadFile", "[]", ""], HostCall(number="1", name="fs.data.ReadFile", arguments="[]", world="")),
    ("library", ["12", "late"], LibraryCall(number="12", script="late")),
    ("backed", ["3", "{}", "w"], AnsweredBack(number="3", envelope="{}", world="w")),
    ("result", ["0", json.dumps(OUTCOME), ""], Result(index=0, record=OUTCOME, next=None)),
    ("result", ["0", json.dumps(OUTCOME), "1"], Result(index=0, record=OUTCOME, next=1)),
    ("returned", ['{"missing": true}'], FunctionResult(record={"missing": True})),
]  # fmt: skip
BAD = [
    ("tests", ["TestA"]),
    ("start", ["-1"]),
    ("start", ["x"]),
    ("start", ["1", "2"]),
    ("start", ["٣"]),
    ("start", ["1" * 5000]),
    ("log", ["info"]),
    ("call", ["1", "x"]),
    ("call", ["x", "x", "[]", ""]),
    ("library", ["", "late"]),
    ("result", ["0", "{}"]),
    ("result", ["0", json.dumps(OUTCOME), "-1"]),
    ("result", ["", "{}", ""]),
    ("returned", []),
    ("reply", ["1", "x"]),
    ("nonsense", []),
]


@each(("kind", "parts", "message"), GOOD, ids=lambda value: str(value)[:40])
def test_a_frame_that_workers_send_is_read(kind: str, parts: list[str], message: Message) -> None:
    assert read_message(kind, parts) == message


@each(("kind", "parts"), BAD)
def test_any_other_frame_is_refused(kind: str, parts: list[str]) -> None:
    with pytest.raises(MessageError, match=r"unexpected|number of another form|not pairs"):
        read_message(kind, parts)


def outcome_of(text: str) -> dict[str, Any]:
    message = read_message("result", ["0", text, ""])
    assert isinstance(message, Result)
    return message.record


def returned_of(text: str) -> dict[str, Any]:
    message = read_message("returned", [text])
    assert isinstance(message, FunctionResult)
    return message.record


def test_records_that_workers_write_are_taken() -> None:
    step = {**OUTCOME, "name": "TestA/sub", "status": "failed", "failures": [FAILURE]}
    whole = {
        **OUTCOME,
        "status": "failed",
        "failures": [{**FAILURE, "details": [{"depth": 1, "text": "caused by", "stack": ""}], "expected": {"a": [1]}}],
        "steps": [step],
        "warnings": [{"kind": "pending", "message": "a timer is left", "stack": ""}],
        "skip_reason": "later",
    }
    assert outcome_of(json.dumps(whole)) == whole


@each(
    "change",
    [
        {"status": "great"},
        {"status": ["passed"]},
        {"status": "failed"},
        {"duration_ms": "1"},
        {"duration_ms": True},
        {"duration_ms": -1},
        {"duration_ms": 10**400},
        {"failures": None},
        {"steps": {}},
        {"assertions": -1},
        {"assertions": 1.5},
        {"not_judged": "0"},
        {"skip_reason": {}},
        {"failures": {}},
        {"failures": ["x"]},
        {"failures": [{**FAILURE, "message": 1}]},
        {"failures": [{**FAILURE, "kind": None}]},
        {"failures": [{**FAILURE, "stack": []}]},
        {"failures": [{**FAILURE, "diff": 1}]},
        {"failures": [{**FAILURE, "details": [{"depth": 10**9, "text": ""}]}]},
        {"failures": [{**FAILURE, "details": [{"depth": -1, "text": ""}]}]},
        {"steps": [{**OUTCOME, "name": 1}]},
        {"steps": [1]},
        {"warnings": [{"kind": 1, "message": ""}]},
        {"warnings": "x"},
    ],
    ids=str,
)
def test_an_outcome_of_another_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(MessageError, match=r"(that is|whose|of another|for no reason)"):
        outcome_of(json.dumps({**OUTCOME, **change}))


@each("text", ["", "{", "[]", "null", '"passed"', '{"status":"passed","duration_ms":NaN}', '{"status":"passed","duration_ms":1e999}'])  # fmt: skip
def test_what_is_no_outcome_at_all_is_refused(text: str) -> None:
    with pytest.raises(MessageError, match=r"."):
        outcome_of(text)


def test_an_outcome_as_deep_as_no_test_is_refused() -> None:
    record: dict[str, Any] = dict(OUTCOME)
    for _ in range(200):
        record = {**OUTCOME, "steps": [record]}
    with pytest.raises(MessageError, match="of another kind"):
        outcome_of(json.dumps(record))


@each(
    ("record", "taken"),
    [
        ({"ok": [1], "sent": [{"type": "text"}]}, {"ok": [1], "sent": [{"type": "text"}]}),
        ({"ok": None}, {"ok": None}),
        ({"missing": True}, {"missing": True}),
        ({"error": {"message": "boom", "stack": "", "code": 404}}, {"error": {"message": "boom", "stack": "", "code": 404}}),
        ({**OUTCOME, "status": "failed", "failures": [FAILURE]}, {"error": FAILURE}),
        ({"unloaded": {**OUTCOME, "status": "failed", "failures": [FAILURE]}}, {"error": FAILURE, "unloaded": True}),
    ],
)  # fmt: skip
def test_what_a_function_came_to_is_taken(record: dict[str, Any], taken: dict[str, Any]) -> None:
    assert returned_of(json.dumps(record)) == taken


@each(
    "record",
    [
        {},
        [],
        1,
        {"ok": 1, "sent": "x"},
        {"error": "boom"},
        {"unloaded": 1},
        {"unloaded": OUTCOME},
        {"error": {"message": 1}},
        {"error": {"message": "x", "code": "404"}},
        {"error": {"message": "x", "code": True}},
        {"status": "failed", "steps": [{**OUTCOME, "name": "x"}]},
        OUTCOME,
    ],
    ids=str,
)
def test_what_no_function_comes_to_is_refused(record: Any) -> None:
    with pytest.raises(MessageError, match=r"."):
        returned_of(json.dumps(record))


@pytest.mark.parametrize("parts", [["loud", '"x"'], ["info", "1"], ["info", "x"], ["info", "null"]])
def test_a_line_that_is_no_text_is_refused(parts: list[str]) -> None:
    with pytest.raises(MessageError, match=r"."):
        read_message("log", parts)
