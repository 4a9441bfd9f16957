"""Is B worse than A? Tests and intervals for the difference between two runs of the same cases.

A case is `CaseRuns`: how many of its judged runs passed in A and in B. If nothing has changed, the runs of a case are
exchangeable between the reports: every assignment of its passes to its runs is equally likely. The test uses this, and
is exact for any number of runs. The interval comes from the variance of runs within cases.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from runner.statistics.case_runs import CaseRuns, ScoredCase
from runner.statistics.distributions import hypergeometric
from runner.statistics.intervals import Interval
from runner.statistics.levels import ALPHA, SLACK, Z
from runner.statistics.relabelling import STEPS, score_tails_of, tails_of
from runner.statistics.single_cases import broken_cases, suspects_of
from scripttest.values import Value, fields_of

MARGIN = 0.05
"""A difference that does not matter."""


class Change(Value):
    """The difference B - A over all cases."""

    difference: float | None
    """Mean over the cases, -1 to 1; None if there are no cases."""
    worse: float | None = None
    """Probability of a sum as low as this if nothing changed, half of the ties counted."""
    better: float | None = None
    worse_exact: float | None = None
    """The same with all ties."""
    better_exact: float | None = None
    standard_error: float | None = None
    interval: Interval | None = None
    """At 95 %; None: nothing is known of the spread."""


class BrokenRuns(Value):
    """Whether more runs broke in B than chance explains."""

    p: float
    share_b: float
    too_many: bool


class ChangeVerdict(Value):
    """The verdict of a comparison."""

    verdict: str
    """`regressed`, `improved`, `unchanged` or `cannot tell`."""
    change: Change
    broke: list[int]
    """Places of the cases that broke."""
    suspects: list[int]
    """Places of the cases that fell by half or more."""


def change_of(cases: Sequence[CaseRuns], steps: int = STEPS) -> Change:
    """The test and the interval of the difference of pass rates. Each case has a run on both sides. `steps` are the
    additions that the exact distribution may take, where they are to be few; past them it is the normal one."""
    if not cases:
        return Change(difference=None)
    kinds = Counter(cases)
    error = _error_of(kinds)
    difference = math.fsum(-case.fall * count for case, count in kinds.items()) / len(cases)
    return Change(
        difference=difference,
        standard_error=error,
        interval=_cut(difference, Z * error),
        **fields_of(tails_of(kinds, steps)),
    )


def error_of(cases: Sequence[CaseRuns]) -> float:
    """The standard error of the difference. Where no case has runs that differ, that of a share never seen in all
    pairs of runs."""
    return _error_of(Counter(cases))


def score_change_of(cases: Sequence[ScoredCase]) -> Change:
    """The same for scores: the relabelled runs keep their scores. Each case has a score on both sides."""
    if not cases:
        return Change(difference=None)
    difference = math.fsum(case.rise for case in cases) / len(cases)
    spreads = [case.spread * case.shares for case in cases]
    spread = math.fsum(spreads)
    error = math.sqrt(spread) / len(cases)
    moving = [case for case, part in zip(cases, spreads, strict=True) if part]
    return Change(
        difference=difference,
        standard_error=error,
        interval=_cut(difference, Z * error) if spread else None,
        **fields_of(score_tails_of(moving, spread)),
    )


def verdict_of(cases: Sequence[CaseRuns], margin: float = MARGIN, alpha: float = ALPHA) -> ChangeVerdict:
    """What the runs of these cases say of B. `alpha` is the level of each side of the test."""
    change, broke, suspects = change_of(cases), broken_cases(cases), suspects_of(cases)
    return ChangeVerdict(
        verdict=verdict_from(change, broke=bool(broke), suspect=bool(suspects), margin=margin, alpha=alpha),
        change=change,
        broke=broke,
        suspects=suspects,
    )


def verdict_from(
    change: Change, *, broke: bool = False, suspect: bool = False, margin: float = MARGIN, alpha: float = ALPHA
) -> str:
    """The word for a change: `regressed`, `improved`, `unchanged` or `cannot tell`."""
    if change.worse is None or change.better is None:
        return "cannot tell"
    if broke or change.worse <= alpha + SLACK:
        return "regressed"
    if change.better <= alpha + SLACK:
        return "improved"
    within = change.interval is not None and -margin <= change.interval.low and change.interval.high <= margin
    return "unchanged" if within and not suspect else "cannot tell"


def broken_runs(broken_a: int, runs_a: int, broken_b: int, runs_b: int) -> BrokenRuns:
    """Whether so many runs of B broke that its figures say nothing: over 20 %, or over 10 % and more than in A."""
    ways = hypergeometric(broken_a + broken_b, runs_a, runs_b)
    p = math.fsum(chance for broken, chance in ways if broken >= broken_b)
    share = broken_b / runs_b if runs_b else 0.0
    return BrokenRuns(p=p, share_b=share, too_many=share > 0.2 or (share > 0.1 and p <= 0.01 + SLACK))


def _error_of(kinds: Counter[CaseRuns]) -> float:
    spread = math.fsum(case.spread_of_fall * count for case, count in kinds.items())
    if not spread:
        pairs = sum(min(case.runs_a, case.runs_b) * count for case, count in kinds.items())
        return float((1 - ALPHA ** (1 / pairs)) / Z)
    cases = kinds.total()
    one_more = math.fsum(count / (case.runs_a * case.runs_b) for case, count in kinds.items()) / cases
    return math.sqrt(spread + one_more) / cases


def _cut(difference: float, width: float) -> Interval:
    return Interval(low=max(-1.0, difference - width), high=min(1.0, difference + width))
