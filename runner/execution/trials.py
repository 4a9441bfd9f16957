"""A case from its beginning to its result: one attempt, or, of a conversation with `trials`, several.

Each trial is an attempt of its own, with its own chat, hooks and time. The score of the case is their mean, and it is
compared with the threshold; an error, a timeout, or a required criterion that fails in any trial fails the case.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from runner.agents.chat import JudgeUse
from runner.execution.attempts import ended, run_attempt
from runner.modes.base import CaseAttempt
from runner.results.model import TestResult
from scripttest import Failure, Status


class CaseRun:
    """Runs one case, with all its trials."""

    def __init__(self, make: Callable[[], CaseAttempt]) -> None:
        """`make` creates a new attempt at the case, with a new chat."""
        self._make = make
        self._attempt = make()
        self._ended: list[TestResult] = []

    async def run(self, within: Callable[[CaseAttempt], AbstractAsyncContextManager[None]]) -> TestResult:
        """Runs the case to its end, each attempt `within` a context. All errors become part of the result; only
        cancellation is raised."""
        count = getattr(self._attempt.case, "trials", 1)
        if count == 1 or self._attempt.case.skip:
            async with within(self._attempt):
                return await run_attempt(self._attempt)
        for number in range(1, count + 1):
            if number > 1:
                self._attempt = self._make()
            self._attempt.chat.context["chat_id"] += f"-{number}"
            async with within(self._attempt):
                self._ended.append(await run_attempt(self._attempt))
        from runner.results.combining import of_trials

        return of_trials(self._ended)

    @property
    def shared_judges(self) -> list[JudgeUse]:
        """See `CaseAttempt`."""
        return self._attempt.shared_judges

    def failed(self, failure: Failure) -> TestResult:
        """The result of a case that could not begin."""
        self._attempt.failures.append(failure)
        return ended(self._attempt, Status.FAILED, 0)

    def skipped(self, reason: str) -> TestResult:
        """The result of a case that is skipped."""
        self._attempt.skip_reason = reason
        return ended(self._attempt, Status.SKIPPED, 0)

    def interrupted(self, reason: str) -> TestResult | None:
        """The partial result of a case that was cancelled; None when there is nothing to report."""
        attempt = self._attempt
        attempt.end(status=Status.SKIPPED, skip_reason=reason)
        if not attempt.turns and not self._ended:
            return None
        attempt.end(status=Status.SKIPPED, skip_reason=reason)
        attempt.failures.clear()
        attempt.skip_reason, attempt.score = reason, None
        result = ended(attempt, Status.SKIPPED, sum(turn.milliseconds for turn in attempt.turns)).replace(
            cut_short=True
        )
        if not self._ended:
            return result
        from runner.results.combining import listed_trials

        assert result.case is not None
        return result.replace(case=result.case.replace(trials=listed_trials([*self._ended, result])))
