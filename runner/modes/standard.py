"""Standard mode: one call of the agent, with a message or a history, and assertions on what it answers."""

from __future__ import annotations

from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.cases.messages import input_of, messages_of
from runner.modes.base import CaseAttempt


async def run(attempt: CaseAttempt) -> None:
    """Calls the agent and judges its answer. Raises AgentError."""
    case = attempt.case
    messages = messages_of(case, attempt.folder)
    attempt.messages = len(messages)
    started = attempt.now()
    attempt.answer = await attempt.call_agent(messages, attempt.options, input_of(case))
    evidence = attempt.evidence((attempt.now() - started) * 1000, messages)
    if case.graded:
        from runner.modes.graded_answer import grade

        await grade(attempt, evidence)
        return
    assertions = case.assertions
    if assertions is None and case.expected is not None:
        assertions = [Assertion(type="equals", value=case.expected)]
    attempt.judge(await check_all(assertions or [], evidence, attempt.judges))
