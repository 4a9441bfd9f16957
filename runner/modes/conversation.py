"""Conversation mode: scripted user turns, real answers, and a grade for each turn and for the whole (seed 003).

Turns follow one another. A turn is graded while the next one is running, unless a failed turn ends the conversation
(`on_turn_failure: stop`). So T turns take T calls of the agent, plus the slowest grader of the last turn.

An error of the agent fails its turn, which scores 0, and the case, whatever its score."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from runner.agents.answer import AgentError
from runner.assertions.base import Evidence
from runner.cases.messages import as_written, described, message_of, messages_of, parts_of_said
from runner.cases.other_cases import ConversationCase
from runner.cases.turns import ConversationTurn
from runner.errors import RunnerError
from runner.modes.base import CaseAttempt, Mode
from runner.modes.grading import (
    AGGREGATIONS,
    RUBRICS,
    STOPPED,
    WHOLE,
    Criterion,
    Grade,
    Grading,
    criteria_of,
    failures_of_scores,
    for_graders,
    seen_by_graders,
)
from runner.modes.turns import TurnsMode
from runner.record.case_result import ScoreResult, ScoreVerdict, TurnResult
from runner.record.combining import below
from scripttest import ScriptError, Status


def mode_of(attempt: CaseAttempt) -> Mode:
    """The mode of a graded conversation: whether all turns are written decides."""
    case = attempt.case
    assert isinstance(case, ConversationCase)
    if case.is_written:
        return _WrittenConversation(attempt, case)
    from runner.modes.multi_turn import SimulatedConversation

    return SimulatedConversation(attempt, case)


class _WrittenConversation(TurnsMode):
    def __init__(self, attempt: CaseAttempt, case: ConversationCase) -> None:
        super().__init__(attempt)
        self._case = case
        self._criteria = [criteria_of(turn.assertions, turn.expected_output) for turn in case.turns]
        self._whole = criteria_of(case.whole())
        alone = not self._whole and not any(self._criteria)
        if alone and case.criteria:
            self._whole = [Criterion(text=case.criteria, required=True)]
        self._passes_from = attempt.environment.options.score_threshold if case.threshold is None else case.threshold
        self._threshold = self._passes_from
        self._background = None if alone else case.criteria
        """What graders get in addition to their criteria."""
        self._grading = Grading(attempt, case.grader, self._passes_from)
        self._tasks: dict[str, asyncio.Task[Grade]] = {}
        self._asked = 0
        """How many turns have begun."""

    async def run(self) -> None:
        """Holds the conversation and grades it. Raises AgentError."""
        try:
            try:
                await self._hold()
            except Exception:
                await asyncio.gather(*self._tasks.values())
                raise
            await asyncio.gather(*self._tasks.values())
        finally:
            self._close()
        self._failures += failures_of_scores(self.outcome(), self._case.aggregation, trials=self._case.trials)

    async def _hold(self) -> None:
        """Asks all turns, and has them and the whole graded."""
        case = self._case
        self.transcript += messages_of(case.model_copy(update={"attachments": []}), self.attempt.folder)
        stops, stopped = case.on_turn_failure == "stop", False
        for number, turn in enumerate(case.turns, 1):
            if stopped:
                skipped = TurnResult(
                    turn=number,
                    input=as_written(turn.input),
                    source="static",
                    status=Status.SKIPPED,
                    skip_reason=STOPPED,
                )
                self.turns.append(skipped)
                continue
            if not await self._answers_turn(number, turn):
                stopped = stops
                continue
            task = self._start(f"turn-{number}", self._graded_turn(number, self._evidence_of(number)))
            stopped = stops and (await task).score.verdict == ScoreVerdict.FAIL
        if self._whole and self._exchanges:
            self._start(WHOLE, self._grading.grade(WHOLE, self._whole, self._whole_evidence()))

    def _close(self) -> None:
        """Ends running graders, and keeps the existing scores."""
        for task in self._tasks.values():
            task.cancel()
        self._grading.close()
        self._scores = [
            self._score_of(f"turn-{number}", number <= self._asked) for number in range(1, len(self._case.turns) + 1)
        ]
        if self._whole:
            self._scores.append(self._score_of(WHOLE, WHOLE in self._tasks))
        judged = [entry.score for entry in self._scores if entry.score is not None]
        self._score = AGGREGATIONS[self._case.aggregation](judged) if judged else None

    async def _answers_turn(self, number: int, turn: ConversationTurn) -> bool:
        """Whether the agent answered."""
        attempt = self.attempt
        if number == 1:
            turn = turn.model_copy(update={"attachments": [*turn.attachments, *self._case.attachments]})
        self._asked = number
        files = described(parts_of_said(turn.input, turn.attachments, ()), attempt.folder)
        self._begin(as_written(turn.input), "static", files)
        try:
            message = message_of(turn.input, turn.attachments, attempt.folder)
            done = await self._exchange(message, attempt.options_of(turn.options), as_written(turn.input))
        except AgentError as error:
            self._end(status=Status.FAILED, error=f"agent error: {error.message}", finish_reason=self._finish_reason)
            self._failures.append(error.failure.replace(phase=f"turn {number}"))
            return False
        except (RunnerError, ScriptError) as error:
            self._end(status=Status.FAILED, error=f"agent error: {error.message}")
            raise
        answer = done.answer
        self._end(
            output=answer.output,
            response=answer.content,
            finish_reason=answer.finish_reason,
            tools=done.tools,
            usage=done.usage,
            milliseconds=done.milliseconds,
        )
        return True

    def _start(self, name: str, grading: Coroutine[Any, Any, Grade]) -> asyncio.Task[Grade]:
        task = self._tasks[name] = asyncio.create_task(grading)
        return task

    async def _graded_turn(self, number: int, evidence: Evidence) -> Grade:
        criteria, reference = self._criteria[number - 1], self._case.turns[number - 1].expected_output
        grade = await self._grading.grade(f"turn-{number}", criteria, evidence, reference)
        failed = grade.score.verdict == ScoreVerdict.FAIL
        self.turns[number - 1] = self.turns[number - 1].replace(
            status=Status.FAILED if failed else Status.PASSED,
            assertions=grade.results,
            error=below(grade.score.score, self._passes_from, [grade.score]) if failed else None,
        )
        return grade

    def _evidence_of(self, number: int) -> Evidence:
        """The evidence of the newest turn. Graders read it while the conversation continues, so it is a copy."""
        messages, turns = seen_by_graders(self.transcript, self._said, self._case.window_size)
        return self._exchanges[-1].evidence.replace(
            input=[for_graders(message) for message in messages[:-1]],
            expected=self._case.turns[number - 1].expected_output,
            messages=tuple(messages),
            turns=tuple(turns),
            criteria=self._background,
        )

    def _whole_evidence(self) -> Evidence:
        """The evidence of the whole conversation."""
        return self._evidence_of_talk().replace(
            input=[for_graders(message) for message in self.transcript], criteria=self._background
        )

    def _score_of(self, name: str, begun: bool) -> ScoreResult:
        task = self._tasks.get(name)
        if task is not None and task.done() and not task.cancelled() and task.exception() is None:
            return task.result().score
        verdict = ScoreVerdict.FAIL if begun else ScoreVerdict.SKIP
        return ScoreResult(name=name, type=RUBRICS, score=0.0, verdict=verdict)
