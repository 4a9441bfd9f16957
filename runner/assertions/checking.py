"""How an assertion on an agent's answer is checked, and what can be wrong with one."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from runner.assertions import TYPES
from runner.assertions.base import AssertionResult, CutAnswer, NotEvaluated, Verdict
from runner.assertions.judged import not_evaluated, result_of
from runner.assertions.verdicts import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.assertions.base import Evidence, Judges, Kind
    from runner.assertions.model import Assertion

_COMMON = frozenset({"type", "message", "negate", "weight", "required"})
"""Fields that all types take."""


@cache
def type_named(name: str) -> Kind:
    """The kind of a type, by its name."""
    kind: Kind = import_module(f"runner.assertions.{TYPES[name]}").ASSERTIONS[name]
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
        verdict = Verdict(passed=False, expected=assertion.value, actual=evidence.output, message=str(error))
    except NotEvaluated as error:
        return _not_evaluated(assertion, evidence, str(error), error)
    except Exception as error:  # a fault in a check or a judge is not a verdict on the answer
        return _not_evaluated(assertion, evidence, f"{type(error).__name__}: {error}", NotEvaluated(""))
    return result_of(
        assertion.type,
        verdict,
        not verdict.judged and judges.required,
        negate=assertion.negate,
        message=assertion.message,
        path=assertion.path,
        name=assertion.name,
    )


async def check_all(assertions: Sequence[Assertion], evidence: Evidence, judges: Judges) -> tuple[AssertionResult, ...]:
    """Checks all, whatever fails, and answers in their order; those that wait for models or scripts wait together."""
    if sum(map(_waits, assertions)) < 2:
        return tuple([await check(assertion, evidence, judges) for assertion in assertions])
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(check(assertion, evidence, judges)) for assertion in assertions]
    return tuple([task.result() for task in tasks])


def problem(assertion: Assertion, *, has_expected: bool = False) -> str | None:
    """What is wrong with an assertion as written, nested ones included; None when it can be checked. `has_expected`
    tells that the case has `expected`, which an `equals` without `value` compares with."""
    kind = type_named(assertion.type)
    for field in sorted(assertion.model_fields_set.difference(_COMMON, kind.fields)):
        if getattr(assertion, field) is not None:
            takes = ", ".join(kind.fields)
            return f'"{assertion.type}" does not take "{field}"; it takes {takes}, message and negate'
    if assertion.type == "equals" and has_expected:
        return None
    return kind.problem(assertion)


def _waits(assertion: Assertion) -> bool:
    return _type_waits(assertion.type, assertion.value)


def _type_waits(name: object, value: object) -> bool:
    """Whether an assertion of that type, or one of its parts, waits for a model or a script."""
    if not isinstance(name, str) or name not in TYPES:
        return False
    kind = type_named(name)
    parts = value if kind.parts and isinstance(value, list) else ()
    return kind.waits or any(
        isinstance(part, dict) and _type_waits(part.get("type"), part.get("value")) for part in parts
    )


def _not_evaluated(assertion: Assertion, evidence: Evidence, why: str, error: NotEvaluated) -> AssertionResult:
    text = shorten(f'Cannot evaluate "{assertion.type}": {why}', 1000)
    message = f"{assertion.message} ({text})" if assertion.message else text
    return not_evaluated(
        assertion.type, error, message, assertion.value, evidence.output, assertion.path, assertion.name
    )
