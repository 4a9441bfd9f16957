"""From a check, or the answer of a judge, to the result of an assertion, a checkpoint or a criterion, and its message:
`Expected the output to contain "a", found "b"`, long values shortened."""

from __future__ import annotations

import json
from collections.abc import Mapping

from runner.assertions.base import AssertionResult, CheckResult, Judged, NotEvaluated
from scripttest.values import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.assertions.model import Assertion

SCALE = "scores are from 0 to 1, such as 0.8 for 8 of 10"
LIMIT = 500
"""Longest value in a message, in characters."""


def decide(
    assertion: Assertion,
    held: bool,
    expected: Any,
    actual: Any,
    verb: str,
    *,
    subject: str = "the output",
    wanted: str | None = None,
    found: str | None = None,
    form: Callable[[], str] | None = None,
) -> CheckResult:
    """The verdict on a check, with a message if the assertion fails.

    Args:
        held: the result of the check, before `negate`
        verb: for example `to contain`; `negate` puts "not" before it, or removes it
        wanted: the expected value as text; by default as JSON
        found: the actual value as text; by default as JSON
        form: says whether only the form of texts differs; see `form_only`"""
    if held is not assertion.negate:
        return CheckResult(passed=held, expected=expected, actual=actual)
    if assertion.negate:
        verb = verb.removeprefix("not ") if verb.startswith("not ") else f"not {verb}"
    wanted = show(expected) if wanted is None else wanted
    found = show(actual) if found is None else found
    if wanted != found:
        from runner.look_alikes import apart

        wanted, found = apart(wanted, found)
    message = f"Expected {subject} {verb} {wanted}, found {found}"
    if form is not None and not assertion.negate and (said := form()):
        message += f"; {said}"
    return CheckResult(passed=held, expected=expected, actual=actual, message=message)


def nothing_to_judge(assertion: Assertion, expected: Any, actual: Any, message: str) -> CheckResult:
    """A failure for want of anything to look at, which `negate` does not turn into success."""
    if assertion.negate:
        raise NotEvaluated(message[0].lower() + message[1:])
    return CheckResult(passed=False, expected=expected, actual=actual, message=message)


def score_of(answer: Mapping[str, Any]) -> float | None:
    """The score in a judge's answer, if it is a number from 0 to 1."""
    score = answer.get("score")
    return score if isinstance(score, (int, float)) and _is_number(score) and 0 <= score <= 1 else None


def off_scale(judge: str, score: Any) -> str:
    """The warning about a score of a judge that is a number, but not from 0 to 1; empty for all else."""
    if not _is_number(score) or 0 <= score <= 1:
        return ""
    return f"{judge} gave the score {score:g}, which does not count: {SCALE}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def show(value: Any, limit: int = LIMIT) -> str:
    """A value as compact JSON, shortened in the middle."""
    if isinstance(value, str):
        return json.dumps(shorten(value, limit), ensure_ascii=False)
    return shorten(json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str), limit)


LONGEST = 1_000_000
"""Characters of what an assertion has looked at that its result keeps."""


def shorten(text: str, limit: int = LIMIT) -> str:
    """A text of at most about `limit` characters, without its middle if it is longer."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} …{len(text) - 2 * half} more… {text[-half:]}"


def result_in(answer: Mapping[str, Any], expected: Any, actual: Any) -> CheckResult | None:
    """The verdict that a judge answered, `{passed, judged?, reason?, score?}`, also as `pass` and `message`; None when
    it says neither, or both and they contradict each other. `judged: false` says that it could not judge, unless it
    says no."""
    passed = answer.get("passed", answer.get("pass"))
    if isinstance(passed, bool) and answer.get("pass") is (not passed):
        return None
    why = answer.get("reason") or answer.get("message") or ""
    said = why if isinstance(why, str) else show(why)
    if answer.get("judged") is False and passed is not False:
        return CheckResult(passed=True, expected=expected, actual=actual, message=said, judged=False)
    if not isinstance(passed, bool):
        return None
    return CheckResult(passed=passed, expected=expected, actual=actual, message=said, score=score_of(answer))


def result_of(
    type: str,
    verdict: CheckResult,
    required: bool,
    *,
    negate: bool = False,
    message: str | None = None,
    path: str | None = None,
    name: str | None = None,
) -> AssertionResult:
    """The result of an assertion, from its verdict. `required`: `--require-judge`: whether an assertion that was not
    judged fails. Otherwise it passes, also if negated. `message`: message of a failure, instead of the verdict's.
    `path`: as written in the assertion, as is `name`."""
    passed = verdict.passed is not negate if verdict.judged else not required
    if verdict.inconclusive:
        passed = False
    said = verdict.message if passed or not verdict.judged or verdict.inconclusive else message or verdict.message
    if not passed and not verdict.judged and not verdict.details:
        said = f"Not judged, but --require-judge is set{': ' if said else ''}{said}"
    return AssertionResult(
        type=type,
        passed=passed,
        expected=verdict.expected,
        actual=_kept(verdict.actual),
        message=said,
        score=verdict.score if verdict.judged else None,
        details=verdict.details,
        path=path,
        name=name,
        judged=verdict.judged,
        **how_judged(verdict),
    )


def _kept(actual: Any) -> Any:
    """What an assertion has looked at, as results keep it: of a very long text the beginning and the end. The answer
    itself stands in its result."""
    if not isinstance(actual, str) or len(actual) <= LONGEST:
        return actual
    half = LONGEST // 2
    return f"{actual[:half]} ... {len(actual) - 2 * half} more characters ... {actual[-half:]}"


def how_judged(result: CheckResult | AssertionResult) -> dict[str, Any]:
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
        actual=_kept(actual),
        message=message,
        error=True,
        details=error.details,
        path=path,
        name=name,
        infrastructure=error.infrastructure,
    )
