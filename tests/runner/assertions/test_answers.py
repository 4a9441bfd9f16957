"""Reading what models answer."""

from __future__ import annotations

from typing import Any

import pytest

from runner.agents.helper_answers import Simulation, read_cases, read_simulation, read_verdict
from runner.json_in_text import extract_json

JSON_IN_TEXTS: list[tuple[str, str, Any]] = [
    ("object", ' {"a": 1} ', {"a": 1}),
    ("scalar", "42", 42),
    ("fence with a tag", 'So:\n```json\n{"a": 1}\n```\nBye', {"a": 1}),
    ("fence without a tag", "```\n[1, 2]\n```", [1, 2]),
    ("fence in a string", '{"code": "```json\\n{}\\n```"}', {"code": "```json\n{}\n```"}),
    ("second fence", '```python\nprint(1)\n```\n```json\n{"a": 1}\n```', {"a": 1}),
    ("YAML fence", "```yaml\na: 1\nb: [x]\n```", {"a": 1, "b": ["x"]}),
    ("YAML", "status: ok\ncount: 2", {"status": "ok", "count": 2}),
    ("comments", '{"a": 1, // one\n "b": 2}', {"a": 1, "b": 2}),
    ("trailing commas", '{"a": [1, 2,],}', {"a": [1, 2]}),
    ("single quotes", "{'a': 'b'}", {"a": "b"}),
    ("cut off", '{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}),
    ("cut off in a fence", '```json\n{"a": [1, 2', {"a": [1, 2]}),
    ("prose before", 'Here is the result: {"a": {"b": "}"}}', {"a": {"b": "}"}}),
    ("prose on both sides", 'Sure!\n\n{"a": 1}\n\nHope it helps {or so}.', {"a": 1}),
    ("array in prose", 'The list: [{"a": 1}, {"a": 2}] as asked', [{"a": 1}, {"a": 2}]),
    ("after braces", 'I like {braces} and [links](x), so {"a": 1}', {"a": 1}),
    ("after a footnote", 'See [1] for {"a": [2]}', {"a": [2]}),
    ("numbers alone", "The primes are [2, 3, 5]", [2, 3, 5]),
    ("broken in prose", 'Here: {"user": {"name": "x"}, "ok": true,} Bye', {"user": {"name": "x"}, "ok": True}),
    ("broken array in prose", 'Here: [{"a": 1}, {"a": 2},] Bye', [{"a": 1}, {"a": 2}]),
    ("broken, with brackets after it", "Here: {a: 1,} or {so} [x]", {"a": 1}),
    ("cut off in prose", 'Here: {"a": 1, "b": {"c": "d', {"a": 1, "b": {"c": "d"}}),
    ("prose with a colon", 'The two names: ["a b", c]', ["a b", "c"]),
]
NO_JSON = [
    "",
    "   ",
    "hello",
    "no {braces} here",
    "see [the manual](x)",
    "a ] b } c",
    "```python\nprint(1)\n```",
    "{",
    "{}}{{" * 9,
]


@pytest.mark.parametrize(("text", "value"), [row[1:] for row in JSON_IN_TEXTS], ids=[row[0] for row in JSON_IN_TEXTS])
def test_json_is_found_in_an_answer(text: str, value: Any) -> None:
    assert extract_json(text) == value


@pytest.mark.parametrize("text", NO_JSON)
def test_a_text_without_json_has_none(text: str) -> None:
    assert extract_json(text) in (None, {})


@pytest.mark.parametrize("text", ["Note: hello", "Here it is: fine\nBye: now"])
def test_prose_may_be_yaml_only_where_that_is_wanted(text: str) -> None:
    assert extract_json(text, yaml=False) is None


def test_in_a_very_long_text_only_json_as_a_whole_is_found() -> None:
    assert extract_json("[" + "1," * 600_000 + "1]") == [1] * 600_001
    assert extract_json("x" * 1_000_000 + '{"a": 1}') is None
    assert extract_json("a: b\n" * 5_000) is None


def test_yaml_in_a_fence_is_always_meant() -> None:
    assert extract_json("```yaml\na: 1\n```", yaml=False) == {"a": 1}


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "{x} " * 100_000, '{"' * 100_000, "a [1, " * 100_000]
)
def test_hostile_texts_are_read_to_an_end(text: str) -> None:
    extract_json("x " + text)


RUBBISH: list[Any] = [None, 1, True, [], [1], "", "  ", {}, {"a": 1}, [{"passed": True}, {}]]
VERDICTS: list[tuple[Any, Any]] = [
    ({"passed": True}, {"passed": True}),
    ({"pass": False, "reason": "no"}, {"passed": False, "reason": "no"}),
    ({"passed": "Yes"}, {"passed": True}),
    ({"passed": "FALSE "}, {"passed": False}),
    ([{"passed": True}], {"passed": True}),
    ('```json\n{"passed": true, "score": 0.9}\n```', {"passed": True, "score": 0.9}),
    ('I think {"pass": "no", "score": "0.5"}', {"passed": False, "score": 0.5}),
    ("passed: true\nreason: polite", {"passed": True, "reason": "polite"}),
    (
        {"passed": True, "reason": ["a"], "score": "high", "suggestions": ["b"], "more": 1},
        {"passed": True, "reason": '["a"]', "suggestions": ["b"]},
    ),
    ({"passed": True, "score": True, "message": "m"}, {"passed": True, "reason": "m"}),
    ({"passed": True, "score": "nan"}, {"passed": True}),
    ({"passed": True, "score": float("inf")}, {"passed": True}),
    *[(rubbish, None) for rubbish in RUBBISH],
    ("The answer is good.", None),
    ({"passed": 1}, None),
    ({"passed": "maybe"}, None),
    ({"passed": None}, None),
    ({"passed": True, "pass": False}, None),
    ({"passed": True, "pass": "yes"}, {"passed": True}),
    ('{"reason": "passed"}', None),
    ('A polite one would be {"passed": true}. This one is rude: {"passed": false, "reason": "rude"}', None),
    ('```json\n{"passed": true}\n```\nis the format, and\n```json\n{"pass": "no"}\n```\nthe verdict', None),
    ('{"judged": false}, or rather {"passed": true}', None),
    ('{"passed": true, "reason": "a"} and again {"pass": "yes"}', {"passed": True, "reason": "a"}),
    (
        '{"passed": true, "reason": "It says {\\"passed\\": false}"}',
        {"passed": True, "reason": 'It says {"passed": false}'},
    ),
]


@pytest.mark.parametrize(("answer", "verdict"), VERDICTS)
def test_a_verdict_is_read_or_there_is_none(answer: Any, verdict: Any) -> None:
    assert read_verdict(answer) == verdict


def says(text: str, reasoning: str = "") -> Simulation:
    return Simulation(input=text, achieved=False, reasoning=reasoning)


def is_content(text: str = "", reasoning: str = "") -> Simulation:
    return Simulation(input=text, achieved=True, reasoning=reasoning)


SIMULATIONS: list[tuple[Any, Any]] = [
    ({"input": "hi"}, says("hi")),
    ({"message": "hi", "goal_achieved": "yes"}, is_content("hi")),
    ({"input": "a", "message": "b", "reasoning": "c"}, says("a", "c")),
    ({"input": 3500}, says("3500")),
    ('```json\n{"message": "hi", "goal_achieved": false}\n```', says("hi")),
    ("  Business travel, $3500 ", says("Business travel, $3500")),
    ("42", says("42")),
    ('Please send {"id": 7}', says('Please send {"id": 7}')),
    ({"goal_achieved": True}, is_content()),
    ({"input": "", "goal_achieved": True, "reasoning": "done"}, is_content(reasoning="done")),
    ({"input": ""}, None),
    ('{"message": "", "goal_achieved": false}', None),
    ('{"goal_achieved": false}', None),
    ('Note: {"a": 1}', says('Note: {"a": 1}')),
    ({"input": " "}, None),
    ({"input": None, "goal_achieved": False}, None),
    *[(rubbish, None) for rubbish in RUBBISH],
]


@pytest.mark.parametrize(("answer", "simulation"), SIMULATIONS)
def test_a_simulated_input_is_read_or_there_is_none(answer: Any, simulation: Any) -> None:
    assert read_simulation(answer) == simulation


ONE, TWO = {"id": "1", "input": "a"}, {"id": "2", "input": "b"}
CASES: list[tuple[Any, Any]] = [
    ([ONE, TWO], [ONE, TWO]),
    ({"cases": [ONE]}, [ONE]),
    ({"test_cases": [ONE, TWO]}, [ONE, TWO]),
    (ONE, [ONE]),
    ([], []),
    ('```json\n[{"id": "1", "input": "a"}]\n```', [ONE]),
    ('Here: {"cases": [{"id": "1", "input": "a"}]}', [ONE]),
    ('{"id": "1", "input": "a"}\n{"id": "2", "input": "b"}\n', [ONE, TWO]),
    ('```jsonl\n{"id": "1", "input": "a"}\n{"id": "2", "input": "b"}\n```', [ONE, TWO]),
    ("no cases today", None),
    ({"cases": "none"}, None),
    ({"cases": [ONE, 5]}, [ONE, 5]),
    *[(rubbish, None) for rubbish in (None, 1, True, "", {}, {"a": 1}, [1], ["a"])],
]


@pytest.mark.parametrize(("answer", "cases"), CASES)
def test_generated_cases_are_read_or_there_are_none(answer: Any, cases: Any) -> None:
    assert read_cases(answer) == cases
