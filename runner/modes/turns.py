"""Modes in which the user speaks several times: a turn with the agent that is tested, and the end of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.chat import totals_of
from runner.assertions.base import AnsweredTurn, AssertionResult, Evidence
from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.cases.messages import described, input_of, messages_of, parts_of_last
from runner.connectors.timing import case_now
from runner.errors import RunnerError
from runner.modes.awaiting import Awaiting, detect
from runner.modes.base import CaseAttempt, Mode
from runner.modes.checkpoints import Checkpoints, all_texts
from runner.modes.outcome import Exchange, ModeOutcome, answered
from runner.modes.simulators import tool_results
from runner.record.case_result import TurnResult
from scripttest import Cause, ScriptError, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.modes.simulators import SimulatedUser
    from runner.reading.helper_answers import Simulation

DEFAULT_MAX_TURNS = 20
"""How many times the user may speak, in a case that says nothing of it."""


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


class CheckedTurn(Value):
    """The results of the assertions on the answer of a turn."""

    results: tuple[AssertionResult, ...]
    held: bool
    error: str | None = None
    """Why it failed, in short."""


class TurnsMode(Mode):
    """A mode of several turns."""

    def __init__(self, attempt: CaseAttempt, checkpoints: Checkpoints | None = None) -> None:
        super().__init__(attempt)
        self._checkpoints = checkpoints or Checkpoints(())
        self._looked = self._checkpoints.results()
        """The state of the checkpoints after the last answer."""
        self.transcript: list[dict[str, Any]] = []
        """The messages so far."""
        self.turns: list[TurnResult] = []
        self._said: list[AnsweredTurn] = []
        """The turns of the transcript that the agent has answered."""
        self._exchanges: list[Exchange] = []
        """The same with their evidence."""
        self._number = 0
        """The current turn, from 1."""
        self._open: TurnResult | None = None
        """The turn that has not ended."""
        self._began = 0.0
        """When it began, on the clock of the case."""
        self._skip_reason: str | None = None
        self._simulator: str | None = None
        self._final_assertions: tuple[AssertionResult, ...] | None = None

    def outcome(self) -> ModeOutcome:
        """See `Mode`."""
        return (
            super()
            .outcome()
            .replace(
                transcript=tuple(self.transcript),
                turns=tuple(self.turns),
                skip_reason=self._skip_reason,
                simulator=self._simulator,
                final_assertions=self._final_assertions,
                checkpoints=tuple(self._looked),
            )
        )

    def break_off(self, now: float, **fields: Any) -> None:
        """See `Mode`."""
        if self._open is not None:
            turn, self._open = self._open, None
            self.turns.append(turn.replace(**{"milliseconds": (now - self._began) * 1000, **fields}))

    def _begin(self, input: Any, source: str, attachments: tuple[dict[str, Any], ...]) -> None:
        """Begins a turn, of which this is known if it is broken off."""
        number = len(self.turns) + 1
        self._open = TurnResult(turn=number, input=input, source=source, status=Status.PASSED, attachments=attachments)
        self._began = case_now()

    def _end(self, **fields: Any) -> None:
        """Ends the current turn, with the last fields of its result."""
        self.break_off(case_now(), **fields)

    def _note(self, note: str) -> None:
        """Adds a note to the last turn."""
        self.turns[-1] = self.turns[-1].replace(note=note)

    async def _exchange(self, message: Mapping[str, Any], options: Mapping[str, Any], said: Any) -> Exchange:
        """Sends a message to the agent, with all messages before it, and adds message and answer to the transcript.
        `message`: message of the user, in OpenAI's format. `options`: `context.Options` of the call. `said`: the
        message as the case has it. Raises AgentError: the agent could not answer; then the transcript has only the
        message."""
        attempt, chat = self.attempt, self.attempt.chat
        self._number += 1
        attempt.begin_turn(self._number)
        self.transcript.append(dict(message))
        before, calls, asked = len(chat.uses), len(chat.model_calls), len(chat.agents)
        turn = AnsweredTurn(
            turn=self._number, start=len(self.transcript) - 1, input=message.get("content"), output=None
        )
        started = case_now()
        try:
            answer = await self._ask(list(self.transcript), options, said)
        except AgentError:
            self._said.append(turn)
            raise
        milliseconds = (case_now() - started) * 1000
        self.transcript.append({"role": "assistant", "content": answer.text})
        tools, made = tuple(chat.uses[before:]), tuple(chat.model_calls[calls:])
        self._said.append(turn.replace(output=answer.output, tools=tools))
        took = totals_of(made)
        others = tuple(use.replace(after=use.after - before) for use in chat.agents[asked:])
        evidence = Evidence(
            output=answer.output,
            content=answer.content,
            cut=answer.cut,
            input=turn.input,
            tools=tools,
            milliseconds=milliseconds,
            tokens=took.tokens,
            cost=took.cost,
            **attempt.known(len(made), others),
            messages=tuple(self.transcript),
            metadata=attempt.case.metadata,
            case=attempt.case.id,
            turns=tuple(self._said),
        )
        done = Exchange(answer=answer, tools=tools, milliseconds=milliseconds, evidence=evidence, calls=made)
        self._exchanges.append(done)
        self._answers.append(answered(evidence, made))
        return done

    async def _take_turn(self, said: Spoken, input_tools: Sequence[str] | None = None) -> TakenTurn:
        """Sends a message to the agent and judges the answer. When it has ended, the turn is among `turns`.
        `input_tools`: names of tools that ask the user; None for the usual ones. Raises AgentError, RunnerError,
        ScriptError: the agent could not answer; then the turn has failed."""
        self._begin(said.input, said.source, said.attachments)
        try:
            done = await self._exchange(said.message, said.options, said.input)
        except (AgentError, RunnerError, ScriptError) as error:
            self._end(status=Status.FAILED, error=f"agent error: {error.message}", finish_reason=self._finish_reason)
            raise
        awaiting = detect(done.answer, done.tools, input_tools)
        assert self._open is not None
        self._open = self._open.replace(
            output=done.answer.output,
            response=done.answer.content,
            finish_reason=done.answer.finish_reason,
            awaiting_input=awaiting.awaiting,
            awaiting_reason=awaiting.reason,
            input_hint=awaiting.hint,
            tools=done.tools,
            usage=done.usage,
        )
        found = await self._check(said, done)
        self._end(
            status=Status.PASSED if found.held else Status.FAILED,
            assertions=found.results,
            error=found.error,
            milliseconds=done.milliseconds,
        )
        return TakenTurn(exchange=done, awaiting=awaiting)

    async def _check(self, said: Spoken, done: Exchange) -> CheckedTurn:
        """Judges the answer of the current turn, by its assertions."""
        results = await check_all(said.assertions, done.evidence, self.attempt.judges)
        self._judge(results, f"turn {len(self.turns) + 1}")
        return CheckedTurn(results=results, held=all(result.passed for result in results))

    async def _look(self, number: int, done: Exchange) -> None:
        """Looks which checkpoints are reached by the answer of a turn."""
        evidence = done.evidence.replace(output=all_texts(done.answer, done.tools), input=None)
        self._assertions += await self._checkpoints.look(number, evidence, self.attempt.judges)
        self._looked = self._checkpoints.results()
        for cause, broken in self._checkpoints.broken:
            self._fail(cause, f"checkpoint {broken}")

    # what the user says

    def _opening(self) -> Spoken | None:
        """The case's own input, if it has one. What comes before it is in the transcript then."""
        case, folder = self.attempt.case, self.attempt.folder
        messages = messages_of(case, folder)
        if not messages or messages[-1]["role"] != "user":
            self.transcript += messages
            return None
        self.transcript += messages[:-1]
        written = input_of(case)
        last = written[-1] if isinstance(written, list) else written
        files = described(parts_of_last(case), folder)
        return Spoken(
            message=messages[-1], input=last, source="initial", options=self.attempt.options, attachments=files
        )

    def _typed(self, text: str, source: str) -> Spoken:
        """What a simulated user or a person says."""
        message = {"role": "user", "content": text}
        return Spoken(message=message, input=text, source=source, options=self.attempt.options)

    def _achieved(self, said: Simulation) -> None:
        """Notes that a simulated user has achieved its goal."""
        if self.turns:
            self._note(f"Goal achieved: {said.reasoning}" if said.reasoning else "Goal achieved")
        else:
            self._fail(Cause.SETUP, "no initial input: the simulator reports its goal as achieved right away")

    def _exceeded(self, user: SimulatedUser | None, limit: int) -> None:
        """Fails the case because the user has spoken as often as it may."""
        self._fail(Cause.ASSERTION, f"max turns ({limit}) exceeded")
        if user is not None and user.remark:
            self._note(user.remark)

    # the end

    def _evidence_of_talk(self) -> Evidence:
        """The last answer, and what all of them took."""
        attempt, done = self.attempt, self._exchanges
        calls = [call for one in done for call in one.calls]
        took = totals_of(calls)
        return done[-1].evidence.replace(
            expected=attempt.case.expected,
            tools=tuple(attempt.chat.uses),
            milliseconds=sum(one.milliseconds for one in done),
            tokens=took.tokens,
            cost=took.cost,
            **attempt.known(len(calls), attempt.chat.agents),
            messages=tuple(self.transcript),
            turns=tuple(self._said),
        )

    def _evidence_of_all(self) -> Evidence:
        """What assertions at the end look at: the last answer, what all of them took, and the state."""
        chat, inputs = self.attempt.chat, [turn.input for turn in self.turns]
        state = {
            "session_id": chat.id,
            "messages": self.transcript,
            "tool_results": tool_results(chat),
            "variables": chat.variables(),
            "turn_count": len(inputs),
        }
        return self._evidence_of_talk().replace(input=inputs, state=state)

    async def _check_end(self, final: Sequence[Assertion] | None) -> None:
        """Checks the assertions of the case, and its final ones."""
        case = self.attempt.case
        assertions = [*(case.assertions or ()), *(final or ())]
        if case.assertions is None and case.expected is not None:
            assertions.insert(0, Assertion(type="equals", value=case.expected))
        if assertions:
            results = await check_all(assertions, self._evidence_of_all(), self.attempt.judges)
            self._final_assertions = results
            self._judge(results, "final assertions")
