"""`tool_sequence`: the agent called these tools, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind
from runner.assertions.tools import calls_text, describe, fits, tool_problem
from runner.assertions.values import pattern_problem
from runner.assertions.verdicts import decide, shorten

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, ToolUse, Verdict
    from runner.assertions.model import Assertion

_VERBS = {"exact": "to call exactly", "in_order": "to call, in this order,", "any_order": "to call, in any order,"}


async def tool_sequence(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The calls of the whole answer are, or have among them, the tools of the value; each call counts for one."""
    wanted, uses, mode = assertion.value, evidence.tools, assertion.mode or "in_order"
    if mode == "any_order":
        missing = _unpaired(wanted, uses)
    else:
        missing = _first_missing(wanted, uses) if mode == "in_order" else _first_different(wanted, uses)
    found = calls_text(uses)
    if missing is not None and missing < len(wanted):
        place = "" if mode == "any_order" else f" at place {missing + 1}"
        found += f"; {describe(wanted[missing])} is missing{place}"
    return decide(
        assertion,
        missing is None,
        wanted,
        [{"name": use.name, "server": use.server, "arguments": use.arguments} for use in uses],
        _VERBS[mode],
        subject="the agent",
        wanted=shorten(", ".join(map(describe, wanted))) or "no tool",
        found=found,
    )


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    value = assertion.value
    if not isinstance(value, list) or (not value and assertion.mode != "exact"):
        return '"tool_sequence" needs "value": a list of tools'
    for item in value:
        if wrong := tool_problem(item):
            return f'"tool_sequence" {wrong}'
    wrong = pattern_problem(value)
    return f'"tool_sequence": {wrong}' if wrong else None


def _first_different(wanted: list[Any], uses: tuple[ToolUse, ...]) -> int | None:
    for index, item in enumerate(wanted):
        if index >= len(uses) or not fits(item, uses[index]):
            return index
    return None if len(uses) == len(wanted) else len(wanted)


def _first_missing(wanted: list[Any], uses: tuple[ToolUse, ...]) -> int | None:
    rest = iter(uses)
    for index, item in enumerate(wanted):
        if not any(fits(item, use) for use in rest):
            return index
    return None


def _unpaired(wanted: list[Any], uses: tuple[ToolUse, ...]) -> int | None:
    """The first wanted tool for which no call is left when every call serves one of them, as well as can be paired."""
    fitting = [[place for place, use in enumerate(uses) if fits(item, use)] for item in wanted]
    taken: dict[int, int] = {}

    def pair(index: int, seen: set[int]) -> bool:
        for place in fitting[index]:
            if place not in seen:
                seen.add(place)
                if place not in taken or pair(taken[place], seen):
                    taken[place] = index
                    return True
        return False

    return next((index for index in range(len(wanted)) if not pair(index, set())), None)


ASSERTIONS = {
    "tool_sequence": Kind(check=tool_sequence, problem=problem, fields=("value", "mode"), needs=("value",)),
}
"""Types of assertions that are checked here."""
