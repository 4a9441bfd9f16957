"""One turn of a conversation with the agent that is tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError, Answer
from runner.agents.chat import ModelCall, taken
from runner.assertions import check_all
from runner.assertions.base import Evidence, Said, ToolUse
from runner.errors import RunnerError
from runner.modes.awaiting import Awaiting, detect
from runner.modes.base import CaseAttempt
from runner.results.model import TurnResult
from scripttest import ScriptError, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cases.model import Assertion

DEFAULT_MAX_TURNS = 20
"""How many times the user may speak, in a case that says nothing of it."""


class Exchange(Value):
    """What was said and what came back."""

    answer: Answer
    tools: tuple[ToolUse, ...]
    """Those of this turn."""
    milliseconds: float
    evidence: Evidence
    """What assertions on this turn look at."""
    calls: tuple[ModelCall, ...]
    """Those of models for this answer."""


async def exchange(trial: CaseAttempt, message: Mapping[str, Any], options: Mapping[str, Any]) -> Exchange:
    """Says something to the agent, with everything that was said before, and adds both to the transcript.

    Args:
        message: of the user, in OpenAI's form.
        options: `context.Options` of the call.

    Raises:
        AgentError: the agent could not answer; the message is in the transcript then.
    """
    trial.begin_turn()
    trial.transcript.append(dict(message))
    trial.messages = len(trial.transcript)
    before, calls = len(trial.chat.uses), len(trial.chat.model_calls)
    content, start = message.get("content"), len(trial.transcript) - 1
    started = trial.now()
    try:
        answer = await trial.setting.runtime.call(trial.assistant.id, list(trial.transcript), dict(options), trial.chat)
    except AgentError:
        trial.said.append(Said(turn=trial.turn, start=start, input=content, output=None))
        raise
    milliseconds = (trial.now() - started) * 1000
    trial.answer = answer
    trial.transcript.append({"role": "assistant", "content": answer.text})
    tools = tuple(trial.chat.uses[before:])
    trial.said.append(Said(turn=trial.turn, start=start, input=content, output=answer.output, tools=tools))
    made = tuple(trial.chat.model_calls[calls:])
    took = taken(made)
    evidence = Evidence(
        output=answer.output,
        content=answer.content,
        input=content,
        tools=tools,
        milliseconds=milliseconds,
        tokens=took.tokens,
        cost=took.cost,
        messages=tuple(trial.transcript),
        metadata=trial.case.metadata,
        case=trial.case.id,
        turns=tuple(trial.said),
    )
    return Exchange(answer=answer, tools=tools, milliseconds=milliseconds, evidence=evidence, calls=made)


class Spoken(Value):
    """What the user says in a turn."""

    message: Mapping[str, Any]
    """In OpenAI's form."""
    input: Any
    """As the case has it, for reports."""
    source: str
    """`static`, `initial`, `simulated` or `human`."""
    options: Mapping[str, Any]
    """`context.Options` of the call."""
    assertions: Sequence[Assertion] = ()
    """What has to hold for the answer."""
    attachments: tuple[dict[str, Any], ...] = ()
    """The files in it, as reports describe them."""


class TakenTurn(Value):
    """A turn that has ended."""

    exchange: Exchange
    awaiting: Awaiting


async def take_turn(trial: CaseAttempt, said: Spoken, input_tools: Sequence[str] | None = None) -> TakenTurn:
    """Says something to the agent and judges the answer; the turn is in `trial.turns` when it has ended.

    Args:
        input_tools: names of tools that ask the user; None for the usual ones.

    Raises:
        AgentError, RunnerError, ScriptError: the agent could not answer; the turn has failed then.
    """
    number = len(trial.turns) + 1
    trial.begin(
        TurnResult(
            turn=number, input=said.input, source=said.source, status=Status.PASSED, attachments=said.attachments
        )
    )
    try:
        done = await exchange(trial, said.message, said.options)
    except (AgentError, RunnerError, ScriptError) as error:
        trial.end(status=Status.FAILED, error=f"agent error: {error.message}")
        raise
    awaiting = detect(done.answer, done.tools, input_tools)
    trial.amend(
        output=done.answer.output,
        response=done.answer.content,
        awaiting_input=awaiting.awaiting,
        awaiting_reason=awaiting.reason,
        input_hint=awaiting.hint,
        tools=done.tools,
    )
    results = await check_all(said.assertions, done.evidence, trial.judges)
    trial.judge(results, f"turn {number}")
    held = all(result.passed for result in results)
    trial.end(status=Status.PASSED if held else Status.FAILED, assertions=results, milliseconds=done.milliseconds)
    return TakenTurn(exchange=done, awaiting=awaiting)
