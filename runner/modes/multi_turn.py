"""Multi-turn mode: a conversation in one chat, whose next message is written, simulated, or typed (seeds 000 and 002).

| next speaker | when |
| --- | --- |
| the next of `turns` | there is one, whatever the agent answered |
| the simulator | the agent waits, or nothing was said yet; in a case without `turns`, until its goal is achieved |
| a person | the agent waits, there is no simulator, and people may be asked |
| nobody | the agent waits: `on_missing_input` decides; otherwise the conversation is complete |

When the agent is done in a case with `turns`, a simulator that has spoken is asked once whether its goal is achieved.
Its message is not sent; the last turn has its opinion. If the written turns were enough, it is never asked.

A failed assertion fails the case but does not end the conversation. An agent that cannot answer ends it. `max_turns`
limits the messages of simulators and people. When it is reached, the simulator is asked once more whether its goal is
achieved.

Dynamic mode: a simulated user talks to the agent until all required checkpoints are reached (seed 001).

| event | the case |
| --- | --- |
| all required checkpoints are reached; if there are none, the goal is achieved | passes at once |
| the goal is achieved before that | fails: `missing checkpoints: a, b` |
| the user has spoken `max_turns` times | fails: `max turns (20) exceeded` |
| in both cases, if votes on the missing checkpoints do not decide | inconclusive: `checkpoint a: inconclusive: ...` |
| the simulator cannot be asked, or answers nothing | fails: `simulator error: ...` |
| the validator or script of a required checkpoint breaks | fails: `checkpoint a failed: ...` |"""

from __future__ import annotations

from collections.abc import Sequence

from runner.assertions.model import Assertion
from runner.cases.messages import as_written, described, message_of, messages_of, parts_of_said
from runner.cases.other_cases import DynamicCase, MultiTurnCase
from runner.cases.turns import ConversationTurn, Turn
from runner.connectors.usage import uncounted
from runner.modes.base import CaseAttempt
from runner.modes.interactive import NoAnswerError, Question
from runner.modes.mode import Exchange
from runner.modes.simulators import Awaiting, SimulatedUser, SimulatorError, detect, question_in
from runner.modes.turns import Spoken, TurnsMode
from scripttest import Cause, Status

NOT_REACHED = "agent completed, goal not reached"
UNKNOWN = "agent completed, and whether the goal is reached is unknown"


class MultiTurn(TurnsMode):
    """A conversation."""

    def __init__(self, attempt: CaseAttempt) -> None:
        super().__init__(attempt)
        case = attempt.case
        assert isinstance(case, MultiTurnCase)
        self._case = case
        self._is_written = False
        """Whether the user says what is written, and nothing else."""
        reference = (case.simulator.use if case.simulator else None) or attempt.environment.options.simulator or ""
        self._user = SimulatedUser(self, case.simulator, reference) if case.simulator or reference else None
        self._missing = case.on_missing_input or attempt.environment.options.on_missing_input or "skip"
        person = attempt.saved or attempt.environment.person
        asks = case.interactive.enabled or attempt.environment.options.interactive or attempt.saved is not None
        self._person = person if asks else None
        self._is_over = False
        """Whether no further message is sent, whoever has one."""
        self._left: list[Spoken] = []

    async def run(self) -> None:
        """Holds the conversation and judges it. Raises AgentError."""
        try:
            await self._find_user(self._case.max_turns)
        except SimulatorError as error:
            self._fail(Cause.SETUP, f"simulator error: {error}")
            return
        given = self._given()
        while not self._is_over and (said := given.pop(0) if given else await self._next()) is not None:
            await self._say(said)
        self._left = given
        if self._broken_off:
            return
        if self._exchanges:
            await self._conclude()
        else:
            self._fail(Cause.SETUP, "no initial input")

    @property
    def _broken_off(self) -> bool:
        return self.skip_reason is not None or any(not failure.type for failure in self.failures)

    @property
    def _drives(self) -> bool:
        """Whether the simulated user continues, even if the agent does not wait."""
        return self._user is not None and self._user.goal is not None and not self._case.turns

    async def _say(self, said: Spoken) -> None:
        each = [assertion for assertion in self._case.turn_assertions or () if isinstance(assertion, Assertion)]
        await self._take_turn(said.replace(assertions=[*said.assertions, *each]))

    def _detect(self, done: Exchange) -> Awaiting:
        return detect(done.answer, done.evidence.tools, self._case.input_tools)

    # the next message

    def _given(self) -> list[Spoken]:
        """The static turns, else the case's own input. What comes before it is in the transcript then."""
        attempt, case = self.attempt, self._case
        if not case.turns:
            opening = self._opening()
            return [] if opening is None else [opening]
        if self._is_written or case.messages is not None or isinstance(case.input, list):
            self.transcript += messages_of(case.model_copy(update={"attachments": []}), attempt.folder)
        elif case.input is not None:
            attempt.chat.warn('"input" is ignored: the conversation starts with turns[0]')
        first, *others = case.turns
        if case.attachments:
            first = first.model_copy(update={"attachments": [*first.attachments, *case.attachments]})
        return [self._static(turn) for turn in (first, *others)]

    def _static(self, turn: Turn | ConversationTurn) -> Spoken:
        message = message_of(turn.input, turn.attachments, self.attempt.folder)
        files = described(parts_of_said(turn.input, turn.attachments, ()), self.attempt.folder)
        return Spoken(
            message=message,
            input=as_written(turn.input),
            source="static",
            options=self.attempt.options_of(turn.options),
            assertions=self._checks(turn),
            attachments=files,
        )

    def _checks(self, turn: Turn | ConversationTurn) -> Sequence[Assertion]:
        assert isinstance(turn, Turn)
        return turn.assertions or ()

    async def _next(self) -> Spoken | None:
        """The next message of the user; None when the conversation is over, for whatever reason."""
        if self._case.type == "single_turn":
            return None
        awaiting, user = self._awaiting.awaiting, self._user
        if user is not None and (awaiting or self._drives):
            text = await self._simulated(user)
            return None if text is None else self._typed(text, "simulated")
        if user is not None and user.goal is not None and any(one.source == "simulated" for one in self.turns):
            await self._look_back(user)
        if not self._exchanges or not awaiting:
            return None
        if self._person is None:
            self._nobody("no next turn defined", no_next_turn=True)
        elif len(self.turns) >= self._limit:
            self._exceeded()
        else:
            try:
                return self._typed(await self._asked(), "human")
            except NoAnswerError as error:
                self._nobody(str(error), skip=error.skip)
        return None

    async def _simulated(self, user: SimulatedUser) -> str | None:
        """The next message of the simulator; None when it has none, or may not speak."""
        full = len(self.turns) >= self._limit
        try:
            said = await user.speak(self._limit)
        except SimulatorError as error:
            if full:
                self._exceeded()
            else:
                self._without_simulator(error)
            return None
        if said.achieved:
            self._achieved(said)
        elif full:
            self._exceeded()
        else:
            return said.input
        return None

    async def _asked(self) -> str:
        """What a person types. The time it takes is not the agent's. Raises NoAnswerError."""
        attempt = self.attempt
        assert self._person is not None and self.answer is not None
        question = Question(
            case=attempt.case.id,
            turn=len(self.turns) + 1,
            text=self.answer.content or self._question(),
            hint=self._awaiting.hint,
        )
        with uncounted():
            return await self._person.ask(question, self._case.interactive.timeout.seconds)

    def _question(self) -> str:
        last = self._exchanges[-1]
        return question_in(last.answer, last.evidence.tools, self._case.input_tools)

    # how it ends

    async def _look_back(self, user: SimulatedUser) -> None:
        """Notes whether an agent that is done has reached the goal. A simulator that cannot say fails nothing."""
        try:
            said = await user.speak(self._limit)
        except SimulatorError as error:
            self._note(f"{UNKNOWN}: {error}")
            return
        if said.achieved:
            self._achieved(said)
        else:
            self._note(NOT_REACHED)

    def _without_simulator(self, error: SimulatorError) -> None:
        why = str(error)
        self._add_turn(None, "", status=Status.SKIPPED, error=why, skip_reason="simulator error")
        if self._missing == "fail":
            self._fail(Cause.INFRASTRUCTURE if error.infrastructure else Cause.ERROR, f"simulator error: {why}")
        else:
            self.skip_reason = f"simulator error: {why}"

    def _nobody(self, why: str, skip: bool = False, no_next_turn: bool = False) -> None:
        """The agent waits, and nobody answers. `skip` overrules what the case says; `no_next_turn`: nobody could."""
        if self._missing == "end" and not skip:
            return
        question = self._question()
        reason = f"Agent awaiting input, {why}"
        asked = {"question": question or None, "no_next_turn": no_next_turn}
        if self._missing == "fail" and not skip:
            self._add_turn(None, "", status=Status.FAILED, error=reason, **asked)
            self._fail(Cause.ASSERTION, reason + (f": {question}" if question else ""))
        else:
            self._add_turn(None, "", status=Status.SKIPPED, skip_reason=reason, **asked)
            self.skip_reason = reason

    async def _conclude(self) -> None:
        await self._check_end(self._case.final_assertions)


class Dynamic(TurnsMode):
    """A conversation until checkpoints are reached."""

    def __init__(self, attempt: CaseAttempt) -> None:
        super().__init__(attempt)
        case = attempt.case
        assert isinstance(case, DynamicCase)
        self._case = case
        use = case.simulator.use or attempt.environment.options.simulator or ""
        self._user = self._speaker = SimulatedUser(self, case.simulator, use)

    async def run(self) -> None:
        """Holds the conversation. Raises AgentError."""
        case = self._case
        try:
            await self._find_user(case.max_turns)
            said = self._opening()
            while True:
                if said is None and len(self.turns) >= self._limit:
                    self._exceeded()
                    return
                said = said or await self._simulated()
                if said is None or await self._turn(said):
                    break
                said = None
            if all(failure.type for failure in self.failures):  # it was not cut short
                await self._check_end(case.final_assertions)
        except SimulatorError as error:
            self._fail(Cause.INFRASTRUCTURE if error.infrastructure else Cause.ERROR, f"simulator error: {error}")

    async def _turn(self, said: Spoken) -> bool:
        """Says something and looks at what is reached by the answer; whether the case is decided."""
        await self._look(await self._take_turn(said.replace(assertions=self._case.turn_assertions or ())))
        reached = self._reached
        return bool(reached.broken) or (reached.any_required and not reached.missing)

    async def _simulated(self) -> Spoken | None:
        """The next message of the simulator; None when its goal is achieved. Raises SimulatorError."""
        reached, pending = self._reached.reached, self._reached.pending
        said = await self._speaker.speak(self._limit, checkpoints_reached=reached, checkpoints_pending=pending)
        if not said.achieved:
            return self._typed(said.input, "simulated")
        missing = self._reached.missing
        if self.turns or not missing:
            self._achieved(said)
        if missing:
            self.failures.append(self._reached.failure)
        return None
