"""Where a series of runs of one test changed: pure functions over numbers, in the order of time.

Every place between two runs could be the one, so what the best place shows is held against that many chances
(Bonferroni): a test of which nothing changed is said to have changed in 5 of 100 series at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from runner.statistics import PassCount
from runner.statistics.distributions import ALPHA, SLACK, t_probability
from runner.statistics.exact_tests import CaseRuns, single_case
from scripttest.values import Value

T = TypeVar("T")
FEWEST = 2
"""Figures on either side of a place where a level changed: one alone, such as the first of a cold machine, is none."""


class Break(Value):
    """A place where a series changed."""

    at: int
    """Place of the first one after it."""
    before: float
    """The pass rate, 0 to 1, or the geometric mean, since the last change before it ..."""
    after: float
    """... and from it on."""
    p: float
    """How likely the best of all places would show as much if nothing had changed; 0 where runs are all alike."""


def rate_break(runs: Sequence[PassCount], *, steady: bool = False) -> Break | None:
    """The last position at which the pass rate changed more than by chance; None if there is none.

    Args:
        runs: of the test, in their order; some have to be judged.
        steady: whether runs only differ where something changed, so that each difference counts.
    """
    if steady:
        rates = [run.rate for run in runs]
        places = [at for at, (one, next) in enumerate(pairwise(rates), 1) if one != next]
        if not places:
            return None
        at, first = places[-1], places[-2] if len(places) > 1 else 0
        return Break(at=at, before=_rate(runs[first:at]), after=_rate(runs[at:]), p=0.0)
    return _last(_best_rate, runs, ALPHA)


def level_break(values: Sequence[float]) -> Break | None:
    """The last place where the level of positive figures changed, such as durations, by Student's t of their
    logarithms; None when it did nowhere."""
    logs = [math.log(value) for value in values]
    return _last(_best_level, logs, ALPHA)


def _last(best_of: Callable[[Sequence[T]], Break | None], series: Sequence[T], alpha: float) -> Break | None:
    """The last place that shows enough: in the whole series, else in the newer half of it, the newest quarter and so
    on, since what changed and changed back hides in the whole; then in what follows on that place."""
    tries = len(series) - 1

    def shown(begin: int) -> Break | None:
        best = best_of(series[begin:])
        if best is None or best.p * tries > alpha + SLACK:
            return None
        return best.replace(at=begin + best.at, p=best.p * tries)

    size, found = len(series), None
    while found is None and size > 2:
        found = shown(len(series) - size)
        size //= 2
    while found is not None and (later := shown(found.at)) is not None:
        found = later
    return found


def _best_rate(runs: Sequence[PassCount]) -> Break | None:
    passed, judged = sum(run.passed for run in runs), sum(run.judged for run in runs)
    if passed in (0, judged):
        return None
    best: Break | None = None
    before = of = 0
    for at in range(1, len(runs)):
        before, of = before + runs[at - 1].passed, of + runs[at - 1].judged
        after, left = passed - before, judged - of
        falls = before * left >= after * of
        case = CaseRuns(passed_a=before, runs_a=of, passed_b=after, runs_b=left)
        if not falls:
            case = CaseRuns(passed_a=after, runs_a=left, passed_b=before, runs_b=of)
        p = single_case(case).p
        if best is None or p < best.p - SLACK:
            best = Break(at=at, before=before / of, after=after / left, p=p)
    return best


def _best_level(logs: Sequence[float]) -> Break | None:
    count = len(logs)
    if count < 2 * FEWEST:
        return None
    total, squares = math.fsum(logs), math.fsum(value * value for value in logs)
    best: Break | None = None
    sum_before = 0.0
    for at in range(1, count):
        sum_before += logs[at - 1]
        left = count - at
        if min(at, left) < FEWEST:
            continue
        a, b = sum_before / at, (total - sum_before) / left
        spread = max(0.0, squares - at * a * a - left * b * b) / (count - 2)
        error = math.sqrt(spread * (1 / at + 1 / left))
        distance = abs(b - a)
        if distance <= 1e-9:
            continue
        p = 2 * (1 - t_probability(distance / error, count - 2)) if error > 1e-9 else 0.0
        if best is None or p < best.p:
            best = Break(at=at, before=math.exp(a), after=math.exp(b), p=p)
    return best


def _rate(runs: Sequence[PassCount]) -> float:
    return PassCount(passed=sum(run.passed for run in runs), judged=sum(run.judged for run in runs)).rate
