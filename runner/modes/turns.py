"""One turn of a conversation with the agent that is tested."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.chat import ModelCall, taken
from runner.assertions.base import AgentUse, AnsweredTurn, AssertionResult, Evidence
from runner.assertions.checking import check_all
from runner.errors import RunnerError
from runner.modes.answer_record import Exchange, answered
from runner.modes.awaiting import Awaiting, detect
from runner.modes.base import CaseAttempt
from runner.modes.simulators import tool_results
from runner.results.case_result import TurnResult
from scripttest import ScriptError, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.assertions.model import Assertion

DEFAULT_MAX_TURNS = 20
"""How many times the user may speak, in a case that says nothing of it."""


async def exchange(attempt: CaseAttempt, message: Mapping[str, Any], options: Mapping[str, Any], said: Any) -> Exchange:
    """Sends a message to the agent, with all messages before it, and adds message and answer to the transcript.

    Args:
        message: message of the user, in OpenAI's format.
        options: `context.Options` of the call.
        said: the message as the case has it.

    Raises:
        AgentError: the agent could not answer; then the transcript has only the message.
    """
    attempt.begin_turn()
    attempt.transcript.append(dict(message))
    attempt.messages = len(attempt.transcript)
    before, calls, asked = len(attempt.chat.uses), len(attempt.chat.model_calls), len(attempt.chat.agents)
    content, start = message.get("content"), len(attempt.transcript) - 1
    started = attempt.now()
    try:
        answer = await attempt.call_agent(list(attempt.transcript), options, said)
    except AgentError:
        attempt.said.append(AnsweredTurn(turn=attempt.turn, start=start, input=content, output=None))
        raise
    milliseconds = (attempt.now() - started) * 1000
    attempt.answer = answer
    attempt.transcript.append({"role": "assistant", "content": answer.text})
    tools = tuple(attempt.chat.uses[before:])
    attempt.said.append(AnsweredTurn(turn=attempt.turn, start=start, input=content, output=answer.output, tools=tools))
    made = tuple(attempt.chat.model_calls[calls:])
    took = taken(made)
    evidence = Evidence(
        output=answer.output,
        content=answer.content,
        cut=answer.cut,
        input=content,
        tools=tools,
        milliseconds=milliseconds,
        tokens=took.tokens,
        cost=took.cost,
        **attempt.known(len(made), _since(attempt.chat.agents[asked:], before)),
        messages=tuple(attempt.transcript),
        metadata=attempt.case.metadata,
        case=attempt.case.id,
        turns=tuple(attempt.said),
    )
    done = Exchange(answer=answer, tools=tools, milliseconds=milliseconds, evidence=evidence, calls=made)
    attempt.exchanges.append(done)
    attempt.answers.append(answered(evidence, made))
    return done


def _since(agents: Sequence[AgentUse], tools: int) -> tuple[AgentUse, ...]:
    """Agents that were asked in a turn, before which so many tools had been called."""
    return tuple(use.replace(after=use.after - tools) for use in agents)


class Spoken(Value):
    """The message of the user in a turn."""

    message: Mapping[str, Any]
    """In OpenAI's form."""
    input: Any
    """As the case has it, for reports."""
    source: str
    """`static`, `initial`, `simulated` or `human`."""
    options: Mapping[str, Any]
    """`context.Options` of the call."""
    assertions: Sequence[Assertion] = ()
    """Assertions on the answer."""
    attachments: tuple[dict[str, Any], ...] = ()
    """The files in it, as reports describe them."""


class TakenTurn(Value):
    """A turn that has ended."""

    exchange: Exchange
    awaiting: Awaiting


def evidence_of_talk(attempt: CaseAttempt, said: Sequence[Evidence], calls: Sequence[ModelCall]) -> Evidence:
    """The last answer of a talk, and what all of them took: `said` are those of the turns, `calls` the calls of models
    for them."""
    took = taken(calls)
    return said[-1].replace(
        expected=attempt.case.expected,
        tools=tuple(attempt.chat.uses),
        milliseconds=sum(evidence.milliseconds for evidence in said),
        tokens=took.tokens,
        cost=took.cost,
        **attempt.known(len(calls), attempt.chat.agents),
        messages=tuple(attempt.transcript),
        turns=tuple(attempt.said),
    )


def evidence_of_all(attempt: CaseAttempt) -> Evidence:
    """What assertions at the end of a talk look at: the last answer, what all of them took, and the state."""
    done = attempt.exchanges
    calls = [call for one in done for call in one.calls]
    turns = [turn.input for turn in attempt.turns]
    return evidence_of_talk(attempt, [one.evidence for one in done], calls).replace(
        input=turns,
        state={
            "session_id": attempt.chat.id,
            "messages": attempt.transcript,
            "tool_results": tool_results(attempt),
            "variables": attempt.chat.variables(),
            "turn_count": len(turns),
        },
    )


class Checked(Value):
    """The results of the assertions on the answer of a turn."""

    results: tuple[AssertionResult, ...]
    held: bool
    error: str | None = None
    """Why it failed, in short."""


Check = Callable[[Exchange], Awaitable[Checked]]


async def take_turn(
    attempt: CaseAttempt, said: Spoken, input_tools: Sequence[str] | None = None, check: Check | None = None
) -> TakenTurn:
    """Sends a message to the agent and judges the answer. When it has ended, the turn is in `attempt.turns`.

    Args:
        input_tools: names of tools that ask the user; None for the usual ones.
        check: judges the answer, instead of the assertions of the turn.

    Raises:
        AgentError, RunnerError, ScriptError: the agent could not answer; then the turn has failed.
    """
    number = len(attempt.turns) + 1
    attempt.begin(
        TurnResult(
            turn=number, input=said.input, source=said.source, status=Status.PASSED, attachments=said.attachments
        )
    )
    try:
        done = await exchange(attempt, said.message, said.options, said.input)
    except (AgentError, RunnerError, ScriptError) as error:
        attempt.end(status=Status.FAILED, error=f"agent error: {error.message}", finish_reason=attempt.finish_reason)
        raise
    awaiting = detect(done.answer, done.tools, input_tools)
    attempt.amend(
        output=done.answer.output,
        response=done.answer.content,
        finish_reason=done.answer.finish_reason,
        awaiting_input=awaiting.awaiting,
        awaiting_reason=awaiting.reason,
        input_hint=awaiting.hint,
        tools=done.tools,
        usage=done.usage,
    )
    if check is not None:
        found = await check(done)
    else:
        results = await check_all(said.assertions, done.evidence, attempt.judges)
        attempt.judge(results, f"turn {number}")
        found = Checked(results=results, held=all(result.passed for result in results))
    attempt.end(
        status=Status.PASSED if found.held else Status.FAILED,
        assertions=found.results,
        error=found.error,
        milliseconds=done.milliseconds,
    )
    return TakenTurn(exchange=done, awaiting=awaiting)
