"""Where a series of runs of one test changed: pure functions over numbers, in the order of time.

Every place between two runs could be the one, so what the best place shows is held against that many chances
(Bonferroni): a test of which nothing changed is said to have changed in 5 of 100 series at most."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul
from typing import Protocol, TypeVar

from runner.statistics.exact_tests import CaseRuns, single_case
from runner.statistics.intervals import ALPHA, SLACK, t_probability
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


class Judged(Protocol):
    """How many runs were judged, and how many of them passed."""

    @property
    def passed(self) -> int:
        """Those that passed."""

    @property
    def judged(self) -> int:
        """All."""


def rate_break(runs: Sequence[Judged], *, steady: bool = False) -> Break | None:
    """The last position at which the pass rate changed more than by chance; None if there is none. `runs`: of the
    test, in their order; some have to be judged. `steady`: whether runs only differ where something changed, so that
    each difference counts."""
    if steady:
        rates = [run.passed / run.judged for run in runs]
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


_EQUAL = 1 + 1e-9
"""Two probabilities that differ by no more than this factor are the same."""


def _best_rate(runs: Sequence[Judged]) -> Break | None:
    """A split is at least as likely as its own table alone, which is quick to tell: only those are tested exactly that
    could be the best, and show enough."""
    passed_of, judged_of = (
        list(accumulate(values)) for values in zip(*((r.passed, r.judged) for r in runs), strict=True)
    )
    passed, judged = passed_of[-1], judged_of[-1]
    if passed in (0, judged):
        return None
    logs = _log_factorials(1 << judged.bit_length())
    whole = logs[passed] + logs[judged - passed] - logs[judged]
    least = math.log((ALPHA + SLACK) / (len(runs) - 1))
    likely = []
    for at in range(1, len(runs)):
        before, of = passed_of[at - 1], judged_of[at - 1]
        after, left = passed - before, judged - of
        table = logs[before] + logs[of - before] + logs[after] + logs[left - after] - logs[of] - logs[left]
        if whole - table <= least:
            likely.append((whole - table, at))
    found: dict[int, float] = {}
    for likelihood, at in sorted(likely):
        if found and math.exp(likelihood) > min(found.values()) * _EQUAL:
            break
        before, of = passed_of[at - 1], judged_of[at - 1]
        a, b = (before, of), (passed - before, judged - of)
        (passed_a, runs_a), (passed_b, runs_b) = (a, b) if a[0] * b[1] >= b[0] * a[1] else (b, a)
        found[at] = single_case(CaseRuns(passed_a=passed_a, runs_a=runs_a, passed_b=passed_b, runs_b=runs_b)).p
    if not found:
        return None
    p = min(found.values())
    at = min(at for at, other in found.items() if other <= p * _EQUAL)
    before, of = passed_of[at - 1], judged_of[at - 1]
    return Break(at=at, before=before / of, after=(passed - before) / (judged - of), p=found[at])


@lru_cache(maxsize=8)
def _log_factorials(size: int) -> list[float]:
    return [math.lgamma(number + 1) for number in range(size + 1)]


def _best_level(logs: Sequence[float]) -> Break | None:
    """The best place is that which explains most of the squares: t grows with them."""
    count = len(logs)
    if count < 2 * FEWEST:
        return None
    mean = math.fsum(logs) / count
    apart = [value - mean for value in logs]
    sums = list(accumulate(apart))[FEWEST - 1 : count - FEWEST]
    explained = list(map(mul, map(mul, sums, sums), _weights(count)))
    most = max(explained)
    at = FEWEST + explained.index(most)
    left = count - at
    a, b = mean + sums[at - FEWEST] / at, mean - sums[at - FEWEST] / left
    if abs(b - a) <= 1e-9:
        return None
    spread = max(0.0, math.fsum(map(mul, apart, apart)) - most) / (count - 2)
    error = math.sqrt(spread * (1 / at + 1 / left))
    p = 2 * (1 - t_probability(abs(b - a) / error, count - 2)) if error > 1e-9 else 0.0
    return Break(at=at, before=math.exp(a), after=math.exp(b), p=p)


@lru_cache(maxsize=64)
def _weights(count: int) -> list[float]:
    """Place → what the square of the sum before it explains, in a series of so many figures."""
    return [count / (at * (count - at)) for at in range(FEWEST, count - FEWEST + 1)]


def _rate(runs: Sequence[Judged]) -> float:
    return sum(run.passed for run in runs) / sum(run.judged for run in runs)
