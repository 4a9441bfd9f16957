"""Conversation mode for conversations in which not all turns are written: after the turns, a simulated user or a person
speaks, and there may be checkpoints. The next speaker is chosen as in multi-turn mode. Each answer and the whole are
graded as in conversation mode.

Checkpoints are checked after each answer, as in dynamic mode. Once all required ones are reached, a simulated user says
nothing more. A required checkpoint that is missing at the end fails the case, whatever its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runner.assertions.base import AssertionResult, Evidence
from runner.cases.other_cases import ConversationCase
from runner.cases.turns import ConversationTurn, Turn
from runner.modes.answer_record import Exchange
from runner.modes.base import CaseAttempt
from runner.modes.dynamic import Checkpoints, combined
from runner.modes.grading import (
    AGGREGATIONS,
    RUBRICS,
    STOPPED,
    WHOLE,
    Criterion,
    Grading,
    criteria_of,
    for_graders,
    judge_scores,
    seen_by_graders,
)
from runner.modes.multi_turn import Talk
from runner.modes.turns import Checked, Spoken, evidence_of_all, take_turn
from runner.results.case_result import ScoreResult, ScoreVerdict, TurnResult
from runner.results.thresholds import below
from scripttest import Status


async def hold(attempt: CaseAttempt, case: ConversationCase) -> None:
    """Holds the conversation and grades it. Raises AgentError."""
    talk = _GradedTalk(attempt, case)
    try:
        await talk.hold()
    finally:
        talk.close()
    talk.judge()


class _GradedTalk(Talk):
    def __init__(self, attempt: CaseAttempt, case: ConversationCase) -> None:
        super().__init__(attempt, case)
        self._graded = case
        self._each = criteria_of(case.turn_assertions)
        self._of_turns = [criteria_of(turn.assertions, turn.expected_output) for turn in case.turns]
        self._whole = criteria_of(case.whole())
        alone = not self._whole and not self._each and not any(self._of_turns)
        if alone and case.criteria:
            self._whole = [Criterion(text=case.criteria, required=True)]
        self._background = None if alone else case.criteria
        self._threshold = attempt.environment.threshold if case.threshold is None else case.threshold
        attempt.threshold = self._threshold
        self._grading = Grading(attempt, case.grader, self._threshold)
        self._checkpoints = Checkpoints(case.checkpoints)
        attempt.checkpoints = self._checkpoints.results()
        self._scores: list[ScoreResult] = []

    @property
    def _drives(self) -> bool:
        return super()._drives or bool(self._checkpoints.missing)

    def _checks(self, turn: Turn | ConversationTurn) -> Sequence[Any]:
        return ()  # they are graded: see `_grade`

    async def _next(self) -> Spoken | None:
        if self._checkpoints.any_required and not self._checkpoints.missing:
            return None
        return await super()._next()

    async def _say(self, said: Spoken) -> None:
        number = len(self._attempt.turns) + 1
        try:
            self._take(await take_turn(self._attempt, said, self._case.input_tools, self._grade))
        except Exception:
            if len(self._scores) < number:
                failed = ScoreResult(name=f"turn-{number}", type=RUBRICS, score=0.0, verdict=ScoreVerdict.FAIL)
                self._scores.append(failed)
            raise

    async def _grade(self, done: Exchange) -> Checked:
        """The grade of a turn, and the checkpoints that its answer reaches."""
        number = len(self._attempt.turns) + 1
        written = number <= len(self._of_turns)
        criteria = [*(self._of_turns[number - 1] if written else ()), *self._each]
        reference = self._graded.turns[number - 1].expected_output if written else None
        grade = await self._grading.grade(f"turn-{number}", criteria, self._evidence_of(done.evidence), reference)
        self._scores.append(grade.score)
        await self._look(number, done)
        failed = grade.score.verdict == ScoreVerdict.FAIL
        stops = failed and self._graded.on_turn_failure == "stop"
        self._is_over = stops or bool(self._checkpoints.broken)
        why = below(grade.score.score, self._threshold, [grade.score]) if failed else None
        return Checked(results=grade.results, held=not failed, error=why)

    async def _look(self, number: int, done: Exchange) -> None:
        attempt = self._attempt
        evidence = done.evidence.replace(output=combined(done.answer, done.tools), input=None)
        reached: tuple[AssertionResult, ...] = await self._checkpoints.look(number, evidence, attempt.judges)
        attempt.assertions += reached
        attempt.checkpoints = self._checkpoints.results()
        for cause, broken in self._checkpoints.broken:
            attempt.fail(cause, f"checkpoint {broken}")

    def _evidence_of(self, evidence: Evidence) -> Evidence:
        messages, turns = seen_by_graders(self._attempt, self._graded.window_size)
        return evidence.replace(
            input=[for_graders(message) for message in messages[:-1]],
            messages=tuple(messages),
            turns=tuple(turns),
            criteria=self._background,
        )

    async def _conclude(self) -> None:
        attempt = self._attempt
        if self._whole:
            evidence = evidence_of_all(attempt).replace(
                input=[for_graders(message) for message in attempt.transcript],
                turns=tuple(attempt.said),
                criteria=self._background,
            )
            self._scores.append((await self._grading.grade(WHOLE, self._whole, evidence)).score)

    def _exceeded(self) -> None:
        if self._checkpoints.undecided:
            self._attempt.failures.append(self._checkpoints.failure)
        else:
            super()._exceeded()

    def close(self) -> None:
        """Keeps the scores there are."""
        attempt = self._attempt
        self._grading.close()
        for left in self._left:
            number = len(attempt.turns) + 1
            skipped = TurnResult(
                turn=number, input=left.input, source=left.source, status=Status.SKIPPED, skip_reason=STOPPED
            )
            attempt.turns.append(skipped)
            self._scores.append(ScoreResult(name=f"turn-{number}", type=RUBRICS, score=0.0, verdict=ScoreVerdict.SKIP))
        attempt.scores = sorted(self._scores, key=lambda entry: entry.name == WHOLE)
        judged = [entry.score for entry in attempt.scores if entry.score is not None]
        attempt.score = AGGREGATIONS[self._graded.aggregation](judged) if judged else None

    def judge(self) -> None:
        """Adds what the case fails for."""
        attempt = self._attempt
        if attempt.skip_reason is not None:
            return
        if self._checkpoints.missing and not attempt.failures:
            attempt.failures.append(self._checkpoints.failure)
        judge_scores(attempt, self._threshold, self._graded.aggregation, trials=self._graded.trials)
