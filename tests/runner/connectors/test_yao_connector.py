"""`type: yao` against a real server."""

from __future__ import annotations

from typing import Any

import pytest
from connector_bench import KEY, Bench, asks
from model_server import body, sends

from runner.connectors.base import Completion


@pytest.fixture(autouse=True)
def yao(bench: Bench) -> None:
    bench.type = "yao"


def test_the_request_names_the_assistant_and_the_chat(bench: Bench) -> None:
    bench.ask(
        asks("hi", metadata={"chat_id": "c1", "note": 1}, tools=({"name": "f"},)), model="", assistant="crm.helper"
    )
    sent = bench.server.requests[0]
    names = ("authorization", "x-yao-assistant", "x-yao-chat", "x-yao-accept")
    assert (sent.path, [sent.headers[name] for name in names]) == (
        "/v1/chat/completions",
        [f"Bearer {KEY}", "crm.helper", "c1", "standard"],
    )
    assert sent.body == {
        "model": "crm.helper-yao_crm.helper",
        "assistant_id": "crm.helper",
        "chat_id": "c1",
        "messages": [{"role": "user", "content": "hi"}],
        "metadata": {"chat_id": "c1", "note": 1},
        "skip": {"history": True, "trace": True},
        "stream": True,
    }


def test_without_an_assistant_in_the_file_the_agent_that_asks_is_meant(bench: Bench) -> None:
    base = f"{bench.server.url}/api/__yao/openapi/v1/"
    bench.ask(asks("hi", agent="expense"), model="", host=base)
    sent = bench.server.requests[0]
    assert (sent.path, sent.body["assistant_id"]) == ("/api/__yao/openapi/v1/chat/completions", "expense")


def test_an_unknown_assistant_is_an_error_before_anything_is_sent(bench: Bench) -> None:
    error = bench.fail(model="")
    assert (error.hint, bench.server.requests) == ("Set options.assistant in connectors/test.conn.yao to its id", [])


def delta(**fields: Any) -> Any:
    return {"choices": [{"delta": fields}]}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([delta(content="a"), delta(content="b")], Completion(content="ab")),
        (
            [delta(content="Which?"), {"choices": [], "awaiting_input": True, "input_hint": "a number"}],
            Completion(content="Which?", awaiting_input=True, input_hint="a number"),
        ),
        ([delta(content="Done", awaiting_input=False)], Completion(content="Done", awaiting_input=False)),
        (
            [
                {"type": "event", "props": {"event": "stream_start"}},
                {"type": "thinking", "props": {"content": "hm"}},
                {"type": "text", "props": {"content": "a"}, "delta": True},
                {"type": "text", "props": {"content": "b"}, "delta": True, "metadata": {"awaiting_input": True}},
                {"type": "event", "props": {"event": "stream_end"}},
            ],
            Completion(content="ab", finish_reason="stop", reasoning="hm", awaiting_input=True),
        ),
    ],
    ids=["chunks", "declared beside", "declared within", "messages"],
)
def test_chunks_and_messages_are_understood(bench: Bench, events: list[Any], expected: Completion) -> None:
    bench.server.plan(sends(*events))
    assert bench.ask() == expected.replace(model="m")


def test_a_whole_answer_may_declare_that_it_waits(bench: Bench) -> None:
    bench.server.plan(body(200, {"choices": [{"message": {"content": "?", "awaiting_input": True}}]}))
    assert bench.ask(streaming=False).awaiting_input is True


def test_an_error_message_fails_the_call(bench: Bench) -> None:
    bench.server.plan(sends({"type": "error", "props": {"message": "No such assistant"}}))
    assert bench.fail().message.endswith("answered with an error: No such assistant")
