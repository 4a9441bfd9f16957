"""Unusual answers of providers: empty, with odd usage figures, or with a byte order mark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from connector_bench import Bench
from model_server import Behaviour, body, completes, sends

from runner.connectors.base import Usage

UNKNOWN = Usage(unknown=True)
SAID = {"message": {"content": "Hi"}, "finish_reason": "stop"}
SPEAKS = {"function": {"name": "f", "arguments": "{}"}, "id": "c1"}


def whole(value: Any) -> Behaviour:
    return body(200, value)


def message(*content: Any, stop: str = "end_turn") -> Any:
    """A message of Anthropic."""
    return {"id": "m1", "type": "message", "role": "assistant", "content": list(content), "stop_reason": stop}


def events(*blocks: Any, stop: Any = "end_turn", usage: Any = None) -> Behaviour:
    """The same as a stream."""
    opened = [{"type": "content_block_start", "index": index, "content_block": b} for index, b in enumerate(blocks)]
    end = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}
    return sends({"type": "message_start", "message": {"id": "m1"}}, *opened, end, {"type": "message_stop"}, done=False)


def delta(value: Any, finish: Any = None) -> Any:
    return {"choices": [{"delta": value, "finish_reason": finish}]}


# No message

MUTE: dict[str, tuple[str, Behaviour]] = {
    "an empty choice": ("openai", completes({})),
    "an empty message": ("openai", completes({"message": {}, "finish_reason": "stop"})),
    "no message": ("openai", completes({"message": None, "finish_reason": "stop"})),
    "content null": ("openai", completes({"message": {"content": None}, "finish_reason": "stop"})),
    "no tool calls": ("openai", completes({"message": {"content": None, "tool_calls": []}})),
    "tool calls that are none": ("openai", completes({"message": {"content": ""}, "finish_reason": "tool_calls"})),
    "a tool call without a name": ("openai", completes({"message": {"tool_calls": [{"id": "c1"}]}})),
    "an empty refusal": ("openai", completes({"message": {"refusal": ""}})),
    "no parts": ("openai", completes({"message": {"content": []}})),
    "parts without text": ("openai", completes({"message": {"content": [{"type": "thinking", "thinking": []}]}})),
    "reasoning alone": ("openai", completes({"message": {"reasoning_content": "hm"}, "finish_reason": "length"})),
    "another choice": ("openai", completes({"index": 1, "message": {"content": "second"}})),
    "no choices": ("openai", whole({"choices": []})),
    "choices null": ("openai", whole({"choices": None})),
    "nothing": ("openai", whole({})),
    "a stream of nothing": ("openai", sends()),
    "a stream of usage": ("openai", sends({"choices": [], "usage": {"prompt_tokens": 1}})),
    "a stream of a role": ("openai", sends(delta({"role": "assistant"}), delta({}, "stop"))),
    "a stream of reasoning": ("openai", sends(delta({"reasoning_content": "hm"}), delta({}, "length"))),
    "a stream of empty deltas": ("openai", sends({"choices": [{}]}, delta(None, "stop"))),
    "Anthropic's empty content": ("anthropic", whole(message())),
    "Anthropic's thinking": ("anthropic", whole(message({"type": "thinking", "thinking": "hm"}, stop="max_tokens"))),
    "Anthropic's block without text": ("anthropic", whole(message({"type": "text"}))),
    "Anthropic's call without a name": ("anthropic", whole(message({"type": "tool_use", "id": "c1"}))),
    "Anthropic's content null": ("anthropic", whole({"type": "message", "content": None})),
    "Anthropic's nothing": ("anthropic", whole({})),
    "Anthropic's empty stream": ("anthropic", events()),
    "Anthropic's stream of thinking": ("anthropic", events({"type": "thinking", "thinking": ""})),
    "Yao's end": ("yao", sends({"type": "event", "props": {"event": "stream_end"}}, done=False)),
    "Yao's text without content": ("yao", sends({"type": "text", "props": {}})),
    "Yao's thoughts": ("yao", sends({"type": "thinking", "props": {"content": "hm"}})),
    "Yao's empty choice": ("yao", completes({})),
}


@pytest.mark.parametrize(("type", "behaviour"), MUTE.values(), ids=MUTE)
def test_an_answer_without_a_message_is_an_error_of_the_host(bench: Bench, type: str, behaviour: Behaviour) -> None:
    bench.type = type
    bench.server.plan(behaviour)

    error = bench.fail(assistant="a")

    assert error.message.startswith("test (127.0.0.1:")
    said = ("returned an empty message: ", "the response has no choices", "the response has no content")
    assert any(text in error.message for text in said), error.message
    assert (error.status, error.retryable, len(bench.server.requests)) == (None, False, 1)


ODD: dict[str, tuple[str, Behaviour]] = {
    "a number": ("openai", completes({"message": {"content": 5}})),
    "zero": ("openai", completes({"message": {"content": 0}})),
    "false": ("openai", completes({"message": {"content": False}})),
    "an object": ("openai", completes({"message": {"content": {"text": "Hi"}}})),
    "a part that is a number": ("openai", completes({"message": {"content": [5]}})),
    "a text that is a number": ("openai", completes({"message": {"content": [{"type": "text", "text": 5}]}})),
    "a message that is a text": ("openai", completes({"message": "Hi"})),
    "a choice that is a text": ("openai", completes("Hi")),
    "choices that are an object": ("openai", whole({"choices": {"a": 1}})),
    "a refusal that is true": ("openai", completes({"message": {"refusal": True}})),
    "a name that is a number": ("openai", completes({"message": {"tool_calls": [{"function": {"name": 5}}]}})),
    "a number in a stream": ("openai", sends(delta({"content": 5}), delta({}, "stop"))),
    "Anthropic's number": ("anthropic", whole(message({"type": "text", "text": 5}))),
    "Anthropic's block that is a text": ("anthropic", whole(message("Hi"))),
    "Anthropic's number in a stream": ("anthropic", events({"type": "text", "text": 5})),
    "Yao's number": ("yao", sends({"type": "text", "props": {"content": 5}})),
}


@pytest.mark.parametrize(("type", "behaviour"), ODD.values(), ids=ODD)
def test_a_content_of_an_odd_type_is_an_error_of_the_host(bench: Bench, type: str, behaviour: Behaviour) -> None:
    bench.type = type
    bench.server.plan(behaviour)

    error = bench.fail(assistant="a")

    assert "answered JSON of an unexpected shape: " in error.message
    assert (error.status, error.retryable) == (None, False)


SPOKEN: dict[str, tuple[str, Behaviour, tuple[str, str | None, list[str]]]] = {
    "an empty text": ("openai", completes({"message": {"content": ""}, "finish_reason": "stop"}), ("", None, [])),
    "an empty text, streamed": ("openai", sends(delta({"content": ""}), delta({}, "stop")), ("", None, [])),
    "half a character in each piece": (
        "openai",
        sends(delta({"content": "a \ud83d"}), delta({"content": "\ude00"}), delta({}, "stop")),
        ("a \U0001f600", None, []),
    ),
    "an empty part": ("openai", completes({"message": {"content": [{"type": "text", "text": ""}]}}), ("", None, [])),
    "parts": (
        "openai",
        completes({"message": {"content": [{"type": "text", "text": "a"}, {"type": "thinking"}, "b"]}}),
        ("ab", None, []),
    ),
    "a refusal": ("openai", completes({"message": {"content": None, "refusal": "No."}}), ("", "No.", [])),
    "a refusal among parts": (
        "openai",
        completes({"message": {"content": [{"type": "refusal", "refusal": "No."}]}}),
        ("", "No.", []),
    ),
    "a tool call": ("openai", completes({"message": {"content": None, "tool_calls": [SPEAKS]}}), ("", None, ["f"])),
    "the older form of a call": (
        "openai",
        completes(
            {"message": {"content": None, "function_call": SPEAKS["function"]}, "finish_reason": "function_call"}
        ),
        ("", None, ["f"]),
    ),
    "reasoning that is a list": (
        "openai",
        completes({"message": {"content": "Hi", "reasoning_content": [1], "reasoning": {"a": 1}}}),
        ("Hi", None, []),
    ),
    "Anthropic's empty text": ("anthropic", whole(message({"type": "text", "text": ""})), ("", None, [])),
    "Anthropic's empty text, streamed": ("anthropic", events({"type": "text", "text": ""}), ("", None, [])),
    "Anthropic's call": ("anthropic", whole(message({"type": "tool_use", "name": "f"})), ("", None, ["f"])),
    "Yao's empty text": ("yao", sends({"type": "text", "props": {"content": ""}}), ("", None, [])),
    "Yao's image": ("yao", sends({"type": "image", "props": {"url": "https://x"}}), ("", None, [])),
}


@pytest.mark.parametrize(("type", "behaviour", "expected"), SPOKEN.values(), ids=SPOKEN)
def test_an_empty_text_a_refusal_and_a_call_are_messages(
    bench: Bench, type: str, behaviour: Behaviour, expected: tuple[str, str | None, list[str]]
) -> None:
    bench.type = type
    bench.server.plan(behaviour)

    found = bench.ask(assistant="a")

    assert (found.content, found.refusal, [call.name for call in found.tool_calls]) == expected
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("reason", "hint"),
    [
        ("length", "It reached its token limit before writing any text: raise max_tokens"),
        (
            "content_filter",
            "The provider withheld the response: its content filter rejected the request or the response",
        ),
    ],
)
def test_a_model_that_ended_before_a_word_is_told_why(bench: Bench, reason: str, hint: str) -> None:
    bench.server.plan(completes({"message": {"content": None}, "finish_reason": reason}))

    assert bench.fail().hint == hint


# Usage

READ: dict[str, tuple[Any, Usage]] = {
    "texts": ({"prompt_tokens": "12", "completion_tokens": " 4 "}, Usage(input_tokens=12, output_tokens=4)),
    "texts of cached tokens and cost": (
        {"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": "2"}, "cost": "0.5"},
        Usage(input_tokens=12, output_tokens=0, cached_tokens=2, cost=0.5),
    ),
    "numbers with a point": (
        {"prompt_tokens": 12.0, "completion_tokens": "4.0"},
        Usage(input_tokens=12, output_tokens=4),
    ),
    "nothing of details": (
        {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": None},
        Usage(input_tokens=1, output_tokens=2),
    ),
    "one of two": ({"completion_tokens": 5}, Usage(input_tokens=0, output_tokens=5)),
    "zeros": ({"prompt_tokens": 0, "completion_tokens": 0}, Usage()),
    "a cost alone": ({"cost": 0.5}, Usage(input_tokens=0, output_tokens=0, cached_tokens=0, cost=0.5, unknown=True)),
    "an empty object": ({}, UNKNOWN),
    "nothing": (None, UNKNOWN),
}


@pytest.mark.parametrize(("usage", "expected"), READ.values(), ids=READ)
def test_usage_is_read_leniently(bench: Bench, usage: Any, expected: Usage) -> None:
    bench.server.plan(completes(SAID, usage))

    found = bench.ask()

    assert (found.usage, found.warnings) == (expected, ())


IMPOSSIBLE: dict[str, tuple[Any, str]] = {
    "negative": ({"prompt_tokens": -5, "completion_tokens": 2}, "prompt_tokens is -5"),
    "a negative text": ({"prompt_tokens": 5, "completion_tokens": "-2"}, 'completion_tokens is "-2"'),
    "infinite": ({"prompt_tokens": float("inf")}, "prompt_tokens is Infinity"),
    "not a number": ({"prompt_tokens": float("nan")}, "prompt_tokens is NaN"),
    "texts of them": ({"prompt_tokens": "inf", "completion_tokens": "nan"}, 'prompt_tokens is "inf", completion_tokens is "nan"'),
    "more than there can be": ({"prompt_tokens": 10**400}, f"prompt_tokens is {10**59}..."),
    "words": ({"prompt_tokens": "many"}, 'prompt_tokens is "many"'),
    "true": ({"prompt_tokens": True}, "prompt_tokens is true"),
    "a list": ({"prompt_tokens": [1]}, "prompt_tokens is [1]"),
    "a negative cost": ({"prompt_tokens": 1, "completion_tokens": 1, "cost": -0.1}, "cost is -0.1"),
    "negative details": ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": -1}}, "prompt_tokens_details.cached_tokens is -1"),
    "details that are a text": ({"prompt_tokens": 1, "prompt_tokens_details": "2"}, 'prompt_tokens_details is "2"'),
    "a text instead of all": ("12", 'it is "12"'),
    "a list instead of all": ([12], "it is [12]"),
}  # fmt: skip


@pytest.mark.parametrize(("usage", "said"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_usage_that_cannot_be_is_unknown_and_said(bench: Bench, usage: Any, said: str, streamed: bool) -> None:
    last = {"choices": [], "usage": usage}
    bench.server.plan(sends(delta({"content": "Hi"}, "stop"), last) if streamed else completes(SAID, usage))

    found = bench.ask(price={"input": 1, "output": 1})

    assert (found.content, found.usage) == ("Hi", UNKNOWN)
    assert found.warnings == (f"test reports an impossible usage: {said}; the usage of the call is unknown",)


def test_usage_of_anthropic_is_read_alike(bench: Bench) -> None:
    bench.type = "anthropic"
    text = {"type": "text", "text": "Hi"}
    bench.server.plan(
        whole({**message(text), "usage": {"input_tokens": "5", "cache_read_input_tokens": 4, "output_tokens": "7"}}),
        whole({**message(text), "usage": {"input_tokens": 5, "output_tokens": -7}}),
        events(text, usage={"input_tokens": "nan", "output_tokens": 7}),
        whole(message(text)),
    )

    found = [bench.ask() for _ in range(4)]

    assert [one.usage for one in found] == [
        Usage(input_tokens=9, output_tokens=7, cached_tokens=4),
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
    ]
    assert [one.warnings for one in found] == [
        (),
        ("test reports an impossible usage: output_tokens is -7; the usage of the call is unknown",),
        ('test reports an impossible usage: input_tokens is "nan"; the usage of the call is unknown',),
        (),
    ]


@pytest.mark.parametrize("reason", [5, 0, False, True, [], ["stop"], {}, {"type": "stop"}, 1.5], ids=json.dumps)
@pytest.mark.parametrize("how", ["whole", "streamed", "anthropic", "anthropic streamed"])
def test_a_finish_reason_that_is_no_text_is_said(bench: Bench, reason: Any, how: str) -> None:
    text = {"type": "text", "text": "Hi"}
    name = "stop_reason" if how.startswith("anthropic") else "finish_reason"
    bench.type = "anthropic" if how.startswith("anthropic") else "openai"
    answers = {
        "whole": completes({**SAID, "finish_reason": reason}),
        "streamed": sends(delta({"content": "Hi"}), delta({}, reason), done=False),
        "anthropic": whole(message(text, stop=reason)),
        "anthropic streamed": events(text, stop=reason),
    }
    bench.server.plan(answers[how])

    found = bench.ask()

    assert (found.content, found.finish_reason, found.ending) == ("Hi", "", "stop")
    assert found.warnings == (f"test gave a {name} that is not a string: {json.dumps(reason)}",)


# A byte order mark

BOM = "\ufeff"
ANSWER = json.dumps({"model": "m", "choices": [SAID]})
STREAM = f"data: {json.dumps(delta({'content': 'Hi'}, 'stop'))}\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize(
    "behaviour",
    [
        body(200, BOM + ANSWER),
        body(200, f"{BOM}\n {ANSWER}\n"),
        sends(BOM + STREAM, done=False),
        body(200, BOM + STREAM, {"content-type": "text/plain"}),
    ],
    ids=["whole", "with blanks", "streamed", "a stream that is not called one"],
)
def test_a_byte_order_mark_is_skipped(bench: Bench, behaviour: Behaviour) -> None:
    bench.server.plan(behaviour)

    assert bench.ask().content == "Hi"


def test_a_byte_order_mark_before_an_error_is_skipped(bench: Bench) -> None:
    bench.server.plan(body(400, f'{BOM}{{"error": {{"message": "too long"}}}}'))

    assert bench.fail().message.endswith("answered 400: too long")
