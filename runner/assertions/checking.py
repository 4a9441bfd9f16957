"""How an assertion on an agent's answer is checked, and what can be wrong with one; `any_of` and `all_of`, which are
several assertions as one.

If a part could not be evaluated, the whole could not be evaluated either, unless the other parts decide it. If a judge
could not judge a part, the other parts decide; if there are none, the whole is not judged. With `--require-judge`, the
whole is not judged either, unless the other parts decide it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from runner.assertions import TYPES
from runner.assertions.base import AssertionKind, AssertionResult, CheckResult, CutAnswer, NotEvaluated, assertion_kind
from runner.assertions.model import Assertion
from runner.assertions.results import not_evaluated, result_of, shorten, show
from runner.errors import did_you_mean
from runner.shapes.declared import FREE, known_fields
from runner.shapes.shape import Misfit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from runner.assertions.base import Evidence, Judges

_COMMON = frozenset({"type", "message", "negate", "weight", "required"})
"""Fields that all types take."""
MAX_LEVELS = 20


@cache
def type_named(name: str) -> AssertionKind:
    """A type of assertions, by its name."""
    kind: AssertionKind = import_module(f"runner.assertions.{TYPES[name]}").ASSERTIONS[name]
    return kind


async def check(assertion: Assertion, evidence: Evidence, judges: Judges) -> AssertionResult:
    """Checks one assertion. Never raises: what could not be evaluated is a failed result with `error`, also when
    negated; what its judge could not judge passes without being `judged`, also when negated, unless a judge is
    required."""
    try:
        verdict = await type_named(assertion.type).check(assertion, evidence, judges)
    except CutAnswer as error:
        if assertion.negate:
            return _not_evaluated(assertion, evidence, str(error), error)
        verdict = CheckResult(passed=False, expected=assertion.value, actual=evidence.output, message=str(error))
    except NotEvaluated as error:
        return _not_evaluated(assertion, evidence, str(error), error)
    except Exception as error:  # a fault in a check or a judge is not a verdict on the answer
        return _not_evaluated(assertion, evidence, f"{type(error).__name__}: {error}", NotEvaluated(""))
    return result_of(
        assertion.type,
        verdict,
        not verdict.judged and judges.flags.required,
        negate=assertion.negate,
        message=assertion.message,
        path=assertion.path,
        name=assertion.name,
    )


async def check_all(assertions: Sequence[Assertion], evidence: Evidence, judges: Judges) -> tuple[AssertionResult, ...]:
    """Checks all, whatever fails, and answers in their order; those that wait for models or scripts wait together."""
    if sum(_waits(one.type, one.value) for one in assertions) < 2:
        return tuple([await check(assertion, evidence, judges) for assertion in assertions])
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(check(assertion, evidence, judges)) for assertion in assertions]
    return tuple([task.result() for task in tasks])


def problem_with_assertion(assertion: Assertion, *, has_expected: bool = False) -> str | None:
    """What is wrong with an assertion as written, nested ones included; None when it can be checked. `has_expected`
    tells that the case has `expected`, which an `equals` without `value` compares with."""
    kind = type_named(assertion.type)
    for field in sorted(assertion.model_fields_set.difference(_COMMON, kind.fields)):
        if getattr(assertion, field) is not None:
            takes = ", ".join(kind.fields)
            return f'"{assertion.type}" does not accept "{field}"; it accepts {takes}, message and negate'
    return None if assertion.type == "equals" and has_expected else kind.problem(assertion)


async def any_of(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """At least one of the assertions passes."""
    return await _together(assertion, evidence, judges, decides=True)


async def all_of(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """All of the assertions pass."""
    return await _together(assertion, evidence, judges, decides=False)


def problem_with_composition(assertion: Assertion) -> str | None:
    """What is wrong with an `any_of` or `all_of`, or with the first bad assertion in it."""
    name, value = assertion.type, assertion.value
    if not isinstance(value, list) or not value:
        return f'"{name}" needs "value": a list of assertions'
    if _levels(value) > MAX_LEVELS:
        return f'"{name}" nests assertions more than {MAX_LEVELS} levels deep'
    for number, item in enumerate(value, 1):
        try:
            wrong = problem_with_assertion(_part(item))
        except ValueError as error:
            wrong = str(error)
        if wrong:
            return f'"{name}", assertion {number}: {wrong}'
    return None


def inner_assertions(assertion: Assertion) -> list[Assertion]:
    """The assertions in a valid `any_of` or `all_of`."""
    return [_part(item) for item in assertion.value]


def _waits(name: object, value: object) -> bool:
    """Whether an assertion of that type, or one of its parts, waits for a model or a script."""
    if not isinstance(name, str) or name not in TYPES:
        return False
    kind = type_named(name)
    parts = value if kind.parts and isinstance(value, list) else ()
    return kind.waits or any(isinstance(part, dict) and _waits(part.get("type"), part.get("value")) for part in parts)


def _not_evaluated(assertion: Assertion, evidence: Evidence, why: str, error: NotEvaluated) -> AssertionResult:
    text = shorten(f'Cannot evaluate "{assertion.type}": {why}', 1000)
    message = f"{assertion.message} ({text})" if assertion.message else text
    written = {"path": assertion.path, "name": assertion.name}
    return not_evaluated(assertion.type, error, message, assertion.value, evidence.output, **written)


async def _together(assertion: Assertion, evidence: Evidence, judges: Judges, *, decides: bool) -> CheckResult:
    """`decides`: the outcome of a part which is that of the whole."""
    details = await check_all(inner_assertions(assertion), evidence, judges)
    judged = [part for part in details if part.judged]
    decided = any(part.passed is decides and not part.error and not part.inconclusive for part in judged)
    held = decides if decided else not decides
    whole = CheckResult(passed=held, expected=assertion.value, actual=evidence.output, details=details)
    if not decided and any(part.error for part in details):
        infrastructure = all(part.infrastructure for part in details if part.error)
        raise NotEvaluated(_said(details, errors=True), details, infrastructure)
    if not decided and any(part.inconclusive for part in judged):
        return whole.replace(passed=False, message=_said(details), inconclusive=True)
    if not decided and (not judged or (judges.flags.required and len(judged) < len(details))):
        reasons = dict.fromkeys(part.message for part in details if not part.judged and part.message)
        return whole.replace(passed=True, message=shorten("; ".join(reasons), 1000), judged=False)
    if held is not assertion.negate:
        return whole
    count, rule = len(details), "any" if decides else "all"
    verb = "not to pass" if assertion.negate else "to pass"
    return whole.replace(message=f"Expected {rule} of {count} assertions {verb}, found {_said(details)}")


def _said(details: tuple[AssertionResult, ...], errors: bool = False) -> str:
    parts = []
    for number, part in enumerate(details, 1):
        if part.error or not errors:
            outcome = "not judged" if not part.judged else "passed" if part.passed else part.message
            parts.append(f"{number}. {part.type}: {shorten(outcome, 200)}")
    return shorten("; ".join(parts), 1000)


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
    if isinstance(item, str):
        item = {"type": item}
    if not isinstance(item, dict):
        raise ValueError(f"an assertion is an object with a type, not {show(item, 100)}")
    fields = {str(key): value for key, value in item.items()}
    _known("assertion type", "equals" if fields.get("type") is None else fields["type"], TYPES)
    for field in (name for name in fields if not name.startswith(FREE)):
        _known("field", field, known_fields(Assertion))
    try:
        return Assertion.model_validate(fields)
    except Misfit as error:
        first = error.complaints[0]
        known = f"; it is one of {', '.join(first.wanted)}" if first.kind == "choice" else ""
        raise ValueError(first.sentence(fields) + known) from error


def _known(what: str, name: Any, names: Collection[str]) -> None:
    if not isinstance(name, str) or name not in names:
        hint = did_you_mean(str(name), names)
        raise ValueError(f"unknown {what} {show(name, 100)}" + (f"; {hint}" if hint else ""))


ASSERTIONS = {
    "any_of": assertion_kind(any_of, problem_with_composition, "value", parts=True, inner=inner_assertions),
    "all_of": assertion_kind(all_of, problem_with_composition, "value", parts=True, inner=inner_assertions),
}
