"""The distributions that the figures rest on, and the levels of tests and intervals, with the standard library alone:
importing a package for statistics takes a second and a hundred megabytes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from operator import mul, truediv
from statistics import NormalDist

NORMAL = NormalDist()
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


def normal_quantile(probability: float) -> float:
    """The point below which a standard normal value lies with this probability, between 0 and 1."""
    return NORMAL.inv_cdf(probability)


def normal_probability(value: float) -> float:
    """The probability that a standard normal value lies below `value`."""
    return NORMAL.cdf(value)


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
    high = 1.0
    while t_probability(high, degrees) < probability:
        high *= 2
    return _bisect(lambda value: t_probability(value, degrees), probability, 0.0, high)


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


def _bisect(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if rising(middle) < wanted:
            low = middle
        else:
            high = middle


Z = normal_quantile(0.975)
"""Standard errors on each side of a 95 % interval."""
SEEN = Z + normal_quantile(0.8)
"""Standard errors of a difference that is seen four times in five."""
