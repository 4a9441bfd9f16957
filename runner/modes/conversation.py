"""Conversation mode: scripted user turns, real answers, and a grade for each turn and for the whole (seed 003).

Turns follow one another. A turn is graded while the next one is running, unless a failed turn ends the conversation
(`on_turn_failure: stop`). So T turns take T calls of the agent, plus the slowest grader of the last turn.

An error of the agent fails its turn, which scores 0, and the case, whatever its score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from runner.agents.answer import AgentError
from runner.agents.chat import ModelCall
from runner.assertions.base import Evidence
from runner.cases.messages import described, message_of, messages_of, parts_of_said
from runner.cases.model import Message
from runner.cases.other_cases import ConversationCase
from runner.cases.turns import ConversationTurn
from runner.errors import RunnerError
from runner.modes.base import CaseAttempt
from runner.modes.grading import (
    AGGREGATIONS,
    RUBRICS,
    STOPPED,
    WHOLE,
    Criterion,
    Grade,
    Grading,
    criteria_of,
    for_graders,
    judge_scores,
    seen_by_graders,
)
from runner.modes.turns import evidence_of_talk, exchange
from runner.results.case_result import ScoreResult, ScoreVerdict, TurnResult
from runner.results.thresholds import below
from scripttest import ScriptError, Status


async def run(attempt: CaseAttempt) -> None:
    """Holds the conversation and grades it. Raises AgentError."""
    assert isinstance(attempt.case, ConversationCase)
    if not attempt.case.is_written:
        from runner.modes.simulated_conversation import hold

        await hold(attempt, attempt.case)
        return
    conversation = _Conversation(attempt, attempt.case)
    try:
        try:
            await conversation.hold()
        except Exception:
            await conversation.graded()
            raise
        await conversation.graded()
    finally:
        conversation.close()
    conversation.conclude()


class _Conversation:
    def __init__(self, attempt: CaseAttempt, case: ConversationCase) -> None:
        self._attempt = attempt
        self._case = case
        self._turns = [criteria_of(turn.assertions, turn.expected_output) for turn in case.turns]
        self._whole = criteria_of(case.whole())
        alone = not self._whole and not any(self._turns)
        if alone and case.criteria:
            self._whole = [Criterion(text=case.criteria, required=True)]
        self._threshold = attempt.environment.threshold if case.threshold is None else case.threshold
        attempt.threshold = self._threshold
        self._background = None if alone else case.criteria
        """What graders get in addition to their criteria."""
        self._grading = Grading(attempt, case.grader, self._threshold)
        self._tasks: dict[str, asyncio.Task[Grade]] = {}
        self._starts: list[int] = []
        """Where each turn begins in the transcript."""
        self._said: list[Evidence] = []
        self._calls: list[ModelCall] = []

    async def hold(self) -> None:
        """Asks all turns, and has them and the whole graded."""
        attempt, case = self._attempt, self._case
        attempt.transcript += messages_of(case.model_copy(update={"attachments": []}), attempt.folder)
        stopped = False
        for number, turn in enumerate(case.turns, 1):
            if stopped:
                attempt.turns.append(
                    TurnResult(
                        turn=number, input=_written(turn), source="static", status=Status.SKIPPED, skip_reason=STOPPED
                    )
                )
                continue
            stops = case.on_turn_failure == "stop"
            if not await self._ask(number, turn):
                stopped = stops
                continue
            task = self._start(f"turn-{number}", self._graded_turn(number, self._evidence_of(number)))
            stopped = stops and (await task).score.verdict == ScoreVerdict.FAIL
        if self._whole and self._said:
            self._start(WHOLE, self._grading.grade(WHOLE, self._whole, self._evidence_of_all()))

    async def graded(self) -> None:
        """Waits for the graders."""
        await asyncio.gather(*self._tasks.values())

    def close(self) -> None:
        """Ends running graders, and keeps the existing scores."""
        attempt = self._attempt
        for task in self._tasks.values():
            task.cancel()
        self._grading.close()
        asked = len(self._starts)
        attempt.scores = [
            self._score(f"turn-{number}", number <= asked) for number in range(1, len(self._case.turns) + 1)
        ]
        if self._whole:
            attempt.scores.append(self._score(WHOLE, WHOLE in self._tasks))
        judged = [entry.score for entry in attempt.scores if entry.score is not None]
        attempt.score = AGGREGATIONS[self._case.aggregation](judged) if judged else None

    def conclude(self) -> None:
        """Adds what the case fails for."""
        judge_scores(self._attempt, self._threshold, self._case.aggregation, trials=self._case.trials)

    async def _ask(self, number: int, turn: ConversationTurn) -> bool:
        """Whether the agent answered."""
        attempt, case = self._attempt, self._case
        if number == 1:
            turn = turn.model_copy(update={"attachments": [*turn.attachments, *case.attachments]})
        self._starts.append(len(attempt.transcript))
        files = described(parts_of_said(turn.input, turn.attachments, ()), attempt.folder)
        attempt.begin(
            TurnResult(turn=number, input=_written(turn), source="static", status=Status.PASSED, attachments=files)
        )
        try:
            options = attempt.options_of(turn.options)
            said = await exchange(
                attempt, message_of(turn.input, turn.attachments, attempt.folder), options, _written(turn)
            )
        except AgentError as error:
            attempt.end(
                status=Status.FAILED, error=f"agent error: {error.message}", finish_reason=attempt.finish_reason
            )
            attempt.failures.append(error.failure.replace(phase=f"turn {number}"))
            return False
        except (RunnerError, ScriptError) as error:
            attempt.end(status=Status.FAILED, error=f"agent error: {error.message}")
            raise
        self._said.append(said.evidence)
        self._calls += said.calls
        answer = said.answer
        attempt.end(
            output=answer.output,
            response=answer.content,
            finish_reason=answer.finish_reason,
            tools=said.tools,
            usage=said.usage,
            milliseconds=said.milliseconds,
        )
        return True

    def _start(self, name: str, grading: Coroutine[Any, Any, Grade]) -> asyncio.Task[Grade]:
        task = self._tasks[name] = asyncio.create_task(grading)
        return task

    async def _graded_turn(self, number: int, evidence: Evidence) -> Grade:
        turns = self._attempt.turns
        criteria, reference = self._turns[number - 1], self._case.turns[number - 1].expected_output
        grade = await self._grading.grade(f"turn-{number}", criteria, evidence, reference)
        failed = grade.score.verdict == ScoreVerdict.FAIL
        turns[number - 1] = turns[number - 1].replace(
            status=Status.FAILED if failed else Status.PASSED,
            assertions=grade.results,
            error=below(grade.score.score, self._threshold, [grade.score]) if failed else None,
        )
        return grade

    def _evidence_of(self, number: int) -> Evidence:
        """The evidence of the newest turn. Graders read it while the conversation continues, so it is a copy."""
        messages, turns = seen_by_graders(self._attempt, self._case.window_size)
        return self._said[-1].replace(
            input=[for_graders(message) for message in messages[:-1]],
            expected=self._case.turns[number - 1].expected_output,
            messages=tuple(messages),
            turns=tuple(turns),
            criteria=self._background,
        )

    def _evidence_of_all(self) -> Evidence:
        """The evidence of the whole conversation."""
        attempt = self._attempt
        return evidence_of_talk(attempt, self._said, self._calls).replace(
            input=[for_graders(message) for message in attempt.transcript], criteria=self._background
        )

    def _score(self, name: str, begun: bool) -> ScoreResult:
        task = self._tasks.get(name)
        if task is not None and task.done() and not task.cancelled() and task.exception() is None:
            return task.result().score
        verdict = ScoreVerdict.FAIL if begun else ScoreVerdict.SKIP
        return ScoreResult(name=name, type=RUBRICS, score=0.0, verdict=verdict)


def _written(turn: ConversationTurn) -> Any:
    """The input of a turn as the file has it, as a JSON value."""
    said = turn.input
    if isinstance(said, list):
        return [part.model_dump(exclude_unset=True) for part in said]
    return said.model_dump(exclude_unset=True) if isinstance(said, Message) else said
