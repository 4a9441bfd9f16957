"""Conversation mode: the user's turns are written, or a simulator or a person continues them, and each turn and the
whole get a grade (seed 003).

Where all turns are written, a turn is graded while the next one is running, unless a failed turn ends the conversation
(`on_turn_failure: stop`). So T turns take T calls of the agent, plus the slowest grader of the last turn. An error of
the agent fails its turn, which scores 0, and the case, whatever its score; the next turn begins all the same. Elsewhere
the grade and the checkpoints of an answer decide who speaks next, and an error of the agent ends the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runner.agents.answer import AgentError
from runner.assertions.base import Evidence
from runner.assertions.model import Assertion
from runner.cases.other_cases import ConversationCase
from runner.cases.turns import ConversationTurn, Turn
from runner.modes.base import CaseAttempt
from runner.modes.grading import (
    AGGREGATIONS,
    RUBRICS,
    STOPPED,
    WHOLE,
    Grade,
    Grading,
    criteria_of,
    failures_of_scores,
    for_graders,
    seen_by_graders,
)
from runner.modes.mode import Exchange
from runner.modes.multi_turn import MultiTurn
from runner.modes.simulators import Awaiting
from runner.modes.turns import Spoken
from runner.record.case_result import ScoreResult, ScoreVerdict
from scripttest import Status


class GradedConversation(MultiTurn):
    """A conversation that is graded."""

    def __init__(self, attempt: CaseAttempt) -> None:
        super().__init__(attempt)
        case = attempt.case
        assert isinstance(case, ConversationCase)
        self._graded = case
        self._is_written = case.is_written
        if self._is_written:
            self._user = None
        self._each = criteria_of(case.turn_assertions)
        self._of_turns = [criteria_of(turn.assertions, turn.expected_output) for turn in case.turns]
        has_others = bool(self._each) or any(self._of_turns)
        self._grading = Grading(attempt, case, criteria_of(case.whole()), has_others)
        self.threshold = self._grading.threshold
        self._tasks: dict[str, asyncio.Task[Grade]] = {}

    async def run(self) -> None:
        """Holds the conversation and grades it. Raises AgentError."""
        try:
            try:
                await super().run()
            except Exception:
                await asyncio.gather(*self._tasks.values())
                raise
            await asyncio.gather(*self._tasks.values())
        finally:
            self._close()
        if self.skip_reason is None:
            if self._reached.missing and not self.failures:
                self.failures.append(self._reached.failure)
            case, threshold = self._graded, self._grading.threshold
            self.failures += failures_of_scores(
                self.scores, self.score, threshold, self.failures, case.aggregation, trials=case.trials
            )

    @property
    def _broken_off(self) -> bool:
        return not self._exchanges if self._is_written else super()._broken_off

    @property
    def _drives(self) -> bool:
        return super()._drives or bool(self._reached.missing)

    def _checks(self, turn: Turn | ConversationTurn) -> Sequence[Assertion]:
        return ()  # they are graded: see `_check`

    def _detect(self, done: Exchange) -> Awaiting:
        return Awaiting(awaiting=False, reason="") if self._is_written else super()._detect(done)

    async def _next(self) -> Spoken | None:
        if self._is_written or (self._reached.any_required and not self._reached.missing):
            return None
        return await super()._next()

    async def _say(self, said: Spoken) -> None:
        try:
            await self._take_turn(said)
        except AgentError as error:
            if not self._is_written:
                raise
            self.failures.append(error.failure.replace(phase=f"turn {self._number}"))
            self._is_over = self._graded.on_turn_failure == "stop"

    async def _check(self, said: Spoken, done: Exchange) -> dict[str, Any]:
        """Has the turn graded, and looks at the checkpoints that its answer reaches."""
        number = self._number
        stops = self._graded.on_turn_failure == "stop"
        criteria, expected = self._each, None
        if number <= len(self._of_turns):
            criteria = [*self._of_turns[number - 1], *self._each]
            expected = self._graded.turns[number - 1].expected_output
        name = f"turn-{number}"
        grading = self._grading.grade(name, criteria, self._evidence_of(done, expected), expected)
        task = self._tasks[name] = asyncio.create_task(grading)
        if self._is_written and not stops:
            return {"status": Status.PASSED}
        grade = await task
        await self._look(done)
        self._is_over = (stops and grade.failed) or bool(self._reached.broken)
        return grade.of_turn

    def _evidence_of(self, done: Exchange, expected: Any) -> Evidence:
        """The evidence of an answer. Graders read it while the conversation continues, so it is a copy."""
        messages, turns = seen_by_graders(self.transcript, self.said, self._graded.window_size)
        return done.evidence.replace(
            input=[for_graders(message) for message in messages[:-1]],
            expected=expected,
            messages=tuple(messages),
            turns=tuple(turns),
        )

    async def _conclude(self) -> None:
        if self._grading.whole:
            evidence = self._evidence_of_talk() if self._is_written else self._evidence_of_all()
            evidence = evidence.replace(input=[for_graders(message) for message in self.transcript])
            self._tasks[WHOLE] = asyncio.create_task(self._grading.grade(WHOLE, self._grading.whole, evidence))

    def _close(self) -> None:
        """Ends running graders, and keeps the scores there are."""
        for task in self._tasks.values():
            task.cancel()
        self._grading.close()
        for left in self._left:
            self._add_turn(left.input, left.source, status=Status.SKIPPED, skip_reason=STOPPED)
        begun = self._number if self._is_written or self._open is None else self._number - 1
        last = len(self._graded.turns) if self._is_written else begun + len(self._left)
        names = [f"turn-{number}" for number in range(1, last + 1)]
        if self._grading.whole and (self._is_written or (WHOLE in self._tasks and self._tasks[WHOLE].done())):
            names.append(WHOLE)
        for at, name in enumerate(names):
            graded = self._tasks.get(name)
            if graded is not None and graded.done() and not graded.cancelled() and graded.exception() is None:
                grade = graded.result()
                self.scores.append(grade.score)
                if name != WHOLE and at < len(self.turns):
                    self.turns[at] = self.turns[at].replace(**grade.of_turn)
            else:
                has_begun = graded is not None if name == WHOLE else at < begun
                verdict = ScoreVerdict.FAIL if has_begun else ScoreVerdict.SKIP
                self.scores.append(ScoreResult(name=name, type=RUBRICS, score=0.0, verdict=verdict))
        judged = [entry.score for entry in self.scores if entry.score is not None]
        self.score = AGGREGATIONS[self._graded.aggregation](judged) if judged else None
