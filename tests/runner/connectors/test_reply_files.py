"""Files of replies: their templates, the mistakes in them, and what is said when no rule applies."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from scripted_agent import PROMPTS, RESULT, TOOLS, Agent

from runner.connectors.base import ConnectorError, ModelRequest
from runner.connectors.scripted import ScriptedConnector

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
    assert talk.error("Hi").message == f"Cannot answer with rule 2 of assistants/demo/replies.yml: {problem}"


# mistakes

MISTAKES: dict[str, tuple[str, str, str | None]] = {
    "not a list": ("reply: hi", "it must be a list of rules", "A rule is - reply: some text"),
    "empty": ("", "it must be a list of rules", "A rule is - reply: some text"),
    "a rule that is text": ("- hi", "rule 1: a rule must be an object", "Its fields are when, times, reply"),
    "unknown field": ("- repl: hi", 'rule 1: unknown field "repl" in a rule', 'Did you mean "reply"?'),
    "no reply": ("- when: {turn: 1}", 'rule 1: "reply" is missing', "It sets the answer of the model"),
    "times": ("- {times: 0, reply: hi}", 'rule 1: "times" must be a whole number of at least 1', None),
    "a rule that hides others": (
        "- reply: hi\n- reply: ho",
        "rule 1: it always matches, so later rules are never used",
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
        'rule 1: cannot read the condition for "input"',
        "Use text, a number, true, false, null, a list of these, or one of contains, equals, regex with its value",
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
    "text and JSON": ("- reply: {text: a, json: 1}", 'rule 1: "text" and "json" cannot be used together', None),
    "error and text": ("- reply: {error: a, text: b}", 'rule 1: "error" and "text" cannot be used together', None),
    "finish_reason": (
        "- reply: {text: a, finish_reason: stopp}",
        'rule 1: unknown finish_reason "stopp"',
        'Did you mean "stop"?',
    ),
    "awaiting_input": ("- reply: {awaiting_input: 1}", 'rule 1: "awaiting_input" must be true or false', None),
    "tool calls": (
        "- reply: {tool_calls: find}",
        'rule 1: "tool_calls" must be a list',
        "Each item is a name, or {  name, arguments }",
    ),
    "a tool call without a name": ("- reply: {tool_calls: [{}]}", 'rule 1: the "name" of a tool call is missing', None),
    "arguments": (
        "- reply: {tool_calls: [{name: find, arguments: [1]}]}",
        'rule 1: "arguments" of find must be an object, or text that is sent unchanged',
        None,
    ),
    "usage": (
        "- reply: {text: a, usage: {cost: -1}}",
        'rule 1: "cost" of "usage" must be a number of at least 0',
        None,
    ),
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
        "rule 1: it uses match, but none of its conditions is a regex",
        "Write one as { regex: pattern }",
    ),
}


@pytest.mark.parametrize(("replies", "problem", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_file_line_and_rule(agent: Any, replies: str, problem: str, hint: str | None) -> None:
    talk = agent("# Below this line\n" + replies)
    found = [talk.error("Hi") for _ in range(2)]
    rule = re.match(r"rule (\d+)", problem)
    line = f":{int(rule[1]) + 1}" if rule else ""
    assert [(error.message, error.hint, error.retryable) for error in found] == [
        (f"Cannot use assistants/demo/replies.yml{line}: {problem}", hint, False)
    ] * 2


def test_broken_yaml_is_named_with_its_place(agent: Any) -> None:
    talk = agent("- reply: [\n")
    error = talk.error("Hi")
    assert re.fullmatch(rf"Cannot read replies {re.escape(str(talk.folder))}/replies\.yml:2:1: .*", error.message)
    assert error.hint == "It must be YAML"


@pytest.mark.parametrize("value", [".nan", "{.nan: 1}"])
def test_a_value_that_json_cannot_hold_is_named_with_its_place(agent: Any, value: str) -> None:
    talk = agent(f"- reply: {{ json: {value} }}\n")
    message = talk.error("Hi").message
    assert re.fullmatch(r"Cannot read replies .*/replies\.yml:1:(18|19): \.nan is not a JSON value", message)


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
        '  rule 2: tool exists and metadata.plan is "pro", 1 time\n'
        "  rule 3: tools does not exist, 2 times",
        "Add a rule whose conditions match, or end assistants/demo/replies.yml with a rule without conditions: "
        "- reply: some text",
        None,
        False,
    )


def test_when_no_rule_applies_a_tool_result_is_named_and_long_texts_are_cut(agent: Any) -> None:
    talk = agent("\n".join(f"- {{when: {{turn: {turn + 5}}}, reply: hi}}" for turn in range(25)))
    message = talk.error("tea " * 1000, *RESULT[1:]).message
    assert "applies to the result of find, after the message" in message
    assert len(message) < 1500 and message.endswith("\n  rule 20: turn is 24\n  and 5 more")


def test_a_pattern_that_would_backtrack_is_answered(agent: Any) -> None:
    error = agent("- {when: {input: {regex: '(a|aa)+$'}}, reply: hi}\n").error("a" * 10_000 + "b")
    assert error.message.startswith("No rule of assistants/demo/replies.yml applies")
