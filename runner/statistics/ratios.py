"""How many times as much B takes: time, tokens or money."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.statistics.distributions import t_probability
from runner.statistics.intervals import Interval, t_interval, variance
from scripttest.values import Value


class Ratio(Value):
    """How many times as much B takes."""

    ratio: float
    interval: Interval | None = None
    p: float | None = None


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
