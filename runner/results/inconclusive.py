"""`--on-inconclusive pass|fail|skip`: decides how inconclusive results count."""

from __future__ import annotations

from collections.abc import Sequence

from runner.results.model import TestResult
from runner.results.verdict import Verdict
from scripttest import Cause, Failure, ResultWarning, Status

FLAG = "--on-inconclusive"
CHOICES = ("pass", "fail", "skip")
KIND = "inconclusive"
"""The kind of the warning for an inconclusive result that passes."""


def apply_inconclusive_policy(result: TestResult, how: str | None) -> TestResult:
    """A result as it counts, when inconclusive ones pass, fail or are skipped; None: they are errors."""
    if how is None or result.verdict is not Verdict.INCONCLUSIVE:
        return result
    outcome = result.outcome
    if how == "fail":
        failures = tuple(map(_as_failure, outcome.failures))
        return result.replace(outcome=outcome.replace(failures=failures))
    said = outcome.failures[0].message
    if how == "skip":
        return result.replace(outcome=outcome.replace(status=Status.SKIPPED, failures=(), skip_reason=said))
    warnings = (*outcome.warnings, ResultWarning(kind=KIND, message=said))
    return result.replace(outcome=outcome.replace(status=Status.PASSED, failures=(), warnings=warnings))


def policy_in(flags: Sequence[str]) -> str | None:
    """What the flags of a run say of inconclusive results; None: nothing."""
    return flags[flags.index(FLAG) + 1] if FLAG in flags else None


def _as_failure(failure: Failure) -> Failure:
    return failure.replace(cause=Cause.ASSERTION) if failure.cause == Cause.INCONCLUSIVE else failure
