"""Rules for every assertion: message, errors, order, and what the types have in common."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from command import PATIENCE
from judging import Judges, judge
from table_tests import each

from runner.assertions import TYPES
from runner.assertions.base import AssertionResult, Evidence
from runner.assertions.checking import check, check_all, problem_with_assertion
from runner.assertions.model import Assertion

CHECKS = {
    "equals": {"value": 1},
    "contains": {"value": "a"},
    "not_contains": {"value": "a"},
    "icontains": {"value": "a"},
    "starts_with": {"value": "a"},
    "regex": {"value": "a"},
    "json_path": {"path": "$.a", "value": 1},
    "type": {"value": "string"},
    "json_schema": {"value": {"type": "string"}},
    "tool_called": {"name": "a"},
    "tool_result": {"value": {"tool": "a"}},
    "tool_sequence": {"value": ["a"]},
    "tool_not_called": {"value": "a"},
    "tool_arguments": {"value": {"tool": "a", "arguments": {}}},
    "tool_calls": {"value": 1},
    "no_repeated_calls": {},
    "delegated": {"value": "a"},
    "trajectory": {"value": ["a"]},
    "script": {"script": "scripts.a.B"},
    "agent": {"use": "agents:a", "value": "b"},
    "preference": {"use": "agents:a", "value": "b"},
    "similar": {"value": "a"},
    "any_of": {"value": [{"type": "contains", "value": "a"}]},
    "all_of": {"value": [{"type": "contains", "value": "a"}]},
    "latency_ms": {"value": 1},
    "seconds": {"value": 1},
    "model_calls": {"value": 1},
    "tokens": {"value": 1},
    "cost": {"value": 1},
    "snapshot": {},
    "file_exists": {"path": "a.txt"},
    "file_contains": {"path": "a.txt", "value": "a"},
    "workspace": {},
}
"""A good assertion of each type."""
NEED_MORE = ("script", "snapshot", "tool_result", "tool_arguments")
"""Types that say nothing of an answer without calls of tools."""
OUTPUTS = ["", "abc", "{", "\ud800", None, True, 0, -1.5, 10**400, [], [[[]]], {}, {"a": 1}, {"a": None}]


def test_the_table_has_every_type() -> None:
    assert list(TYPES) == [*CHECKS]


@each("kind", CHECKS)
@each("negate", [False, True])
def test_no_output_makes_an_assertion_raise_and_a_failure_says_something(kind: str, negate: bool) -> None:
    fields = {"type": kind, "negate": negate, **CHECKS[kind]}
    judges = Judges({"passed": True})
    for output in OUTPUTS:
        result = judge(fields, Evidence(output=output), judges)
        assert result.type == kind
        assert result.passed or result.message, output
        assert not (result.passed and result.error), output


@each("kind", [kind for kind in CHECKS if kind not in NEED_MORE])
def test_negate_turns_a_verdict_around(kind: str) -> None:
    judges = Judges({"passed": True})
    evidence = Evidence(output='{"a": 1}', cost=0.5)
    plain = judge({"type": kind, **CHECKS[kind]}, evidence, judges)
    negated = judge({"type": kind, **CHECKS[kind], "negate": True}, evidence, judges)

    assert (plain.passed, plain.error) == (not negated.passed, negated.error)


def test_a_message_takes_the_place_of_the_failure_text() -> None:
    fields = {"type": "contains", "value": "b", "message": "Say b"}

    assert judge(fields, Evidence(output="a")) == AssertionResult(
        type="contains", passed=False, expected="b", actual="a", message="Say b"
    )
    assert judge(fields, Evidence(output="b")) == AssertionResult(
        type="contains", passed=True, expected="b", actual="b", message=""
    )


def test_a_message_does_not_hide_why_an_assertion_could_not_be_evaluated() -> None:
    result = judge({"type": "cost", "value": 1, "message": "Too dear"}, Evidence(output="a"))

    assert result.message == (
        'Too dear (Cannot evaluate "cost": the cost is unknown: '
        "neither the provider nor the connector file gives a price)"
    )


def test_a_broken_judge_fails_the_assertion_and_nothing_else() -> None:
    class Broken(Judges):
        async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
            raise RecursionError("maximum recursion depth exceeded")

    fields = {"type": "agent", "use": "agents:a", "negate": True}

    assert judge(fields, Evidence(output="a"), Broken()) == AssertionResult(
        type="agent",
        passed=False,
        expected=None,
        actual="a",
        message='Cannot evaluate "agent": RecursionError: maximum recursion depth exceeded',
        error=True,
    )


def test_a_cancelled_judge_ends_the_check() -> None:
    class Cancelled(Judges):
        async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(check(Assertion(type="agent", use="agents:a"), Evidence(output="a"), Cancelled()))


class Meeting(Judges):
    """Judges that answer only when all of them have been asked."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.barrier = asyncio.Barrier(count)

    async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        await self.barrier.wait()
        return {"passed": agent != "no", "reason": agent}

    async def call_script(self, reference: str, roles: tuple[str, ...], arguments: list[Any]) -> Any:
        await self.barrier.wait()
        return True


def test_judges_wait_together_and_results_keep_the_order() -> None:
    nested = {"type": "agent", "use": "agents:nested"}
    assertions = [
        Assertion(type="agent", use="agents:no"),
        Assertion(type="contains", value="z"),
        Assertion(type="any_of", value=[{"type": "all_of", "value": [nested]}]),
        Assertion(type="script", script="s"),
        Assertion(type="contains", value="a"),
    ]

    async def run() -> tuple[AssertionResult, ...]:
        async with asyncio.timeout(PATIENCE):
            return await check_all(assertions, Evidence(output="a"), Meeting(3))

    results = asyncio.run(run())

    assert [(result.type, result.passed) for result in results] == [
        ("agent", False),
        ("contains", False),
        ("any_of", True),
        ("script", True),
        ("contains", True),
    ]


def test_judges_in_compositions_wait_together() -> None:
    deep = [{"type": "all_of", "value": [{"type": "agent", "use": "agents:a"}]}]

    async def run() -> tuple[AssertionResult, ...]:
        async with asyncio.timeout(PATIENCE):
            return await check_all([Assertion(type="any_of", value=deep)] * 2, Evidence(output="a"), Meeting(2))

    assert [result.passed for result in asyncio.run(run())] == [True, True]


@each("kind", CHECKS)
def test_a_good_assertion_has_no_problem(kind: str) -> None:
    assert problem_with_assertion(Assertion(type=kind, message="m", negate=True, **CHECKS[kind])) is None


PROBLEMS: list[tuple[dict[str, Any], str]] = [
    ({"type": "equals"}, '"equals" needs "value", or the case needs "expected"'),
    ({"type": "contains"}, '"contains" needs "value": what to look for in the output'),
    ({"type": "contains", "value": None}, '"contains" needs "value": what to look for in the output'),
    ({"type": "not_contains", "value": ""}, '"not_contains" needs a "value" that is not empty'),
    ({"type": "icontains", "value": 5}, '"icontains" needs a string as "value", not 5'),
    ({"type": "starts_with", "value": ["a"]}, '"starts_with" needs a string as "value", not ["a"]'),
    (
        {"type": "contains", "value": "a", "path": "$.b"},
        '"contains" does not accept "path"; it accepts value, message and negate',
    ),
    ({"type": "regex"}, '"regex" needs either "value" or "pattern": a Go (RE2) regular expression'),
    (
        {"type": "regex", "value": "a", "pattern": "a"},
        '"regex" needs either "value" or "pattern": a Go (RE2) regular expression',
    ),
    (
        {"type": "not_contains", "value": ["a"]},
        '"not_contains" excludes only the list as a whole. To exclude each string, write '
        '{"type": "any_of", "negate": true, "value": [{"type": "contains", "value": "a"}]}',
    ),
    ({"type": "regex", "value": ""}, '"regex" needs a pattern that is not empty'),
    ({"type": "regex", "value": 5}, '"regex" needs a string as its pattern, not 5'),
    (
        {"type": "regex", "value": "a**"},
        '"regex": Cannot use pattern `a**`: a nested repetition `**` is not supported at position 1',
    ),
    ({"type": "json_path", "value": 1}, '"json_path" needs "path", such as "$.status"'),
    ({"type": "json_path", "path": "", "value": 1}, '"json_path" needs "path", such as "$.status"'),
    ({"type": "json_path", "path": "$.a"}, '"json_path" needs "value"; null means that the path has no value'),
    ({"type": "type"}, '"type" needs a "value" that is one of string, number, boolean, array, object, null, not null'),
    (
        {"type": "type", "value": "bool"},
        '"type" needs a "value" that is one of string, number, boolean, array, object, null, not bool; Did you mean "boolean"?',
    ),
    ({"type": "json_schema", "value": "object"}, '"json_schema" needs "value": a JSON Schema, which is an object'),
    (
        {"type": "json_schema", "value": {"type": "objekt"}},
        "\"json_schema\": invalid JSON Schema: type: 'objekt' is not valid under any of the given schemas",
    ),
    ({"type": "tool_called"}, '"tool_called" needs either "name" or "value": the name of a tool'),
    (
        {"type": "tool_called", "name": "a", "value": "b"},
        '"tool_called" needs either "name" or "value": the name of a tool',
    ),
    ({"type": "tool_called", "name": ""}, '"tool_called" needs a tool name, or {"name", "arguments"}, not '),
    ({"type": "tool_called", "value": []}, '"tool_called" needs at least one tool in "value"'),
    ({"type": "tool_called", "value": 5}, '"tool_called" needs a tool name, or {"name", "arguments"}, not 5'),
    (
        {"type": "tool_called", "value": ["a", {"name": "b", "args": {}}]},
        '"tool_called" needs the name and arguments of a tool, not "args"',
    ),
    (
        {"type": "tool_called", "value": {"name": "a", "arguments": {"b": ["regex:("]}}},
        '"tool_called": Cannot use pattern `(`: missing `)` for the group at position 0',
    ),
    ({"type": "tool_result", "value": "a"}, '"tool_result" needs "value": {"tool": name, "result": expected part}'),
    (
        {"type": "tool_result", "value": {"result": 1}},
        '"tool_result" needs "value": {"tool": name, "result": expected part}',
    ),
    (
        {"type": "tool_result", "value": {"tool": "a", "results": 1}},
        '"tool_result" takes tool and result in its "value", not "results"',
    ),
    ({"type": "tool_sequence", "value": "a"}, '"tool_sequence" needs "value": a list of tools'),
    ({"type": "tool_sequence", "value": []}, '"tool_sequence" needs "value": a list of tools'),
    (
        {"type": "tool_sequence", "value": [1]},
        '"tool_sequence" needs a tool name, or {"name", "arguments"}, not 1',
    ),
    (
        {"type": "script"},
        '"script" needs "script", such as "scripts.tests.Validate", or "use": "scripts:tests.Validate"',
    ),
    (
        {"type": "script", "use": "scripts:a", "script": "scripts.a"},
        '"script" needs either "script" or "use", not both',
    ),
    ({"type": "script", "use": "a.B"}, '"script" needs the prefix "scripts:" in "use", as in "scripts:a.B"'),
    ({"type": "agent"}, '"agent" needs "use", such as "agents:workers.test.validator"'),
    ({"type": "agent", "use": "a.b"}, '"agent" needs the prefix "agents:" in "use", as in "agents:a.b"'),
    ({"type": "agent", "use": "agents:a", "value": " "}, '"agent" takes the criteria in "value", which is blank'),
    ({"type": "agent", "use": "agents:a", "value": 5}, '"agent" takes the criteria as a string in "value", not 5'),
    (
        {"type": "agent", "use": "agents:a", "value": "b", "criteria": "c"},
        '"agent" takes its criteria in either "value" or "criteria"',
    ),
    ({"type": "any_of"}, '"any_of" needs "value": a list of assertions'),
    ({"type": "all_of", "value": []}, '"all_of" needs "value": a list of assertions'),
    (
        {"type": "all_of", "value": [{"value": 1}, {"type": "any_of", "value": [{"type": "contains"}]}]},
        '"all_of", assertion 2: "any_of", assertion 1: "contains" needs "value": what to look for in the output',
    ),
    (
        {"type": "any_of", "value": [{"type": "containz"}]},
        '"any_of", assertion 1: unknown assertion type "containz"; Did you mean "contains"?',
    ),
    ({"type": "any_of", "value": [{1: 2}]}, '"any_of", assertion 1: unknown field "1"'),
    ({"type": "tokens"}, '"tokens" needs "value": the highest number, or {"max", "min"}'),
    ({"type": "latency_ms", "value": True}, '"latency_ms" needs "value": the highest number, or {"max", "min"}'),
    ({"type": "cost", "value": -1}, '"cost" needs "value": the highest number, or {"max", "min"}'),
    (
        {"type": "cost", "value": {"most": 1}},
        '"cost" takes a "value" with max and min, numbers of at least 0, not {"most": 1}',
    ),
    (
        {"type": "cost", "value": {"max": 1, "min": 2}},
        '"cost" can never pass: min is more than max in {"max": 1, "min": 2}',
    ),
    ({"type": "snapshot", "name": ""}, '"snapshot" needs a "name" that is not empty'),
]


@each(("fields", "message"), PROBLEMS)
def test_what_is_wrong_with_an_assertion_is_found_before_it_is_checked(fields: dict[str, Any], message: str) -> None:
    assert problem_with_assertion(Assertion(**fields)) == message


def test_compositions_are_nested_to_a_bound() -> None:
    value: Any = [{"type": "contains", "value": "a"}]
    for _ in range(19):
        value = [{"type": "all_of", "value": value}]

    assert problem_with_assertion(Assertion(type="any_of", value=value)) is None
    assert judge({"type": "any_of", "value": value}, Evidence(output="a")).passed
    assert problem_with_assertion(Assertion(type="any_of", value=[{"type": "all_of", "value": value}])) == (
        '"any_of" nests assertions more than 20 levels deep'
    )


def test_equals_without_a_value_is_fine_when_the_case_says_what_it_expects() -> None:
    assert problem_with_assertion(Assertion(type="equals"), has_expected=True) is None


def test_a_plain_assertion_loads_no_library() -> None:
    code = (
        "import sys, asyncio\n"
        "from runner.assertions.checking import check, problem_with_assertion\n"
        "from runner.assertions.base import Evidence\n"
        "from runner.assertions.model import Assertion\n"
        "for fields in ({'type': 'contains', 'value': 'a'}, {'value': 1}, {'type': 'json_path', 'path': '$.a', 'value': 1}):\n"
        "    assertion = Assertion(**fields)\n"
        "    assert problem_with_assertion(assertion) is None\n"
        "    asyncio.run(check(assertion, Evidence(output='{\"a\": 1}'), None))\n"
        "print(sorted({'jsonpath_ng', 'regex', 'jsonschema', 'json_repair', 'yaml'} & sys.modules.keys()))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (result.stdout, result.stderr) == ("[]\n", "")
