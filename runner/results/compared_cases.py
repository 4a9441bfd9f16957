"""Compares the cases of two reports by one measure, and decides the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.results.change_report import ComparedCase, Figures, Noise, Verdict
from runner.results.judged_cases import measured
from runner.results.looks import Looks
from runner.results.sides import Sides
from runner.results.stability import Attempt
from runner.statistics import PassCount
from runner.statistics.change import (
    Change,
    DetectableDifference,
    change_of,
    reach_of,
    score_change_of,
    score_reach_of,
    verdict_from,
)
from runner.statistics.distributions import ALPHA, LOOK_LEVELS
from runner.statistics.exact_tests import FALL, STEPS, CaseRuns, ScoredCase, broken_cases, single_case, suspects_of
from runner.statistics.intervals import Estimate, mean_of, suite_rate, variance
from scripttest.values import Value

_ALL_OR_NOTHING = {0.0, 1.0}


class JudgedChange(Value):
    """The result of a comparison by one measure."""

    verdict: Verdict
    cases: tuple[ComparedCase, ...]
    """The compared cases, with the results of their tests."""
    change: Change
    reach: DetectableDifference | None

    @property
    def cases_limit(self) -> bool:
        """Whether cases differ more from each other than runs of one case do."""
        error, count = self.change.standard_error, len(self.cases)
        if error is None or count < 2:
            return False
        return error * error < variance([-case.fall for case in self.cases]) / count / 2


def figures_of(runs: Sequence[Attempt], measure: str) -> Figures:
    """The values of a measure in some runs, without runs that do not have it."""
    return tuple([value for run in runs if (value := measured(run, measure)) is not None])


def judged(
    cases: Sequence[ComparedCase], margin: float, noise: Noise, too_many_broke: bool, looks: Looks
) -> JudgedChange:
    """The verdict on some cases; see `change_between`."""
    if noise is Noise.NONE:
        return _without_noise(cases, too_many_broke)
    pairs = [case.figures for case in cases]
    reach: DetectableDifference | None = None
    if _is_binary(pairs):
        runs = list(map(_runs_of, pairs))
        change = change_of(runs)
        broke = set(broken_cases(runs)) if not looks.ended_early else set()
        suspects = set(suspects_of(runs))
        reach = reach_of(runs, margin) if runs else None
        marked = tuple(
            case.replace(p=single_case(one).p, broke=at in broke, is_suspect=at in suspects)
            for at, (case, one) in enumerate(zip(cases, runs, strict=True))
        )
    else:
        scored = list(map(_scored, pairs))
        change, reach = score_change_of(scored), score_reach_of(scored, margin)
        marked = tuple(case.replace(is_suspect=case.fall >= FALL) for case in cases)
    verdict = verdict_on(change, marked, margin, too_many_broke, looks)
    return JudgedChange(verdict=verdict, cases=marked, change=change, reach=reach)


def verdict_on(
    change: Change, cases: Sequence[ComparedCase], margin: float, too_many_broke: bool, looks: Looks
) -> Verdict:
    """The word for a change. Too many broken runs hide a fall, and never one that was seen."""
    word = verdict_from(
        change,
        broke=any(case.broke for case in cases),
        suspect=any(case.is_suspect for case in cases),
        margin=margin,
        alpha=LOOK_LEVELS[looks.planned - 1] / 2 if looks.planned > 1 else ALPHA,
    )
    verdict = Verdict(word)
    return Verdict.CANNOT_TELL if too_many_broke and verdict is not Verdict.REGRESSED else verdict


def _without_noise(cases: Sequence[ComparedCase], too_many_broke: bool) -> JudgedChange:
    """The comparison of runs that do not vary: each fall is real."""
    marked = tuple(case.replace(broke=case.fall > 1e-12, is_suspect=case.fall >= FALL) for case in cases)
    differences = [-case.fall for case in cases]
    change = Change(difference=math.fsum(differences) / len(differences) if differences else None)
    verdict = Verdict.UNCHANGED
    if any(case.broke for case in marked):
        verdict = Verdict.REGRESSED
    elif too_many_broke or not cases:
        verdict = Verdict.CANNOT_TELL
    elif any(difference > 1e-12 for difference in differences):
        verdict = Verdict.IMPROVED
    return JudgedChange(verdict=verdict, cases=marked, change=change, reach=None)


def change_in(pairs: Sequence[Sides[Figures]], noise: Noise, steps: int = STEPS) -> Change:
    """The difference over some cases."""
    if noise is Noise.NONE:
        rises = [_scored(pair).rise for pair in pairs]
        return Change(difference=math.fsum(rises) / len(rises))
    if _is_binary(pairs):
        return change_of(list(map(_runs_of, pairs)), steps)
    return score_change_of(list(map(_scored, pairs)))


def rates_of(pairs: Sequence[Sides[Figures]], noise: Noise) -> Sides[Estimate]:
    """The measure; without an interval where runs do not vary."""
    rates = Sides(a=_rate([pair.a for pair in pairs]), b=_rate([pair.b for pair in pairs]))
    return rates.each(lambda rate: rate.replace(interval=None)) if noise is Noise.NONE else rates


def _rate(cases: Sequence[Figures]) -> Estimate:
    if all(map(_ALL_OR_NOTHING.issuperset, cases)):
        return suite_rate([PassCount(passed=round(sum(runs)), judged=len(runs)) for runs in cases])
    return mean_of([math.fsum(runs) / len(runs) for runs in cases])


def _is_binary(pairs: Sequence[Sides[Figures]]) -> bool:
    return all(_ALL_OR_NOTHING.issuperset(side) for pair in pairs for side in pair.both)


def _runs_of(pair: Sides[Figures]) -> CaseRuns:
    return CaseRuns(passed_a=round(sum(pair.a)), runs_a=len(pair.a), passed_b=round(sum(pair.b)), runs_b=len(pair.b))


def _scored(pair: Sides[Figures]) -> ScoredCase:
    return ScoredCase(a=pair.a, b=pair.b)
