"""Assertions on what an agent did, with the names and fields that promptfoo uses for them.

| name | our assertion |
| --- | --- |
| `trajectory:tool-used` | `tool_called` for each of the tools, or `tool_calls` with `min` and `max` |
| `trajectory:tool-args-match` | `tool_arguments` of any call |
| `trajectory:tool-sequence` | `tool_sequence` |
| `trajectory:step-count` | `tool_calls` |"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import AssertionKind
from runner.assertions.checking import type_named
from runner.assertions.results import decide, show
from runner.assertions.tools import calls_text, fits, problem_with_fields, problem_with_tools
from runner.assertions.trajectory import sequence_result

if TYPE_CHECKING:
    from runner.assertions.base import CheckResult, Evidence, Judges
    from runner.assertions.model import Assertion

USED, ARGUMENTS, SEQUENCE, STEPS = (
    "trajectory:tool-used",
    "trajectory:tool-args-match",
    "trajectory:tool-sequence",
    "trajectory:step-count",
)


async def tool_used(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """Each of the tools was called, as often as is asked for."""
    value = assertion.value
    if isinstance(value, dict):
        return await type_named("tool_calls").check(_counted(assertion), evidence, judges)
    wanted = value if isinstance(value, list) else [value]
    return decide(
        assertion,
        all(any(fits(tool, use) for use in evidence.tools) for tool in wanted),
        value,
        [use.name for use in evidence.tools],
        "to call",
        subject="the agent",
        wanted=" and ".join(wanted),
        found=calls_text(evidence.tools),
    )


async def args_match(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """A call of the tool has these arguments."""
    return await type_named("tool_arguments").check(_arguments(assertion), evidence, judges)


async def sequence(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The tools were called in this order."""
    value = assertion.value
    steps, mode = (value["steps"], value.get("mode")) if isinstance(value, dict) else (value, None)
    return sequence_result(assertion, steps, mode or "in_order", evidence)


async def step_count(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """So many tools were called."""
    return await type_named("tool_calls").check(_counted(assertion), evidence, judges)


def problem_with_trajectory_name(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types."""
    name, value = assertion.type, assertion.value
    if name == USED and not isinstance(value, dict):
        items = value if isinstance(value, list) else [value]
        is_good = items and all(isinstance(item, str) and item for item in items)
        return None if is_good else f'"{name}" needs "value": {_SHAPES[name]}'
    if name == SEQUENCE:
        value = value if isinstance(value, dict) else {"steps": value}
        if value.get("mode", "in_order") not in ("in_order", "exact"):
            return f'"{name}": "mode" is "in_order" or "exact", not {show(value["mode"])}'
        return problem_with_tools(name, value.get("steps")) or _stray(name, value, "steps", "mode")
    if not isinstance(value, dict):
        return f'"{name}" needs "value": {_SHAPES[name]}'
    if name == ARGUMENTS:
        if value.get("mode", "partial") not in ("partial", "exact"):
            return f'"{name}": "mode" is "partial" or "exact", not {show(value["mode"])}'
        if not isinstance(value.get("name"), str) or not value["name"] or not value.keys() & {"args", "arguments"}:
            return f'"{name}" needs "value": {_SHAPES[name]}'
        return _stray(name, value, "name", "args", "arguments", "mode") or _renamed(_arguments(assertion), name)
    if name == STEPS and value.get("type", "tool") != "tool":
        return f'"{name}" counts tool calls; steps of the type {show(value["type"])} are not known without tracing'
    if name == USED and not isinstance(value.get("name"), str):
        return f'"{name}" needs "value": {_SHAPES[name]}'
    return _stray(name, value, "name" if name == USED else "type", "min", "max") or _renamed(_counted(assertion), name)


def _stray(name: str, value: dict[str, Any], *taken: str) -> str | None:
    return problem_with_fields(name, value, taken, ", ".join(taken))


def _renamed(other: Assertion, name: str) -> str | None:
    wrong = type_named(other.type).problem(other)
    return wrong.replace(f'"{other.type}"', f'"{name}"') if wrong else None


def _counted(assertion: Assertion) -> Assertion:
    value = assertion.value
    bounds = {key: value[key] for key in ("min", "max") if key in value}
    if assertion.type == USED and not bounds:
        bounds = {"min": 1}
    return assertion.model_copy(update={"type": "tool_calls", "value": bounds, "name": value.get("name")})


def _arguments(assertion: Assertion) -> Assertion:
    value = assertion.value
    kind = "exactly" if value.get("mode") == "exact" else "arguments"
    wanted = {"tool": value["name"], kind: value.get("args", value.get("arguments")), "calls": "any"}
    return assertion.model_copy(update={"type": "tool_arguments", "value": wanted})


_SHAPES = {
    USED: 'the name of a tool, a list of them, or {"name", "min", "max"}',
    ARGUMENTS: '{"name": a tool, "args": its arguments, "mode": "partial" or "exact"}',
    STEPS: '{"min", "max"}',
}

ASSERTIONS = {
    USED: AssertionKind(check=tool_used, problem=problem_with_trajectory_name, fields=("value",), needs=("value",)),
    ARGUMENTS: AssertionKind(
        check=args_match, problem=problem_with_trajectory_name, fields=("value",), needs=("value",), waits=True
    ),
    SEQUENCE: AssertionKind(check=sequence, problem=problem_with_trajectory_name, fields=("value",), needs=("value",)),
    STEPS: AssertionKind(check=step_count, problem=problem_with_trajectory_name, fields=("value",), needs=("value",)),
}
