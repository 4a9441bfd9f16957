"""Assertions on the course of an answer: the sequence of tools, steps with a score, and agents that were asked.

`trajectory` compares what the agent did, or the plan that it wrote, with a reference sequence, and gives a score. A
step is a call of a tool, or an agent that was called.

| mode | score |
| --- | --- |
| none | twice the length of the longest common subsequence, divided by the number of steps of both together |
| `exact` | the same, but only steps at the same positions count |
| `in_order`, `any_order` | the share of the reference that was done, in its order or in any order |
| `unordered` | twice the number of common steps, in any order, divided by the number of steps of both together |
| `subset` | the share of what was done that is in the reference |

There are names, and fields, that promptfoo uses:

| name | our assertion |
| --- | --- |
| `trajectory:tool-used` | `tool_called` for each of the tools, or `tool_calls` with `min` and `max` |
| `trajectory:tool-args-match` | `tool_arguments` of any call |
| `trajectory:tool-sequence` | `tool_sequence` |
| `trajectory:step-count` | `tool_calls` |"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions.base import AgentUse, NotEvaluated, assertion_kind
from runner.assertions.checking import type_named
from runner.assertions.json_values import problem_with_path, value_at
from runner.assertions.results import decide, shorten, show
from runner.assertions.tools import (
    calls_text,
    describe,
    fits,
    problem_with_fields,
    problem_with_tool,
    problem_with_tools,
)
from runner.assertions.values import equal, is_part, problem_with_patterns

if TYPE_CHECKING:
    from runner.assertions.base import CheckResult, Evidence, Judges, ToolUse
    from runner.assertions.model import Assertion

Matches = Callable[[Any, Any], bool]
"""Whether a wanted step is the one that was taken."""
AGENT = "agent"
SAME = {"strict": "exact", "superset": "any_order"}
"""Names that other tools have for a mode."""
NOTHING_ELSE = ("exact", "strict", "unordered", "subset")
"""Modes in which no call may be that is not listed."""
_VERBS = {
    "exact": "to call exactly",
    "in_order": "to call in this order:",
    "any_order": "to call in any order:",
    "unordered": "to call exactly, in any order:",
    "subset": "to call only",
}
USED, ARGUMENTS, SEQUENCE, STEPS = (
    "trajectory:tool-used",
    "trajectory:tool-args-match",
    "trajectory:tool-sequence",
    "trajectory:step-count",
)
_SHAPES = {
    USED: 'the name of a tool, a list of them, or {"name", "min", "max"}',
    ARGUMENTS: '{"name": a tool, "args": its arguments, "mode": "partial" or "exact"}',
    STEPS: '{"min", "max"}',
}


async def tool_sequence(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The calls of the whole answer are, or have among them, the tools of the value; each call counts for one."""
    uses, wanted, given = evidence.tools, assertion.value, assertion.mode or "in_order"
    mode = SAME.get(given, given)
    is_ordered = mode in ("exact", "in_order")
    served = {} if is_ordered else _pairs(wanted, uses, fits)
    missing = next((place for place in range(len(wanted)) if place not in served.values()), None)
    if is_ordered:
        rest = iter(uses)
        absent = (place for place, item in enumerate(wanted) if not any(fits(item, use) for use in rest))
        missing = next(absent, None)
        if mode == "exact":
            different = (at for at, item in enumerate(wanted) if at >= len(uses) or not fits(item, uses[at]))
            missing = next(different, len(wanted) if len(uses) > len(wanted) else None)
    elif mode == "subset":
        missing = None
    odd = [use for place, use in enumerate(uses) if place not in served] if mode in ("subset", "unordered") else []
    found = calls_text(uses)
    if missing is not None and missing < len(wanted):
        found += f"; {describe(wanted[missing])} is missing{f' at position {missing + 1}' if is_ordered else ''}"
    elif odd:
        found += f"; {calls_text(odd[:1])} is not among them"
    return decide(
        assertion,
        missing is None and not odd,
        wanted,
        [use.call for use in uses],
        _VERBS[mode],
        subject="the agent",
        wanted=shorten(", ".join(map(describe, wanted))) or "no tool",
        found=found,
    )


async def trajectory(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The score reaches the threshold."""
    value = assertion.value
    wanted, least = (value["steps"], value.get("threshold", 1)) if isinstance(value, dict) else (value, 1)
    if assertion.path is None:
        taken: Sequence[Any] = _taken(evidence, any(map(_is_agent, wanted)))
        shown = [f"agent {one.agent}" if isinstance(one, AgentUse) else calls_text([one]) for one in taken]
        matches = _fits
    else:
        taken = _planned(assertion.path, evidence)
        shown, matches = [show(step) if not isinstance(step, str) else step for step in taken], _is_planned
    steps = [f"agent {step[AGENT]}" if _is_agent(step) else describe(step) for step in wanted]
    score = _score(wanted, taken, matches, SAME.get(assertion.mode or "", assertion.mode))
    result = decide(
        assertion,
        score >= least - 1e-9,
        wanted,
        shown,
        "to take the steps",
        subject="the agent" if assertion.path is None else f"the plan at {assertion.path}",
        wanted=shorten(", ".join(steps)) + (f" with a score of {least:g}" if least != 1 else ""),
        found=shorten(f"{', '.join(shown) or 'no steps'} (score {score:.2f})"),
    )
    return result.replace(score=score)


async def delegated(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The agent handed over to another agent, or asked it: one of those that are named; without one named, any."""
    if evidence.agents is None:
        raise NotEvaluated(_UNKNOWN_AGENTS)
    wanted = _wanted_agents(assertion)
    asked = [use.agent for use in evidence.agents]
    said = [
        f"{use.agent} ({'delegated' if use.delegated else 'called'} by {use.by})" if use.by else use.agent
        for use in evidence.agents
    ]
    return decide(
        assertion,
        any(wanted is None or agent in wanted for agent in asked),
        assertion.value,
        asked,
        "to delegate to",
        subject="the agent",
        wanted="any agent" if wanted is None else " or ".join(wanted),
        found=shorten(", ".join(said)) or "no delegation",
    )


def problem_with_sequence(assertion: Assertion) -> str | None:
    """What is wrong with a `tool_sequence`."""
    return problem_with_tools("tool_sequence", assertion.value, may_be_empty=assertion.mode in NOTHING_ELSE)


def problem_with_trajectory(assertion: Assertion) -> str | None:
    """What is wrong with a `trajectory`."""
    value = assertion.value
    steps = value.get("steps") if isinstance(value, dict) else value
    if not isinstance(steps, list) or not steps:
        return '"trajectory" needs "value": a list of steps, or {"steps": [...], "threshold": 0.8}'
    if isinstance(value, dict):
        if stray := problem_with_fields("trajectory", value, ("steps", "threshold"), "steps and threshold"):
            return stray
        least = value.get("threshold", 1)
        if isinstance(least, bool) or not isinstance(least, (int, float)) or not 0 <= least <= 1:
            return f'"trajectory": "threshold" is a number from 0 to 1, not {show(least)}'
    for step in steps:
        if not _is_agent(step) and (wrong := problem_with_tool(step)):
            return f'"trajectory" {wrong}'
    if assertion.path is not None and (wrong := problem_with_path("trajectory", assertion.path)):
        return wrong
    return problem_with_patterns("trajectory", steps)


def problem_with_delegated(assertion: Assertion) -> str | None:
    """What is wrong with a `delegated`."""
    wanted = _wanted_agents(assertion)
    if wanted is None or (wanted and all(isinstance(agent, str) and agent for agent in wanted)):
        return None
    return '"delegated" takes the id of an agent in "value", or a list of them'


_UNKNOWN_AGENTS = "the agents that were called are not known: the answer comes from a saved report"


def _wanted_agents(assertion: Assertion) -> list[Any] | None:
    value = assertion.value
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    return [agent_id(item) if isinstance(item, str) else item for item in items]


def _is_agent(step: Any) -> bool:
    return isinstance(step, dict) and step.keys() == {AGENT} and isinstance(step[AGENT], str)


def _taken(evidence: Evidence, with_agents: bool) -> list[ToolUse | AgentUse]:
    """The calls of tools, with the agents that were asked between them where the reference has some."""
    steps: list[ToolUse | AgentUse] = list(evidence.tools)
    if not with_agents:
        return steps
    if evidence.agents is None:
        raise NotEvaluated(_UNKNOWN_AGENTS)
    for use in reversed(evidence.agents):
        steps.insert(use.after, use)
    return steps


def _planned(path: str, evidence: Evidence) -> list[Any]:
    found = value_at(evidence, path)
    if not isinstance(found, list):
        raise NotEvaluated(f"the output has no list of steps at {path}")
    return found


def _fits(wanted: Any, step: Any) -> bool:
    called = getattr(step, "agent", None)
    if _is_agent(wanted) or called is not None:
        return _is_agent(wanted) and called == agent_id(wanted[AGENT])
    return fits(wanted, step)


def _is_planned(wanted: Any, step: Any) -> bool:
    """Whether a step of a plan is the wanted one: a name, or an object with that name, or at least these fields."""
    if isinstance(wanted, str) and isinstance(step, dict):
        return any(is_part(wanted, step[key]) for key in ("name", "tool", "step", AGENT) if key in step)
    if _is_agent(wanted) and isinstance(step, str):
        return equal(wanted[AGENT], step)
    return is_part(wanted, step)


def _score(wanted: Sequence[Any], taken: Sequence[Any], matches: Matches, mode: str | None) -> float:
    if mode in ("any_order", "unordered", "subset"):
        common = len(_pairs(wanted, taken, matches))
    elif mode == "exact":
        common = sum(matches(one, other) for one, other in zip(wanted, taken, strict=False))
    else:
        common = _longest_common(wanted, taken, matches)
    if mode in ("any_order", "in_order"):
        return common / len(wanted)
    if mode == "subset":
        return common / len(taken) if taken else 1.0
    return 2 * common / (len(wanted) + len(taken))


def _longest_common(wanted: Sequence[Any], taken: Sequence[Any], matches: Matches) -> int:
    """How many steps the longest sequence has that is in both."""
    before = [0] * (len(taken) + 1)
    for one in wanted:
        row = [0]
        for place, other in enumerate(taken):
            row.append(before[place] + 1 if matches(one, other) else max(before[place + 1], row[-1]))
        before = row
    return before[-1]


def _pairs(wanted: Sequence[Any], taken: Sequence[Any], matches: Matches) -> dict[int, int]:
    """Place of a step that was taken → place of the wanted one that it is: as many pairs as there can be, in any order,
    each step in one of them."""
    fitting = [[place for place, step in enumerate(taken) if matches(item, step)] for item in wanted]
    owner: dict[int, int] = {}

    def pair(index: int, seen: set[int]) -> bool:
        for place in fitting[index]:
            if place not in seen:
                seen.add(place)
                if place not in owner or pair(owner[place], seen):
                    owner[place] = index
                    return True
        return False

    for index in range(len(wanted)):
        pair(index, set())
    return owner


async def tool_used(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """Each of the tools was called, as often as is asked for."""
    value = assertion.value
    if isinstance(value, dict):
        return await renamed(assertion, evidence, judges)
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


async def renamed(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """What our assertion says."""
    own = _own(assertion)
    return await type_named(own.type).check(own, evidence, judges)


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
        return _stray(name, value, "name", "args", "arguments", "mode") or _renamed(assertion)
    if name == STEPS and value.get("type", "tool") != "tool":
        return f'"{name}" counts tool calls; steps of the type {show(value["type"])} are not known without tracing'
    if name == USED and not isinstance(value.get("name"), str):
        return f'"{name}" needs "value": {_SHAPES[name]}'
    return _stray(name, value, "name" if name == USED else "type", "min", "max") or _renamed(assertion)


def _stray(name: str, value: dict[str, Any], *taken: str) -> str | None:
    return problem_with_fields(name, value, taken, ", ".join(taken))


def _renamed(assertion: Assertion) -> str | None:
    own = _own(assertion)
    wrong = type_named(own.type).problem(own)
    return wrong.replace(f'"{own.type}"', f'"{assertion.type}"') if wrong else None


def _own(assertion: Assertion) -> Assertion:
    """Our assertion."""
    kind, value = assertion.type, assertion.value
    update: dict[str, Any]
    if kind == SEQUENCE:
        said = value if isinstance(value, dict) else {"steps": value}
        update = {"type": "tool_sequence", "value": said["steps"], "mode": said.get("mode")}
    elif kind == ARGUMENTS:
        how = "exactly" if value.get("mode") == "exact" else "arguments"
        wanted = {"tool": value["name"], how: value.get("args", value.get("arguments")), "calls": "any"}
        update = {"type": "tool_arguments", "value": wanted}
    else:
        bounds = {key: value[key] for key in ("min", "max") if key in value}
        least = {"min": 1} if kind == USED and not bounds else bounds
        update = {"type": "tool_calls", "value": least, "name": value.get("name")}
    return assertion.model_copy(update=update)


ASSERTIONS = {
    "tool_sequence": assertion_kind(tool_sequence, problem_with_sequence, "value mode"),
    "trajectory": assertion_kind(trajectory, problem_with_trajectory, "value mode path"),
    "delegated": assertion_kind(delegated, problem_with_delegated, "value"),
    USED: assertion_kind(tool_used, problem_with_trajectory_name, "value"),
    ARGUMENTS: assertion_kind(renamed, problem_with_trajectory_name, "value", waits=True),
    SEQUENCE: assertion_kind(renamed, problem_with_trajectory_name, "value"),
    STEPS: assertion_kind(renamed, problem_with_trajectory_name, "value"),
}
