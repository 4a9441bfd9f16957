"""Whether two samples differ in where their values lie: the rank sum test of Mann, Whitney and Wilcoxon, which asks
nothing of how values are distributed. Small samples are counted out, also with ties (the figures of `benchstat`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt

from runner.statistics.agreement import ranks
from runner.statistics.distributions import normal_probability

COUNTED = 50
"""Values of both samples together up to which every way to part them is counted."""


def rank_sum_probability(a: Sequence[float], b: Sequence[float]) -> float:
    """How likely samples differ by chance as much as these do, in either direction: 0 to 1."""
    if not a or not b:
        return 1.0
    places = ranks([*a, *b])
    total = sum(places[: len(a)])
    if len(places) <= COUNTED:
        return _counted([round(2 * place) for place in places], len(a), round(2 * total))
    return _normal(places, len(a), total)


def _counted(places: list[int], size: int, total: int) -> float:
    """Of all ways to choose `size` places, twice the share of those whose sum is as far off, on the nearer side."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    for place in places:
        for chosen in range(size, 0, -1):
            for known, count in ways[chosen - 1].items():
                ways[chosen][known + place] = ways[chosen].get(known + place, 0) + count
    low = sum(count for known, count in ways[size].items() if known <= total)
    high = sum(count for known, count in ways[size].items() if known >= total)
    return min(1.0, 2 * min(low, high) / comb(len(places), size))


def _normal(places: list[float], size: int, total: float) -> float:
    count = len(places)
    middle = size * (count + 1) / 2
    mean = sum(places) / count
    spread = sqrt(size * (count - size) * sum((place - mean) ** 2 for place in places) / (count * (count - 1)))
    if spread == 0:
        return 1.0
    off = max(0.0, abs(total - middle) - 0.5) / spread
    return min(1.0, 2 * (1 - normal_probability(off)))
