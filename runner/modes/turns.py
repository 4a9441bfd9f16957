"""Modes in which the user speaks several times: a turn with the agent that is tested, and the end of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.answer import AgentError
from runner.agents.chat import totals_of
from runner.assertions.base import Evidence
from runner.assertions.checking import check_all
from runner.assertions.model import Assertion
from runner.cases.messages import described, input_of, messages_of, parts_of_last
from runner.connectors.timing import case_now
from runner.errors import RunnerError
from runner.modes.awaiting import Awaiting, detect
from runner.modes.base import CaseAttempt
from runner.modes.checkpoints import Checkpoints, all_texts
from runner.modes.mode import Exchange, Mode, usage_of
from runner.modes.simulators import tool_results
from runner.record.case_result import TurnResult
from scripttest import Cause, ScriptError, Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cases.turns import Checkpoint
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
    attachments: tuple[dict[str, Any], ...] = ()
    """The files in it, as reports describe them."""


class TurnsMode(Mode):
    """A mode of several turns."""

    def __init__(self, attempt: CaseAttempt, checkpoints: Sequence[Checkpoint] = ()) -> None:
        super().__init__(attempt)
        self._reached = Checkpoints(checkpoints)
        self.checkpoints = self._reached.results()
        self._exchanges: list[Exchange] = []
        self._number = 0
        self._open: TurnResult | None = None
        self._began = 0.0
        """When it began, on the clock of the case."""
        self._awaiting = Awaiting(awaiting=True, reason="")
        """Whether the agent waits for the user, after its last answer."""

    def break_off(self, now: float, **fields: Any) -> None:
        """See `Mode`."""
        if self._open is not None:
            turn, self._open = self._open, None
            self.turns.append(turn.replace(**{"milliseconds": (now - self._began) * 1000, **fields}))

    def _add_turn(self, input: Any, source: str, **fields: Any) -> None:
        """Adds a turn that nobody answers."""
        self.turns.append(TurnResult(turn=len(self.turns) + 1, input=input, source=source, **fields))

    def _note(self, note: str) -> None:
        """Adds a note to the last turn."""
        self.turns[-1] = self.turns[-1].replace(note=note)

    async def _take_turn(self, said: Spoken) -> Exchange:
        """Sends a message to the agent, with all messages before it, and judges the answer. When it has ended, the turn
        is among `turns`. Raises AgentError, RunnerError, ScriptError: the agent could not answer; then the turn has
        failed, and the transcript has only the message."""
        attempt = self.attempt
        self._number += 1
        self._open = TurnResult(
            turn=len(self.turns) + 1,
            input=said.input,
            source=said.source,
            status=Status.PASSED,
            attachments=said.attachments,
        )
        self._began = case_now()
        attempt.begin_turn(self._number)
        self.transcript.append(dict(said.message))
        start = len(self.transcript) - 1
        try:
            done = await self._ask(list(self.transcript), said.options, said.input, start, self._number)
        except (AgentError, RunnerError, ScriptError) as error:
            reason = error.finish_reason if isinstance(error, AgentError) else ""
            self.break_off(
                case_now(), status=Status.FAILED, error=f"agent error: {error.message}", finish_reason=reason
            )
            raise
        self.transcript.append({"role": "assistant", "content": done.answer.text})
        self._exchanges.append(done)
        self._awaiting = self._detect(done)
        self._open = self._open.replace(
            output=done.answer.output,
            response=done.answer.content,
            finish_reason=done.answer.finish_reason,
            awaiting_input=self._awaiting.awaiting,
            awaiting_reason=self._awaiting.reason,
            input_hint=self._awaiting.hint,
            tools=done.evidence.tools,
            usage=usage_of(done.calls),
        )
        self.break_off(0, milliseconds=done.evidence.milliseconds, **await self._check(said, done))
        return done

    def _detect(self, done: Exchange) -> Awaiting:
        """Whether the agent waits for the user after an answer."""
        return detect(done.answer, done.evidence.tools)

    async def _check(self, said: Spoken, done: Exchange) -> dict[str, Any]:
        """Judges the answer of the current turn; the `status`, `assertions` and `error` of its result."""
        results = await check_all(said.assertions, done.evidence, self.attempt.judges)
        self._judge(results, f"turn {self._number}")
        held = all(result.passed for result in results)
        return {"status": Status.PASSED if held else Status.FAILED, "assertions": results}

    async def _look(self, done: Exchange) -> None:
        """Looks which checkpoints are reached by the answer of the current turn."""
        evidence = done.evidence.replace(output=all_texts(done.answer, done.evidence.tools), input=None)
        self.assertions += await self._reached.look(self._number, evidence, self.attempt.judges)
        self.checkpoints = self._reached.results()
        for cause, broken in self._reached.broken:
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
        options = self.attempt.options_of()
        return Spoken(message=messages[-1], input=last, source="initial", options=options, attachments=files)

    def _typed(self, text: str, source: str) -> Spoken:
        """What a simulated user or a person says."""
        message = {"role": "user", "content": text}
        return Spoken(message=message, input=text, source=source, options=self.attempt.options_of())

    def _achieved(self, said: Simulation) -> None:
        """Notes that a simulated user has achieved its goal."""
        if self.turns:
            self._note(f"Goal achieved: {said.reasoning}" if said.reasoning else "Goal achieved")
        else:
            self._fail(Cause.SETUP, "no initial input: the simulator reports its goal as achieved right away")

    def _exceeded(self, user: SimulatedUser | None, limit: int) -> None:
        """Fails the case because the user has spoken as often as it may."""
        if self._reached.undecided:
            self.failures.append(self._reached.failure)
        else:
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
            milliseconds=sum(one.evidence.milliseconds for one in done),
            tokens=took.tokens,
            cost=took.cost,
            **attempt.known(len(calls), attempt.chat.agents),
            messages=tuple(self.transcript),
            turns=tuple(self.said),
        )

    def _evidence_of_all(self) -> Evidence:
        """The same with all messages of the user, and the state of the conversation."""
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
            self.final_assertions = await check_all(assertions, self._evidence_of_all(), self.attempt.judges)
            self._judge(self.final_assertions, "final assertions")
