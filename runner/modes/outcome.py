"""What has come of a case: its outcome in any mode, the answers of its agent, and the failures of assertions that do
not hold. What is needed to grade answers again is described in `runner.record.case_result`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.agents.chat import ModelCall, totals_of
from runner.assertions.base import AssertionResult
from runner.assertions.values import COMPARED, comparable, difference
from runner.record.case_result import AnswerUsage, CheckpointResult, Regradable, ScoreResult, TurnResult, TurnUsage
from scripttest import Cause, Failure
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
VALUE_LIMIT = 4000
"""Characters of an expected or actual value that are kept as text."""


class ModeOutcome(Value):
    """What has come of a case so far, in any mode."""

    answer: Answer | None = None
    """The last answer of the agent."""
    finish_reason: str = ""
    """Of the last answer of the model, also one that cannot be used; empty if there was none."""
    messages: int = 0
    """How many messages the agent got at last."""
    answers: tuple[AnswerUsage, ...] = ()
    """What is known of each answer, for grading it again."""
    assertions: tuple[AssertionResult, ...] = ()
    failures: tuple[Failure, ...] = ()
    skip_reason: str | None = None
    """Why the case is skipped; a failure outranks it."""
    transcript: tuple[dict[str, Any], ...] = ()
    """The messages, in a case of several turns."""
    turns: tuple[TurnResult, ...] = ()
    checkpoints: tuple[CheckpointResult, ...] = ()
    final_assertions: tuple[AssertionResult, ...] | None = None
    score: float | None = None
    scores: tuple[ScoreResult, ...] = ()
    simulator: str | None = None
    """The simulator that plays the user."""
    threshold: float | None = None
    """The score from which on a conversation passes."""

    @property
    def is_graded(self) -> bool:
        """Whether the case has assertions or a score."""
        of_turns = any(turn.assertions for turn in self.turns)
        return self.threshold is not None or any((self.assertions, self.checkpoints, self.final_assertions, of_turns))

    @property
    def checks_nothing(self) -> bool:
        """Whether nothing of the case was checked."""
        criteria = any(entry.assertions for entry in self.scores)
        return not (self.assertions or self.checkpoints or criteria or self.simulator)

    def not_judged(self, *, of_scores: bool) -> int:
        """How many judges could not judge; `of_scores`: criteria of scores are not among the assertions."""
        scores = self.scores if of_scores else ()
        criteria = sum(criterion.not_judged for entry in scores for criterion in entry.assertions)
        checkpoints = sum(checkpoint.not_judged for checkpoint in self.checkpoints)
        return criteria + checkpoints + sum(result.not_judged for result in self.assertions)


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


def answered(evidence: Evidence, calls: Sequence[ModelCall]) -> AnswerUsage:
    """An answer, by what assertions see of it and the calls of models for it."""
    agents = evidence.agents
    return AnswerUsage(
        milliseconds=evidence.milliseconds,
        usage=usage_of(calls),
        model_calls=evidence.model_calls,
        agents=None if agents is None or len(agents) > MOST_AGENTS else agents,
    )


def regradable(case: Case, answers: Sequence[AnswerUsage]) -> Regradable | None:
    """The part of a report that is needed to grade a case again; None when the agent gave no answer."""
    if not answers:
        return None
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
