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
achieved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.assertions.base import Evidence
from runner.assertions.model import Assertion
from runner.cases.messages import as_written, described, message_of, messages_of, parts_of_said
from runner.cases.other_cases import ConversationCase, MultiTurnCase
from runner.cases.turns import ConversationTurn, Turn
from runner.connectors.timing import uncounted
from runner.modes.awaiting import question_in
from runner.modes.base import CaseAttempt, Mode
from runner.modes.checkpoints import Checkpoints
from runner.modes.grading import (
    AGGREGATIONS,
    RUBRICS,
    STOPPED,
    WHOLE,
    Criterion,
    Grading,
    criteria_of,
    failures_of_scores,
    for_graders,
    seen_by_graders,
)
from runner.modes.interactive import NoAnswerError, Question
from runner.modes.outcome import Exchange
from runner.modes.simulators import SimulatedUser, SimulatorError
from runner.modes.turns import DEFAULT_MAX_TURNS, CheckedTurn, Spoken, TakenTurn, TurnsMode
from runner.record.case_result import ScoreResult, ScoreVerdict, TurnResult
from runner.record.combining import below
from scripttest import Cause, Status

if TYPE_CHECKING:
    from runner.assertions.model import Assertion
    from runner.modes.simulators import SimulatedUser


NOT_REACHED = "agent completed, goal not reached"
UNKNOWN = "agent completed, and whether the goal is reached is unknown"


def mode_of(attempt: CaseAttempt) -> Mode:
    """The mode of a case of several turns."""
    assert isinstance(attempt.case, MultiTurnCase)
    return MultiTurn(attempt, attempt.case)


class MultiTurn(TurnsMode):
    """A conversation."""

    def __init__(
        self, attempt: CaseAttempt, case: MultiTurnCase | ConversationCase, checkpoints: Checkpoints | None = None
    ) -> None:
        super().__init__(attempt, checkpoints)
        self._case = case
        self._last: TakenTurn | None = None
        reference = (case.simulator.use if case.simulator else None) or attempt.environment.options.simulator or ""
        self._user = SimulatedUser(self, case.simulator, reference) if case.simulator or reference else None
        self._missing = case.on_missing_input or attempt.environment.options.on_missing_input or "skip"
        person = attempt.saved or attempt.environment.person
        asks = case.interactive.enabled or attempt.environment.options.interactive or attempt.saved is not None
        self._person = person if asks else None
        self._limit = DEFAULT_MAX_TURNS
        self._is_over = False
        """Whether no further message is sent, whoever has one."""
        self._left: list[Spoken] = []
        """The message that was not sent because of that."""

    async def run(self) -> None:
        """Holds the conversation and judges it. Raises AgentError."""
        user = self._user
        try:
            if user is not None:
                await user.find()
                self._simulator = user.reference.text
            self._limit = self._case.max_turns or (user.max_turns if user else None) or DEFAULT_MAX_TURNS
        except SimulatorError as error:
            self._fail(Cause.SETUP, f"simulator error: {error}")
            return
        given = self._given()
        while not self._is_over and (said := given.pop(0) if given else await self._next()) is not None:
            await self._say(said)
        self._left = given
        if self._broken_off:
            return
        if self._last is None:
            self._fail(Cause.SETUP, "no initial input")
        else:
            await self._conclude()

    @property
    def _broken_off(self) -> bool:
        """Whether the conversation ended before its end."""
        return self._skip_reason is not None or any(not failure.type for failure in self._failures)

    @property
    def _drives(self) -> bool:
        """Whether the simulated user continues, even if the agent does not wait."""
        return self._user is not None and self._user.goal is not None and not self._case.turns

    async def _say(self, said: Spoken) -> None:
        each = [assertion for assertion in self._case.turn_assertions or () if isinstance(assertion, Assertion)]
        said = said.replace(assertions=[*said.assertions, *each])
        self._last = await self._take_turn(said, self._case.input_tools)

    # the next message

    def _given(self) -> list[Spoken]:
        """The static turns, else the case's own input. What comes before it is in the transcript then."""
        attempt, case = self.attempt, self._case
        if not case.turns:
            opening = self._opening()
            return [] if opening is None else [opening]
        if case.messages is not None or isinstance(case.input, list):
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
        options = self.attempt.options_of(turn.options)
        return Spoken(
            message=message,
            input=as_written(turn.input),
            source="static",
            options=options,
            assertions=self._checks(turn),
            attachments=files,
        )

    def _checks(self, turn: Turn | ConversationTurn) -> Sequence[Assertion]:
        """The assertions on the answer of a turn."""
        assert isinstance(turn, Turn)
        return turn.assertions or ()

    async def _next(self) -> Spoken | None:
        """The next message of the user; None when the conversation is over, for whatever reason."""
        if self._case.type == "single_turn":
            return None
        awaiting = self._last is None or self._last.awaiting.awaiting
        user = self._user
        if user is not None and (awaiting or self._drives):
            text = await self._simulated(user)
            return None if text is None else self._typed(text, "simulated")
        if user is not None and user.goal is not None and any(one.source == "simulated" for one in self.turns):
            await self._look_back(user)
        if self._last is None or not awaiting:
            return None
        if self._person is None:
            self._nobody("no next turn defined", no_next_turn=True)
        elif len(self.turns) >= self._limit:
            self._exceeded(self._user, self._limit)
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
                self._exceeded(self._user, self._limit)
            else:
                self._without_simulator(error)
            return None
        if said.achieved:
            self._achieved(said)
        elif full:
            self._exceeded(self._user, self._limit)
        else:
            return said.input
        return None

    async def _asked(self) -> str:
        """What a person types. The time it takes is not the agent's. Raises NoAnswerError."""
        attempt = self.attempt
        assert self._person is not None and self._last is not None
        exchange, awaiting = self._last.exchange, self._last.awaiting
        question = Question(
            case=attempt.case.id,
            turn=len(self.turns) + 1,
            text=exchange.answer.content or question_in(exchange.answer, exchange.tools, self._case.input_tools),
            hint=awaiting.hint,
        )
        with uncounted():
            return await self._person.ask(question, self._case.interactive.timeout.seconds)

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
        self._no_turn(status=Status.SKIPPED, error=why, skip_reason="simulator error")
        if self._missing == "fail":
            self._fail(Cause.INFRASTRUCTURE if error.infrastructure else Cause.ERROR, f"simulator error: {why}")
        else:
            self._skip_reason = f"simulator error: {why}"

    def _nobody(self, why: str, skip: bool = False, no_next_turn: bool = False) -> None:
        """The agent waits, and nobody answers. `skip` overrules what the case says; `no_next_turn`: nobody could."""
        assert self._last is not None
        if self._missing == "end" and not skip:
            return
        exchange = self._last.exchange
        question = question_in(exchange.answer, exchange.tools, self._case.input_tools)
        reason = f"Agent awaiting input, {why}"
        asked = {"question": question or None, "no_next_turn": no_next_turn}
        if self._missing == "fail" and not skip:
            self._no_turn(status=Status.FAILED, error=reason, **asked)
            self._fail(Cause.ASSERTION, reason + (f": {question}" if question else ""))
        else:
            self._no_turn(status=Status.SKIPPED, skip_reason=reason, **asked)
            self._skip_reason = reason

    def _no_turn(self, **fields: Any) -> None:
        """Adds a turn in which nobody speaks."""
        self.turns.append(TurnResult(turn=len(self.turns) + 1, input=None, source="", **fields))

    async def _conclude(self) -> None:
        assert isinstance(self._case, MultiTurnCase)
        await self._check_end(self._case.final_assertions)


class SimulatedConversation(MultiTurn):
    """A graded conversation."""

    def __init__(self, attempt: CaseAttempt, case: ConversationCase) -> None:
        super().__init__(attempt, case, Checkpoints(case.checkpoints))
        self._graded = case
        self._each = criteria_of(case.turn_assertions)
        self._of_turns = [criteria_of(turn.assertions, turn.expected_output) for turn in case.turns]
        self._whole = criteria_of(case.whole())
        alone = not self._whole and not self._each and not any(self._of_turns)
        if alone and case.criteria:
            self._whole = [Criterion(text=case.criteria, required=True)]
        self._background = None if alone else case.criteria
        self._passes_from = attempt.environment.options.score_threshold if case.threshold is None else case.threshold
        self._threshold = self._passes_from
        self._grading = Grading(attempt, case.grader, self._passes_from)

    async def run(self) -> None:
        """Holds the conversation and grades it. Raises AgentError."""
        try:
            await super().run()
        finally:
            self._close()
        if self._skip_reason is None:
            if self._checkpoints.missing and not self._failures:
                self._failures.append(self._checkpoints.failure)
            case = self._graded
            self._failures += failures_of_scores(self.outcome(), case.aggregation, trials=case.trials)

    @property
    def _drives(self) -> bool:
        return super()._drives or bool(self._checkpoints.missing)

    def _checks(self, turn: Turn | ConversationTurn) -> Sequence[Assertion]:
        return ()  # they are graded: see `_check`

    async def _next(self) -> Spoken | None:
        if self._checkpoints.any_required and not self._checkpoints.missing:
            return None
        return await super()._next()

    async def _say(self, said: Spoken) -> None:
        number = len(self.turns) + 1
        try:
            self._last = await self._take_turn(said, self._case.input_tools)
        except Exception:
            if len(self._scores) < number:
                self._scores.append(_unscored(f"turn-{number}", ScoreVerdict.FAIL))
            raise

    async def _check(self, said: Spoken, done: Exchange) -> CheckedTurn:
        """Grades a turn, and looks at the checkpoints that its answer reaches."""
        number = len(self.turns) + 1
        written = number <= len(self._of_turns)
        criteria = [*(self._of_turns[number - 1] if written else ()), *self._each]
        reference = self._graded.turns[number - 1].expected_output if written else None
        grade = await self._grading.grade(f"turn-{number}", criteria, self._evidence_of(done.evidence), reference)
        self._scores.append(grade.score)
        await self._look(number, done)
        failed = grade.score.verdict == ScoreVerdict.FAIL
        stops = failed and self._graded.on_turn_failure == "stop"
        self._is_over = stops or bool(self._checkpoints.broken)
        why = below(grade.score.score, self._passes_from, [grade.score]) if failed else None
        return CheckedTurn(results=grade.results, held=not failed, error=why)

    def _evidence_of(self, evidence: Evidence) -> Evidence:
        messages, turns = seen_by_graders(self.transcript, self._said, self._graded.window_size)
        return evidence.replace(
            input=[for_graders(message) for message in messages[:-1]],
            messages=tuple(messages),
            turns=tuple(turns),
            criteria=self._background,
        )

    async def _conclude(self) -> None:
        if self._whole:
            evidence = self._evidence_of_all().replace(
                input=[for_graders(message) for message in self.transcript],
                turns=tuple(self._said),
                criteria=self._background,
            )
            self._scores.append((await self._grading.grade(WHOLE, self._whole, evidence)).score)

    def _exceeded(self, user: SimulatedUser | None, limit: int) -> None:
        if self._checkpoints.undecided:
            self._failures.append(self._checkpoints.failure)
        else:
            super()._exceeded(user, limit)

    def _close(self) -> None:
        """Keeps the scores there are."""
        self._grading.close()
        for left in self._left:
            number = len(self.turns) + 1
            skipped = TurnResult(
                turn=number, input=left.input, source=left.source, status=Status.SKIPPED, skip_reason=STOPPED
            )
            self.turns.append(skipped)
            self._scores.append(_unscored(f"turn-{number}", ScoreVerdict.SKIP))
        self._scores.sort(key=lambda entry: entry.name == WHOLE)
        judged = [entry.score for entry in self._scores if entry.score is not None]
        self._score = AGGREGATIONS[self._graded.aggregation](judged) if judged else None


def _unscored(name: str, verdict: ScoreVerdict) -> ScoreResult:
    return ScoreResult(name=name, type=RUBRICS, score=0.0, verdict=verdict)
