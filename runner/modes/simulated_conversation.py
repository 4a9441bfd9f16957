"""Conversation mode for conversations in which not all turns are written: after the turns, a simulated user or a person
speaks, and there may be checkpoints. The next speaker is chosen as in multi-turn mode. Each answer and the whole are
graded as in conversation mode.

Checkpoints are checked after each answer, as in dynamic mode. Once all required ones are reached, a simulated user says
nothing more. A required checkpoint that is missing at the end fails the case, whatever its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from runner.assertions.base import Evidence
from runner.cases.other_cases import ConversationCase
from runner.cases.turns import ConversationTurn, Turn
from runner.modes.base import CaseAttempt
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
from runner.modes.multi_turn import MultiTurn
from runner.modes.outcome import Exchange
from runner.modes.turns import CheckedTurn, Spoken
from runner.record.case_result import ScoreResult, ScoreVerdict, TurnResult
from runner.record.combining import below
from scripttest import Status

if TYPE_CHECKING:
    from runner.assertions.model import Assertion
    from runner.modes.simulators import SimulatedUser


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
