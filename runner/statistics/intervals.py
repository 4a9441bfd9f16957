"""How sure a figure is: error bars of rates and mean scores, 0 to 1 (verdicts of change, section 6), and of how many
times as much B takes: time, tokens or money."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.statistics import PassCount
from runner.statistics.distributions import normal_quantile, t_probability, t_quantile
from scripttest.values import Value

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
    z = normal_quantile(0.5 + level / 2)
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
        return Estimate(value=values[0] if count and min(values) == max(values) else mean)
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
