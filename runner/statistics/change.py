"""Is B worse than A? Tests and intervals for the difference between two runs of the same cases; and where a series of
runs of one test changed.

A case is `CaseRuns`: how many of its judged runs passed in A and in B. If nothing has changed, the runs of a case are
exchangeable between the reports: every assignment of its passes to its runs is equally likely. The test uses this, and
is exact for any number of runs. The interval comes from the variance of runs within cases. Also: what the runs could
have shown, what they say of other cases like these, and the probabilities of several tests together.

Every place between two runs of a series could be the one, so what the best place shows is held against that many
chances (Bonferroni): a test of which nothing changed is said to have changed in 5 of 100 series at most."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul, truediv
from typing import TypeVar

from runner.statistics.exact_tests import (
    MOST_DRAWN,
    STEPS,
    CaseRuns,
    ScoredCase,
    score_tails_of,
    single_case,
    sum_shares,
    tails_of,
)
from runner.statistics.intervals import (
    ALPHA,
    EQUAL,
    SEEN,
    SLACK,
    Interval,
    Z,
    hypergeometric,
    t_interval,
    t_probability,
    variance,
)
from scripttest.values import Value

MARGIN = 0.05
"""A difference that does not matter."""
_SAME = 1 + 1e-9
"""Two probabilities that differ by no more than this factor are the same."""
T = TypeVar("T")
FEWEST = 2
"""Figures on either side of a place where a level changed: one alone, such as the first of a cold machine, is none."""


class MeanDifference(Value):
    """The difference B - A over all cases."""

    difference: float | None
    """Mean over the cases, -1 to 1; None if there are no cases."""
    worse: float | None = None
    """Probability of a sum as low as this if nothing changed, half of the ties counted."""
    better: float | None = None
    worse_exact: float | None = None
    """The same with all ties."""
    better_exact: float | None = None
    standard_error: float | None = None
    interval: Interval | None = None
    """At 95 %; None: nothing is known of the spread."""


class BrokenRuns(Value):
    """Whether more runs broke in B than chance explains."""

    p: float
    share_b: float
    too_many: bool


class DetectableDifference(Value):
    """What these runs could have seen, and what it takes to see a difference."""

    detectable: float
    """A fall that shows four times in five."""
    runs_each: int
    """Runs of each case on both sides to see the target."""
    runs_of_b: int | None
    """Runs of each case of B alone; None: A needs more, too."""


class DifferenceInterval(Value):
    """What the differences say of other cases like these."""

    mean: float | None
    interval: Interval | None = None
    worse: float | None = None


def change_of(cases: Sequence[CaseRuns], steps: int = STEPS) -> MeanDifference:
    """The test and the interval of the difference of pass rates. Each case has a run on both sides. `steps` are the
    additions that the exact distribution may take, where they are to be few; past them it is the normal one."""
    if not cases:
        return MeanDifference(difference=None)
    kinds = Counter(cases)
    error = _error_of(kinds)
    difference = math.fsum(-case.fall * count for case, count in kinds.items()) / len(cases)
    return MeanDifference(
        difference=difference,
        standard_error=error,
        interval=_cut(difference, Z * error),
        **tails_of(kinds, steps),
    )


def score_change_of(cases: Sequence[ScoredCase]) -> MeanDifference:
    """The same for scores: the relabelled runs keep their scores. Each case has a score on both sides."""
    if not cases:
        return MeanDifference(difference=None)
    difference = math.fsum(case.rise for case in cases) / len(cases)
    spreads = [case.spread * case.shares for case in cases]
    spread = math.fsum(spreads)
    error = math.sqrt(spread) / len(cases)
    moving = [case for case, part in zip(cases, spreads, strict=True) if part]
    return MeanDifference(
        difference=difference,
        standard_error=error,
        interval=_cut(difference, Z * error) if spread else None,
        **score_tails_of(moving, spread),
    )


def verdict_from(
    change: MeanDifference, *, broke: bool = False, suspect: bool = False, margin: float = MARGIN, alpha: float = ALPHA
) -> str:
    """The word for a change: `regressed`, `improved`, `unchanged` or `cannot tell`."""
    if change.worse is None or change.better is None:
        return "cannot tell"
    if broke or change.worse <= alpha + SLACK:
        return "regressed"
    if change.better <= alpha + SLACK:
        return "improved"
    within = change.interval is not None and -margin <= change.interval.low and change.interval.high <= margin
    return "unchanged" if within and not suspect else "cannot tell"


def broken_runs(broken_a: int, runs_a: int, broken_b: int, runs_b: int) -> BrokenRuns:
    """Whether so many runs of B broke that its figures say nothing: over 20 %, or over 10 % and more than in A."""
    ways = hypergeometric(broken_a + broken_b, runs_a, runs_b)
    p = math.fsum(chance for broken, chance in ways if broken >= broken_b)
    share = broken_b / runs_b if runs_b else 0.0
    return BrokenRuns(p=p, share_b=share, too_many=share > 0.2 or (share > 0.1 and p <= 0.01 + SLACK))


def reach_of(cases: Sequence[CaseRuns], target: float = MARGIN) -> DetectableDifference:
    """What at least one case with these runs could have shown, and how many runs show a fall of `target`."""
    detectable = SEEN * _error_of(Counter(cases))
    spread = math.fsum(case.spread for case in cases)
    if not spread:
        runs = math.ceil(math.log(ALPHA) / math.log1p(-target) / len(cases) - EQUAL)
        return DetectableDifference(detectable=detectable, runs_each=runs, runs_of_b=runs)
    return _reach(detectable, spread, len(cases), min(case.runs_a for case in cases), target)


def score_reach_of(cases: Sequence[ScoredCase], target: float = MARGIN) -> DetectableDifference | None:
    """The same for scores; None: no case has scores that differ, so nothing is known of their spread."""
    spreads = [case.spread for case in cases]
    spread = math.fsum(spreads)
    if not spread:
        return None
    of_rises = math.fsum(part * case.shares for case, part in zip(cases, spreads, strict=True))
    detectable = SEEN * math.sqrt(of_rises) / len(cases)
    return _reach(detectable, spread, len(cases), min(len(case.a) for case in cases), target)


def like_these(differences: Sequence[float]) -> DifferenceInterval:
    """What the differences of the cases say of other cases like these: Student's interval, and the probability of a
    mean as low as this if signs were random."""
    if not differences:
        return DifferenceInterval(mean=None)
    estimate = t_interval(differences)
    return DifferenceInterval(mean=estimate.value, interval=estimate.interval, worse=_worse_by_signs(differences))


def holm(probabilities: Sequence[float]) -> list[float]:
    """Each p as it counts among all of them: the chance of any false one is held."""
    left = len(probabilities)
    places = sorted(range(left), key=probabilities.__getitem__)
    held = accumulate((min(1.0, probabilities[place] * (left - rank)) for rank, place in enumerate(places)), max)
    return [found for _, found in sorted(zip(places, held, strict=True))]


def benjamini_hochberg(probabilities: Sequence[float]) -> list[float]:
    """Each p as it counts among all of them: the share of false ones among those found is held."""
    count = len(probabilities)
    places = sorted(range(count), key=probabilities.__getitem__, reverse=True)
    held = accumulate((probabilities[place] * count / (count - rank) for rank, place in enumerate(places)), min)
    return [min(1.0, found) for _, found in sorted(zip(places, held, strict=True))]


def _error_of(kinds: Counter[CaseRuns]) -> float:
    """The standard error of the difference. Where no case has runs that differ, that of a share never seen in all
    pairs of runs."""
    spread = math.fsum(case.spread_of_fall * count for case, count in kinds.items())
    if not spread:
        pairs = sum(min(case.runs_a, case.runs_b) * count for case, count in kinds.items())
        return float((1 - ALPHA ** (1 / pairs)) / Z)
    cases = kinds.total()
    one_more = math.fsum(count / (case.runs_a * case.runs_b) for case, count in kinds.items()) / cases
    return math.sqrt(spread + one_more) / cases


def _cut(difference: float, width: float) -> Interval:
    return Interval(low=max(-1.0, difference - width), high=min(1.0, difference + width))


def _reach(detectable: float, spread: float, cases: int, fewest: int, target: float) -> DetectableDifference:
    """By the variances of one run of each case, and the fewest runs of a case in A."""
    wanted = (cases * target / SEEN) ** 2 / spread
    left = wanted - 1 / fewest
    return DetectableDifference(
        detectable=detectable,
        runs_each=math.ceil(2 / wanted - EQUAL),
        runs_of_b=math.ceil(1 / left - EQUAL) if left > 0 else None,
    )


def _worse_by_signs(differences: Sequence[float]) -> float | None:
    if len(differences) < 2:
        return None
    sizes = [abs(difference) for difference in differences if difference]
    if len(sizes) > MOST_DRAWN:
        mean = math.fsum(differences) / len(differences)
        return t_probability(mean / math.sqrt(variance(differences) / len(differences)), len(differences) - 1)
    signed = [(-size, size) for size in sizes]
    below, equal, _ = sum_shares(signed, 2 ** len(sizes), math.fsum(differences), random.Random(0))
    return below + equal


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


def rate_break(passed: Sequence[int], judged: Sequence[int], *, steady: bool = False) -> Break | None:
    """The last place where the pass rate changed more than by chance; None if there is none. In the order of the runs,
    `passed` has how many of so many `judged` ones passed, where some were. `steady`: whether runs only differ where
    something changed, so that each difference counts."""
    if sum(passed) in (0, sum(judged)):
        return None
    if steady:
        places = [at for at, (one, next) in enumerate(pairwise(map(truediv, passed, judged)), 1) if one != next]
        if not places:
            return None
        at, first = places[-1], places[-2] if len(places) > 1 else 0
        before, after = (sum(passed[part]) / sum(judged[part]) for part in (slice(first, at), slice(at, None)))
        return Break(at=at, before=before, after=after, p=0.0)
    return _last(_best_rate, list(zip(passed, judged, strict=True)))


def level_break(values: Sequence[float]) -> Break | None:
    """The last place where the level of positive figures changed, such as durations, by Student's t of their
    logarithms; None when it did nowhere."""
    return _last(_best_level, list(map(math.log, values)))


def _last(best_of: Callable[[Sequence[T], float], Break | None], series: Sequence[T]) -> Break | None:
    """The last place that shows enough: in the whole series, else in the newer half of it, the newest quarter and so
    on, since what changed and changed back hides in the whole; then in what follows on that place. `best_of` need not
    find places whose p is above its second argument."""
    tries = len(series) - 1
    enough = (ALPHA + SLACK) / max(1, tries)

    def shown(begin: int) -> Break | None:
        best = best_of(series[begin:], enough)
        if best is None or best.p > enough:
            return None
        return best.replace(at=begin + best.at, p=best.p * tries)

    size, found = len(series), None
    while found is None and size > 2:
        found = shown(len(series) - size)
        size //= 2
    while found is not None and (later := shown(found.at)) is not None:
        found = later
    return found


def _best_rate(runs: Sequence[tuple[int, int]], enough: float) -> Break | None:
    """A split is at least as likely as its own table alone, which is quick to tell: only those are tested exactly that
    could be the best, and show enough."""
    passed_of, judged_of = (list(accumulate(column)) for column in zip(*runs, strict=True))
    passed, judged = passed_of[-1], judged_of[-1]
    if passed in (0, judged):
        return None
    logs = _log_factorials(1 << judged.bit_length())
    whole = logs[passed] + logs[judged - passed] - logs[judged]
    least = math.log(enough)
    likely = []
    for at in range(1, len(runs)):
        before, of = passed_of[at - 1], judged_of[at - 1]
        after, left = passed - before, judged - of
        table = logs[before] + logs[of - before] + logs[after] + logs[left - after] - logs[of] - logs[left]
        if whole - table <= least:
            likely.append((whole - table, at))
    found: dict[int, float] = {}
    for likelihood, at in sorted(likely):
        if found and math.exp(likelihood) > min(found.values()) * _SAME:
            break
        before, of = passed_of[at - 1], judged_of[at - 1]
        a, b = (before, of), (passed - before, judged - of)
        (passed_a, runs_a), (passed_b, runs_b) = (a, b) if a[0] * b[1] >= b[0] * a[1] else (b, a)
        found[at] = single_case(CaseRuns(passed_a=passed_a, runs_a=runs_a, passed_b=passed_b, runs_b=runs_b)).p
    if not found:
        return None
    p = min(found.values())
    at = min(at for at, other in found.items() if other <= p * _SAME)
    before, of = passed_of[at - 1], judged_of[at - 1]
    return Break(at=at, before=before / of, after=(passed - before) / (judged - of), p=found[at])


@lru_cache(maxsize=8)
def _log_factorials(size: int) -> list[float]:
    return [math.lgamma(number + 1) for number in range(size + 1)]


def _best_level(logs: Sequence[float], enough: float) -> Break | None:
    """The best place is that which explains most of the squares: t grows with them. Wallace's bound of t by the normal
    distribution (1959) tells quickly that it does not show enough."""
    count = len(logs)
    if count < 2 * FEWEST:
        return None
    mean = math.fsum(logs) / count
    apart = [value - mean for value in logs]
    sums = list(accumulate(apart))[FEWEST - 1 : count - FEWEST]
    explained = list(map(mul, map(mul, sums, sums), _weights(count)))
    most = max(explained)
    rest = max(0.0, math.fsum(map(mul, apart, apart)) - most)
    if rest and math.erfc(math.sqrt((count - 2) * math.log1p(most / rest) / 2)) > enough:
        return None
    at = FEWEST + explained.index(most)
    left = count - at
    a, b = mean + sums[at - FEWEST] / at, mean - sums[at - FEWEST] / left
    if abs(b - a) <= 1e-9:
        return None
    error = math.sqrt(rest / (count - 2) * (1 / at + 1 / left))
    t = abs(b - a) / error if error > 1e-9 else math.inf
    p = 2 * (1 - t_probability(t, count - 2))
    return Break(at=at, before=math.exp(a), after=math.exp(b), p=p)


@lru_cache(maxsize=64)
def _weights(count: int) -> list[float]:
    """Place → what the square of the sum before it explains, in a series of so many figures."""
    return [count / (at * (count - at)) for at in range(FEWEST, count - FEWEST + 1)]
