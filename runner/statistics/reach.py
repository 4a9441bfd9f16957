"""What runs could have shown of a change, and how many it takes to see one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.statistics.case_runs import CaseRuns, ScoredCase
from runner.statistics.change import MARGIN, error_of
from runner.statistics.levels import ALPHA, EQUAL, SEEN
from scripttest.values import Value


class Reach(Value):
    """What these runs could have seen, and what it takes to see a difference."""

    detectable: float
    """A fall that shows four times in five."""
    runs_each: int
    """Runs of each case on both sides to see the target."""
    runs_of_b: int | None
    """Runs of each case of B alone; None: A needs more, too."""


def reach_of(cases: Sequence[CaseRuns], target: float = MARGIN) -> Reach:
    """What at least one case with these runs could have shown, and how many runs show a fall of `target`."""
    detectable = SEEN * error_of(cases)
    spread = math.fsum(case.spread for case in cases)
    if not spread:
        runs = math.ceil(math.log(ALPHA) / math.log1p(-target) / len(cases) - EQUAL)
        return Reach(detectable=detectable, runs_each=runs, runs_of_b=runs)
    return _reach(detectable, spread, len(cases), min(case.runs_a for case in cases), target)


def score_reach_of(cases: Sequence[ScoredCase], target: float = MARGIN) -> Reach | None:
    """The same for scores; None: no case has scores that differ, so nothing is known of their spread."""
    spreads = [case.spread for case in cases]
    spread = math.fsum(spreads)
    if not spread:
        return None
    of_rises = math.fsum(part * case.shares for case, part in zip(cases, spreads, strict=True))
    detectable = SEEN * math.sqrt(of_rises) / len(cases)
    return _reach(detectable, spread, len(cases), min(len(case.a) for case in cases), target)


def _reach(detectable: float, spread: float, cases: int, fewest: int, target: float) -> Reach:
    """By the variances of one run of each case, and the fewest runs of a case in A."""
    wanted = (cases * target / SEEN) ** 2 / spread
    left = wanted - 1 / fewest
    return Reach(
        detectable=detectable,
        runs_each=math.ceil(2 / wanted - EQUAL),
        runs_of_b=math.ceil(1 / left - EQUAL) if left > 0 else None,
    )
