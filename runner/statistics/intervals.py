"""How sure a figure is: error bars of rates and mean scores, 0 to 1 (verdicts of change, section 6), and of how many
times as much B takes: time, tokens or money."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul, truediv
from typing import TYPE_CHECKING

from runner.statistics import PassCount
from scripttest.values import Value

if TYPE_CHECKING:
    from statistics import NormalDist

_STEPS = 200
"""Steps of the continued fraction: a hundred are enough for a million runs."""
_TINY = 1e-300
ALPHA = 0.025
"""The level of significance of each side of a test, and of all single cases together."""
LOOK_LEVELS = (0.05, 0.0294, 0.0221, 0.0182, 0.0158)
"""Pocock's two-sided level of each look when 1, 2, ... 5 looks are planned."""
SLACK = 1e-12
"""A probability this far above a level is at it."""
EQUAL = 1e-9
"""Sums of scores this close are equal."""


def beta_probability(value: float, a: float, b: float) -> float:
    """The regularised incomplete beta function: the probability that a beta value lies below `value`."""
    if value <= 0:
        return 0.0
    if value >= 1:
        return 1.0
    if value > (a + 1) / (a + b + 2):  # the fraction converges quickly on the other side
        return 1 - beta_probability(1 - value, b, a)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(value) + b * math.log1p(-value)
    return math.exp(log) * _fraction(value, a, b) / a


def t_probability(value: float, degrees: float) -> float:
    """The probability that a value of Student's t lies below `value`."""
    tail = beta_probability(degrees / (degrees + value * value), degrees / 2, 0.5) / 2
    return 1 - tail if value > 0 else tail


@lru_cache(1000)
def t_quantile(probability: float, degrees: float) -> float:
    """The point below which a value of Student's t lies with this probability, between 0 and 1."""
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    if probability == 0.5:
        return 0.0
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < probability:
        high *= 2
    while (middle := (low + high) / 2) not in (low, high):
        if t_probability(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return middle


def hypergeometric(passed: int, runs_a: int, runs_b: int) -> list[tuple[int, float]]:
    """How many of `passed` passes fall to B when they are dealt to the runs of A and B: `(passes of B, probability)`,
    by rising passes."""
    runs = runs_a + runs_b
    least, most = max(0, passed - runs_a), min(passed, runs_b)
    likeliest = (passed + 1) * (runs_b + 1) // (runs + 2)
    top = math.comb(passed, likeliest) * math.comb(runs - passed, runs_b - likeliest) / math.comb(runs, runs_b)

    def ratio(of_b: int) -> float:
        """The probability of `of_b` passes by that of one less: neighbours are quicker than numbers of many digits."""
        return (passed - of_b + 1) * (runs_b - of_b + 1) / (of_b * (runs_a - passed + of_b))

    above = accumulate((ratio(of_b) for of_b in range(likeliest + 1, most + 1)), mul, initial=top)
    below = accumulate((ratio(of_b) for of_b in range(likeliest, least, -1)), truediv, initial=top)
    return list(enumerate([*list(below)[:0:-1], *above], least))


def _fraction(value: float, a: float, b: float) -> float:
    """Lentz's way to a continued fraction, for the incomplete beta function."""
    c, d = 1.0, 1 / _away(1 - (a + b) * value / (a + 1))
    result = d
    for step in range(1, _STEPS):
        even = step * (b - step) * value / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * value / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            c, d = _away(1 + term / c), 1 / _away(1 + term * d)
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


Z = 1.9599639845400536
"""Standard errors on each side of a 95 % interval."""
SEEN = Z + 0.8416212335729144
"""Standard errors of a difference that is seen four times in five."""


@lru_cache(1)
def normal() -> NormalDist:
    """The standard normal distribution."""
    from statistics import NormalDist  # takes longer to load than the report of a hundred cases to write

    return NormalDist()


LEVEL = 0.95
"""The level of confidence of every interval, unless another one is given."""


class Interval(Value):
    """Both ends of it."""

    low: float
    high: float


class Estimate(Value):
    """A figure with its interval."""

    value: float | None
    """None: there was nothing to take it from."""
    interval: Interval | None = None
    """None if there is too little data for an interval."""
    effective_runs: float | None = None
    """Of a rate over several cases: as many runs as would know as much if they were independent."""


class Ratio(Value):
    """How many times as much B takes."""

    ratio: float
    interval: Interval | None = None
    p: float | None = None


def wilson(passed: float, runs: float, level: float = LEVEL) -> Interval:
    """Wilson's score interval of a share. Without runs nothing is known: 0 to 1."""
    if not runs:
        return Interval(low=0.0, high=1.0)
    z = Z if level == LEVEL else normal().inv_cdf(0.5 + level / 2)
    share, squared = passed / runs, z * z
    middle = share + squared / (2 * runs)
    width = z * math.sqrt(share * (1 - share) / runs + squared / (4 * runs * runs))
    low, high = ((middle + sign * width) / (1 + squared / runs) for sign in (-1, 1))
    return Interval(low=max(0.0, low) if passed else 0.0, high=min(1.0, high) if passed < runs else 1.0)


def mean_of(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """The mean of scores between 0 and 1, with Student's interval cut to 0..1. Fewer than two scores, and scores that
    are all equal, have no interval."""
    if not values:
        return Estimate(value=None)
    estimate = t_interval(values, level)
    if estimate.interval is None:
        return estimate
    low, high = max(0.0, estimate.interval.low), min(1.0, estimate.interval.high)
    return Estimate(value=estimate.value, interval=Interval(low=low, high=high))


def t_interval(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """The mean of at least one value with Student's interval; without one for a single value and for equal ones."""
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2 or min(values) == max(values):
        return Estimate(value=values[0])
    width = t_quantile(0.5 + level / 2, count - 1) * math.sqrt(variance(values) / count)
    return Estimate(value=mean, interval=Interval(low=mean - width, high=mean + width))


def variance(values: Sequence[float]) -> float:
    """The sample variance (n - 1) of at least two values; exactly 0 when all are equal."""
    if min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def suite_rate(cases: Sequence[PassCount], level: float = LEVEL) -> Estimate:
    """The pass rate of a suite from the runs of each case, each case with the same weight. Five runs of ten cases are
    not fifty cases: runs count as many as they know of cases. Cases without runs are left out."""
    judged = [case for case in cases if case.judged]
    if not judged:
        return Estimate(value=None)
    rates = [case.rate for case in judged]
    count, runs = len(judged), sum(case.judged for case in judged)
    rate = math.fsum(rates) / count
    effective: float
    if count == 1:
        effective = runs
    elif rate in (0, 1):
        effective = count
    else:
        spread = variance(rates) / count
        effective = min(runs, max(count, rate * (1 - rate) / spread)) if spread else runs
    return Estimate(value=rate, interval=wilson(rate * effective, effective, level), effective_runs=effective)


def ratio_of(a: Sequence[float], b: Sequence[float]) -> Ratio | None:
    """The mean ratio of paired positive figures, such as seconds or dollars of each case: a paired t of the logarithms.
    Pairs with a figure that is not above zero are left out; None: none is left. Fewer than three have no interval."""
    logs = [math.log(of_b / of_a) for of_a, of_b in zip(a, b, strict=True) if of_a > 0 and of_b > 0]
    if not logs:
        return None
    estimate = t_interval(logs)
    assert estimate.value is not None
    if len(logs) < 3 or estimate.interval is None:
        return Ratio(ratio=math.exp(estimate.value))
    t = estimate.value / math.sqrt(variance(logs) / len(logs))
    return Ratio(
        ratio=math.exp(estimate.value),
        interval=Interval(low=math.exp(estimate.interval.low), high=math.exp(estimate.interval.high)),
        p=2 * t_probability(-abs(t), len(logs) - 1),
    )
