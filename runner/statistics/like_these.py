"""What the differences of cases say of other cases like these."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from runner.statistics.distributions import t_probability
from runner.statistics.intervals import Interval, t_interval, variance
from runner.statistics.relabelling import DRAWS, MOST_DRAWN, sides
from scripttest.values import Value

_SIGNED = 16
"""Differences other than zero of which all signs are tried."""


class LikeThese(Value):
    """What the differences say of other cases like these."""

    mean: float | None
    interval: Interval | None = None
    worse: float | None = None


def like_these(differences: Sequence[float]) -> LikeThese:
    """What the differences of the cases say of other cases like these: Student's interval, and the probability of a
    mean as low as this if signs were random."""
    if not differences:
        return LikeThese(mean=None)
    estimate = t_interval(differences)
    return LikeThese(mean=estimate.value, interval=estimate.interval, worse=_worse_by_signs(differences))


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
