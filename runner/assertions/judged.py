"""Turns the answer of a judge into the result of an assertion, for assertions, checkpoints and criteria alike."""

from __future__ import annotations

from collections.abc import Mapping

from runner.assertions.base import AssertionResult, Judged, NotEvaluated, Verdict
from runner.assertions.verdicts import score_of, show
from scripttest.values import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def verdict_in(answer: Mapping[str, Any], expected: Any, actual: Any) -> Verdict | None:
    """The verdict that a judge answered, `{passed, judged?, reason?, score?}`, also as `pass` and `message`; None when
    it says neither, or both and they contradict each other. `judged: false` says that it could not judge, unless it
    says no."""
    passed = answer.get("passed", answer.get("pass"))
    if isinstance(passed, bool) and answer.get("pass") is (not passed):
        return None
    why = answer.get("reason") or answer.get("message") or ""
    said = why if isinstance(why, str) else show(why)
    if answer.get("judged") is False and passed is not False:
        return Verdict(passed=True, expected=expected, actual=actual, message=said, judged=False)
    if not isinstance(passed, bool):
        return None
    return Verdict(passed=passed, expected=expected, actual=actual, message=said, score=score_of(answer))


def result_of(
    type: str,
    verdict: Verdict,
    required: bool,
    *,
    negate: bool = False,
    message: str | None = None,
    path: str | None = None,
    name: str | None = None,
) -> AssertionResult:
    """The result of an assertion, from its verdict.

    Args:
        required: `--require-judge`: whether an assertion that was not judged fails. Otherwise it passes, also if
            negated.
        message: message of a failure, instead of the verdict's.
        path: as written in the assertion, as is `name`.
    """
    passed = verdict.passed is not negate if verdict.judged else not required
    if verdict.inconclusive:
        passed = False
    said = verdict.message if passed or not verdict.judged or verdict.inconclusive else message or verdict.message
    if not passed and not verdict.judged and not verdict.details:
        said = f"Not judged, which --require-judge does not accept{': ' if said else ''}{said}"
    return AssertionResult(
        type=type,
        passed=passed,
        expected=verdict.expected,
        actual=verdict.actual,
        message=said,
        score=verdict.score if verdict.judged else None,
        details=verdict.details,
        path=path,
        name=name,
        judged=verdict.judged,
        **how_judged(verdict),
    )


def how_judged(result: Verdict | AssertionResult) -> dict[str, Any]:
    """Fields about the judges of a verdict, or of its result."""
    return {name: getattr(result, name) for name in names_of(Judged)}


def not_evaluated(
    type: str,
    error: NotEvaluated,
    message: str,
    expected: Any,
    actual: Any,
    path: str | None = None,
    name: str | None = None,
) -> AssertionResult:
    """The result of an assertion that could not be made, whether it is negated or not."""
    return AssertionResult(
        type=type,
        passed=False,
        expected=expected,
        actual=actual,
        message=message,
        error=True,
        details=error.details,
        path=path,
        name=name,
        infrastructure=error.infrastructure,
    )
