"""The rank sum test, against a count of all ways to part the values, and the distributions it needs."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from math import comb, isclose

import pytest
from table_tests import each

from runner.statistics.agreement import COUNTED, rank_sum_probability, ranks
from runner.statistics.intervals import hypergeometric


def counted_out(a: list[float], b: list[float]) -> float:
    places = ranks([*a, *b])
    total = sum(places[: len(a)])
    sums = [sum(chosen) for chosen in combinations(places, len(a))]
    low, high = sum(one <= total for one in sums), sum(one >= total for one in sums)
    return min(1.0, 2 * min(low, high) / len(sums))


@each("seed", range(20))
def test_small_samples_are_counted_out(seed: int) -> None:
    draw = random.Random(seed)
    a = [float(draw.randint(0, 9)) for _ in range(draw.randint(1, 6))]
    b = [float(draw.randint(3, 12)) for _ in range(draw.randint(1, 6))]
    assert isclose(rank_sum_probability(a, b), counted_out(a, b))
    assert isclose(rank_sum_probability(a, b), rank_sum_probability(b, a))


def test_known_figures() -> None:
    """Of tables of the U test: 2 / C(8, 4), 2 / C(10, 5)."""
    assert isclose(rank_sum_probability([1, 2, 3, 4], [5, 6, 7, 8]), 2 / 70)
    assert isclose(rank_sum_probability([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 2 / 252)
    assert rank_sum_probability([1, 2, 3], [4, 5, 6]) == 0.1
    assert rank_sum_probability([5, 5, 5, 5], [5, 5, 5, 5]) == 1
    assert rank_sum_probability([], [1]) == 1


def test_large_samples_come_near_the_count() -> None:
    draw = random.Random(1)
    a = [draw.gauss(0, 1) for _ in range(25)]
    b = [draw.gauss(0.6, 1) for _ in range(25)]
    exact = rank_sum_probability(a, b)
    close = rank_sum_probability([*a, *a], [*b, *b])
    assert len(a) + len(b) <= COUNTED
    assert 0 < close < exact < 0.2
    assert rank_sum_probability([1.0] * 40, [1.0] * 40) == 1


def exact(passed: int, runs_a: int, runs_b: int) -> list[tuple[int, float]]:
    ways = Fraction(comb(runs_a + runs_b, runs_b))
    return [
        (of_b, float(comb(passed, of_b) * comb(runs_a + runs_b - passed, runs_b - of_b) / ways))
        for of_b in range(max(0, passed - runs_a), min(passed, runs_b) + 1)
    ]


def test_passes_dealt_to_two_sides() -> None:
    draw = random.Random(1)
    sizes = [(draw.randint(0, most), draw.randint(0, most)) for most in (0, 1, 3, 10, 60, 500) for _ in range(40)]
    for runs_a, runs_b in sizes:
        passed = draw.randint(0, runs_a + runs_b)
        found, wanted = hypergeometric(passed, runs_a, runs_b), exact(passed, runs_a, runs_b)
        assert [of_b for of_b, _ in found] == [of_b for of_b, _ in wanted]
        assert [p for _, p in found] == [pytest.approx(p, rel=1e-12, abs=1e-290) for _, p in wanted]
