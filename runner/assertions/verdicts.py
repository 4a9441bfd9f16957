"""What a failed assertion says: `Expected the output to contain "a", found "b"`, long values shortened."""

from __future__ import annotations

import json

from runner.assertions.base import NotEvaluated, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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
) -> Verdict:
    """The verdict on a check, with a message if the assertion fails.

    Args:
        held: the result of the check, before `negate`
        verb: for example `to contain`; `negate` puts "not" before it, or removes it
        wanted: the expected value as text; by default as JSON
        found: the actual value as text; by default as JSON
        form: says whether only the form of texts differs; see `form_only`
    """
    if held is not assertion.negate:
        return Verdict(passed=held, expected=expected, actual=actual)
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
    return Verdict(passed=held, expected=expected, actual=actual, message=message)


def nothing_to_judge(assertion: Assertion, expected: Any, actual: Any, message: str) -> Verdict:
    """A failure for want of anything to look at, which `negate` does not turn into success."""
    if assertion.negate:
        raise NotEvaluated(message[0].lower() + message[1:])
    return Verdict(passed=False, expected=expected, actual=actual, message=message)


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


def shorten(text: str, limit: int = LIMIT) -> str:
    """A text of at most about `limit` characters, without its middle if it is longer."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]} …{len(text) - 2 * half} more… {text[-half:]}"
