"""Assertions on the course of an answer: the sequence of tools, steps with a score, and agents that were asked.

`trajectory` compares what the agent did, or the plan that it wrote, with a reference sequence, and gives a score. A
step is a call of a tool, or an agent that was called.

| mode | score |
| --- | --- |
| none | twice the length of the longest common subsequence, divided by the number of steps of both together |
| `exact` | the same, but only steps at the same positions count |
| `in_order`, `any_order` | the share of the reference that was done, in its order or in any order |
| `unordered` | twice the number of common steps, in any order, divided by the number of steps of both together |
| `subset` | the share of what was done that is in the reference |"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions.base import AgentUse, NotEvaluated, assertion_kind
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
NOTHING_ELSE = ("exact", "unordered", "subset")
"""Modes in which no call may be that is not listed."""
_VERBS = {
    "exact": "to call exactly",
    "in_order": "to call in this order:",
    "any_order": "to call in any order:",
    "unordered": "to call exactly, in any order:",
    "subset": "to call only",
}


async def tool_sequence(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The calls of the whole answer are, or have among them, the tools of the value; each call counts for one."""
    uses, wanted, mode = evidence.tools, assertion.value, assertion.mode or "in_order"
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
    score = _score(wanted, taken, matches, assertion.mode)
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


ASSERTIONS = {
    "tool_sequence": assertion_kind(tool_sequence, problem_with_sequence, "value mode"),
    "trajectory": assertion_kind(trajectory, problem_with_trajectory, "value mode path"),
    "delegated": assertion_kind(delegated, problem_with_delegated, "value"),
}
