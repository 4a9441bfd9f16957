"""The scripted connector, and the examples of its page."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runner.connectors.base import Completion, ConnectorError, ModelRequest, ToolCall, Usage
from runner.connectors.scripted import ScriptedConnector

PAGE = Path(__file__).parents[3] / "docs/scripted.md"


class Agent:
    """An agent folder with replies, and a conversation with it."""

    def __init__(self, root: Path, replies: str | None) -> None:
        self.folder = root / "assistants/demo"
        self.folder.mkdir(parents=True)
        if replies is not None:
            (self.folder / "replies.yml").write_text(replies, "utf-8")
        self.connector = ScriptedConnector(root)
        self.messages: list[dict[str, Any]] = []
        self.pieces: list[str] = []

    def ask(self, *messages: str | dict[str, Any], **more: Any) -> Completion:
        """The answer to messages, of which texts are the user's."""
        spoken: list[dict[str, Any]] = [
            {"role": "user", "content": message} if isinstance(message, str) else message for message in messages
        ]
        fields = {
            "agent": "demo",
            "folder": self.folder,
            "turn": sum(message["role"] == "user" for message in spoken),
            "on_chunk": self.pieces.append,
            **more,
        }
        return asyncio.run(self.connector.complete(ModelRequest(messages=spoken, **fields)))

    def error(self, *messages: str | dict[str, Any], **more: Any) -> ConnectorError:
        """The error that the answer to messages is."""
        with pytest.raises(ConnectorError) as caught:
            self.ask(*messages, **more)
        return caught.value


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    """Makes an agent of the text of a file of replies."""
    return lambda replies: Agent(tmp_path, replies)


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(name: str, result: str, arguments: str = "{}", id: str = "c1") -> list[dict[str, Any]]:
    """A tool call and its result, as the agent sends them."""
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]


# the page


def examples() -> list[Any]:
    """The pairs of rules and transcript on the page."""
    pairs = re.findall(r"^```yaml\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    return [pytest.param(*pair, id=f"example-{number}") for number, pair in enumerate(pairs, 1)]


def test_every_example_of_the_page_is_run() -> None:
    assert len(examples()) == PAGE.read_text("utf-8").count("```yaml") == 6


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
PROMPTS = [{"role": "system", "content": "You sell tea"}, {"role": "developer", "content": "Be brief"}]
RESULT = ["Go", *called("shop__find", '{"id": 7, "items": [{"n": 1}, {"n": 2}]}', '{"q": "tea"}')]
TOOLS = ({"name": "shop__find", "description": "", "parameters": {}},)

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
    "an unnamed status": ("{status: 418}", "The model scripted failed: 418", 418, False),
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
    assert found.hint == "Rule 1 of assistants/demo/replies.yml says so"


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


# templates

TEMPLATES: dict[str, tuple[str, str]] = {
    "text": ("{{ input }}!", "12 teas!"),
    "a list as JSON": ("{{ tool.result.items }}", '[{"n":1},{"n":2}]'),
    "an object in text": ("It is {{tool.result.items.0}}", 'It is {"n":1}'),
    "text as JSON": ("{{ input | json }}", '"12 teas"'),
    "JSON in JSON": ("{{ tool.arguments | json | json }}", '"{\\"q\\":\\"tea\\"}"'),
    "a number": ("{{ match.1 | number }}", "12"),
    "a fraction": ("{{ metadata.price | number }}", "1.5"),
    "the whole match": ("{{ match }}", "12"),
    "a group that took no part": ("<{{ match.none }}>", "<>"),
    "null as JSON": ("{{ metadata.nothing | json }}", "null"),
    "true": ("{{ metadata.vip }}", "true"),
    "the call": ("{{ call }} in {{ turn }} by {{ agent }}", "2 in 1 by demo"),
    "tools": ("{{ tools.0 }}", "find"),
    "no template": ("{ {input} }", "{ {input} }"),
}


@pytest.mark.parametrize(("template", "text"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_template(agent: Any, template: str, text: str) -> None:
    talk = agent(
        f"- when: {{input: {{regex: '(\\d+)(?P<none>x)?'}}}}\n  reply: {json.dumps(template)}\n",
    )
    metadata = {"price": "1.50", "nothing": None, "vip": True}
    assert talk.ask("12 teas", *RESULT[1:], tools=TOOLS, metadata=metadata).content == text


def test_match_is_of_the_first_regex_that_matched(agent: Any) -> None:
    talk = agent("""
- when: {input: [tea, {regex: 'milk (\\w+)'}], system: {regex: 'sell (\\w+)'}}
  reply: "{{ match.1 }}"
""")
    assert [talk.ask(PROMPTS[0], text).content for text in ("milk shake", "green tea")] == ["shake", "tea"]


def test_json_keeps_the_types_of_values(agent: Any) -> None:
    talk = agent(
        '- reply: {json: {n: "{{ metadata.n }}", o: ["{{ metadata.o }}"], "{{x": plain, t: "n={{ metadata.n }}"}}\n'
    )
    answer = talk.ask("Hi", metadata={"n": 1.5, "o": {"a": None}}).content
    assert json.loads(answer) == {"n": 1.5, "o": [{"a": None}], "{{x": "plain", "t": "n=1.5"}


MISSING: dict[str, tuple[str, str]] = {
    "metadata": ("{{ metadata.plan }}", "there is no metadata.plan"),
    "a field of text": ("{{ input.plan }}", "there is no input.plan"),
    "a tool": ("{{ tool.name }}", "there is no tool.name"),
    "a message": ("{{ messages.7.content }}", "there is no messages.7.content"),
    "a group": ("{{ match.8 }}", "there is no match.8"),
    "a number": ("{{ input | number }}", 'input is not a number: "Hi"'),
}


@pytest.mark.parametrize(("template", "problem"), MISSING.values(), ids=MISSING)
def test_a_template_without_a_value_names_its_rule(agent: Any, template: str, problem: str) -> None:
    talk = agent(f"- when: {{input: bye}}\n  reply: bye\n- when: {{input: {{regex: H}}}}\n  reply: '{template}'\n")
    assert talk.error("Hi").message == f"Cannot answer by rule 2 of assistants/demo/replies.yml: {problem}"


# mistakes

MISTAKES: dict[str, tuple[str, str, str | None]] = {
    "not a list": ("reply: hi", "it must be a list of rules", "A rule is - reply: some text"),
    "empty": ("", "it must be a list of rules", "A rule is - reply: some text"),
    "a rule that is text": ("- hi", "rule 1: a rule must be an object", "Its fields are when, times, reply"),
    "unknown field": ("- repl: hi", 'rule 1: unknown field "repl" in a rule', 'Did you mean "reply"?'),
    "no reply": ("- when: {turn: 1}", 'rule 1: "reply" is missing', "It says what the model answers"),
    "times": ("- {times: 0, reply: hi}", 'rule 1: "times" must be a whole number from 1 up', None),
    "a rule that hides others": (
        "- reply: hi\n- reply: ho",
        "rule 1: it always applies, so the rules after it never do",
        "Make it the last one",
    ),
    "conditions that are text": (
        "- {when: hi, reply: ho}",
        'rule 1: "when" must be an object',
        "Write it as when: { input: some text }",
    ),
    "unknown name": ("- {when: {inputs: hi}, reply: ho}", 'rule 1: unknown name "inputs"', 'Did you mean "input"?'),
    "unknown comparison": (
        "- {when: {input: {regx: hi}}, reply: ho}",
        'rule 1: unknown comparison "regx" for "input"',
        'Did you mean "regex"?',
    ),
    "two comparisons": (
        "- {when: {input: {regex: a, equals: b}}, reply: ho}",
        'rule 1: cannot read what "input" has to be',
        "It is text, a number, true, false, null, a list of these, or one of contains, equals, regex with its value",
    ),
    "an empty list": ("- {when: {input: []}, reply: ho}", 'rule 1: the list for "input" is empty', None),
    "a broken pattern": (
        "- {when: {input: {regex: 'a(?=b)'}}, reply: ho}",
        'rule 1: "input": Cannot use pattern `a(?=b)`: look-ahead `(?=` is not supported at position 1',
        "It is a Go (RE2) regular expression",
    ),
    "a pattern that is a number": (
        "- {when: {input: {regex: 5}}, reply: ho}",
        'rule 1: "regex" of "input" must be text',
        "Put it in quotes",
    ),
    "a reply that is a number": (
        "- reply: 5",
        'rule 1: "reply" must be an object',
        "Its fields are text, reasoning, refusal, input_hint, json, tool_calls, finish_reason, awaiting_input, usage, "
        "delay, error",
    ),
    "an empty reply": ("- reply: {}", 'rule 1: "reply" is empty', 'An empty answer is reply: ""'),
    "unknown field of a reply": (
        "- reply: {txt: hi}",
        'rule 1: unknown field "txt" in "reply"',
        'Did you mean "text"?',
    ),
    "a text that is a number": ("- reply: {text: 5}", 'rule 1: "text" must be text', "Put it in quotes"),
    "text and JSON": ("- reply: {text: a, json: 1}", 'rule 1: "text" and "json" exclude each other', None),
    "error and text": ("- reply: {error: a, text: b}", 'rule 1: "error" and "text" exclude each other', None),
    "finish_reason": (
        "- reply: {text: a, finish_reason: stopp}",
        'rule 1: unknown finish_reason "stopp"',
        'Did you mean "stop"?',
    ),
    "awaiting_input": ("- reply: {awaiting_input: 1}", 'rule 1: "awaiting_input" must be true or false', None),
    "tool calls": (
        "- reply: {tool_calls: find}",
        'rule 1: "tool_calls" must be a list',
        "An item is a name, or { name, arguments }",
    ),
    "a tool call without a name": ("- reply: {tool_calls: [{}]}", 'rule 1: the "name" of a tool call is missing', None),
    "arguments": (
        "- reply: {tool_calls: [{name: find, arguments: [1]}]}",
        'rule 1: "arguments" of find must be an object, or text that is sent as it is',
        None,
    ),
    "usage": ("- reply: {text: a, usage: {cost: -1}}", 'rule 1: "cost" of "usage" must be a number from 0 up', None),
    "delay": (
        "- reply: {text: a, delay: soon}",
        'rule 1: Cannot read delay "soon": not a duration',
        "Write it as 500ms, 30s, 1m30s or 2h",
    ),
    "delay as a number": (
        "- reply: {text: a, delay: 2}",
        'rule 1: "delay" must be a duration',
        "Write it as 500ms, 30s, 1m30s or 2h",
    ),
    "status": (
        "- reply: {error: {status: 200}}",
        'rule 1: "status" of "error" must be an HTTP status from 400 to 599',
        None,
    ),
    "an empty error": (
        "- reply: {error: {}}",
        'rule 1: "error" is empty',
        "Write it as { status: 429, message: text }",
    ),
    "unknown name in a template": (
        "- reply: 'Hi {{ imput }}'",
        'rule 1: unknown name "imput" in the template "{{ imput }}"',
        'Did you mean "input"?',
    ),
    "unknown filter": (
        "- reply: 'Hi {{ input | jsn }}'",
        'rule 1: unknown filter "jsn" in the template "{{ input | jsn }}"',
        'Did you mean "json"?',
    ),
    "a template in arguments": (
        "- {when: {turn: 1}, reply: hi}\n- reply: {tool_calls: [{name: f, arguments: {a: ['{{ a b }}']}}]}",
        'rule 2: cannot read the template "{{ a b }}"',
        "Write it as {{ name.field }} or {{ name | json }}",
    ),
    "match without a regex": (
        "- reply: 'Hi {{ match.1 }}'",
        "rule 1: it uses match, but no condition is a regex",
        "Write one as { regex: pattern }",
    ),
}


@pytest.mark.parametrize(("replies", "problem", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_file_and_rule(agent: Any, replies: str, problem: str, hint: str | None) -> None:
    talk = agent(replies)
    found = [talk.error("Hi") for _ in range(2)]
    assert [(error.message, error.hint, error.retryable) for error in found] == [
        (f"Cannot use assistants/demo/replies.yml: {problem}", hint, False)
    ] * 2


def test_broken_yaml_is_named_with_its_place(agent: Any) -> None:
    talk = agent("- reply: [\n")
    error = talk.error("Hi")
    assert re.fullmatch(rf"Cannot read replies {re.escape(str(talk.folder))}/replies\.yml:2:1: .*", error.message)
    assert error.hint == "It must be YAML"


def test_no_file_says_which_one_to_write(agent: Any) -> None:
    error = agent(None).error("Hi")
    assert error.message == (
        'Cannot answer agent "demo" with the connector scripted: there is no assistants/demo/replies.yml'
    )
    assert error.hint is not None and error.hint.startswith("Write assistants/demo/replies.yml, for example:\n- when: ")


def test_the_example_for_a_missing_file_works(agent: Any, tmp_path: Path) -> None:
    example = (agent(None).error("Hi").hint or "").partition("\n")[2]
    talk = Agent(tmp_path / "second", example)
    assert [talk.ask(text).content for text in ("Hello", "Tea")] == ["Hello, what can I do for you?", "You said: Tea"]


def test_a_script_is_answered_beside_the_global_prompts(tmp_path: Path) -> None:
    connector = ScriptedConnector(tmp_path)
    request = ModelRequest(messages=[{"role": "user", "content": "Hi"}])
    with pytest.raises(ConnectorError, match=r"^Cannot answer a script .* there is no agent/replies\.yml$"):
        asyncio.run(connector.complete(request))

    (tmp_path / "agent").mkdir()
    (tmp_path / "agent/replies.yml").write_text("- reply: Hello, script\n", "utf-8")
    assert asyncio.run(ScriptedConnector(tmp_path).complete(request)).content == "Hello, script"


def test_when_no_rule_applies_the_error_lists_what_was_tried(agent: Any) -> None:
    talk = agent("""
- {when: {input: [tea, {regex: '^milk'}], turn: 1}, reply: hi}
- {when: {tool: true, metadata.plan: pro}, times: 1, reply: ho}
- {when: {tools: false}, times: 2, reply: hu}
""")
    error = talk.error('Some "water"', tools=TOOLS)
    assert (error.message, error.hint, error.status, error.retryable) == (
        'No rule of assistants/demo/replies.yml applies to the message "Some \\"water\\"" (turn 1):\n'
        '  rule 1: input contains "tea" or matches "^milk" and turn is 1\n'
        '  rule 2: tool is there and metadata.plan is "pro", 1 time\n'
        "  rule 3: tools is not there, 2 times",
        "Add a rule whose conditions hold, or end assistants/demo/replies.yml with a rule without conditions: "
        "- reply: some text",
        None,
        False,
    )


def test_when_no_rule_applies_a_tool_result_is_named_and_long_texts_are_cut(agent: Any) -> None:
    talk = agent("\n".join(f"- {{when: {{turn: {turn + 5}}}, reply: hi}}" for turn in range(25)))
    message = talk.error("tea " * 1000, *RESULT[1:]).message
    assert "applies to the result of find, after the message" in message
    assert len(message) < 1500 and message.endswith("\n  rule 20: turn is 24\n  and 5 more")


def test_a_pattern_that_takes_forever_ends_the_call(agent: Any) -> None:
    error = agent("- {when: {input: {regex: '(a|aa)+$'}}, reply: hi}\n").error("a" * 100 + "b")
    assert error.message.startswith(
        "Cannot try rule 1 of assistants/demo/replies.yml: Cannot use pattern `(a|aa)+$`: the search"
    )
