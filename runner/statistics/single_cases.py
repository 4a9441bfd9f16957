"""Which single cases broke from A to B, and how many runs it takes to say so."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from runner.statistics.case_runs import CaseRuns
from runner.statistics.distributions import hypergeometric
from runner.statistics.levels import ALPHA, SLACK
from scripttest.values import Value

FALL = 0.5
"""A case that falls this far is suspect."""


class SingleCase(Value):
    """The test of one case."""

    p: float
    """One-sided Fisher: the probability of as few passes in B if nothing changed."""
    least: float
    """The smallest p that these totals allow."""


@lru_cache(10_000)
def single_case(case: CaseRuns) -> SingleCase:
    """One-sided Fisher's exact test of one case."""
    ways = hypergeometric(case.passed, case.runs_a, case.runs_b)
    return SingleCase(p=math.fsum(p for passed, p in ways if passed <= case.passed_b), least=ways[0][1])


def broken_cases(cases: Sequence[CaseRuns], alpha: float = ALPHA) -> list[int]:
    """Places of the cases that broke, by Tarone's count within Holm's steps: the chance of any false one is `alpha`.
    Cases that could not have been called do not make the others pay."""
    tests = [single_case(case) for case in cases]
    left = sorted(test.least for test in tests)
    found: list[int] = []
    paying = max(1, len(left))
    for place in sorted(range(len(tests)), key=lambda place: tests[place].p):
        while paying > 1 and bisect_right(left, alpha / (paying - 1) + SLACK) <= paying - 1:
            paying -= 1
        if tests[place].p > alpha / paying + SLACK:
            break
        found.append(place)
        del left[bisect_left(left, tests[place].least)]
    return sorted(found)


def suspects_of(cases: Sequence[CaseRuns]) -> list[int]:
    """Places of the cases that fell by half or more."""
    return [place for place, case in enumerate(cases) if case.fall >= FALL - SLACK]


def fewest_runs(cases: int, alpha: float = ALPHA) -> int:
    """Runs on each side with which this many cases that always fall can be called."""
    runs = 1
    while 1 / math.comb(2 * runs, runs) > alpha / cases + SLACK:
        runs += 1
    return runs
