"""`tool_calls`: how often the agent called a tool, or tools at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.assertions.base import Kind
from runner.assertions.measures import bounds_problem, within
from runner.assertions.tools import calls_text, is_named

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion


async def tool_calls(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The agent made at most this many calls."""
    name = assertion.name
    uses = [use for use in evidence.tools if name is None or is_named(use, name)]
    unit = f"calls of {name}" if name else "tool calls"
    found = f": {calls_text(uses)}" if uses else ""
    return within(assertion, assertion.value, len(uses), "to make", unit, subject="the agent", found=found)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    return bounds_problem(assertion.type, assertion.value)


ASSERTIONS = {"tool_calls": Kind(check=tool_calls, problem=problem, fields=("value", "name"), needs=("value",))}
"""Types of assertions that are checked here."""
