"""A case from its beginning to its result: one attempt, or, of a conversation with `trials`, several.

Each trial is an attempt of its own, with its own chat, hooks and time. The score of the case is their mean, and it is
held against the threshold; an error, a timeout, or a required criterion that does not hold fails the case in any trial.
"""

from __future__ import annotations

from collections.abc import Callable

from runner.execution.attempts import ended, run_attempt
from runner.modes.base import CaseAttempt
from runner.results.model import TestResult, TrialResult
from scripttest import Cause, Failure, Status


class CaseRun:
    """One case while it runs."""

    def __init__(self, make: Callable[[], CaseAttempt]) -> None:
        """`make` gives a new attempt at the case, with a new chat."""
        self._make = make
        self._attempt = make()
        self._ended: list[TestResult] = []

    async def run(self) -> TestResult:
        """Runs the case to its end; whatever goes wrong is in the result. Only cancelling it raises."""
        count = getattr(self._attempt.case, "trials", 1)
        if count == 1 or self._attempt.case.skip:
            return await run_attempt(self._attempt)
        for number in range(1, count + 1):
            if number > 1:
                self._attempt = self._make()
            self._attempt.chat.context["chat_id"] += f"-{number}"
            self._ended.append(await run_attempt(self._attempt))
        return _together(self._ended)

    def failed(self, failure: Failure) -> TestResult:
        """The result of a case that could not begin."""
        self._attempt.failures.append(failure)
        return ended(self._attempt, Status.FAILED, 0)

    def skipped(self, reason: str) -> TestResult:
        """The result of a case that does not begin."""
        self._attempt.skip_reason = reason
        return ended(self._attempt, Status.SKIPPED, 0)

    def interrupted(self, reason: str) -> TestResult | None:
        """What there is of a case that was cancelled; None when it is nothing."""
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
        assert result.case is not None
        return result.replace(case=result.case.replace(trials=_listed([*self._ended, result])))


def _together(results: list[TestResult]) -> TestResult:
    """One result of several trials. What is shown of what was said is the worst one's."""
    from runner.modes.grading import below

    worst = min(
        results, key=lambda result: (result.outcome.status == Status.PASSED, _is_unjudged(result), _score(result))
    )
    cases = [result.case for result in results if result.case is not None]
    assert worst.case is not None and worst.case.threshold is not None
    judged = [_score(result) for result in results if not _is_unjudged(result)]
    score = sum(judged) / len(judged) if judged else None
    failures = [
        failure.replace(message=f"trial {number}: {failure.message}")
        for number, result in enumerate(results, 1)
        for failure in result.outcome.failures
    ]
    said = below(score, worst.case.threshold, ())
    if said is not None:
        each = ", ".join("not judged" if _is_unjudged(result) else f"{_score(result):.2f}" for result in results)
        failures.append(Failure(cause=Cause.ASSERTION, message=f"{said} (trials: {each})"))
    costs = [case.cost for case in cases if case.cost is not None]
    warnings = tuple(dict.fromkeys(warning for result in results for warning in result.outcome.warnings))
    return worst.replace(
        outcome=worst.outcome.replace(
            status=Status.FAILED if failures else Status.PASSED,
            milliseconds=sum(result.outcome.milliseconds for result in results),
            failures=tuple(failures),
            not_judged=max(result.outcome.not_judged for result in results),
            warnings=warnings,
        ),
        logs=tuple(line for result in results for line in result.logs),
        case=worst.case.replace(
            score=score,
            model_calls=sum(case.model_calls for case in cases),
            input_tokens=sum(case.input_tokens for case in cases),
            output_tokens=sum(case.output_tokens for case in cases),
            cost=sum(costs) if costs else None,
            trials=_listed(results),
        ),
    )


def _listed(results: list[TestResult]) -> tuple[TrialResult, ...]:
    return tuple(
        TrialResult(
            trial=number,
            score=result.case.score if result.case else None,
            status=result.outcome.status,
            milliseconds=result.outcome.milliseconds,
            error=result.outcome.failures[0].message if result.outcome.failures else None,
        )
        for number, result in enumerate(results, 1)
    )


def _is_unjudged(result: TestResult) -> bool:
    """Whether a trial has no score because nothing of it was judged, and not because it failed."""
    return result.outcome.status == Status.PASSED and result.case is not None and result.case.score is None


def _score(result: TestResult) -> float:
    return result.case.score or 0.0 if result.case else 0.0
