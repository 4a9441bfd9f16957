"""Standard mode: one call of the agent, with a message or a history, and assertions on what it answers."""

from __future__ import annotations

from runner.assertions import check_all
from runner.cases.messages import messages_of
from runner.cases.model import Assertion
from runner.modes.base import CaseAttempt


async def run(trial: CaseAttempt) -> None:
    """Calls the agent and judges its answer. Raises AgentError."""
    case = trial.case
    messages = messages_of(case, trial.folder)
    trial.messages = len(messages)
    started = trial.now()
    trial.answer = await trial.setting.runtime.call(trial.assistant.id, messages, trial.options, trial.chat)
    evidence = trial.evidence((trial.now() - started) * 1000, messages)
    assertions = case.assertions
    if assertions is None and case.expected is not None:
        assertions = [Assertion(type="equals", value=case.expected)]
    trial.judge(await check_all(assertions or [], evidence, trial.judges))
