"""`delegated`: the agent handed over to another agent, or asked it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions.base import Kind, NotEvaluated
from runner.assertions.verdicts import decide, shorten

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion


async def delegated(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """One of the other agents that answered is the wanted one, or one of these; without one named, any."""
    if evidence.agents is None:
        raise NotEvaluated("the agents that were asked are not known: the answer is one of a saved report")
    wanted = _wanted(assertion)
    asked = [use.agent for use in evidence.agents]
    held = any(wanted is None or agent in wanted for agent in asked)
    said = [
        f"{use.agent} ({'delegated' if use.delegated else 'asked'} by {use.by})" if use.by else use.agent
        for use in evidence.agents
    ]
    return decide(
        assertion,
        held,
        assertion.value,
        asked,
        "to delegate to",
        subject="the agent",
        wanted="any agent" if wanted is None else " or ".join(wanted),
        found=shorten(", ".join(said)) or "no other agent",
    )


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    wanted = _wanted(assertion)
    if wanted is None or (wanted and all(isinstance(agent, str) and agent for agent in wanted)):
        return None
    return '"delegated" takes the id of an agent in "value", or a list of them'


def _wanted(assertion: Assertion) -> list[Any] | None:
    value = assertion.value
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    return [agent_id(item) if isinstance(item, str) else item for item in items]


ASSERTIONS = {"delegated": Kind(check=delegated, problem=problem, fields=("value",))}
"""Types of assertions that are checked here."""
