"""Is B worse than A? Tests and intervals for the difference between two runs of the same cases.

A case is `CaseRuns`: how many of its judged runs passed in A and in B. If nothing has changed, the runs of a case are
exchangeable between the reports: every assignment of its passes to its runs is equally likely. The test uses this, and
is exact for any number of runs. The interval comes from the variance of runs within cases. Also: what the runs could
have shown, what they say of other cases like these, and the probabilities of several tests together."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

from runner.statistics.exact_tests import (
    DRAWS,
    MOST_DRAWN,
    STEPS,
    CaseRuns,
    ScoredCase,
    score_tails_of,
    sides,
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
from scripttest.values import Value, fields_of

MARGIN = 0.05
"""A difference that does not matter."""
_SIGNED = 16
"""Differences other than zero of which all signs are tried."""


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
        **fields_of(tails_of(kinds, steps)),
    )


def error_of(cases: Sequence[CaseRuns]) -> float:
    """The standard error of the difference. Where no case has runs that differ, that of a share never seen in all
    pairs of runs."""
    return _error_of(Counter(cases))


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
        **fields_of(score_tails_of(moving, spread)),
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
    detectable = SEEN * error_of(cases)
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
    adjusted = [0.0] * len(probabilities)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(probabilities)), key=lambda place: probabilities[place])):
        highest = max(highest, min(1.0, probabilities[place] * (len(probabilities) - rank)))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(probabilities: Sequence[float]) -> list[float]:
    """Each p as it counts among all of them: the share of false ones among those found is held."""
    adjusted = [0.0] * len(probabilities)
    lowest = 1.0
    by_p = sorted(range(len(probabilities)), key=lambda place: probabilities[place])
    for rank in range(len(by_p), 0, -1):
        lowest = min(lowest, probabilities[by_p[rank - 1]] * len(by_p) / rank)
        adjusted[by_p[rank - 1]] = lowest
    return adjusted


def _error_of(kinds: Counter[CaseRuns]) -> float:
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
    seen = math.fsum(differences)
    if len(sizes) <= _SIGNED:
        sums = [0.0]
        for size in sizes:
            sums = [total + signed for total in sums for signed in (-size, size)]
        below, equal, _ = sides(sums, seen)
        return (below + equal) / len(sums)
    if len(sizes) > MOST_DRAWN:
        mean = seen / len(differences)
        return t_probability(mean / math.sqrt(variance(differences) / len(differences)), len(differences) - 1)
    draw = random.Random(0)
    totals = [0.0] * DRAWS
    for size in sizes:
        totals = list(map(float.__add__, totals, draw.choices((-size, size), k=DRAWS)))
    below, equal, _ = sides(totals, seen)
    return (below + equal + 1) / (DRAWS + 1)
