"""The answers of an agent, what is kept of them for grading them again, and the failures of assertions on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.chat import ModelCall, totals_of
from runner.assertions.base import AssertionResult
from runner.assertions.values import COMPARED, comparable, difference
from runner.record.case_result import AnswerUsage, Regradable, TurnUsage
from scripttest import Cause, Failure
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.assertions.base import Evidence
    from runner.cases.model import Case


LEFT_OUT = ("id", "input", "messages", "before", "after", "depends_on", "skip")
"""Fields of a case that are elsewhere in its result, or do not count when it is graded again."""
LONGEST = 100_000
"""Characters of a case that a report keeps."""
MOST_AGENTS = 1000
"""Agents that were asked for one answer and that a report keeps."""
VALUE_LIMIT = 4000
"""Characters of an expected or actual value that are kept as text."""


def usage_of(calls: Sequence[ModelCall]) -> TurnUsage | None:
    """The tokens and costs of several calls of models; None when one does not report them."""
    took, usages = totals_of(calls), [call.usage for call in calls]
    if took.tokens is None:
        return None
    return TurnUsage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        cost=took.cost,
    )


class Exchange(Value):
    """A message to the agent and its answer."""

    answer: Answer
    evidence: Evidence
    """What assertions on this turn look at."""
    calls: tuple[ModelCall, ...]
    """The calls of models for this answer."""


def answered(evidence: Evidence, calls: Sequence[ModelCall]) -> AnswerUsage:
    """An answer, by what assertions see of it and the calls of models for it."""
    agents = evidence.agents
    return AnswerUsage(
        milliseconds=evidence.milliseconds,
        usage=usage_of(calls),
        model_calls=evidence.model_calls,
        agents=None if agents is None or len(agents) > MOST_AGENTS else agents,
    )


def regradable(case: Case, answers: Sequence[AnswerUsage]) -> Regradable:
    """The part of a report that is needed to grade a case again."""
    kept = {key: value for key, value in case.model_dump(exclude_unset=True).items() if key not in LEFT_OUT}
    is_short = len(json.dumps(kept, ensure_ascii=False)) <= LONGEST
    return Regradable(case=kept if is_short else None, answers=tuple(answers))


def failure_of(result: AssertionResult) -> Failure:
    """The failure of a failed assertion."""
    values = comparable(result.expected, result.actual) if result.type in COMPARED else None
    return Failure(
        cause=_cause_of(result),
        message=result.message or f"{result.type} does not hold",
        type=None if result.inconclusive else result.type,
        expected=result.expected,
        actual=result.actual,
        expected_text=_text(values[0] if values else result.expected),
        actual_text=_text(values[1] if values else result.actual),
        diff=difference(result.expected, result.actual) if values else None,
    )


def _cause_of(result: AssertionResult) -> Cause:
    if result.infrastructure:
        return Cause.INFRASTRUCTURE
    if result.inconclusive:
        return Cause.INCONCLUSIVE
    return Cause.ERROR if result.error else Cause.ASSERTION


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_LIMIT else f"{text[:VALUE_LIMIT]}... ({len(text)} characters)"
