"""Probabilities of several tests, as they count among all of them."""

from __future__ import annotations

from collections.abc import Sequence


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
