"""`trajectory`: compares what the agent did, or the plan that it wrote, with a reference sequence, and gives a score.

A step is a call of a tool, or an agent that was called.

| mode | score |
| --- | --- |
| none | twice the length of the longest common subsequence, divided by the number of steps of both together |
| `exact` | the same, but only steps at the same positions count |
| `in_order`, `any_order` | the share of the reference that was done, in its order or in any order |
| `unordered` | twice the number of common steps, in any order, divided by the number of steps of both together |
| `subset` | the share of what was done that is in the reference |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions.base import AgentUse, Kind, NotEvaluated
from runner.assertions.paths import path_problem, value_at
from runner.assertions.sequence import SAME
from runner.assertions.tools import calls_text, describe, fits, tool_problem
from runner.assertions.values import equal, is_part, pattern_problem
from runner.assertions.verdicts import decide, shorten, show

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, ToolUse, Verdict
    from runner.assertions.model import Assertion

AGENT = "agent"
ANY_ORDER = ("any_order", "unordered", "subset")


async def trajectory(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The score reaches the threshold."""
    value = assertion.value
    wanted, least = (value["steps"], value.get("threshold", 1)) if isinstance(value, dict) else (value, 1)
    if assertion.path is None:
        taken: Sequence[Any] = _taken(evidence, any(map(_is_agent, wanted)))
        shown, match = [_step_text(step) for step in taken], _fits
    else:
        taken = _planned(assertion.path, evidence)
        shown, match = [show(step) if not isinstance(step, str) else step for step in taken], _is_planned
    score = _score(wanted, taken, match, SAME.get(assertion.mode or "", assertion.mode))
    found = f"{', '.join(shown) or 'no steps'} (score {score:.2f})"
    verdict = decide(
        assertion,
        score >= least - 1e-9,
        wanted,
        shown,
        "to take the steps",
        subject="the agent" if assertion.path is None else f"the plan at {assertion.path}",
        wanted=shorten(", ".join(map(_wanted_text, wanted))) + (f" with a score of {least:g}" if least != 1 else ""),
        found=shorten(found),
    )
    return verdict.replace(score=score)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    value = assertion.value
    steps = value.get("steps") if isinstance(value, dict) else value
    if not isinstance(steps, list) or not steps:
        return '"trajectory" needs "value": a list of steps, or {"steps": [...], "threshold": 0.8}'
    if isinstance(value, dict):
        if stray := sorted(map(str, value.keys() - {"steps", "threshold"})):
            return f'"trajectory" takes steps and threshold in its "value", not "{stray[0]}"'
        least = value.get("threshold", 1)
        if isinstance(least, bool) or not isinstance(least, (int, float)) or not 0 <= least <= 1:
            return f'"trajectory": "threshold" is a number from 0 to 1, not {show(least)}'
    for step in steps:
        if not _is_agent(step) and (wrong := tool_problem(step)):
            return f'"trajectory" {wrong}'
    if assertion.path is not None and (wrong := path_problem("trajectory", assertion.path)):
        return wrong
    wrong = pattern_problem(steps)
    return f'"trajectory": {wrong}' if wrong else None


def _is_agent(step: Any) -> bool:
    return isinstance(step, dict) and step.keys() == {AGENT} and isinstance(step[AGENT], str)


def _taken(evidence: Evidence, with_agents: bool) -> list[ToolUse | AgentUse]:
    """The calls of tools, with the agents that were asked between them where the reference has some."""
    steps: list[ToolUse | AgentUse] = list(evidence.tools)
    if not with_agents:
        return steps
    if evidence.agents is None:
        raise NotEvaluated("the agents that were asked are not known: the answer is one of a saved report")
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


def _score(wanted: Sequence[Any], taken: Sequence[Any], match: Callable[[Any, Any], bool], mode: str | None) -> float:
    if mode in ANY_ORDER:
        common = _pairs(wanted, taken, match)
    elif mode == "exact":
        common = sum(match(one, other) for one, other in zip(wanted, taken, strict=False))
    else:
        common = _common(wanted, taken, match)
    if mode in ("any_order", "in_order"):
        return common / len(wanted)
    if mode == "subset":
        return common / len(taken) if taken else 1.0
    return 2 * common / (len(wanted) + len(taken))


def _common(wanted: Sequence[Any], taken: Sequence[Any], match: Callable[[Any, Any], bool]) -> int:
    """How many steps the longest sequence has that is in both."""
    before = [0] * (len(taken) + 1)
    for one in wanted:
        row = [0]
        for place, other in enumerate(taken):
            row.append(before[place] + 1 if match(one, other) else max(before[place + 1], row[-1]))
        before = row
    return before[-1]


def _pairs(wanted: Sequence[Any], taken: Sequence[Any], match: Callable[[Any, Any], bool]) -> int:
    """How many steps are in both, whatever their order; each step taken counts for one."""
    owner: dict[int, int] = {}

    def pair(index: int, seen: set[int]) -> bool:
        for place, step in enumerate(taken):
            if place not in seen and match(wanted[index], step):
                seen.add(place)
                if place not in owner or pair(owner[place], seen):
                    owner[place] = index
                    return True
        return False

    return sum(pair(index, set()) for index in range(len(wanted)))


def _step_text(step: ToolUse | AgentUse) -> str:
    return f"agent {step.agent}" if isinstance(step, AgentUse) else calls_text([step])


def _wanted_text(step: Any) -> str:
    return f"agent {step[AGENT]}" if _is_agent(step) else describe(step)


ASSERTIONS = {
    "trajectory": Kind(check=trajectory, problem=problem, fields=("value", "mode", "path"), needs=("value",)),
}
"""Types of assertions that are checked here."""
