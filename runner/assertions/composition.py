"""`any_of` and `all_of`: several assertions as one.

If a part could not be evaluated, the whole could not be evaluated either, unless the other parts decide it. If a judge
could not judge a part, the other parts decide; if there are none, the whole is not judged. With `--require-judge`, the
whole is not judged either, unless the other parts decide it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions import TYPES
from runner.assertions.base import Kind, NotEvaluated, Verdict
from runner.assertions.checking import check_all
from runner.assertions.checking import problem as problem_of
from runner.assertions.verdicts import shorten, show
from runner.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.assertions.base import AssertionResult, Evidence, Judges
    from runner.assertions.model import Assertion

MAX_LEVELS = 20


async def any_of(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """At least one of the assertions passes."""
    return await _together(assertion, evidence, judges, decides=True)


async def all_of(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """All of the assertions pass."""
    return await _together(assertion, evidence, judges, decides=False)


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types, or with the first bad one in it."""
    name, value = assertion.type, assertion.value
    if not isinstance(value, list) or not value:
        return f'"{name}" needs "value": a list of assertions'
    if _levels(value) > MAX_LEVELS:
        return f'"{name}" has more than {MAX_LEVELS} levels of assertions in it'
    for number, item in enumerate(value, 1):
        try:
            wrong = problem_of(_part(item))
        except ValueError as error:
            wrong = str(error)
        if wrong:
            return f'"{name}", assertion {number}: {wrong}'
    return None


def inner_assertions(assertion: Assertion) -> list[Assertion]:
    """The assertions in a valid one of these types."""
    return [_part(item) for item in assertion.value]


async def _together(assertion: Assertion, evidence: Evidence, judges: Judges, *, decides: bool) -> Verdict:
    """`decides`: the outcome of a part which is that of the whole."""
    details = await check_all(inner_assertions(assertion), evidence, judges)
    judged = [part for part in details if part.judged]
    decided = any(part.passed is decides and not part.error and not part.inconclusive for part in judged)
    held = decides if decided else not decides
    whole = Verdict(passed=held, expected=assertion.value, actual=evidence.output, details=details)
    if not decided and any(part.error for part in details):
        infrastructure = all(part.infrastructure for part in details if part.error)
        raise NotEvaluated(_said(details, errors=True), details, infrastructure)
    if not decided and any(part.inconclusive for part in judged):
        return whole.replace(passed=False, message=_said(details), inconclusive=True)
    if not decided and (not judged or (judges.required and len(judged) < len(details))):
        return whole.replace(passed=True, message=_unjudged(details), judged=False)
    if held is not assertion.negate:
        return whole
    count, rule = len(details), "any" if decides else "all"
    verb = "not to hold" if assertion.negate else "to hold"
    return whole.replace(message=f"Expected {rule} of {count} assertions {verb}, found {_said(details)}")


def _said(details: tuple[AssertionResult, ...], errors: bool = False) -> str:
    parts = []
    for number, part in enumerate(details, 1):
        if part.error or not errors:
            outcome = "not judged" if not part.judged else "passed" if part.passed else part.message
            parts.append(f"{number}. {part.type}: {shorten(outcome, 200)}")
    return shorten("; ".join(parts), 1000)


def _unjudged(details: tuple[AssertionResult, ...]) -> str:
    reasons = dict.fromkeys(part.message for part in details if not part.judged and part.message)
    return shorten("; ".join(reasons), 1000)


def _levels(value: Any) -> int:
    """How deep compositions are nested in a list of assertions, itself included."""
    count, level = 0, [value]
    while level:
        count += 1
        parts = [part for parts in level if isinstance(parts, list) for part in parts if isinstance(part, dict)]
        level = [part.get("value") for part in parts if part.get("type") in ("any_of", "all_of")]
    return count


def _part(item: Any) -> Assertion:
    """An assertion as written in a list. Raises ValueError, which says what is wrong."""
    from runner.assertions.model import Assertion
    from runner.shapes.declared import complaints_of
    from runner.shapes.fields import as_checked, known_fields

    if isinstance(item, str):
        item = {"type": item}
    if not isinstance(item, dict):
        raise ValueError(f"an assertion is an object with a type, not {show(item, 100)}")
    fields = as_checked({str(key): value for key, value in item.items()}, Assertion)
    _known("assertion type", fields.get("type", "equals"), TYPES)
    for field in fields:
        _known("field", field, known_fields(Assertion))
    try:
        return Assertion.model_validate(fields)
    except ValueError as error:
        first = complaints_of(error)[0]
        raise ValueError(f'"{".".join(map(str, first["loc"]))}": {first["msg"]}') from error


def _known(what: str, name: Any, names: Collection[str]) -> None:
    if not isinstance(name, str) or name not in names:
        hint = did_you_mean(str(name), names)
        raise ValueError(f"unknown {what} {show(name, 100)}" + (f"; {hint}" if hint else ""))


_TAKES: dict[str, Any] = {"fields": ("value",), "needs": ("value",), "parts": True, "inner": inner_assertions}
ASSERTIONS = {
    "any_of": Kind(check=any_of, problem=problem, **_TAKES),
    "all_of": Kind(check=all_of, problem=problem, **_TAKES),
}
"""Types of assertions that are checked here."""
