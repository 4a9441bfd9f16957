"""The criteria of a case and the votes of its judges, and how much noise these add to figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assertions.base import AssertionResult
    from runner.record.case_result import CaseResult, CheckpointResult, CriterionResult
    from runner.shapes.codec import Number

PASSED, SCORE = "passed", "score"
"""Measures that every report has; all others are ids of criteria."""
SUITE, TAG, CRITERION, CHECKPOINT = GROUPS = ("suite", "tag", "criterion", "checkpoint")
"""Kinds of groups of cases, in the order in which they are shown."""
FEWEST = 10
"""The noise is estimated from this many answers with two votes on."""
_Z = 1.959964
_MOST = 0.25
"""The highest variance of a value that is 0 or 1."""


class Judging(Value):
    """The votes on one run of a case."""

    criteria: int
    """How many assertions and criteria were judged, by any judge."""
    voted: int
    """How many of them have at least two votes."""
    votes: int
    verdicts: Number
    """Half of the squared differences of the first two votes on each, 1 and 0; their sum."""
    scores: Number
    """The same for their scores, where they have some."""
    __strict__ = True


class JudgesNoise(Value):
    """Half the width of the 95 % intervals that the votes of judges alone cause, from 0 to 1."""

    answers: int
    """How many answers have several votes."""
    pass_rate: float
    mean_score: float | None
    criterion: float
    __members__ = "answers pass_rate mean_score"
    __beside__ = "criterion"
    __writers__ = {"mean_score": lambda noise: ... if noise.mean_score is None else noise.mean_score}  # noqa: RUF012

    def of(self, measure: str) -> float:
        """The noise of `passed`, `score`, or the criterion with this id."""
        return {PASSED: self.pass_rate, SCORE: self.mean_score or 0.0}.get(measure, self.criterion)


class NoiseSum:
    """Adds up the votes on several cases."""

    def __init__(self) -> None:
        self._cases = self._voted = self._votes = 0
        self._verdicts = self._scores = 0.0
        self._of_passed = self._of_score = self._of_runs = 0.0

    def add(self, runs: Sequence[Judging | None]) -> None:
        """Adds the runs of a case."""
        self._cases += bool(runs)
        for run in filter(None, runs):
            share = 1 / len(runs) ** 2
            self._voted += run.voted
            self._votes += run.votes
            self._verdicts += run.verdicts
            self._scores += run.scores
            self._of_passed += share * run.voted
            self._of_score += share * run.voted / run.criteria**2
            self._of_runs += share

    @property
    def figures(self) -> tuple[float, ...]:
        """The number of answers with votes, and the variances of rate, score and criterion; empty: too few votes."""
        if self._voted < FEWEST:
            return ()
        passed = min(self._verdicts / self._voted * self._of_passed, _MOST * self._of_runs)
        of_vote = self._scores / self._votes
        variances = (passed, of_vote * self._of_score, of_vote * self._of_runs)
        return (self._voted, *(one / self._cases**2 for one in variances))


def noise_of(*sides: NoiseSum) -> JudgesNoise | None:
    """The noise of a figure, or of the difference of two; None where there are too few votes."""
    known = [side.figures for side in sides if side.figures]
    if not known:
        return None
    answers, *variances = map(sum, zip(*known, strict=True))
    passed, score, criterion = (_Z * math.sqrt(one) for one in variances)
    return JudgesNoise(answers=int(answers), pass_rate=passed, mean_score=score, criterion=criterion)


def judging_of(case: CaseResult | None, judgements: Sequence[AssertionResult] = ()) -> Judging | None:
    """The votes on a case, or on what a script test let judge; None when no question has several votes."""
    checks: list[AssertionResult | CriterionResult] = list(judgements)
    if case is not None:
        checks += [check for entry in case.scores for check in entry.assertions]
        if not case.scores:
            checks += () if case.in_turns else case.assertions
            checks += [check for turn in case.turns for check in turn.assertions]
            checks += case.final_assertions or ()
        checks += [check for checkpoint in case.checkpoints or () for check in checkpoint.assertions]
    if not any(check.votes or getattr(check, "details", ()) for check in checks):
        return None
    judged = list(_judged(checks))
    cast = [
        [vote for vote in check.votes if vote.passed is not None] for check in judged if check.agreement is not None
    ]
    voted = [votes for votes in cast if len(votes) > 1]
    if not voted:
        return None
    verdicts = scores = 0.0
    for one, other, *_ in voted:
        verdict = bool(one.passed) - bool(other.passed)
        first, second = score_in(one.score), score_in(other.score)
        verdicts += verdict**2 / 2
        scores += (verdict if first is None or second is None else first - second) ** 2 / 2
    votes = sum(map(len, voted))
    return Judging(criteria=len(judged), voted=len(voted), votes=votes, verdicts=verdicts, scores=scores)


def _judged(checks: Iterable[AssertionResult | CriterionResult]) -> Iterator[AssertionResult | CriterionResult]:
    for check in checks:
        if details := getattr(check, "details", ()):
            yield from _judged(details)
        elif check.judged and not check.error:
            yield check


def score_in(value: Any) -> float | None:
    """A score from 0 to 1; None for anything else, such as NaN, a text, or a number outside of that."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= 1 else None


class Group(Value):
    """A group of cases: those of a `suite` or a `tag`, or those with a `criterion` or a `checkpoint`."""

    kind: str
    name: str


def criteria_of(case: CaseResult) -> dict[str, float]:
    """Name of a criterion, its id or else its text → 1 or 0, or its score: of scores, of their assertions, and of
    checkpoints; the mean where there are several of a name. Those that nobody could judge are left out."""
    values = [(entry.name, score_in(entry.score)) for entry in case.scores]
    values += [(group.name, _value(check)) for group, check in _checks(case)]
    found: dict[str, list[float]] = {}
    for name, value in values:
        if name and value is not None:
            found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in found.items()}


def groups_of(case: CaseResult) -> list[Group]:
    """The criteria and the checkpoints of a case, named as by `criteria_of`."""
    return [group for group in dict.fromkeys(group for group, _ in _checks(case)) if group.name]


def _checks(case: CaseResult) -> Iterator[tuple[Group, CriterionResult | CheckpointResult]]:
    for entry in case.scores:
        for criterion in entry.assertions:
            yield Group(kind=CRITERION, name=criterion.id or criterion.text), criterion
    for checkpoint in case.checkpoints or ():
        yield Group(kind=CHECKPOINT, name=checkpoint.id), checkpoint


def _value(check: CriterionResult | CheckpointResult) -> float | None:
    """1 or 0, or the score; None: it was not judged, or votes did not decide."""
    if not check.judged or check.inconclusive:
        return None
    score = score_in(getattr(check, "score", None))
    return float(check.passed) if score is None else score
