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

SAME = {"strict": "exact", "superset": "any_order"}
"""Names that other tools have for a mode."""
_VERBS = {
    "exact": "to call exactly",
    "in_order": "to call, in this order,",
    "any_order": "to call, in any order,",
    "unordered": "to call, in any order, exactly",
    "subset": "to call nothing but",
}


async def tool_sequence(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The calls of the whole answer are, or have among them, the tools of the value; each call counts for one."""
    return sequence_verdict(assertion, assertion.value, assertion.mode or "in_order", evidence)


def sequence_verdict(assertion: Assertion, wanted: list[Any], mode: str, evidence: Evidence) -> Verdict:
    """Whether the calls are the wanted ones, as `mode` says."""
    uses, mode = evidence.tools, SAME.get(mode, mode)
    missing = None if mode == "subset" else _MISSING[mode](wanted, uses)
    odd = _odd(wanted, uses) if mode in ("subset", "unordered") else None
    found = calls_text(uses)
    if missing is not None and missing < len(wanted):
        place = f" at place {missing + 1}" if mode in ("exact", "in_order") else ""
        found += f"; {describe(wanted[missing])} is missing{place}"
    elif odd is not None:
        found += f"; {calls_text([odd])} is not among them"
    return decide(
        assertion,
        missing is None and odd is None,
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
    return tools_problem("tool_sequence", value, may_be_empty=assertion.mode in NOTHING_ELSE)


def tools_problem(name: str, value: Any, *, may_be_empty: bool) -> str | None:
    """What is wrong with the tools that an assertion lists."""
    if not isinstance(value, list) or (not value and not may_be_empty):
        return f'"{name}" needs "value": a list of tools'
    for item in value:
        if wrong := tool_problem(item):
            return f'"{name}" {wrong}'
    wrong = pattern_problem(value)
    return f'"{name}": {wrong}' if wrong else None


NOTHING_ELSE = ("exact", "strict", "unordered", "subset")
"""Modes in which no call may be that is not listed."""


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
    unserved, _ = _paired(wanted, uses)
    return unserved


def _odd(wanted: list[Any], uses: tuple[ToolUse, ...]) -> ToolUse | None:
    """The first call that serves none of the wanted tools, when each is served by one call only."""
    _, served = _paired(wanted, uses)
    return next((use for place, use in enumerate(uses) if place not in served), None)


def _paired(wanted: list[Any], uses: tuple[ToolUse, ...]) -> tuple[int | None, set[int]]:
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

    unserved = [index for index in range(len(wanted)) if not pair(index, set())]
    return unserved[0] if unserved else None, set(taken)


_MISSING = {"exact": _first_different, "in_order": _first_missing, "any_order": _unpaired, "unordered": _unpaired}


ASSERTIONS = {
    "tool_sequence": Kind(check=tool_sequence, problem=problem, fields=("value", "mode"), needs=("value",)),
}
"""Types of assertions that are checked here."""
