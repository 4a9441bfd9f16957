"""What a comparison knows of a case, the judged runs of it in both reports, and how probable it is if nothing changed:
tests of the sum over all cases, and of single ones.

If nothing changed, the runs of a case are alike whichever report they stand in, so that all ways of dealing them to
both are equally likely: the distribution of a sum of differences is the product of those of its cases."""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import add

from runner.statistics.intervals import ALPHA, EQUAL, SLACK, hypergeometric, normal, variance
from scripttest.values import Value

DRAWS = 9999
MOST_DRAWN = 500
"""Cases for which sums are drawn; the sum of more is normal."""
STEPS = 5_000_000
"""Additions of the exact distribution, past which the normal one takes its place."""
_KEYS = 50_000
"""Sums of the exact distribution, likewise."""
_NOTHING = 1e-40
"""Sums that are less probable than this are dropped."""
_SPLITS = 1000
"""Ways to split the runs of a case that are listed, and drawn when there are more."""
_SUMS = 100_000
"""Sums of scores that are enumerated."""
FALL = 0.5
"""A case that falls this far is suspect."""
Tails = dict[str, float]
"""The probabilities of a sum as low, and as high, as the one that was seen, by the fields of `MeanDifference`."""


class CaseRuns(Value):
    """The judged runs of a case in both reports."""

    passed_a: int
    runs_a: int
    passed_b: int
    runs_b: int

    @property
    def fall(self) -> float:
        """How much smaller the pass rate is in B, 1 to -1."""
        return self.passed_a / self.runs_a - self.passed_b / self.runs_b

    @property
    def passed(self) -> int:
        """In both."""
        return self.passed_a + self.passed_b

    @property
    def runs(self) -> int:
        """In both."""
        return self.runs_a + self.runs_b

    @property
    def spread(self) -> float:
        """The variance of one run, without bias."""
        rate = self.passed / self.runs
        return rate * (1 - rate) * self.runs / (self.runs - 1)

    @property
    def spread_of_fall(self) -> float:
        """The variance of the fall."""
        return self.spread * (1 / self.runs_a + 1 / self.runs_b)


class ScoredCase(Value):
    """The scores of a case, one for each judged run."""

    a: Sequence[float]
    b: Sequence[float]

    @property
    def rise(self) -> float:
        """How much higher the mean score is in B."""
        return math.fsum(self.b) / len(self.b) - math.fsum(self.a) / len(self.a)

    @property
    def spread(self) -> float:
        """The variance of one run, without bias."""
        return variance([*self.a, *self.b])

    @property
    def shares(self) -> float:
        """By which the variance of one run is multiplied in that of the rise."""
        return 1 / len(self.a) + 1 / len(self.b)


class SingleCase(Value):
    """The test of one case."""

    p: float
    """One-sided Fisher: the probability of as few passes in B if nothing changed."""
    least: float
    """The smallest p that these totals allow."""


def tails_of(kinds: Mapping[CaseRuns, int], most: int = STEPS) -> Tails:
    """Of the passes of cases: each different one, and how often it occurs. `most` are the additions that the exact
    distribution may take; past them it is the normal one."""
    moving = [(case, count) for case, count in kinds.items() if 0 < case.passed < case.runs]
    found = _exact_tails(moving, most)
    if found is not None:
        return found
    total = math.fsum(-case.fall * count for case, count in kinds.items())
    return _normal(total, math.fsum(case.spread_of_fall * count for case, count in moving))


def score_tails_of(moving: Sequence[ScoredCase], spread: float) -> Tails:
    """Of the scores of cases that have different ones; `spread` is the variance of the sum of their rises."""
    seen = math.fsum(case.rise for case in moving)
    if len(moving) > MOST_DRAWN:
        return _normal(seen, spread)
    ways = math.prod(math.comb(len(case.a) + len(case.b), len(case.a)) for case in moving)
    draw = random.Random(0)
    return _tails(*sum_shares([_splits(case, draw) for case in moving], ways, seen, draw))


def sum_shares(
    moves: Sequence[Sequence[float]], ways: int, seen: float, draw: random.Random
) -> tuple[float, float, float]:
    """The shares of sums, of one of each of the moves, that are below, equal to and above the one that was seen: of all
    `ways`, or of drawn ones, with that one, where these are too many."""
    if ways <= _SUMS:
        sums = [0.0]
        for one in moves:
            sums = [total + move for total in sums for move in one]
    else:
        sums = [0.0] * DRAWS
        for one in moves:
            sums = list(map(add, sums, draw.choices(one, k=DRAWS)))
        sums.append(seen)
    below = sum(total < seen - EQUAL for total in sums)
    above = sum(total > seen + EQUAL for total in sums)
    return below / len(sums), (len(sums) - below - above) / len(sums), above / len(sums)


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


def _exact_tails(moving: Sequence[tuple[CaseRuns, int]], most: int) -> Tails | None:
    """By all sums that there can be, in whole numbers; None where these are too many, or take too many additions."""
    whole = math.lcm(*(runs for case, _ in moving for runs in (case.runs_a, case.runs_b)))
    sums, seen = {0: 1.0}, 0
    for case, count in moving:
        of_a, of_b = whole // case.runs_a, whole // case.runs_b
        ways = hypergeometric(case.passed, case.runs_a, case.runs_b)
        of_cases = {passed * of_b - (case.passed - passed) * of_a: chance for passed, chance in ways}
        seen += count * (case.passed_b * of_b - case.passed_a * of_a)
        for bit in range(count.bit_length()):
            if bit:
                most -= len(of_cases) ** 2
                of_cases = _joined(of_cases, of_cases) if most >= 0 else {}
            if count >> bit & 1:
                most -= len(sums) * len(of_cases)
                sums = _joined(sums, of_cases) if most >= 0 else {}
            if most < 0 or len(sums) > _KEYS:
                return None
    below = math.fsum(weight for place, weight in sums.items() if place < seen)
    above = math.fsum(weight for place, weight in sums.items() if place > seen)
    return _tails(below, sums.get(seen, 0.0), above)


def _joined(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    """The sums of one of each, with their probabilities."""
    found: defaultdict[int, float] = defaultdict(float)
    for moved, chance in other.items():
        for place, weight in one.items():
            found[place + moved] += weight * chance
    return {place: weight for place, weight in found.items() if weight >= _NOTHING}


def _tails(below: float, tie: float, above: float) -> Tails:
    return {
        "worse": below + tie / 2,
        "better": above + tie / 2,
        "worse_exact": min(1.0, below + tie),
        "better_exact": min(1.0, above + tie),
    }


def _normal(total: float, spread: float) -> Tails:
    z = total / math.sqrt(spread)
    return _tails(normal().cdf(z), 0.0, normal().cdf(-z))


def _splits(case: ScoredCase, draw: random.Random) -> list[float]:
    """The differences of a case for its splits; drawn ones where there are too many to list."""
    scores = [*case.a, *case.b]
    runs, of_a = len(scores), len(case.a)
    total = math.fsum(scores)

    def difference(chosen: Sequence[int]) -> float:
        of_chosen = math.fsum(scores[place] for place in chosen)
        return (total - of_chosen) / (runs - of_a) - of_chosen / of_a

    if math.comb(runs, of_a) <= _SPLITS:
        return [difference(chosen) for chosen in itertools.combinations(range(runs), of_a)]
    return [difference(draw.sample(range(runs), of_a)) for _ in range(_SPLITS)]
