"""Reading what models answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from table_tests import each

from runner.reading.answer_text import behind_thinking, extract_json, thinking_in
from runner.reading.helper_answers import Simulation, Unclear, read_cases, read_simulation, read_verdict

JSON_IN_TEXTS: list[tuple[str, str, Any]] = [
    ("object", ' {"a": 1} ', {"a": 1}),
    ("scalar", "42", 42),
    ("fence with a tag", 'So:\n```json\n{"a": 1}\n```\nBye', {"a": 1}),
    ("fence without a tag", "```\n[1, 2]\n```", [1, 2]),
    ("fence in a string", '{"code": "```json\\n{}\\n```"}', {"code": "```json\n{}\n```"}),
    ("second fence", '```python\nprint(1)\n```\n```json\n{"a": 1}\n```', {"a": 1}),
    ("fences in a fence", '```json\n{"a": "```js\\nx\\n```", "b": 1}\n```', {"a": "```js\nx\n```", "b": 1}),
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
    ("behind thinking", '<think>{"a": 0}?</think>\n{"a": 1}', {"a": 1}),
    ("behind the end of thinking", '{"a": 0}</Thinking> {"a": 1}', {"a": 1}),
    ("a tag in JSON", '{"a": "<think>"}', {"a": "<think>"}),
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
    '<think>{"a": 1}</think>',
    '<reasoning>{"a": 1}',
]


@each(("text", "value"), [row[1:] for row in JSON_IN_TEXTS], ids=[row[0] for row in JSON_IN_TEXTS])
def test_json_is_found_in_an_answer(text: str, value: Any) -> None:
    assert extract_json(text) == value


@each("text", NO_JSON)
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


@each("text", ["[" * 100_000, '{"a":' * 100_000, "{x} " * 100_000, '{"' * 100_000, "a [1, " * 100_000])
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


@each(("answer", "verdict"), VERDICTS)
def test_a_verdict_is_read_or_there_is_none(answer: Any, verdict: Any) -> None:
    assert understood(read_verdict, answer) == verdict


def understood(read: Callable[[Any], Any], answer: Any) -> Any:
    """What an answer is read as; None if it cannot be used."""
    found = read(answer)
    return None if isinstance(found, Unclear) else found


PASSES, FAILS = '{"passed": true, "reason": "output is safe"}', '{"passed": false, "reason": "It is harmful"}'
CUT = PASSES[:-2]
PASSED: dict[str, str] = {
    "in a fence": f"```json\n{PASSES}\n```",
    "in a fence without an end": f"```json\n{PASSES}",
    "in prose": f"Sure: {PASSES} Bye.",
    "in backticks": f"`{PASSES}`",
    "in backticks, at the end": f"My verdict: `{PASSES}`.",
    "in a fence, before words": f"```json\n// my verdict\n{PASSES}\n```\nIt is polite.",
    "in a fence with words, at the end": f"```\nMy verdict: {PASSES}\n```",
    "scores in it, by Python": "{'passed': True, 'score': 0.9, 'parts': {'tone': {'score': 0.5}}}",
    "braces in its reason": '{"passed": true, "reason": "uses {a: {b}} and [x"}',
    "a quotation in its reason": '{"passed": true, "reason": "It says {\\"passed\\": false}",}',
    "comments": '{"passed": true, // ok\n "reason": "x"}',
    "a raw line break": '{"passed": true, "reason": "a\nb"}',
    "a trailing comma": '{"passed": true, "reason": "x",}',
    "no comma": '{"passed": true "reason": "x"}',
    "keys without quotes": '{passed: true, reason: "x"}',
    "keys without quotes, in prose": 'Verdict: {passed: true, reason: "no {x}"}',
    "literals of Python": "{'passed': True, 'reason': 'has a } in it', 'score': None}",
    "literals of Python, in prose": 'Here: {"passed": True, "reason": None} done',
    "typographic quotes": "{“passed”: true, “reason”: “x”}",
    "no last brace": PASSES[:-1],
    "YAML in a fence": "```yaml\npassed: true\n```",
    "zero-width characters": f"\u200b{PASSES}\ufeff",
    "behind thinking": f"<think>Is it {FAILS}?</think>{PASSES}",
    "a tag in its reason": '{"passed": true, "reason": "Mentions <think> and </think>"}',
    "a tag in its reason, in prose": 'So: {"passed": true, "reason": "Opens <think>"}.',
    "the form before it": f'As {{"passed": true or false}}: {PASSES}',
    "an open quotation before it": f'The answer is "Mix A and B\n{PASSES}',
    "an open object before it": f'The answer is {{"status": "open\nMy verdict: {PASSES}',
    "an open fence before it": f"```python\nprint(1)\nMy verdict: {PASSES}",
    "twice the same": f'{PASSES} and again {{"passed": true}}',
}
UNCLEAR: dict[str, tuple[str, str]] = {
    "a cut quotation, then the verdict": (f"The answer was: {CUT}\nMy verdict: {FAILS}", "contradict"),
    "a cut quotation alone": (f"The answer was: {CUT}\nThat is harmful.", "broken"),
    "cut within a text": (CUT, "broken"),
    "the other way round": (f"The answer was: {PASSES}. My verdict: {FAILS[:-2]}", "contradict"),
    "a quotation in its reason, not escaped": ('{"passed": false, "reason": "it says {"passed": true}"}', "contradict"),
    "the same, cut": ('{"passed": false, "reason": "it says {"passed": true}', "contradict"),
    "the same, before": ('{"reason": "it says {"passed": true}", "passed": false}', "contradict"),
    "a quoted key": ('{"verdict": "no", "reason": "It says "passed": true"}', "broken"),
    "a quoted end": ('{"verdict": "no", "reason": "It says "ok", "passed": true and so on"}', "broken"),
    "a key twice": ('{"passed": false, "passed": true, "reason": "both"}', '"passed" twice'),
    "a key twice, in YAML": ("passed: false\npassed: true", "contradict"),
    "a key twice, broken": ("{passed: true, passed: false}", "contradict"),
    "a reason twice": ('{"passed": true, "reason": "a", "reason": "b"}', '"reason" twice'),
    "a score twice, by Python": ("{'passed': True, 'score': 0.9, 'score': 0.1}", "contradict"),
    "a score twice, in YAML": ("score: 0.9\npassed: true\nscore: 0.1", "contradict"),
    "two names of the key": ('{"passed": true, "pass": false}', "contradict"),
    "two scores": ('{"passed": true, "score": 0.2} {"passed": true, "score": 0.9}', "contradict"),
    "a cut fence": (f"It said:\n```json\n{PASSES[:-1]}\nThat is bad.", "broken"),
    "single quotes": ("The agent said {'passed': True}. That is bad.", "broken"),
    "in single quotes": (f"It said '{PASSES}'. That is bad.", "quotation"),
    "single quotes, first": ("{'passed': True} is what the agent said. That is bad.", "broken"),
    "a whole one in a cut fence": (f"It said:\n```json\n{PASSES}\nThat is bad.", "quotation"),
    "a whole one in an open quotation": (f'It said "Mix. {PASSES}\nThat is bad.', "quotation"),
    "in typographic quotes": (f"“{PASSES}” is what it said", "quotation"),
    "the end of a text in single quotes": (f"It said 'Sure. {PASSES}'. That is bad.", "quotation"),
    "in backticks, before words": (f"It said `{PASSES}`. That is bad.", "quotation"),
    "the end of a text in backticks": (f"It said `Sure. {PASSES}`. That is bad.", "quotation"),
    "in a block quote": (f"> Sure.\n> {PASSES}\n\nThat is bad.", "quotation"),
    "a talk in a fence": (f"```\nuser: Hi\nagent: {PASSES}\n```\nThat is bad.", "quotation"),
    "the beginning of a talk in a fence": (f"```\n{PASSES}\nuser: Thanks\n```\nThat is bad.", "quotation"),
    "an open array": (f"It said: [{PASSES}\nThat is bad.", "quotation"),
    "later in an open array": (f'["x", {PASSES}', "quotation"),
    "in an open object": (f'{{"quote": {PASSES}, "verdict": "bad', "quotation"),
    "only thinking": (f"<THINK>It is {PASSES}", "reasoning"),
    "thinking that ends alone": (f"It is {PASSES}</reasoning>", "reasoning"),
}


@each("answer", PASSED.values(), ids=PASSED)
def test_a_verdict_that_is_the_only_one_is_read(answer: str) -> None:
    assert understood(read_verdict, answer)["passed"] is True


@each(("answer", "why"), UNCLEAR.values(), ids=UNCLEAR)
def test_no_verdict_is_put_together_or_taken_from_a_quotation(answer: str, why: str) -> None:
    found = read_verdict(answer)
    assert isinstance(found, Unclear) and why in found.why


@each(
    "text",
    ["[", '{"a":', "{x} ", '{"', "a [1, ", '"passed": true, ', '{"passed": [', "<think ", "</think>", "\n> ", "```#"],
)
def test_hostile_answers_of_judges_are_read_to_an_end(text: str) -> None:
    understood(read_verdict, "x " + text * 20_000)


SPOKEN: dict[str, tuple[str, str, str]] = {
    "nothing is thought": ("a <b> c", "a <b> c", ""),
    "another tag": ("<thinker>a</thinker>", "<thinker>a</thinker>", ""),
    "closed": ("<think>a</think>b", "b", "a"),
    "any case and blanks": ("< Thinking >a< / THINKING >b", "b", "a"),
    "another name": ("<thought>a</thought>b", "b", "a"),
    "a prefix": ("<seed:think>a</seed:think>b", "b", "a"),
    "attributes": ('<reasoning effort="a > b"\n>x</reasoning>y', "y", "x"),
    "several": ("<think>a</think>b<think>c</think>d", "bd", "a\nc"),
    "nested": ("<think>a<think>b</think>c</think>d", "d", "a\nb\nc"),
    "nested, of two names": ("<think>a<reasoning>b</reasoning>c</think>d", "d", "a\nb\nc"),
    "the inner one stays open": ("<think>a<think>b</think>c", "", "a\nb\nc"),
    "open": ("a<think>b", "a", "b"),
    "only the end": ("a</think>b", "b", "a"),
    "an end too many": ("<think>a</think>b</think>c", "c", "a\n\nb"),
    "the end of another name": ("<think>a</reasoning>b", "", "a\nb"),
    "empty": ("<think>\n</think>b", "b", ""),
    "nothing in it": ("<think/>b", "b", ""),
    "the whole is JSON": ('{"a": "<think>b"}', '{"a": "<think>b"}', ""),
    "JSON in prose": ('So {"a": "</think>"}.', 'So {"a": "</think>"}.', ""),
    "a tag that is spoken of": ("Write `<think>` first", "Write `<think>` first", ""),
}


@each(("text", "said", "thought"), SPOKEN.values(), ids=SPOKEN)
def test_thinking_is_told_from_what_is_said(text: str, said: str, thought: str) -> None:
    assert (behind_thinking(text), thinking_in(text)) == (said, thought)


def says(text: str, reasoning: str = "") -> Simulation:
    return Simulation(input=text, achieved=False, reasoning=reasoning)


def is_content(text: str = "", reasoning: str = "") -> Simulation:
    return Simulation(input=text, achieved=True, reasoning=reasoning)


SIMULATIONS: list[tuple[Any, Any]] = [
    ({"input": "hi"}, says("hi")),
    ({"message": "hi", "goal_achieved": "yes"}, is_content("hi")),
    ({"input": "a", "message": "b", "reasoning": "c"}, says("a", "c")),
    ({"input": 3500}, says("3500")),
    ({"input": 0, "goal_achieved": False}, says("0")),
    ('{"input": false}', says("false")),
    ('```json\n{"message": "hi", "goal_achieved": false}\n```', says("hi")),
    ("  Business travel, $3500 ", says("Business travel, $3500")),
    ("42", says("42")),
    ('Please send {"id": 7}', says('Please send {"id": 7}')),
    ({"goal_achieved": True}, is_content()),
    ({"input": "", "goal_achieved": True, "reasoning": "done"}, is_content(reasoning="done")),
    ('{"input": "hi", "goal_achieved": false', says("hi")),
    ('<think>Is it {"goal_achieved": true}?</think>{"input": "hi"}', says("hi")),
    ('<think>Is it {"goal_achieved": true}?</think>Tomorrow, please', says("Tomorrow, please")),
    ("<think>What do I say?", None),
    ('{"input": "hi", "goal_achieved": true, "goal_achieved": false}', None),
    ('{"input": "hi", "goal_achieved": false} {"input": "hi", "goal_achieved": true}', None),
    ('{"input": "a"} or {"input": "b"}', None),
    ('It said {"goal_achieved": true, "reasoning": "all is', None),
    ({"input": ""}, None),
    ('{"message": "", "goal_achieved": false}', None),
    ('{"goal_achieved": false}', None),
    ('Note: {"a": 1}', says('Note: {"a": 1}')),
    ({"input": " "}, None),
    ({"input": None, "goal_achieved": False}, None),
    *[(rubbish, None) for rubbish in RUBBISH],
]


@each(("answer", "simulation"), SIMULATIONS)
def test_a_simulated_input_is_read_or_there_is_none(answer: Any, simulation: Any) -> None:
    assert understood(read_simulation, answer) == simulation


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
    (
        'Plain:\n```json\n[{"id": "1", "input": "a"}]\n```\nOdd [1]:\n```json\n[{"id": "2", "input": "b"}]\n```',
        [ONE, TWO],
    ),
    ({"tests": [ONE]}, [ONE]),
    ("no cases today", None),
    ('<think>{"cases": [{"id": "x"}]}</think>{"cases": [{"id": "1", "input": "a"}]}', [ONE]),
    ('{"id": "x", "input": "x"}</think>{"id": "1", "input": "a"}\n{"id": "2", "input": "b"}', [ONE, TWO]),
    ('<think>[{"id": "1", "input": "a"}]', None),
    ({"cases": "none"}, None),
    ({"cases": [ONE, 5]}, [ONE, 5]),
    *[(rubbish, None) for rubbish in (None, 1, True, "", {}, {"a": 1}, [1], ["a"])],
]


@each(("answer", "cases"), CASES)
def test_generated_cases_are_read_or_there_are_none(answer: Any, cases: Any) -> None:
    assert read_cases(answer) == cases
