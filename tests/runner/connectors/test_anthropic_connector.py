"""`type: anthropic` against a real server."""

from __future__ import annotations

from typing import Any

import pytest
from connector_bench import KEY, Bench, asks
from model_server import body, says, sends

from runner.agents.answer import tool_call_records
from runner.connectors.base import Completion, ModelRequest, ToolCall, Usage

USAGE = Usage(input_tokens=11, output_tokens=7, cached_tokens=4, written_tokens=2)
"""Input tokens are those read, those written to the cache, and those read from it."""
TOOL = {"name": "find", "description": "Finds", "parameters": {"type": "object", "properties": {"q": {}}}}
CALLS = (("c1", "find", '{"q": "Ann"}'), ("c2", "list", "{}"))


@pytest.fixture(autouse=True)
def anthropic(bench: Bench) -> None:
    bench.type = "anthropic"


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
def test_a_text_comes_with_usage_and_thinking(bench: Bench, streaming: bool) -> None:
    bench.server.plan(says("Grüße", reasoning="let me think"))
    assert bench.ask(streaming=streaming) == Completion(
        content="Grüße",
        tool_calls=(),
        finish_reason="end_turn",
        usage=USAGE,
        model="m",
        id="msg_1",
        reasoning="let me think",
    )


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
def test_tool_calls_are_put_together(bench: Bench, streaming: bool) -> None:
    bench.server.plan(says("Let me see", tool_calls=CALLS))
    answer = bench.ask(streaming=streaming)
    assert (answer.content, answer.tool_calls, answer.finish_reason) == (
        "Let me see",
        tuple(ToolCall(id=id, name=name, arguments=arguments) for id, name, arguments in CALLS),
        "tool_use",
    )


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
def test_thinking_goes_back_before_the_calls_with_its_signature(bench: Bench, streaming: bool) -> None:
    bench.server.plan(says("Let me see", tool_calls=CALLS, reasoning="hm"))
    answer = bench.ask(streaming=streaming)
    said = {"role": "assistant", "content": answer.content, "tool_calls": tool_call_records(answer)}
    bench.ask(ModelRequest(messages=[said]))
    (sent,) = bench.server.requests[1].body["messages"]
    assert [block["type"] for block in sent["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert sent["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "refusal"),
        ("something_new", "something_new"),
    ],
)
def test_stop_reasons_are_kept_and_understood(bench: Bench, reason: str, expected: str) -> None:
    bench.server.plan(says("a", finish=reason))
    answer = bench.ask()
    assert (answer.finish_reason, answer.ending) == (reason, expected)


def test_the_request_is_what_the_api_wants(bench: Bench) -> None:
    parameters = {"temperature": 0.2, "max_completion_tokens": 50, "stop": "x", "user": "u1", "seed": 1, "n": 2}
    messages = [
        {"role": "system", "content": "Be kind"},
        {"role": "developer", "content": [{"type": "text", "text": "Be brief"}]},
        {"role": "user", "content": "hi"},
    ]
    bench.ask(
        ModelRequest(messages=messages, parameters=parameters, tools=(TOOL,)),
        thinking={"type": "disabled"},
        extra_body={"top_k": 3},
    )
    sent = bench.server.requests[0]
    names = ("x-api-key", "anthropic-version", "authorization")
    assert (sent.path, [sent.headers.get(name) for name in names]) == ("/v1/messages", [KEY, "2023-06-01", None])
    assert sent.body == {
        "model": "m",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "system": "Be kind\n\nBe brief",
        "temperature": 0.2,
        "thinking": {"type": "disabled"},
        "stop_sequences": ["x"],
        "metadata": {"user_id": "u1"},
        "tools": [{"name": "find", "input_schema": TOOL["parameters"], "description": "Finds"}],
        "stream": True,
        "top_k": 3,
    }


def test_options_of_the_file_are_defaults(bench: Bench) -> None:
    sent = bench.sent(asks("hi"), max_tokens=9, temperature=0.5, version="2024-01-01", auth_mode="bearer")
    headers = bench.server.requests[0].headers
    assert (sent["max_tokens"], sent["temperature"]) == (9, 0.5)
    assert (headers["anthropic-version"], headers["authorization"]) == ("2024-01-01", f"Bearer {KEY}")


def test_max_tokens_is_always_sent(bench: Bench) -> None:
    assert bench.sent(asks("hi"))["max_tokens"] == 4096


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "none"}, {"type": "none"}),
        ({"tool_choice": "required"}, {"type": "any"}),
        ({"tool_choice": {"type": "function", "function": {"name": "find"}}}, {"type": "tool", "name": "find"}),
        ({"tool_choice": {"type": "any"}}, {"type": "any"}),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        ({}, None),
    ],
    ids=["auto", "none", "required", "function", "own form", "one at a time", "unsaid"],
)
def test_tool_choice_is_translated(bench: Bench, parameters: Any, expected: Any) -> None:
    assert bench.sent(asks("hi", parameters=parameters, tools=(TOOL,))).get("tool_choice") == expected


@pytest.mark.parametrize("arguments", ["{broken", "[" * 200_000], ids=["broken", "nested too deeply"])
def test_arguments_that_are_no_json_are_sent_as_a_text(bench: Bench, arguments: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": arguments}}
    said = [{"role": "user", "content": "one"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert bench.sent(ModelRequest(messages=said))["messages"][1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "find", "input": {"arguments": arguments}}
    ]


def test_a_conversation_with_tools_alternates(bench: Bench) -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}},
        {"id": "c2", "type": "function", "function": {"name": "list", "arguments": "{broken"}},
    ]
    messages = [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": '{"found": true}'},
        {"role": "tool", "tool_call_id": "c2", "content": "Error: no"},
        {"role": "user", "content": ""},
        {"role": "user", "content": "go on"},
    ]
    assert bench.sent(ModelRequest(messages=messages))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "c1", "name": "find", "input": {"q": 1}},
                {"type": "tool_use", "id": "c2", "name": "list", "input": {"arguments": "{broken"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": '{"found": true}'},
                {"type": "tool_result", "tool_use_id": "c2", "content": "Error: no"},
                {"type": "text", "text": "go on"},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        ),
        (
            {"type": "file", "file": {"url": "data:application/pdf;base64,JVBERg==", "filename": "a.pdf"}},
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
                "title": "a.pdf",
            },
        ),
        (
            {"type": "file", "file": {"url": "data:text/plain,a%20b", "filename": "a.txt"}},
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "a b"},
                "title": "a.txt",
            },
        ),
        (
            {"type": "file", "file": {"url": "https://example.com/a.pdf"}},
            {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        ),
        (
            {"type": "file", "file": {"url": "data:image/gif;base64,R0lG", "filename": "a.gif"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lG"}},
        ),
    ],
    ids=["image", "image by address", "pdf", "text", "file by address", "image file"],
)
def test_parts_take_the_form_of_the_api(bench: Bench, part: Any, block: Any) -> None:
    sent = bench.sent(ModelRequest(messages=[{"role": "user", "content": [part]}]))
    assert sent["messages"] == [{"role": "user", "content": [block]}]


def test_audio_is_refused_before_anything_is_sent(bench: Bench) -> None:
    part = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    error = bench.fail(ModelRequest(messages=[{"role": "user", "content": [part]}]))
    assert "cannot send audio" in error.message
    assert bench.server.requests == []


@pytest.mark.parametrize(
    ("kind", "attempts"), [("overloaded_error", 4), ("rate_limit_error", 4), ("invalid_request_error", 1)]
)
def test_an_error_inside_a_stream_is_retried_if_it_may_pass(bench: Bench, kind: str, attempts: int) -> None:
    event = {"type": "error", "error": {"type": kind, "message": "Not now"}}
    bench.server.default = sends({"type": "ping"}, event, done=False)
    error = bench.fail()
    assert (error.message.partition(" answered ")[2], len(bench.server.requests)) == (
        "with an error: Not now" + (" (tried 4 times)" if attempts > 1 else ""),
        attempts,
    )


def test_unknown_events_are_passed_over(bench: Bench) -> None:
    bench.server.plan(
        sends(
            {"type": "novelty", "index": 3},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
            {"type": "message_stop"},
            done=False,
        )
    )
    assert bench.ask().content == "a"


def test_an_answer_in_another_protocol_is_an_error(bench: Bench) -> None:
    bench.server.plan(body(200, {"choices": [{"message": {"content": "a"}}]}))
    assert bench.fail(streaming=False).message.endswith("answered with an error: the response has no content")
