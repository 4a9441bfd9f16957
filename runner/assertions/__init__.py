"""Assertions on an agent's answer: the table of types, how one is checked, and what can be wrong with one.

A new type is a function in a module here, a line in `TYPES`, and a section in `docs/case-assertions.md`. A module has,
beside its functions, `problem(assertion)`: what is wrong with an assertion of one of its types, found when the case
file is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import AssertionResult, NotEvaluated
from scripttest.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.assertions.base import Evaluate, Evidence, Judges
    from runner.cases.model import Assertion


class Kind(Value):
    """An assertion type."""

    place: str
    """`module:function` that evaluates it."""
    fields: tuple[str, ...]
    """What it takes beside `type`, `message` and `negate`."""


TYPES = {
    "equals": Kind(place="equality:equals", fields=("value",)),
    "contains": Kind(place="text:contains", fields=("value",)),
    "not_contains": Kind(place="text:not_contains", fields=("value",)),
    "icontains": Kind(place="text:icontains", fields=("value",)),
    "starts_with": Kind(place="text:starts_with", fields=("value",)),
    "regex": Kind(place="pattern:regex", fields=("value", "pattern")),
    "json_path": Kind(place="paths:json_path", fields=("path", "value")),
    "type": Kind(place="paths:type_is", fields=("path", "value")),
    "json_schema": Kind(place="schema:json_schema", fields=("value",)),
    "tool_called": Kind(place="tools:tool_called", fields=("name", "value")),
    "tool_result": Kind(place="tools:tool_result", fields=("value",)),
    "tool_sequence": Kind(place="sequence:tool_sequence", fields=("value", "mode")),
    "script": Kind(place="script:script", fields=("script", "use", "value", "options")),
    "agent": Kind(place="agent:agent", fields=("use", "value", "criteria", "options")),
    "any_of": Kind(place="composition:any_of", fields=("value",)),
    "all_of": Kind(place="composition:all_of", fields=("value",)),
    "latency_ms": Kind(place="measures:latency_ms", fields=("value",)),
    "tokens": Kind(place="measures:tokens", fields=("value",)),
    "cost": Kind(place="measures:cost", fields=("value",)),
    "snapshot": Kind(place="snapshot:snapshot", fields=("name",)),
}
"""Every type, its function and its fields. Modules are imported on use."""

FIELDS = frozenset(field for kind in TYPES.values() for field in kind.fields)
"""All fields that some type takes."""

_FOREIGN = {name: FIELDS.difference(kind.fields) for name, kind in TYPES.items()}
"""Fields that a type does not take."""

_JUDGED = ("agent", "script")
"""Types that wait for a model or a script."""

_evaluators: dict[str, Evaluate] = {}
_problems: dict[str, Callable[[Assertion], str | None]] = {}


async def check(assertion: Assertion, evidence: Evidence, judges: Judges) -> AssertionResult:
    """Checks one assertion. Never raises: what could not be evaluated is a failed result with `error`, also when
    negated; what its judge could not judge passes without being `judged`, also when negated, unless a judge is
    required."""
    try:
        verdict = await _evaluator(assertion.type)(assertion, evidence, judges)
    except NotEvaluated as error:
        return _not_evaluated(assertion, evidence, str(error), error)
    except Exception as error:  # a fault in a check or a judge is no verdict on the answer
        return _not_evaluated(assertion, evidence, f"{type(error).__name__}: {error}", NotEvaluated(""))
    passed = verdict.passed is not assertion.negate if verdict.judged else not judges.required
    message = verdict.message if passed or not verdict.judged else assertion.message or verdict.message
    if not passed and not verdict.judged and not verdict.details:
        message = unjudged(message)
    return AssertionResult(
        type=assertion.type,
        passed=passed,
        expected=verdict.expected,
        actual=verdict.actual,
        message=message,
        error=False,
        score=verdict.score if verdict.judged else None,
        details=verdict.details,
        path=assertion.path,
        name=assertion.name,
        judged=verdict.judged,
    )


def unjudged(reason: str) -> str:
    """Why what its judge could not judge fails."""
    return f"Not judged, which --require-judge does not accept{': ' if reason else ''}{reason}"


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
    kind = TYPES[assertion.type]
    if not _FOREIGN[assertion.type].isdisjoint(assertion.model_fields_set):
        for field in sorted(assertion.model_fields_set.intersection(_FOREIGN[assertion.type])):
            if getattr(assertion, field) is not None:
                takes = ", ".join(kind.fields)
                return f'"{assertion.type}" does not take "{field}"; it takes {takes}, message and negate'
    if assertion.type == "equals" and has_expected:
        return None
    of_type = _problems.get(assertion.type)
    if of_type is None:
        of_type = _problems[assertion.type] = _of_module(kind, "problem")
    return of_type(assertion)


def _evaluator(name: str) -> Evaluate:
    known = _evaluators.get(name)
    if known is None:
        kind = TYPES[name]
        known = _evaluators[name] = _of_module(kind, kind.place.partition(":")[2])
    return known


def _of_module(kind: Kind, function: str) -> Any:
    from importlib import import_module

    return getattr(import_module(f"runner.assertions.{kind.place.partition(':')[0]}"), function)


def _waits(assertion: Assertion) -> bool:
    return assertion.type in _JUDGED or (assertion.type in ("any_of", "all_of") and _holds_judged(assertion.value))


def _holds_judged(parts: object) -> bool:
    return isinstance(parts, list) and any(
        isinstance(part, dict) and (part.get("type") in _JUDGED or _holds_judged(part.get("value"))) for part in parts
    )


def _not_evaluated(assertion: Assertion, evidence: Evidence, why: str, error: NotEvaluated) -> AssertionResult:
    from runner.assertions.verdicts import shorten

    text = shorten(f'Cannot evaluate "{assertion.type}": {why}', 1000)
    message = f"{assertion.message} ({text})" if assertion.message else text
    return AssertionResult(
        type=assertion.type,
        passed=False,
        expected=assertion.value,
        actual=evidence.output,
        message=message,
        error=True,
        score=None,
        details=error.details,
        path=assertion.path,
        name=assertion.name,
        infrastructure=error.infrastructure,
    )
