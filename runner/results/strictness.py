"""`--strict`: turns the warnings of a result into failures."""

from __future__ import annotations

from runner.results.model import TestResult
from scripttest import Cause, Failure, ResultWarning, Status

CAUSES = {"pending": Cause.PENDING, "cut": Cause.CUT}
"""Kind of a warning → cause of the failure that it becomes; `error` for all other kinds."""

TOLD = ("retried",)
"""Kinds of warnings that only say how a result was made, and that fail nothing."""


def strict(result: TestResult) -> TestResult:
    """A result in which every warning has become a failure, after those that it had; other results as they are."""
    outcome = result.outcome
    told = tuple(warning for warning in outcome.warnings if warning.kind in TOLD)
    failures = (*outcome.failures, *(_failure(warning) for warning in outcome.warnings if warning.kind not in TOLD))
    if len(failures) == len(outcome.failures):
        return result
    outcome = outcome.replace(status=Status.FAILED, failures=failures, warnings=told, skip_reason=None)
    return result.replace(outcome=outcome, cut_short=False)


def _failure(warning: ResultWarning) -> Failure:
    cause = CAUSES.get(warning.kind, Cause.ERROR)
    return Failure(cause=cause, message=warning.message, frames=warning.frames, code_frame=warning.code_frame)
