"""What `--strict` makes of a result: its warnings are failures."""

from __future__ import annotations

from runner.results.model import TestResult
from scripttest import Cause, Failure, ResultWarning, Status

CAUSES = {"pending": Cause.PENDING}
"""Kind of a warning → cause of the failure that it becomes; `error` for the others."""


def strict(result: TestResult) -> TestResult:
    """A result in which every warning has become a failure, after those that it had; other results as they are."""
    outcome = result.outcome
    if not outcome.warnings:
        return result
    failures = (*outcome.failures, *map(_failure, outcome.warnings))
    outcome = outcome.replace(status=Status.FAILED, failures=failures, warnings=(), skip_reason=None)
    return result.replace(outcome=outcome, cut_short=False)


def _failure(warning: ResultWarning) -> Failure:
    cause = CAUSES.get(warning.kind, Cause.ERROR)
    return Failure(cause=cause, message=warning.message, frames=warning.frames, code_frame=warning.code_frame)
