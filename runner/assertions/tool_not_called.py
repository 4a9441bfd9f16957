"""`tool_not_called`: the agent never called the tool, or any of the tools; without one named, no tool at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind
from runner.assertions.sequence import tools_problem
from runner.assertions.tools import calls_text, describe, fits
from runner.assertions.verdicts import decide, shorten

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion


async def tool_not_called(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """None of the calls is of the tools."""
    wanted = _tools(assertion)
    uses = [use for use in evidence.tools if wanted is None or any(fits(item, use) for item in wanted)]
    return decide(
        assertion,
        not uses,
        assertion.name if assertion.value is None else assertion.value,
        [{"name": use.name, "server": use.server, "arguments": use.arguments} for use in uses],
        "not to call",
        subject="the agent",
        wanted="any tool" if wanted is None else shorten(" or ".join(map(describe, wanted))),
        found=calls_text(uses),
    )


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    if assertion.value is not None and assertion.name is not None:
        return '"tool_not_called" takes either "name" or "value"'
    return tools_problem("tool_not_called", _tools(assertion) or [], may_be_empty=assertion.value != [])


def _tools(assertion: Assertion) -> list[Any] | None:
    given = assertion.name if assertion.value is None else assertion.value
    return given if given is None or isinstance(given, list) else [given]


ASSERTIONS = {"tool_not_called": Kind(check=tool_not_called, problem=problem, fields=("name", "value"))}
"""Types of assertions that are checked here."""
