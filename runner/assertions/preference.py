"""`preference`: a judge compares the output with another answer, in both orders."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from bindings import agent_id
from runner.assertions.agent import problem_of_use
from runner.assertions.base import Kind, Verdict
from runner.assertions.verdicts import show
from runner.assertions.votes import judged_by

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges
    from runner.assertions.model import Assertion

FIRST_IS_BETTER = "The answer in output.first is better than the answer in output.second"
WON, TIED, LOST = 1.0, 0.5, 0.0


async def preference(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The judge is asked whether the first of two answers is better, once with the output first, once with it second.
    A verdict that turns with the order is a tie. It holds when the other answer is not better: the score is 1 when the
    output is, 0.5 for a tie."""
    name = agent_id(assertion.use or "")
    metadata = assertion.options.metadata
    criteria = FIRST_IS_BETTER + (f": {assertion.criteria}" if assertion.criteria else "")
    options: dict[str, Any] = {"metadata": metadata}
    if assertion.options.connector:
        options["connector"] = assertion.options.connector
    orders = ((evidence.output, assertion.value), (assertion.value, evidence.output))

    async def ask(first: Any, second: Any) -> Verdict:
        output = {"first": first, "second": second}
        payload = {"output": output, "input": evidence.input, **metadata, "criteria": criteria}
        return await judged_by(judges, name, assertion.judge, payload, options, assertion.value, evidence.output)

    ahead, behind = await asyncio.gather(*(ask(*order) for order in orders))
    votes = ahead.votes + behind.votes
    both = ahead.replace(passed=True, inconclusive=False, message="", score=None, votes=votes, agreement=None)
    if not ahead.judged or not behind.judged:
        return both.replace(judged=False, message=ahead.message or behind.message)
    if ahead.inconclusive or behind.inconclusive:
        said = ahead.message if ahead.inconclusive else behind.message
        return both.replace(passed=False, inconclusive=True, message=said)
    if ahead.passed is behind.passed:
        place = "first" if ahead.passed else "second"
        return both.replace(score=TIED, message=f"a tie: {name} prefers the {place} of both, whichever it is")
    if ahead.passed:
        return both.replace(score=WON, message=ahead.message)
    said = f"Expected the output to be no worse than {show(assertion.value)}, but {name} says: {behind.message}"
    return both.replace(passed=False, score=LOST, message=said)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of this type."""
    if (wrong := problem_of_use(assertion)) is not None:
        return wrong
    return '"preference" needs "value", the other answer' if assertion.value is None else None


ASSERTIONS = {
    "preference": Kind(
        check=preference,
        problem=problem,
        fields=("use", "value", "criteria", "options", "judge"),
        needs=("use", "value"),
        waits=True,
        asks="agent",
        rules={"use": {"pattern": "^agents:."}, "criteria": {"type": ["string", "null"]}},
    ),
}
"""Types of assertions that are checked here."""
