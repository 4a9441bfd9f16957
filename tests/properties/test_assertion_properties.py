"""Assertions on answers: whatever is asked of whatever answer, there is a verdict, and it is the right one."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from made_up import json_values, letters, texts

from bindings.patterns import find
from runner.assertions import TYPES
from runner.assertions.base import AssertionResult, Embeddings, Evidence, JudgeFlags, NotEvaluated, ToolUse
from runner.assertions.checking import check, check_all, problem_with_assertion
from runner.assertions.model import Assertion
from runner.assertions.values import KINDS, equal
from scripttest.values import names_of

Fields = dict[str, Any]

values = json_values()
answers_of_judges = st.one_of(
    st.booleans(),
    values,
    st.fixed_dictionaries({"passed": st.booleans()}, optional={"reason": texts, "score": values}),
    st.fixed_dictionaries({"pass": st.booleans()}, optional={"message": values}),
    st.sampled_from([NotEvaluated("no"), RecursionError("deep"), ValueError("bad")]),
)


class Judges:
    """Gives one answer to everything; a snapshot is what it says, whatever was stored before."""

    flags = JudgeFlags()

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]

    async def call_script(self, reference: str, roles: tuple[str, ...], arguments: list[Any]) -> Any:
        return await self.validate(reference, {}, {})

    async def embed(self, connector: str, texts: Sequence[str]) -> Embeddings | None:
        return None

    def warn(self, text: str, kind: str = "judge") -> None:
        pass

    def match_snapshot(self, name: str, value: Any) -> str | None:
        return None if self.answer is True else f"{value} is new"


def judge(fields: Fields, evidence: Evidence, judges: Judges | None = None) -> AssertionResult:
    return asyncio.run(check(Assertion.model_validate(fields), evidence, judges or Judges(True)))


def passes(fields: Fields, output: Any) -> bool:
    """Whether an assertion that can be evaluated passes."""
    result = judge(fields, Evidence(output=output))
    assert not result.error, result.message
    return result.passed


# anything at all

names = st.one_of(st.sampled_from(["search", "a.b", "web__search", "search.x"]), texts)
tools = st.tuples(names, st.sampled_from(["", "web.tools", "web"]), values, values, st.one_of(st.none(), texts)).map(
    lambda fields: ToolUse(**dict(zip(names_of(ToolUse), fields, strict=True)))
)
outputs = st.one_of(values, values.map(json.dumps), texts.map("Here it is: ```json\n{}\n```".format))
evidence = st.fixed_dictionaries(
    {"output": outputs},
    optional={
        "input": values,
        "expected": values,
        "tools": st.lists(tools, max_size=3).map(tuple),
        "milliseconds": st.floats(0, 1e9),
        "tokens": st.integers(0, 10**9),
        "cost": st.one_of(st.none(), st.floats(0, 1e6)),
        "case": texts,
        "state": st.one_of(
            st.just({}), st.fixed_dictionaries({"variables": st.dictionaries(texts, values, max_size=2)})
        ),
    },
).map(lambda fields: Evidence(**fields))
paths = st.one_of(
    st.sampled_from(
        ["$", "$.a", "a.b", "$..a", "$[?(@.a>1)]", "$[*]", "a[-1]", "$.a[0:2]", "", "$[", "a..b", "$.a.`len`"]
    ),
    texts,
)
patterns = st.one_of(
    st.sampled_from(
        ["a+", "(?i)A", "(", "[", "(a+)+$", "\\p{L}", "regex:(", "^$", "a{1001}", "(?P<n>a)", "\\", "[[:alpha:]]"]
    ),
    texts,
)
wanted_tools = st.one_of(
    names,
    st.fixed_dictionaries({"name": names}, optional={"arguments": values}),
    st.fixed_dictionaries({"tool": names}, optional={"result": st.one_of(values, st.just("regex:("))}),
)
schemas = st.one_of(
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from([*KINDS, "integer", "nonsense"]),
            "pattern": patterns,
            "properties": st.dictionaries(texts, st.just({"type": "string"}), max_size=2),
            "$ref": st.sampled_from(["#", "#/nowhere", "http://localhost/x"]),
            "minimum": values,
            "enum": values,
            "$schema": st.sampled_from(["http://json-schema.org/draft-07/schema#", "x"]),
        },
    ),
)
bounds = st.one_of(st.integers(0, 10**9), st.fixed_dictionaries({}, optional={"min": values, "max": st.floats(0, 1e9)}))
plain_assertions = st.fixed_dictionaries(
    {"type": st.sampled_from([kind for kind in TYPES if kind not in ("any_of", "all_of")])},
    optional={
        "value": st.one_of(
            values, patterns, wanted_tools, st.lists(wanted_tools, max_size=3), schemas, bounds, st.sampled_from(KINDS)
        ),
        "path": paths,
        "pattern": patterns,
        "name": names,
        "script": st.just("scripts.a.B"),
        "use": st.sampled_from(["agents:a", "scripts:a", "a", ""]),
        "criteria": texts.filter(str.strip),
        "mode": st.sampled_from(["exact", "in_order", "any_order"]),
        "message": texts,
        "negate": st.booleans(),
    },
)


def composed(inner: st.SearchStrategy[Fields]) -> st.SearchStrategy[Fields]:
    return st.fixed_dictionaries(
        {"type": st.sampled_from(["any_of", "all_of"]), "value": st.lists(inner, min_size=1, max_size=3)},
        optional={"negate": st.booleans(), "message": texts},
    )


assertions = st.one_of(
    plain_assertions, plain_assertions, st.recursive(plain_assertions, composed, max_leaves=5), composed(values)
)


@given(assertions, evidence, answers_of_judges)
@example({"type": "json_schema", "value": {"$ref": "#"}}, Evidence(output="a"), True)
@example({"type": "equals", "value": None}, Evidence(output="```yaml\na: !!bool maybe\n```"), True)
@example({"type": "type", "value": "array"}, Evidence(output="[" * 100_000), True)
def test_every_assertion_has_a_verdict_on_every_answer(fields: Fields, evidence: Evidence, answer: Any) -> None:
    result = judge(fields, evidence, Judges(answer))

    assert result.type == fields["type"]
    assert (type(result.passed), type(result.message), type(result.error)) == (bool, str, bool)
    assert not (result.passed and result.error)
    assert result.passed or result.message
    json.dumps([result.expected, result.actual])


@given(assertions, evidence, answers_of_judges)
def test_negate_turns_around_what_could_be_evaluated_and_nothing_else(
    fields: Fields, evidence: Evidence, answer: Any
) -> None:
    plain, negated = (judge({**fields, "negate": negate}, evidence, Judges(answer)) for negate in (False, True))

    assert not (plain.passed and negated.passed)
    if plain.error:
        assert negated.error
    elif not negated.error:
        assert plain.passed is not negated.passed
    else:
        assert not plain.passed, "only for want of anything to judge"


@given(assertions)
def test_an_assertion_without_a_problem_can_be_evaluated(fields: Fields) -> None:
    """What is wrong with an assertion as written is found before anything runs."""
    assume(fields["type"] != "cost")
    assertion = Assertion.model_validate(fields)
    wrong = problem_with_assertion(assertion, has_expected=False)
    assert wrong is None or isinstance(wrong, str)
    if wrong is None and "cost" not in json.dumps(fields):
        evidence = Evidence(
            output={"a": 1}, tools=(ToolUse(name="search", server="web", arguments={}, result="found"),), cost=1.0
        )
        result = asyncio.run(check(assertion, evidence, Judges({"passed": True})))
        assert not result.error or "tool_result" in json.dumps(fields) or "invalid JSON Schema" in result.message, (
            result
        )


@given(st.lists(plain_assertions, min_size=1, max_size=4), st.booleans(), evidence, answers_of_judges)
def test_compositions_say_what_their_parts_say(
    parts: list[Fields], negate: bool, evidence: Evidence, answer: Any
) -> None:
    judges = Judges(answer)
    alone = asyncio.run(check_all([Assertion.model_validate(part) for part in parts], evidence, judges))
    said = [None if part.error else part.passed for part in alone]
    any_of = True if True in said else None if None in said else False
    all_of = False if False in said else None if None in said else True

    for kind, expected in (("any_of", any_of), ("all_of", all_of)):
        result = judge({"type": kind, "value": parts, "negate": negate}, evidence, judges)
        assert (result.error, result.passed) == (expected is None, expected is not None and expected is not negate)
        assert [(part.passed, part.error) for part in result.details] == [(part.passed, part.error) for part in alone]


# equality


def canonical(value: Any) -> Any:
    """A form in which JSON values are the same exactly when their texts mean the same."""
    if isinstance(value, dict):
        return ("object", frozenset((key, canonical(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(map(canonical, value)))
    return (type(value).__name__ if isinstance(value, bool | str) or value is None else "number", value)


@given(values, values)
@example([1], [True])
@example({"a": 0}, {"a": False})
@example(2**53 + 1, float(2**53))
def test_equal_values_are_those_that_mean_the_same(first: Any, second: Any) -> None:
    assert equal(first, json.loads(json.dumps(first)))
    assert equal(first, second) is equal(second, first) is (canonical(first) == canonical(second))


@given(values)
def test_every_value_equals_itself_and_its_text(value: Any) -> None:
    assert passes({"value": value}, value)
    assert not passes({"value": value, "negate": True}, value)
    if not isinstance(value, str) and value is not None:
        assert passes({"value": value}, json.dumps(value, indent=1))
    if isinstance(value, dict | list):
        assert passes({"value": value}, f"```json\n{json.dumps(value)}\n```")


# text


@given(st.text(letters, max_size=20), st.integers(0, 20), st.integers(1, 20))
def test_a_part_of_a_text_is_contained_in_it_also_in_another_case(text: str, start: int, length: int) -> None:
    part = text[start : start + length]
    assume(part)
    assert passes({"type": "contains", "value": part}, text)
    assert not passes({"type": "not_contains", "value": part}, text)
    assert passes({"type": "icontains", "value": part}, text)
    assert passes({"type": "starts_with", "value": part}, text) is text.startswith(part)
    if part.isascii():
        assert passes({"type": "icontains", "value": part.swapcase()}, text)
    assert passes({"type": "contains", "value": part.swapcase()}, text) is (part.swapcase() in text)


@given(values.filter(lambda value: isinstance(value, dict | list) and value), st.data())
def test_what_is_in_a_value_is_contained_in_it(value: Any, data: st.DataObject) -> None:
    inside = value
    while isinstance(inside, dict | list) and inside and (inside is value or data.draw(st.booleans())):
        inside = data.draw(st.sampled_from(list(inside.values()) if isinstance(inside, dict) else inside))
    assume(inside != "" and inside is not None)
    assert passes({"type": "contains", "value": inside}, value)
    if not isinstance(inside, str):
        assert passes({"type": "contains", "value": inside}, json.dumps(value))


atoms = st.sampled_from(
    ["a", "b", "A", "1", " ", ".", "\\.", "\\d", "\\w", "\\s", "[ab]", "[^a]", "[a-c1]", "é", "\\bz?"]
)


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """Patterns on which Go and Python agree, except for `$`."""
    parts = draw(st.lists(st.tuples(atoms, st.sampled_from(["", "", "*", "+?", "?", "{1,2}"])), min_size=1, max_size=4))
    text = "".join(atom + times for atom, times in parts if not (times and atom.startswith("\\b")))
    text = draw(st.sampled_from(["{}", "({})", "(?:{})|b", "^{}", "{}$", "^(?:{})$"])).format(text)
    return draw(st.sampled_from(["", "(?i)", "(?s)"])) + text


@settings(max_examples=6 * settings().max_examples)
@given(expressions(), st.text("abAB1 .\nz-", max_size=8))
def test_patterns_match_as_in_go(pattern: str, text: str) -> None:
    expected = re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None
    assert passes({"type": "regex", "value": pattern}, text) is expected


# paths

keys = st.one_of(
    st.sampled_from(["a", "b", "a_1", "items", "a b", "0", "-", "é", "", "x-y"]), st.text(letters, max_size=3)
)


def steps_into(value: Any, data: st.DataObject) -> Iterator[str | int]:
    """A way into a value, which sometimes leads out of it."""
    while isinstance(value, dict | list) and data.draw(st.integers(0, 4)):
        known = list(value) if isinstance(value, dict) else range(-len(value), len(value))
        step = data.draw(st.one_of(st.sampled_from(known), keys, st.integers(-3, 3)) if known else keys)
        yield step
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value)
        ):
            value = value[step]
        else:
            return


@given(json_values(keys), st.data())
def test_a_plain_path_leads_where_its_steps_lead(value: Any, data: st.DataObject) -> None:
    steps = list(steps_into(value, data))
    assume(steps and not any(isinstance(step, str) and re.search(r"['\"\\]", step) for step in steps))
    path, simple = "$", True
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", step) and data.draw(st.booleans()):
            path += f".{step}"
        else:
            path += data.draw(st.sampled_from(["['{}']", '["{}"]'])).format(step)
            simple = simple and step.isalnum() and step.isascii()
    expected = [value]
    for step in steps:
        place = expected[0] if expected else None
        if isinstance(place, list) and isinstance(step, str) and step.isascii() and step.isdigit():
            step = int(step)  # as `items.0` does
        fits = (isinstance(place, dict) and step in place and isinstance(step, str)) or (
            isinstance(place, list) and isinstance(step, int) and -len(place) <= step < len(place)
        )
        expected = [place[step]] if fits else []

    assert find(value, path) == expected
    if simple and not any(isinstance(step, str) and step.isdigit() for step in steps):
        from jsonpath_ng.ext import parse

        assert [match.value for match in parse(path).find(value)] == expected
    actual = expected[0] if expected else None
    if isinstance(value, dict | list):
        assert passes({"type": "json_path", "path": path, "value": actual}, value)
        assert passes({"type": "json_path", "path": path, "value": actual}, json.dumps(value))
        assert not passes({"type": "json_path", "path": path, "value": ["other", actual, {}]}, value) or not isinstance(
            actual, list
        )


@given(values)
def test_every_value_has_one_type(value: Any) -> None:
    kinds = [kind for kind in KINDS if passes({"type": "type", "value": kind, "path": "$[0]"}, [value])]
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    assert kinds == [names.get(type(value), "number")]


# tools and measures

arguments = st.sampled_from([{}, {"n": 1}, {"n": 1, "m": 2}])
called = st.lists(
    st.tuples(st.sampled_from("abc"), arguments).map(lambda use: ToolUse(name=use[0], server="", arguments=use[1])),
    max_size=4,
)
sequences = st.lists(
    st.one_of(
        st.sampled_from("abc"),
        st.fixed_dictionaries({"name": st.sampled_from("abc"), "arguments": st.sampled_from([{}, {"n": 1}, {"m": 2}])}),
    ),
    min_size=1,
    max_size=4,
)


@given(sequences, called)
@example(
    ["a", {"name": "a", "arguments": {"n": 1}}],
    [ToolUse(name="a", server="", arguments={"n": 1}), ToolUse(name="a", server="", arguments={})],
)
def test_sequences_of_tools_are_what_trying_all_orders_finds(wanted: list[Any], calls: list[ToolUse]) -> None:
    def fits(item: Any, use: ToolUse) -> bool:
        if isinstance(item, str):
            return item == use.name
        return item["name"] == use.name and item["arguments"].items() <= use.arguments.items()

    def holds(uses: tuple[ToolUse, ...]) -> bool:
        return all(map(fits, wanted, uses))

    some = list(permutations(range(len(calls)), len(wanted)))
    expected = {
        "exact": len(calls) == len(wanted) and holds(tuple(calls)),
        "in_order": any(holds(tuple(calls[at] for at in places)) for places in some if list(places) == sorted(places)),
        "any_order": any(holds(tuple(calls[at] for at in places)) for places in some),
    }
    found = {
        mode: judge(
            {"type": "tool_sequence", "value": wanted, "mode": mode}, Evidence(output="", tools=tuple(calls))
        ).passed
        for mode in expected
    }
    assert found == expected


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 100))
def test_measures_hold_between_their_bounds(actual: float, low: float, high: float) -> None:
    taken = Evidence(output="", milliseconds=actual, cost=actual)
    for kind in ("latency_ms", "cost"):
        assert judge({"type": kind, "value": high}, taken).passed is (actual <= high)
        assert judge({"type": kind, "value": {"min": low, "max": high}}, taken).passed is (low <= actual <= high)
