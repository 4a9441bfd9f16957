"""Distributions, beside what whole numbers of any length say."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import pytest

from runner.statistics.distributions import hypergeometric


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
