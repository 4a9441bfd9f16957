"""Assertions on what an agent did: modes, bounds, scores, the names of promptfoo, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from judging import judge
from table_tests import each

from runner.assertions.base import AgentUse, Evidence, ToolUse
from runner.assertions.checking import problem_with_assertion
from runner.assertions.model import Assertion

A, B, C = (ToolUse(name=name, server="s", arguments={"n": name}) for name in "abc")
ASKED = (
    AgentUse(agent="x", by="demo", delegated=False, after=1),
    AgentUse(agent="y", by="x", delegated=True, after=1),
)
OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}}

HOLDS: list[tuple[str, dict[str, Any], tuple[ToolUse, ...], bool]] = [
    ("tool_sequence", {"value": ["a", "b"], "mode": "exact"}, (A, B), True),
    ("tool_sequence", {"value": ["a", "b"], "mode": "exact"}, (A, B, C), False),
    ("tool_sequence", {"value": ["b", "a"], "mode": "any_order"}, (A, C, B), True),
    ("tool_sequence", {"value": ["b", "a"], "mode": "unordered"}, (A, B), True),
    ("tool_sequence", {"value": ["b", "a"], "mode": "unordered"}, (A, B, B), False),
    ("tool_sequence", {"value": ["b", "a"], "mode": "unordered"}, (A,), False),
    ("tool_sequence", {"value": ["b", "a"], "mode": "subset"}, (A,), True),
    ("tool_sequence", {"value": ["b", "a"], "mode": "subset"}, (), True),
    ("tool_sequence", {"value": ["b", "a"], "mode": "subset"}, (A, A), False),
    ("tool_sequence", {"value": [], "mode": "subset"}, (A,), False),
    ("tool_sequence", {"value": ["a", {"name": "a", "arguments": {"n": "a"}}], "mode": "subset"}, (A,), True),
    ("tool_not_called", {}, (), True),
    ("tool_not_called", {}, (A,), False),
    ("tool_not_called", {"name": "s.b"}, (A, B), False),
    ("tool_not_called", {"name": "b", "negate": True}, (A, B), True),
    ("tool_calls", {"value": 2}, (A, B), True),
    ("tool_calls", {"value": 0, "name": "a"}, (A, B), False),
    ("tool_calls", {"value": {"min": 2}, "name": "a"}, (A, A, B), True),
    ("tool_calls", {"value": {"min": 1, "max": 2}}, (A, A, B), False),
    ("no_repeated_calls", {}, (A, B, C), True),
    ("no_repeated_calls", {}, (A, B, A), False),
    ("no_repeated_calls", {"value": 2}, (A, B, A), True),
    ("no_repeated_calls", {"name": "b"}, (A, B, A), True),
    ("tool_arguments", {"value": {"tool": "a", "arguments": {"n": "regex:^a"}}}, (A, B), True),
    ("tool_arguments", {"value": {"tool": "a", "exactly": {"n": "a"}}}, (A,), True),
    ("tool_arguments", {"value": {"tool": "a", "exactly": {}}}, (A,), False),
    ("tool_arguments", {"value": {"tool": "a", "schema": OBJECT}}, (A,), False),
    ("tool_arguments", {"value": {"tool": "a", "schema": OBJECT}}, (A.replace(arguments={"n": 1}),), True),
    ("tool_arguments", {"value": {"tool": "a", "schema": OBJECT, "calls": "any"}}, (A, A.replace(arguments={})), True),
    ("tool_arguments", {"value": {"tool": "a", "schema": OBJECT}}, (A, A.replace(arguments={})), False),
    ("tool_arguments", {"value": {"tool": "a", "assert": "snapshot"}}, (A,), True),
    ("tool_arguments", {"value": {"tool": "a", "assert": [{"type": "contains", "value": "z"}]}}, (A,), False),
]


@each(("kind", "fields", "tools", "holds"), HOLDS)
def test_what_holds(kind: str, fields: dict[str, Any], tools: tuple[ToolUse, ...], holds: bool) -> None:
    assert problem_with_assertion(Assertion(type=kind, **fields)) is None

    result = judge({"type": kind, **fields}, Evidence(output="done", tools=tools))

    assert (result.passed, result.error) == (holds, False), result.message
    assert result.type == kind
    assert holds or result.message


SCORES: list[tuple[list[Any], str | None, float]] = [
    (["a", "b", "c"], None, 1.0),
    (["a", "c"], None, 4 / 5),
    (["b", "a"], None, 2 / 5),
    (["x", "y"], None, 0.0),
    (["a", "c"], "in_order", 1.0),
    (["a", "c", "x"], "in_order", 2 / 3),
    (["c", "a"], "any_order", 1.0),
    (["c", "a"], "any_order", 1.0),
    (["c", "a"], "unordered", 4 / 5),
    (["a", "c"], "exact", 2 / 5),
    (["a", "b", "c", "d"], "exact", 6 / 7),
    (["a", "b"], "subset", 2 / 3),
    ([{"agent": "x"}, "b"], None, 4 / 7),
    (["a", {"agent": "x"}, {"agent": "agents:y"}, "b", "c"], "exact", 1.0),
    ([{"name": "a", "arguments": {"n": "regex:."}}], "in_order", 1.0),
]


@each(("steps", "mode", "score"), SCORES)
def test_the_score_of_a_trajectory(steps: list[Any], mode: str | None, score: float) -> None:
    evidence = Evidence(output="done", tools=(A, B, C), agents=ASKED)
    fields = {"type": "trajectory", "value": {"steps": steps, "threshold": round(score, 2)}, "mode": mode}

    result = judge(fields, evidence)

    assert result.score == pytest.approx(score)
    assert result.passed is (score >= round(score, 2) - 1e-9)
    assert judge({**fields, "value": steps}, evidence).passed is (score == 1)


PLANS: list[tuple[Any, list[Any], float]] = [
    ({"plan": ["a", "b"]}, ["a", "b"], 1.0),
    ('{"plan": [{"name": "a"}, {"tool": "b", "n": 1}]}', ["a", "b"], 1.0),
    ({"plan": [{"name": "a", "arguments": {"n": 1}}]}, [{"name": "a", "arguments": {"n": 1}}], 1.0),
    ({"plan": [{"agent": "x"}, "y"]}, [{"agent": "x"}, {"agent": "y"}], 1.0),
    ({"plan": []}, ["a"], 0.0),
]


@each(("output", "steps", "score"), PLANS)
def test_a_plan_in_the_output(output: Any, steps: list[Any], score: float) -> None:
    result = judge({"type": "trajectory", "path": "$.plan", "value": steps}, Evidence(output=output))

    assert (result.score, result.passed) == (score, score == 1)


def test_what_a_saved_answer_does_not_hold_cannot_be_evaluated() -> None:
    saved = Evidence(output="done", agents=None, model_calls=None)

    for fields in (
        {"type": "delegated"},
        {"type": "delegated", "negate": True},
        {"type": "model_calls", "value": 1},
        {"type": "trajectory", "value": [{"agent": "x"}]},
        {"type": "trajectory", "path": "$.plan", "value": ["a"]},
    ):
        result = judge(fields, saved)
        assert result.error and not result.passed, fields


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("tool_not_called", {"name": "a", "value": "b"}, 'takes either "name" or "value"'),
    ("tool_not_called", {"value": []}, "a list of tools"),
    ("tool_not_called", {"value": [7]}, "needs a tool name"),
    ("tool_arguments", {"value": "a"}, '{"tool": name'),
    ("tool_arguments", {"value": {"tool": "a"}}, "needs one of arguments, exactly, schema, assert"),
    ("tool_arguments", {"value": {"tool": "a", "args": {}}}, 'not "args"'),
    ("tool_arguments", {"value": {"tool": "a", "schema": 7}}, '"schema" is: a JSON Schema'),
    ("tool_arguments", {"value": {"tool": "a", "schema": {"type": "no"}}}, "no"),
    ("tool_arguments", {"value": {"tool": "a", "assert": {"type": "containz"}}}, "unknown assertion type"),
    ("tool_arguments", {"value": {"tool": "a", "arguments": {}, "calls": "some"}}, '"all" or "any"'),
    ("tool_arguments", {"value": {"tool": "a", "arguments": {"n": "regex:("}}}, "Cannot use pattern"),
    ("tool_calls", {"value": -1}, "the highest number"),
    ("tool_calls", {"value": {"min": 2, "max": 1}}, "can never pass"),
    ("no_repeated_calls", {"value": 0}, "a whole number of at least 1"),
    ("delegated", {"value": 7}, "the id of an agent"),
    ("delegated", {"value": []}, "the id of an agent"),
    ("trajectory", {"value": []}, "a list of steps"),
    ("trajectory", {"value": {"steps": ["a"], "threshold": 2}}, "a number from 0 to 1"),
    ("trajectory", {"value": {"steps": ["a"], "least": 1}}, 'not "least"'),
    ("trajectory", {"value": [{"agent": "x", "n": 1}]}, "needs a tool name"),
    ("trajectory", {"value": ["a"], "path": "$["}, "trajectory"),
    ("seconds", {"value": "5s"}, "the highest number"),
    ("model_calls", {"value": {}}, "numbers of at least 0"),
]


@each(("kind", "fields", "words"), WRONG)
def test_what_is_wrong_is_said_when_the_file_is_read(kind: str, fields: dict[str, Any], words: str) -> None:
    said = problem_with_assertion(Assertion(type=kind, **fields))

    assert said is not None
    assert f'"{kind}"' in said
    assert words in said
