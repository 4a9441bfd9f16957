"""When a request is the one that was recorded, and how the difference is shown when it is not."""

from __future__ import annotations

from typing import Any

import pytest
from table_tests import each

from runner.answers.replay import describe, difference, exact_key, likeness, loose_key, steady_text
from runner.connectors.base import ModelRequest


def request(*said: str | dict[str, Any], tools: tuple[str, ...] = (), agent: str = "demo", **parameters: Any) -> Any:
    """A request as it is recorded; a text is a message of the user."""
    messages = [{"role": "user", "content": item} if isinstance(item, str) else item for item in said]
    offered = tuple({"name": name, "description": f"Does {name}", "parameters": {}} for name in tools)
    connector = parameters.pop("connector", "gpt")
    return describe(
        ModelRequest(messages=messages, parameters=parameters, tools=offered, agent=agent), connector, "m", str
    )


def calls(id: str, arguments: str, name: str = "book") -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "name": "book", "content": content}


SAME = {
    "a date": ("due 2024-01-31", "due 2025-12-01"),
    "a date and time": ("at 2024-01-31T10:00:00.123Z.", "at 2025-12-01T23:59:59+02:00."),
    "a date and time of prompts": ("It is 2024-01-31 10:00:00", "It is 2025-12-01 23:59:59"),
    "a time of day": ("at 10:00", "at 23:59"),
    "an American date": ("on 1/31/2024, 10:00:00 AM", "on 12/1/2025, 9:00:00 PM"),
    "what Date.toString gives": (
        "Wed Jan 31 2024 10:00:00 GMT+0000 (Coordinated Universal Time)",
        "Mon Dec 01 2025 23:59:59 GMT+0100 (Central European Standard Time)",
    ),
    "what Date.toUTCString gives": ("Wed, 31 Jan 2024 10:00:00 GMT", "Mon, 01 Dec 2025 23:59:59 GMT"),
    "seconds since the epoch": ("since 1706695200", "since 1764630000"),
    "milliseconds since the epoch": ('{"at": 1706695200123}', '{"at": 1764630000456}'),
    "a UUID": ("id 6f9619ff-8b86-d011-b42d-00cf4fc964ff", "id 00000000-0000-4000-8000-000000000000"),
    "a ULID": ("id 01ARZ3NDEKTSV4RRFFQ69G5FAV", "id 01BX5ZZKBKACTAV9WEVGEMMVRZ"),
    "the order of keys": ('{"a": 1, "b": [1]}', '{"b":[1],"a":1}'),
    "ids of tool calls": (
        (calls("call_1", "{}"), result("call_1", "ok")),
        (calls("toolu_9", "{}"), result("toolu_9", "ok")),
    ),
    "blanks in arguments": (calls("1", '{"a":1,"b":2}'), calls("1", '{ "b": 2, "a": 1 }')),
    "no content": ({"role": "assistant", "content": None}, {"role": "assistant", "content": ""}),
    "a date in a part": (
        {"role": "user", "content": [{"type": "text", "text": "on 2024-01-31"}]},
        {"role": "user", "content": [{"text": "on 2025-12-01", "type": "text"}]},
    ),
}
OTHER = {
    "a text": ("hello", "hullo"),
    "the number of messages": (("hello", "hello"), "hello"),
    "the order of messages": (("one", "two"), ("two", "one")),
    "a role": ({"role": "system", "content": "hi"}, "hi"),
    "an amount": ("costs 3500", "costs 3501"),
    "a version": ("release 1.22.333", "release 1.22.334"),
    "a value in JSON": ('{"a": 1}', '{"a": 2}'),
    "arguments of a tool": (calls("1", '{"a": 1}'), calls("1", '{"a": 2}')),
    "the tool": (calls("1", "{}"), calls("1", "{}", "cancel")),
    "the result of a tool": (result("1", "ok"), result("1", "no")),
    "an image": (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 999}}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "B" * 999}}]},
    ),
}  # fmt: skip


def of(said: Any) -> Any:
    return request(*said) if isinstance(said, tuple) else request(said)


@each(("one", "other"), SAME.values(), ids=SAME)
def test_what_changes_from_run_to_run_does_not_count(one: Any, other: Any) -> None:
    assert loose_key(of(one)) == loose_key(of(other))
    assert difference(of(one), of(other)) == ""


@each(("one", "other"), OTHER.values(), ids=OTHER)
def test_what_is_said_counts(one: Any, other: Any) -> None:
    assert loose_key(of(one)) != loose_key(of(other))
    assert exact_key(of(one)) != exact_key(of(other))
    assert difference(of(one), of(other)) != ""


def test_parameters_and_descriptions_do_not_count() -> None:
    one, other = request("hi", tools=("a", "b"), temperature=0), request("hi", tools=("b", "a"), max_tokens=7)
    other["tools"][0]["description"] = "Something else"
    other["model"] = "another"

    assert exact_key(one) == exact_key(other)


@pytest.mark.parametrize(
    "other",
    [
        request("hi", agent="other"),
        request("hi", connector="claude"),
        request("hi", tools=("book",)),
        request("hi", response_format={"type": "json_object"}),
    ],
    ids=["agent", "connector", "tools", "response_format"],
)
def test_who_asks_whom_for_what_counts(other: Any) -> None:
    assert exact_key(request("hi")) != exact_key(other)
    assert loose_key(request("hi")) != loose_key(other)


@each(
    "text",
    [
        "3500 euros",
        "EXP-1234567890",
        "tel. 0123456789",
        "1.2.3",
        "10 to 12",
        "v2024-1",
        "{broken",
        "12:34:56:78",
        "a/b/c",
    ],
)
def test_a_text_without_dates_and_ids_stays(text: str) -> None:
    assert steady_text(text) == text


def test_a_difference_shows_what_is_said_and_who_is_asked() -> None:
    recorded = request({"role": "system", "content": "Be brief.\nToday is 2024-01-31."}, "hello", tools=("a",))
    asked = request({"role": "system", "content": "Be long.\nToday is 2025-01-31."}, "hello", tools=("a", "b"))

    assert difference(recorded, asked).split("\n") == [
        " agent: demo",
        "-tools: a",
        "-system: Be brief.",
        "+tools: a, b",
        "+system: Be long.",
        "     Today is <time>.",
    ]


def test_a_difference_is_bounded() -> None:
    recorded, asked = (request("\n".join(f"{word} {n} {word * 500}" for n in range(500))) for word in "ab")

    lines = difference(recorded, asked).split("\n")

    assert len(lines) == 41
    assert max(map(len, lines)) < 220
    assert lines[-1] == "... and 961 more lines"


def test_likeness_tells_the_nearest_one() -> None:
    asked = request("How much was the taxi to the airport?")
    near, far = request("How much was the bus to the airport?"), request("Write a poem")

    assert likeness(asked, asked) == 1.0
    assert likeness(asked, near) > likeness(asked, far)
