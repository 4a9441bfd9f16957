"""`--on-inconclusive pass|fail|skip`: decides how inconclusive results count."""

from __future__ import annotations

from collections.abc import Sequence

from runner.results.model import TestResult
from runner.results.verdict import Verdict, verdict_in, verdict_on
from scripttest import Cause, Failure, ResultWarning, Status
from scripttest.typing_names import Record

FLAG = "--on-inconclusive"
CHOICES = ("pass", "fail", "skip")
KIND = "inconclusive"
"""The kind of the warning for an inconclusive result that passes."""
_OF_FAILED = ("error", "cause", "assertion_errors", "location", "stack_trace", "failures")


def settled(result: TestResult, how: str | None) -> TestResult:
    """A result as it counts, when inconclusive ones pass, fail or are skipped; None: they are errors."""
    if how is None or verdict_on(result) is not Verdict.INCONCLUSIVE:
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


def line_settled(record: Record, flags: Sequence[str]) -> Record:
    """The same for a line of a report; `flags` are those of its run."""
    if FLAG not in flags or verdict_in(record) is not Verdict.INCONCLUSIVE:
        return record
    how = flags[flags.index(FLAG) + 1]
    if how == "fail":
        cause = Cause.ASSERTION.value
        return {**record, "cause": cause, "failures": [{**one, "cause": cause} for one in record["failures"]]}
    kept = {key: value for key, value in record.items() if key not in _OF_FAILED}
    said = record["error"]
    if how == "skip":
        return {**kept, "status": Status.SKIPPED.value, "skip_reason": said}
    warnings = [*record.get("warnings", ()), {"kind": KIND, "message": said}]
    return {**kept, "status": Status.PASSED.value, "warnings": warnings}


def _as_failure(failure: Failure) -> Failure:
    return failure.replace(cause=Cause.ASSERTION) if failure.cause == Cause.INCONCLUSIVE else failure
