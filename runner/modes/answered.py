"""The answers of the agent in a case: what assertions look at, and what is needed to grade them again, for which see
`runner.results.regradable`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from runner.agents.chat import ModelCall, taken
from runner.results.case_result import TurnUsage
from runner.results.regradable import Answered, Regradable
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.assertions.base import Evidence, ToolUse
    from runner.cases.model import Case

LEFT_OUT = ("id", "input", "messages", "before", "after", "depends_on", "skip")
"""Fields of a case that are elsewhere in its result, or do not count when it is graded again."""
LONGEST = 100_000
"""Characters of a case that a report keeps."""
MOST_AGENTS = 1000
"""Agents that were asked for one answer and that a report keeps."""


def usage_of(calls: Sequence[ModelCall]) -> TurnUsage | None:
    """The tokens and costs of several calls of models; None when one does not report them."""
    took, usages = taken(calls), [call.usage for call in calls]
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
    tools: tuple[ToolUse, ...]
    """The tools that were called in this turn."""
    milliseconds: float
    evidence: Evidence
    """What assertions on this turn look at."""
    calls: tuple[ModelCall, ...]
    """The calls of models for this answer."""

    @property
    def usage(self) -> TurnUsage | None:
        """The tokens and costs of the calls; None when one does not report them."""
        return usage_of(self.calls)


def answered(evidence: Evidence, calls: Sequence[ModelCall]) -> Answered:
    """An answer, by what assertions see of it and the calls of models for it."""
    agents = evidence.agents
    return Answered(
        milliseconds=evidence.milliseconds,
        usage=usage_of(calls),
        model_calls=evidence.model_calls,
        agents=None if agents is None or len(agents) > MOST_AGENTS else agents,
    )


def regradable(case: Case, answers: Sequence[Answered]) -> Regradable | None:
    """The part of a report that is needed to grade a case again; None when the agent gave no answer."""
    if not answers:
        return None
    kept = {key: value for key, value in case.model_dump(exclude_unset=True).items() if key not in LEFT_OUT}
    is_short = len(json.dumps(kept, ensure_ascii=False)) <= LONGEST
    return Regradable(case=kept if is_short else None, answers=tuple(answers))
