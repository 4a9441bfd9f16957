"""How calls of tools are put together that hosts send in pieces, with numbers and ids that say nothing, or too much."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from connector_bench import Bench, asks
from model_server import completes, in_pieces, sends

from runner.agents.answer import tool_call_records
from runner.answers.files import read_recording, write_recording
from runner.answers.replay import CaseRecording, RecordedCall
from runner.connectors.base import ModelRequest

Pieces = list[list[dict[str, Any]]]


def piece(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """An entry of `tool_calls`; `more` has its `id` and `index`."""
    said = {"name": name, "arguments": arguments}
    return {**more, "function": {key: value for key, value in said.items() if value is not None}}


ONE: dict[str, Pieces] = {
    "arguments in pieces": [[piece("f", '{"a"', id="1", index=0)], [piece(None, ": 1}", index=0)]],
    "no index later": [[piece("f", '{"a"', id="1", index=0)], [piece(None, ": 1}")]],
    "no index at all": [[piece("f", '{"a"', id="1")], [piece(None, ": 1}")]],
    "an index later": [[piece("f", '{"a"', id="1")], [piece(None, ": 1}", index=0)]],
    "id and name each time": [[piece("f", '{"a"', id="1", index=0)], [piece("f", ": 1}", id="1", index=0)]],
    "name each time, no id": [[piece("f", '{"a"', index=0)], [piece("f", ": 1}", index=0)]],
    "a new id each time, no name": [[piece("f", '{"a"', id="1", index=0)], [piece(None, ": 1}", id="2", index=0)]],
    "an empty name": [[piece("f", '{"a"', id="1", index=0)], [piece("", ": 1}", id="1", index=0)]],
    "the id behind the name": [[piece("f", "", index=0)], [piece(None, '{"a": 1}', id="1", index=0)]],
    "arguments of an object": [[piece("f", {"a": 1}, id="1", index=0)]],
    "null first": [
        [{"id": "1", "index": 0, "function": {"name": "f", "arguments": None}}],
        [piece(None, '{"a": 1}', index=0)],
    ],
    "an empty object first": [[piece("f", "{}", id="1", index=0)], [piece(None, '{"a": 1}', index=0)]],
    "all of it twice": [[piece("f", '{"a": 1}', id="1", index=0)], [piece("f", '{"a": 1}', id="1", index=0)]],
    "two pieces in a list": [[piece("f", '{"a"', id="1", index=0), piece(None, ": 1}", index=0)]],
    "two named pieces in a list": [[piece("f", '{"a"', index=0), piece("f", ": 1}", index=0)]],
    "a name behind it with nothing": [[piece("f", '{"a": 1}', id="1", index=0)], [piece("f", "", id="1", index=0)]],
}


@pytest.mark.parametrize("pieces", ONE.values(), ids=ONE)
def test_pieces_of_one_call_are_one_call(bench: Bench, pieces: Pieces) -> None:
    assert calls_in(bench, pieces) == [("f", {"a": 1})]


def test_a_name_that_comes_in_pieces_is_joined(bench: Bench) -> None:
    pieces = [[piece("t__", index=0, id="1")], [piece("pa", index=0)], [piece("y", "{}", index=0)]]
    assert calls_in(bench, pieces) == [("t__pay", {})]


TWO: dict[str, Pieces] = {
    "two numbers": [[piece("f", '{"a": 1}', id="1", index=0)], [piece("g", '{"b": 2}', id="2", index=1)]],
    "two ids, one number": [[piece("f", '{"a": 1}', id="1", index=0)], [piece("g", '{"b": 2}', id="2", index=0)]],
    "numbers that are texts": [
        [piece("f", '{"a"', id="1", index="0")],
        [piece("g", '{"b"', id="2", index="1")],
        [piece(None, ": 1}", index="0")],
        [piece(None, ": 2}", index="1")],
    ],
    "two ids, one number, in pieces": [
        [piece("f", '{"a"', id="1", index=0)],
        [piece(None, ": 1}", index=0)],
        [piece("g", '{"b"', id="2", index=0)],
        [piece(None, ": 2}", index=0)],
    ],
    "two ids that take turns, one number": [
        [piece("f", '{"a"', id="1", index=0)],
        [piece("g", '{"b"', id="2", index=0)],
        [piece(None, ": 1}", id="1", index=0)],
        [piece(None, ": 2}", id="2", index=0)],
    ],
    "two numbers that take turns": [
        [piece("f", '{"a"', id="1", index=0)],
        [piece("g", '{"b"', id="2", index=1)],
        [piece(None, ": 1}", index=0)],
        [piece(None, ": 2}", index=1)],
    ],
    "names alone, one number": [[piece("f", '{"a": 1}', index=0)], [piece("g", '{"b": 2}', index=0)]],
    "names alone, one number, in pieces": [
        [piece("f", '{"a"', index=0)],
        [piece(None, ": 1}", index=0)],
        [piece("g", index=0)],
        [piece(None, '{"b": 2}', index=0)],
    ],
    "one id for all": [[piece("f", '{"a": 1}', id="x", index=0)], [piece("g", '{"b": 2}', id="x", index=0)]],
    "no numbers and no ids": [[piece("f", '{"a": 1}')], [piece("g", '{"b": 2}')]],
    "a list without numbers": [[piece("f", '{"a": 1}'), piece("g", '{"b": 2}')]],
    "a list of one number": [[piece("f", '{"a": 1}', index=0), piece("g", '{"b": 2}', index=0)]],
    "a list of one id": [[piece("f", '{"a": 1}', id="x", index=0), piece("g", '{"b": 2}', id="x", index=0)]],
    "lists of pieces without numbers": [
        [piece("f", '{"a"'), piece("g", '{"b"')],
        [piece(None, ": 1}"), piece(None, ": 2}")],
    ],
    "numbers from one": [[piece("f", '{"a": 1}', id="1", index=1)], [piece("g", '{"b": 2}', id="2", index=2)]],
}


@pytest.mark.parametrize("pieces", TWO.values(), ids=TWO)
def test_two_calls_stay_two_whatever_their_numbers(bench: Bench, pieces: Pieces) -> None:
    assert calls_in(bench, pieces) == [("f", {"a": 1}), ("g", {"b": 2})]


ALIKE: dict[str, Pieces] = {
    "two ids": [[piece("f", "{}", id="1", index=0)], [piece("f", "{}", id="2", index=0)]],
    "two ids that are numbers": [[piece("f", "{}", id=0, index=0)], [piece("f", "{}", id=1, index=0)]],
    "a list": [[piece("f", "{}"), piece("f", "{}")]],
    "a list without arguments": [[piece("f"), piece("f")]],
    "arguments in pieces": [
        [piece("f", '{"a": 1}', index=0)],
        [piece("f", index=0)],
        [piece(None, '{"a": 2}', index=0)],
    ],
    "one id": [
        [piece("f", '{"a": 1}', id="x", index=0)],
        [piece("f", id="x", index=1)],
        [piece(None, '{"a": 2}', index=1)],
    ],
    "other arguments": [[piece("f", '{"a": 1}', index=0)], [piece("f", '{"a": 2}', index=0)]],
}


@pytest.mark.parametrize("pieces", ALIKE.values(), ids=ALIKE)
def test_a_tool_that_is_called_twice_is_called_twice(bench: Bench, pieces: Pieces) -> None:
    calls = calls_in(bench, pieces)
    assert [name for name, _ in calls] == ["f", "f"]
    assert calls[0] != calls[1] or not any(arguments for _, arguments in calls)


@pytest.mark.parametrize(
    "entries", [[piece("f", "{}"), piece("g", "{}")], [piece("f", "{}", id="x"), piece("f", "{}", id="x")]]
)
def test_each_call_of_a_whole_message_has_an_id_of_its_own(bench: Bench, entries: Any) -> None:
    bench.server.plan(completes({"message": {"content": None, "tool_calls": entries}}))
    calls = bench.ask(streaming=False).tool_calls
    assert [call.name for call in calls] == [entry["function"]["name"] for entry in entries]
    assert len({call.id for call in calls}) == 2


def test_a_whole_message_behind_its_pieces_says_nothing_new(bench: Bench) -> None:
    entries = [piece("f", '{"a": 1}', id="1", index=0)]
    whole = {"choices": [{"delta": {}, "message": {"content": "Hi", "tool_calls": entries}, "finish_reason": "stop"}]}
    bench.server.plan(sends(delta({"content": "Hi", "tool_calls": entries}), whole))
    answer = bench.ask()
    assert (answer.content, [call.name for call in answer.tool_calls]) == ("Hi", ["f"])


def calls_in(bench: Bench, pieces: Pieces) -> list[tuple[str, Any]]:
    """Name and arguments of the calls that a stream of these lists is taken for."""
    bench.server.plan(
        in_pieces(sends(*(delta({"tool_calls": entries}) for entries in pieces), delta({}, "tool_calls")), 5)
    )
    return [(call.name, json.loads(call.arguments or "{}")) for call in bench.ask().tool_calls]


def delta(value: Any, finish: Any = None) -> Any:
    return {"choices": [{"index": 0, "delta": value, "finish_reason": finish}]}


# Anthropic's blocks


def block(index: Any, said: Any, *deltas: Any) -> list[Any]:
    more = [{"type": "content_block_delta", "index": index, "delta": one} for one in deltas]
    return [{"type": "content_block_start", "index": index, "content_block": said}, *more]


USE = {"type": "tool_use", "input": {}}
TEXT = {"type": "text", "text": ""}


def text(said: str) -> Any:
    return {"type": "text_delta", "text": said}


def json_piece(said: str) -> Any:
    return {"type": "input_json_delta", "partial_json": said}


BLOCKS: dict[str, list[Any]] = {
    "numbers": [
        *block(0, TEXT, text("Hi")),
        *block(1, {**USE, "id": "1", "name": "f"}, json_piece('{"a"'), json_piece(": 1}")),
        *block(2, {**USE, "id": "2", "name": "g"}, json_piece('{"b": 2}')),
    ],
    "one number": [
        *block(0, TEXT, text("Hi")),
        *block(0, {**USE, "id": "1", "name": "f"}, json_piece('{"a"'), json_piece(": 1}")),
        *block(0, {**USE, "id": "2", "name": "g"}, json_piece('{"b": 2}')),
    ],
    "one number, a text that goes on": [
        *block(0, TEXT, text("H")),
        *block(0, {**USE, "id": "1", "name": "f"}, json_piece('{"a": 1}'), text("i")),
        *block(0, {**USE, "id": "2", "name": "g", "input": {"b": 2}}),
    ],
    "no text opened": [
        {"type": "content_block_delta", "index": 0, "delta": text("Hi")},
        *block(1, {**USE, "id": "1", "name": "f", "input": {"a": 1}}),
        *block(1, {**USE, "id": "2", "name": "g", "input": {"b": 2}}),
    ],
}


@pytest.mark.parametrize("events", BLOCKS.values(), ids=BLOCKS)
def test_nothing_is_lost_when_blocks_share_a_number(bench: Bench, events: list[Any]) -> None:
    bench.type = "anthropic"
    start, stop = {"type": "message_start", "message": {"id": "m"}}, {"type": "message_stop"}
    bench.server.plan(in_pieces(sends(start, *events, stop, done=False), 7))
    answer = bench.ask()
    assert answer.content == "Hi"
    assert [(call.id, call.name, json.loads(call.arguments)) for call in answer.tool_calls] == [
        ("1", "f", {"a": 1}),
        ("2", "g", {"b": 2}),
    ]


# What a stream is


def stream_of(text: str) -> Any:
    """A body that is called a stream of events, whatever it is, in pieces of 5 bytes."""

    async def behave(exchange: Any) -> None:
        await exchange.start_stream()
        for start in range(0, len(text), 5):
            await exchange.chunk(text[start : start + 5].encode())
        await exchange.end_stream()

    return behave


CHUNK = json.dumps(delta({"content": "Hi"}, "stop"))
WHOLE = {
    "openai": {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
    "anthropic": {"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"},
}
STREAMS = {
    "an empty event first": ("openai", f"event: ping\ndata: \n\ndata: {CHUNK}\n\ndata: [DONE]\n\n"),
    "data without a colon": ("openai", f"data: {CHUNK}\n\ndata\n\ndata: [DONE]\n\n"),
    "empty events at the end": ("openai", f"data: {CHUNK}\n\ndata:\n\ndata:\n\n"),
    "blanks around the end": ("openai", f"data: {CHUNK}\n\ndata:  [DONE] \n\n"),
    "an empty event of anthropic": (
        "anthropic",
        f"event: ping\ndata:\n\nevent: message\ndata: {json.dumps(WHOLE['anthropic'])}\n\n",
    ),
    "a whole completion as an event": ("openai", f"data: {json.dumps(WHOLE['openai'])}\n\ndata: [DONE]\n\n"),
    "JSON": ("openai", json.dumps(WHOLE["openai"])),
    "JSON of several lines": ("openai", "\ufeff\n" + json.dumps(WHOLE["openai"], indent=2)),
    "a chunk": ("openai", CHUNK),
    "lines of JSON": (
        "openai",
        json.dumps({**delta({"content": "H"}), "id": "a\u2028b"}, ensure_ascii=False)
        + f"\r\n{json.dumps(delta({'content': 'i'}, 'stop'))}\n",
    ),
    "JSON of anthropic": ("anthropic", json.dumps(WHOLE["anthropic"], indent=1)),
}


@pytest.mark.parametrize(("type", "text"), STREAMS.values(), ids=STREAMS)
def test_what_is_called_a_stream_is_read_as_what_it_is(bench: Bench, type: str, text: str) -> None:
    bench.type = type
    bench.server.plan(stream_of(text))
    heard: list[str] = []
    assert bench.ask(asks("hi", on_chunk=heard.append)).content == "".join(heard) == "Hi"


def test_what_a_host_wants_back_with_a_call_is_kept_and_sent(bench: Bench, tmp_path: Path) -> None:
    signed = {"google": {"thought_signature": "c2ln"}}
    bench.server.plan(completes({"message": {"tool_calls": [piece("f", "{}", id="1", extra_content=signed)]}}))

    call = RecordedCall(request={"connector": "c", "messages": []}, completion=bench.ask())
    path = tmp_path / "kept.json"
    write_recording(path, CaseRecording(suite="s", case="c", time=datetime.now(UTC), calls=[call]))
    kept = read_recording(path)
    assert kept is not None
    said = {"role": "assistant", "tool_calls": tool_call_records(kept.calls[0].completion)}
    bench.ask(ModelRequest(messages=[said]))

    assert bench.server.requests[1].body["messages"][0]["tool_calls"][0]["extra_content"] == signed
