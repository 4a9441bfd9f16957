"""The scripted connector, and the examples of its page."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scripted_agent import PROMPTS, RESULT, TOOLS, called, said

from runner.connectors.base import Completion, ModelRequest, ToolCall, Usage

PAGE = Path(__file__).parents[3] / "docs/scripted.md"


# the page


def examples() -> list[Any]:
    """The pairs of rules and transcript on the page."""
    pairs = re.findall(r"^```yaml\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    return [pytest.param(*pair, id=f"example-{number}") for number, pair in enumerate(pairs, 1)]


def test_every_example_of_the_page_is_run() -> None:
    assert len(examples()) == PAGE.read_text("utf-8").count("```yaml") == 5


@pytest.mark.parametrize(("replies", "transcript"), examples())
def test_an_example_of_the_page_answers_as_it_says(agent: Any, replies: str, transcript: str) -> None:
    talk = agent(replies)
    messages: list[dict[str, Any]] = []
    settings: dict[str, Any] = {"metadata": {}, "tools": ()}
    heard = []
    for line in transcript.splitlines():
        who, _, text = line.partition(": ")
        if who == "metadata":
            settings["metadata"] = json.loads(text)
        elif who == "offered":
            settings["tools"] = ({"name": text, "description": "", "parameters": {}},)
        elif who == "user":
            messages.append({"role": "user", "content": text})
        elif who == "tool":
            messages.append({"role": "tool", "tool_call_id": messages[-1]["tool_calls"][0]["id"], "content": text})
        elif who == "error":
            heard.append(f"error: {talk.error(*messages, **settings).message}")
            continue
        else:
            answer = talk.ask(*messages, **settings)
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in answer.tool_calls
            ]
            heard += [f"assistant calls {call.name}: {call.arguments}" for call in answer.tool_calls]
            heard += [f"assistant: {answer.content}"] if not calls else []
            messages.append(
                {"role": "assistant", "content": answer.content, **({"tool_calls": calls} if calls else {})}
            )
            continue
        heard.append(line)
    assert heard == transcript.splitlines()


# conditions

RECEIPT = {"role": "user", "content": [{"type": "text", "text": "Read"}, {"type": "text", "text": "this RECEIPT"}]}
_FIRST, _SECOND = called("a", "1", id="x"), called("b", "2", id="y")
TWO_RESULTS = [
    {"role": "assistant", "tool_calls": _FIRST[0]["tool_calls"] + _SECOND[0]["tool_calls"]},
    _FIRST[1],
    _SECOND[1],
]

CONDITIONS: dict[str, tuple[str, list[Any], dict[str, Any], bool]] = {
    "text without case": ("input: HELLO", ["well, hello there"], {}, True),
    "another text": ("input: hello", ["good bye"], {}, False),
    "one of several texts": ("input: [bye, hello]", ["hello"], {}, True),
    "only the last message": ("input: hello", ["hello", said("Yes?"), "tea"], {}, False),
    "text parts": ("input: receipt", [RECEIPT], {}, True),
    "the whole text": ("input: {equals: hello}", ["hello there"], {}, False),
    "a pattern": ("input: {regex: '^\\d+$'}", ["42"], {}, True),
    "a pattern that does not match": ("input: {regex: '^\\d+$'}", ["42 euros"], {}, False),
    "no user": ("input: false", [PROMPTS[0]], {"turn": 0}, True),
    "a field of JSON": ("input.count: 3", ['{"count": 3}'], {}, True),
    "a field of an inner object": ("input.a.0.b: x", ['{"a": [{"b": "x"}]}'], {}, True),
    "a field that is not there": ("input.count: 3", ["count 3"], {}, False),
    "a field of a text that is nested too deeply": ("input.count: 3", ["[" * 200_000], {}, False),
    "no such field": ("input.count: false", ['{"a": 1}'], {}, True),
    "null": ("input.count: null", ['{"count": null}'], {}, True),
    "prompts": ("system: be brief", [*PROMPTS, "Hi"], {}, True),
    "the first turn": ("turn: 1", ["Hi"], {}, True),
    "a later turn": ("turn: [2, 3]", ["Hi", said("Yes?"), "Tea"], {}, True),
    "the turn, with a history that was cut": ("turn: 9", ["Hi"], {"turn": 9}, True),
    "the first call": ("call: 1", ["Hi", said("Yes?"), "Tea"], {}, True),
    "the second call": ("call: 2", RESULT, {}, True),
    "a tool result": ("tool: true", RESULT, {}, True),
    "no tool result": ("tool: false", [*RESULT, said("Found"), "Thanks"], {}, True),
    "a tool result before a note": ("tool.name: find", [*RESULT, PROMPTS[0]], {}, True),
    "a tool by its name": ("tool.name: [find, list]", RESULT, {}, True),
    "another tool": ("tool.name: fin", RESULT, {}, False),
    "the tool's arguments": ("tool.arguments.q: tea", RESULT, {}, True),
    "the tool's result": ("tool.result.items.-1.n: 2", RESULT, {}, True),
    "past the end of a list": ("tool.result.items.2.n: 2", RESULT, {}, False),
    "the text of a result": (
        "tool.result: {contains: 'not found'}",
        ["Go", *called("find", "Error: Not found")],
        {},
        True,
    ),
    "the last of several results": (
        "{tool.name: b, tool.result: 2}",
        ["Go", *TWO_RESULTS],
        {},
        True,
    ),
    "a tool message with a name only": (
        "tool.name: find",
        ["Go", {"role": "tool", "name": "find", "content": "1"}],
        {},
        True,
    ),
    "tools are offered": ("tools: true", ["Hi"], {"tools": TOOLS}, True),
    "no tools are offered": ("tools: false", ["Hi"], {}, True),
    "a tool is offered": ("tools: find", ["Hi"], {"tools": TOOLS}, True),
    "another tool is offered": ("tools: create", ["Hi"], {"tools": TOOLS}, False),
    "metadata": ("metadata.plan: pro", ["Hi"], {"metadata": {"plan": "pro"}}, True),
    "metadata in full": ("metadata.plan: pro", ["Hi"], {"metadata": {"plan": "professional"}}, False),
    "metadata that is true": ("metadata.vip: {equals: true}", ["Hi"], {"metadata": {"vip": 1}}, False),
    "metadata that is 1": ("metadata.vip: 1", ["Hi"], {"metadata": {"vip": True}}, False),
    "metadata in a list": ("metadata.tags: new", ["Hi"], {"metadata": {"tags": ["old", "new"]}}, True),
    "the agent": ("agent: demo", ["Hi"], {}, True),
    "a message": ("messages.0.content: Hi", ["Hi", said("Yes?"), "Tea"], {}, True),
    "another value": ("metadata.id: '{{ input.id }}'", ['{"id": 7}'], {"metadata": {"id": 7}}, True),
    "another value that differs": ("metadata.id: '{{ input.id }}'", ['{"id": 8}'], {"metadata": {"id": 7}}, False),
    "another value that is not there": ("metadata.id: '{{ input.id }}'", ["7"], {"metadata": {"id": 7}}, False),
    "what a regex took": (
        "{metadata.text: {contains: '{{ match.1 }}'}, input: {regex: '\"(.+)\"'}}",
        ['say "tea"'],
        {"metadata": {"text": "Green Tea"}},
        True,
    ),
    "a whole list": ("metadata.tags: {equals: [a, b]}", ["Hi"], {"metadata": {"tags": ["a", "b"]}}, True),
    "all of several": ("{input: tea, turn: 2}", ["tea"], {}, False),
}
"""What is tried → the condition, the messages, more of the request, whether it holds."""


@pytest.mark.parametrize(("when", "messages", "more", "holds"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition(agent: Any, when: str, messages: list[Any], more: Mapping[str, Any], holds: bool) -> None:
    wanted = when if when.startswith("{") else f"{{{when}}}"
    talk = agent(f"- when: {wanted}\n  reply: yes, it holds\n- reply: no, it does not\n")
    assert talk.ask(*messages, **more).content == ("yes, it holds" if holds else "no, it does not")


# replies


def test_a_reply_has_everything_that_a_model_may_say(agent: Any) -> None:
    talk = agent("""
- reply:
    text: "Filing {{ input }}"
    reasoning: "{{ input }} is meant"
    refusal: "No {{ input }}"
    tool_calls: [list, {name: find, arguments: {q: "{{ input }}", deep: ["{{ turn }}"]}}, {name: x__find}]
    finish_reason: length
    awaiting_input: true
    input_hint: "More about {{ input }}"
    usage: {input_tokens: 10, output_tokens: 20, cached_tokens: 5, cost: 0.25}
""")
    assert talk.ask("tea", tools=TOOLS) == Completion(
        content="Filing tea",
        tool_calls=(
            ToolCall(id="call_1_1", name="list", arguments="{}"),
            ToolCall(id="call_1_2", name="shop__find", arguments='{"q":"tea","deep":[1]}'),
            ToolCall(id="call_1_3", name="x__find", arguments="{}"),
        ),
        finish_reason="length",
        usage=Usage(input_tokens=10, output_tokens=20, cached_tokens=5, cost=0.25),
        model="scripted",
        id="scripted_1",
        reasoning="tea is meant",
        refusal="No tea",
        awaiting_input=True,
        input_hint="More about tea",
    )


def test_usage_is_the_number_of_words(agent: Any) -> None:
    talk = agent("- reply: {text: two words, tool_calls: [{name: find, arguments: {q: some tea}}]}\n")
    answer = talk.ask(PROMPTS[0], RECEIPT)
    assert (answer.usage, answer.finish_reason) == (Usage(input_tokens=6, output_tokens=4), "tool_calls")


def test_what_usage_does_not_say_is_counted(agent: Any) -> None:
    assert agent("- reply: {text: two words, usage: {output_tokens: 9}}\n").ask("one").usage == Usage(
        input_tokens=1, output_tokens=9
    )


def test_a_text_arrives_in_pieces(agent: Any) -> None:
    talk = agent('- reply: "0123456789"\n')
    assert (talk.ask("Hi").content, talk.pieces) == ("0123456789", ["012", "345", "678", "9"])


def test_an_empty_text_arrives_in_no_pieces(agent: Any) -> None:
    talk = agent('- reply: ""\n')
    assert (talk.ask("Hi").content, talk.pieces) == ("", [])


def test_calls_of_a_conversation_have_ids_of_their_own(agent: Any) -> None:
    talk = agent("- reply: {tool_calls: [find]}\n")
    first, second = talk.ask("Go"), talk.ask(*RESULT)
    assert [answer.tool_calls[0].id for answer in (first, second)] == ["call_1_1", "call_2_1"]


def test_the_same_request_gets_the_same_answer_again(agent: Any) -> None:
    talk = agent("- {when: {input: tea}, times: 1, reply: once}\n- reply: more\n")
    assert [talk.ask("tea").content for _ in range(3)] == ["once"] * 3


def test_times_counts_what_the_rule_answered_not_what_others_did(agent: Any) -> None:
    talk = agent("- {when: {input: tea}, times: 2, reply: tea}\n- reply: other\n")
    history = ["tea", said("tea"), "milk", said("other"), "tea", said("tea"), "tea"]
    assert [talk.ask(*history[:length]).content for length in (1, 3, 5, 7)] == ["tea", "other", "tea", "other"]


def test_times_looks_at_the_turn_of_each_answer(agent: Any) -> None:
    talk = agent("- {when: {turn: 2}, times: 1, reply: second}\n- reply: other\n")
    assert talk.ask("a", said("other"), "b").content == "second"


def test_the_file_is_read_once(agent: Any) -> None:
    talk = agent("- reply: first\n")
    talk.ask("Hi")
    (talk.folder / "replies.yml").write_text("- reply: changed\n", "utf-8")
    assert talk.ask("Hi").content == "first"


def test_an_error_that_passes_is_not_seen(agent: Any) -> None:
    talk = agent("- {times: 3, reply: {error: lost connection}}\n- reply: here\n")
    assert talk.ask("Hi").content == "here"


ERRORS: dict[str, tuple[str, str, int | None, bool]] = {
    "rate limit": (
        "{status: 429, message: slow down, retry_after: 1ms}",
        "The model scripted failed: 429 Too Many Requests: slow down (tried 4 times)",
        429,
        True,
    ),
    "server error": (
        "{status: 500}",
        "The model scripted failed: 500 Internal Server Error (tried 4 times)",
        500,
        True,
    ),
    "an unnamed status": ("{status: 499}", "The model scripted failed: 499", 499, False),
    "bad request": (
        "{status: 400, message: too long}",
        "The model scripted failed: 400 Bad Request: too long",
        400,
        False,
    ),
    "lost connection": ("connection reset", "The model scripted failed: connection reset (tried 4 times)", None, True),
}


@pytest.mark.parametrize(("error", "message", "status", "retryable"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_as_a_provider_gives_it(
    agent: Any, error: str, message: str, status: int | None, retryable: bool
) -> None:
    found = agent(f"- reply: {{error: {error}}}\n").error("Hi")
    assert (found.message, found.status, found.retryable) == (message, status, retryable)
    assert found.hint == "Rule 1 of assistants/demo/replies.yml sets this error"


def test_a_delay_can_be_cancelled(agent: Any) -> None:
    talk = agent("- reply: {text: late, delay: 1h}\n")

    async def give_up() -> str:
        request = ModelRequest(messages=[{"role": "user", "content": "Hi"}], folder=talk.folder, agent="demo")
        try:
            async with asyncio.timeout(0.01):
                return (await talk.connector.complete(request)).content
        except TimeoutError:
            return "given up"

    assert asyncio.run(give_up()) == "given up"
