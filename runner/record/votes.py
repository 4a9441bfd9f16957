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


PASSED, SCORE = "passed", "score"
FEWEST = 10
"""The noise is estimated from this many answers with two votes on."""
_Z = 1.959964
_MOST = 0.25
"""The highest variance of a value that is 0 or 1."""


class _Vote(Value):
    """The vote of one judge on one question."""

    score: float | None
    passed: bool


class Judging(Value):
    """The votes on one run of a case."""

    criteria: int
    """How many assertions and criteria were judged, by any judge."""
    voted: int
    """How many of them have at least two votes."""
    votes: int
    """How many votes these have."""
    verdicts: float
    """Half of the squared differences of the first two votes on each, 1 and 0; their sum."""
    scores: float
    """The same for their scores, where they have some."""


class JudgesNoise(Value):
    """How far figures would be off if the judges voted again: half of their 95 % intervals, from 0 to 1."""

    answers: int
    """On which there were several votes."""
    passed: float
    """The noise of a pass rate."""
    score: float
    """The noise of a mean score."""
    criterion: float
    """The noise of one criterion."""

    def of(self, measure: str) -> float:
        """The noise of `passed`, `score`, or the criterion with this id."""
        return {PASSED: self.passed, SCORE: self.score}.get(measure, self.criterion)


class _Variances(Value):
    """The variances of a pass rate, a mean score and a criterion."""

    answers: int
    passed: float
    score: float
    criterion: float


class NoiseSum:
    """Adds up the votes on several cases."""

    def __init__(self) -> None:
        self._cases = self._voted = self._votes = 0
        self._verdicts = self._scores = 0.0
        self._of_passed = self._of_score = self._of_runs = 0.0

    def add(self, runs: Sequence[Judging | None]) -> None:
        """Adds the runs of a case."""
        self._cases += bool(runs)
        for run in runs:
            if run is not None:
                share = 1 / len(runs) ** 2
                self._voted += run.voted
                self._votes += run.votes
                self._verdicts += run.verdicts
                self._scores += run.scores
                self._of_passed += share * run.voted
                self._of_score += share * run.voted / run.criteria**2
                self._of_runs += share

    def variances(self) -> _Variances | None:
        """How much figures scatter for the votes alone; None: there are too few votes."""
        if self._voted < FEWEST:
            return None
        passed = min(self._verdicts / self._voted * self._of_passed, _MOST * self._of_runs)
        of_vote = self._scores / self._votes
        cases = self._cases**2
        return _Variances(
            answers=self._voted,
            passed=passed / cases,
            score=of_vote * self._of_score / cases,
            criterion=of_vote * self._of_runs / cases,
        )


def noise_of(*sides: NoiseSum) -> JudgesNoise | None:
    """The noise of a figure, and of the difference of two where there are two sides; None where there are too few
    votes."""
    known = [found for side in sides if (found := side.variances()) is not None]
    if not known:
        return None
    return JudgesNoise(
        answers=sum(one.answers for one in known),
        passed=_Z * math.sqrt(sum(one.passed for one in known)),
        score=_Z * math.sqrt(sum(one.score for one in known)),
        criterion=_Z * math.sqrt(sum(one.criterion for one in known)),
    )


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
    return _judging(_votes_on(checks))


def _judging(checks: Iterable[list[_Vote]]) -> Judging | None:
    """Of checks that were judged, each with its votes, or none where it has no two on one question."""
    criteria = voted = votes = 0
    verdicts = scores = 0.0
    for cast in checks:
        criteria += 1
        if len(cast) < 2:
            continue
        voted, votes = voted + 1, votes + len(cast)
        one, other = cast[:2]
        verdict = one.passed - other.passed
        verdicts += verdict**2 / 2
        scores += (verdict if one.score is None or other.score is None else one.score - other.score) ** 2 / 2
    return Judging(criteria=criteria, voted=voted, votes=votes, verdicts=verdicts, scores=scores) if voted else None


def _votes_on(checks: Iterable[AssertionResult | CriterionResult]) -> Iterator[list[_Vote]]:
    for check in checks:
        if details := getattr(check, "details", ()):
            yield from _votes_on(details)
        elif check.judged and not check.error:
            cast = [
                _Vote(score=score_in(vote.score), passed=vote.passed) for vote in check.votes if vote.passed is not None
            ]
            yield cast if check.agreement is not None else []


CRITERION, CHECKPOINT = "criterion", "checkpoint"


def score_in(value: Any) -> float | None:
    """A score from 0 to 1; None for anything else, such as NaN, a text, or a number outside of that."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= 1 else None


class Group(Value):
    """A group of cases: those of a `suite` or a `tag`, or those with a `criterion` or a `checkpoint`."""

    kind: str
    name: str

    def __hash__(self) -> int:
        return hash((self.kind, self.name))


def criteria_of(case: CaseResult) -> dict[str, float]:
    """Name of a criterion, its id or else its text → 1 or 0, or its score: of scores, of their assertions, and of
    checkpoints; the mean where there are several of a name. Those that nobody could judge are left out."""
    found: dict[str, list[float]] = {}
    for entry in case.scores:
        score = score_in(entry.score)
        if entry.name and score is not None:
            found.setdefault(entry.name, []).append(score)
    for group, check in _checks(case):
        value = _value(check)
        if group.name and value is not None:
            found.setdefault(group.name, []).append(value)
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
