"""`type: openai` against a real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from connector_bench import KEY, Bench, asks
from model_server import Exchange, body, says, sends

from runner.connectors.base import Completion, ModelRequest, ToolCall, Usage
from runner.connectors.load import Connectors

USAGE = Usage(input_tokens=11, output_tokens=7, cached_tokens=4)
PNG = "data:image/png;base64,iVBORw=="
IMAGE = {"type": "image_url", "image_url": {"url": PNG, "detail": "auto"}}
TOOL = {"name": "crm__find", "description": "Finds", "parameters": {"type": "object", "properties": {}}}
CALLS = (("c1", "crm__find", '{"name": "Ann"}'), ("c2", "crm__add", "{}"))


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
def test_a_text_comes_with_usage_model_and_id(bench: Bench, streaming: bool) -> None:
    bench.server.plan(says("Grüße, 世界", reasoning="thinking it over"))
    assert bench.ask(streaming=streaming) == Completion(
        content="Grüße, 世界",
        usage=USAGE,
        model="m",
        id="chatcmpl-1",
        reasoning="thinking it over",
        finish_reason="stop",
    )


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
def test_tool_calls_are_put_together(bench: Bench, streaming: bool) -> None:
    bench.server.plan(says("Let me see", tool_calls=CALLS))
    assert bench.ask(streaming=streaming) == Completion(
        content="Let me see",
        tool_calls=tuple(ToolCall(id=id, name=name, arguments=arguments) for id, name, arguments in CALLS),
        finish_reason="tool_calls",
        usage=USAGE,
        model="m",
        id="chatcmpl-1",
    )


def test_the_request_is_what_the_api_wants(bench: Bench) -> None:
    request = asks("hi", parameters={"temperature": 0.2, "max_tokens": 50, "stop": ["x"], "seed": None}, tools=(TOOL,))
    bench.ask(request, thinking={"type": "off"}, extra_body={"top_k": 3})
    sent = bench.server.requests[0]
    assert (sent.method, sent.path, sent.headers["authorization"]) == ("POST", "/v1/chat/completions", f"Bearer {KEY}")
    assert sent.headers["accept-encoding"] == "identity", "an answer is read as it comes"
    assert sent.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0.2,
        "stop": ["x"],
        "max_completion_tokens": 50,
        "tools": [{"type": "function", "function": TOOL}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "thinking": {"type": "off"},
        "top_k": 3,
    }


PLAIN = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("parameters", "options", "extra"),
    [
        ({}, {"temperature": 0.5, "max_tokens": 9}, {"temperature": 0.5, "max_completion_tokens": 9}),
        ({"temperature": 0}, {"temperature": 0.5}, {"temperature": 0}),
        ({"max_tokens": 1, "max_completion_tokens": 2}, {}, {"max_completion_tokens": 2}),
        ({"response_format": {"type": "json_object"}}, {}, {"response_format": {"type": "json_object"}}),
        ({"temperature": 0.1}, {"model": "o3"}, {"model": "o3"}),
        ({"temperature": 0.1}, {"capabilities": {"temperature_adjustable": False}}, {}),
        ({"tool_choice": "auto"}, {}, {}),
    ],
    ids=["defaults", "request wins", "newer limit wins", "json mode", "by name", "by capability", "choice of no tool"],
)
def test_parameters_are_passed_on(bench: Bench, parameters: Any, options: Any, extra: Any) -> None:
    assert bench.sent(asks("hi", parameters=parameters), streaming=False, **options) == {**PLAIN, **extra}


@pytest.mark.parametrize(
    ("options", "images", "tools"),
    [
        ({}, True, True),
        ({"model": "gpt-4o-mini"}, True, True),
        ({"model": "deepseek/deepseek-chat"}, False, True),
        ({"capabilities": {"vision": "openai"}}, True, False),
        ({"capabilities": {"tool_calls": True}}, False, True),
    ],
    ids=["unknown name", "name with vision", "name without vision", "no tools", "no vision"],
)
def test_what_a_model_cannot_take_is_left_out(bench: Bench, options: Any, images: bool, tools: bool) -> None:
    text = {"type": "text", "text": "see"}
    request = ModelRequest(messages=[{"role": "user", "content": [text, IMAGE]}], tools=(TOOL,))
    sent = bench.sent(request, **options)
    assert sent["messages"][0]["content"] == ([text, IMAGE] if images else [text])
    assert ("tools" in sent) == tools


def test_files_and_history_take_the_form_of_the_api(bench: Bench) -> None:
    pdf = "data:application/pdf;base64,JVBERg=="
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    parts = [
        {"type": "file", "file": {"url": pdf, "filename": "a.pdf"}},
        {"type": "file", "file": {"url": "data:text/x-python;base64,cHJpbnQoKQ==", "filename": "a.py"}},
        audio,
    ]
    messages = [
        {"role": "user", "content": parts, "x-note": "not for the model"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
    ]
    assert bench.sent(ModelRequest(messages=messages))["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "file", "file": {"filename": "a.pdf", "file_data": pdf}},
                {"type": "text", "text": "File a.py:\nprint()"},
                audio,
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
    ]


def test_a_file_by_address_is_refused_before_anything_is_sent(bench: Bench) -> None:
    part = {"type": "file", "file": {"url": "https://example.com/a.pdf", "filename": "a.pdf"}}
    error = bench.fail(ModelRequest(messages=[{"role": "user", "content": [part]}]))
    assert (error.message.partition(": ")[2], error.hint, bench.server.requests) == (
        'cannot send the file "a.pdf": the chat API accepts files by content, not by URL',
        "Attach it as file://<path>",
        [],
    )


@pytest.mark.parametrize("data", ["abc", "abcde", "\N{GRINNING FACE}"])
def test_a_text_that_is_not_base64_is_refused_before_anything_is_sent(bench: Bench, data: str) -> None:
    part = {"type": "file", "file": {"url": f"data:text/plain;base64,{data}"}}
    error = bench.fail(ModelRequest(messages=[{"role": "user", "content": [part]}]))
    assert (error.message, error.hint, bench.server.requests) == (
        f'cannot send a file of text/plain: "{data}" is not base64',
        "Attach it as file://<path>",
        [],
    )


@pytest.mark.parametrize(
    ("suffix", "path"), [("", "/v1/chat/completions"), ("/", "/chat/completions"), ("/base/", "/base/chat/completions")]
)
def test_a_slash_at_the_end_of_the_host_leaves_v1_out(bench: Bench, suffix: str, path: str) -> None:
    bench.ask(host=bench.server.url + suffix)
    assert bench.server.requests[0].path == path


@pytest.mark.parametrize(
    ("options", "headers"),
    [
        ({}, {"authorization": f"Bearer {KEY}"}),
        ({"auth_mode": "api-key"}, {"api-key": KEY}),
        ({"auth_mode": "x-api-key"}, {"x-api-key": KEY}),
        ({"key": ""}, {}),
    ],
    ids=["bearer", "api-key", "x-api-key", "no key"],
)
def test_the_key_goes_where_auth_mode_says(bench: Bench, options: Any, headers: Any) -> None:
    bench.ask(**options)
    sent = bench.server.requests[0].headers
    assert {name: sent[name] for name in ("authorization", "api-key", "x-api-key") if name in sent} == headers


def test_a_login_in_the_address_takes_the_header_of_the_key(bench: Bench) -> None:
    bench.ask(host=bench.server.url.replace("://", "://user:p%40ss@"))
    assert bench.server.requests[0].headers["authorization"] == "Basic dXNlcjpwQHNz"


def test_a_stream_is_read_as_it_comes_however_its_type_is_spelled(bench: Bench) -> None:
    async def never_ends(exchange: Exchange) -> None:
        await exchange.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\n\r\n"
            b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
        )
        await asyncio.Event().wait()

    bench.server.plan(never_ends)
    assert bench.ask().content == "a"


def chunk(delta: Any, finish: str | None = None) -> Any:
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (
            [chunk({"refusal": "I will "}), chunk({"refusal": "not"}, "stop")],
            Completion(refusal="I will not", finish_reason="stop"),
        ),
        (
            [chunk({"reasoning": "hm"}), chunk({"content": "a"}, "length")],
            Completion(content="a", tool_calls=(), finish_reason="length", reasoning="hm"),
        ),
        ([": keep-alive\n\n", chunk({"content": "a"}), {"choices": None}], Completion(content="a")),
        (['data: {"choices":\ndata: [{"delta": {"content": "a"}}]}\r\n\r\n'], Completion(content="a")),
        (
            [
                chunk({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}),
                chunk({"tool_calls": [{"id": "b", "function": {"name": "g", "arguments": "{"}}]}),
                chunk({"tool_calls": [{"function": {"arguments": "}"}}]}, "stop"),
            ],
            Completion(
                content="",
                tool_calls=(
                    ToolCall(id="a", name="f", arguments='{"x": 1}'),
                    ToolCall(id="b", name="g", arguments="{}"),
                ),
                finish_reason="stop",
            ),
        ),
        ([chunk({"content": [{"type": "text", "text": "a"}]}, "stop")], Completion(content="a", finish_reason="stop")),
    ],
    ids=["refusal", "reasoning by another name", "comments", "lines", "tool calls without numbers", "content parts"],
)
def test_streams_are_read_leniently(bench: Bench, events: list[Any], expected: Completion) -> None:
    bench.server.plan(sends(*events))
    assert bench.ask() == expected.replace(model="m")


def test_a_stream_that_ends_with_a_finish_reason_is_complete_without_done(bench: Bench) -> None:
    bench.server.plan(sends(chunk({"content": "a"}, "stop"), done=False))
    assert bench.ask().content == "a"


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", ""], ids=["json", "text", "none"])
def test_a_server_that_ignores_stream_is_understood(bench: Bench, content_type: str) -> None:
    heard: list[str] = []
    answer = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    bench.server.plan(body(200, answer, {"content-type": content_type}))
    assert bench.ask(asks("hi", on_chunk=heard.append)).content == "whole"
    assert heard == ["whole"]


@pytest.mark.parametrize("first", ["", ": ping\n\n", "event: message\n", "id: 1\n", "retry: 3\n"])
def test_a_stream_that_is_not_called_one_is_understood(bench: Bench, first: str) -> None:
    stream = first + 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]'
    bench.server.plan(body(200, stream, {"content-type": "text/plain"}))
    assert bench.ask().content == "a"


def test_pieces_are_heard_as_they_arrive(bench: Bench) -> None:
    heard: list[str] = []
    bench.server.plan(says("abcdef", reasoning="unheard"))
    bench.ask(asks("hi", on_chunk=heard.append))
    assert heard == ["abc", "def"]


def test_calls_one_after_another_share_a_connection(bench: Bench) -> None:
    bench.write()

    async def work(connectors: Connectors) -> None:
        for _ in range(10):
            await connectors.get("test").complete(asks("hi"))

    bench.run(work)
    connections = {request.connection for request in bench.server.requests}
    assert len(connections) <= 5  # one that is just being given back may not be there yet


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Usage(input_tokens=11, output_tokens=7, cached_tokens=4), (7 * 2.0 + 4 * 0.5 + 7 * 10) / 1e6),
    ],
)
def test_prices_of_the_file_give_the_cost(bench: Bench, answer: Usage, expected: float) -> None:
    got = bench.ask(price={"input": 2, "cached": 0.5, "output": 10}).usage
    assert (got.replace(cost=None), got.cost) == (answer, pytest.approx(expected))


def test_a_cost_that_the_provider_says_wins(bench: Bench) -> None:
    bench.server.plan(
        body(200, {"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": 1, "cost": 0.25}})
    )
    assert bench.ask(price={"input": 2, "output": 10}).usage == Usage(
        input_tokens=1, output_tokens=0, cached_tokens=0, cost=0.25
    )
