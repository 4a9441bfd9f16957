"""Is B worse than A? Tests and intervals of the difference between two runs of the same cases.

A case is `CaseRuns`: how many of its judged runs passed in A and in B. If nothing changed, the runs of a case are alike
whichever report they stand in, so every way of dealing its passes to its runs is equally likely. That is the test; it
is exact for any number of runs. The interval comes from the spread of runs within cases.
"""

from __future__ import annotations

import itertools
import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from runner.statistics.distributions import hypergeometric, normal_probability, normal_quantile, t_probability
from runner.statistics.intervals import Interval, t_interval, variance
from scripttest.values import Value

ALPHA = 0.025
"""Of each side of the test, and of all single cases together."""
MARGIN = 0.05
"""A difference that does not matter."""
FALL = 0.5
"""A case that falls this far is suspect."""
LOOK_LEVELS = (0.05, 0.0294, 0.0221, 0.0182, 0.0158)
"""Pocock's two-sided level of each look when 1, 2, ... 5 looks are planned."""
DRAWS = 9999
_Z = normal_quantile(0.975)
_SEEN = _Z + normal_quantile(0.8)
"""Standard errors of a difference that is seen four times in five."""
_SLACK = 1e-12
"""A probability this far above a level is at it."""
_EQUAL = 1e-9
"""Sums of scores this close are equal."""
_KEYS = 50_000
_STEPS = 5_000_000
"""Keys and additions of the exact distribution, past which the normal one takes its place."""
_SPLITS = 1000
"""Ways to split the runs of a case that are listed, and drawn when there are more."""
_SUMS = 100_000
"""Sums of scores that are enumerated."""
_DRAWN_CASES = 500
"""Cases with scores for which sums are drawn; the sum of more is normal."""
_SIGNED = 16
"""Differences other than zero of which all signs are tried."""


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


class ScoredCase(Value):
    """The scores of a case, one for each judged run."""

    a: Sequence[float]
    b: Sequence[float]


class Change(Value):
    """The difference B - A over all cases."""

    difference: float | None
    """Mean over the cases, -1 to 1; None: there are no cases."""
    worse: float | None = None
    """Probability of a sum as low as this if nothing changed, half of the ties counted."""
    better: float | None = None
    worse_exact: float | None = None
    """The same with all ties."""
    better_exact: float | None = None
    standard_error: float | None = None
    interval: Interval | None = None
    """At 95 %; None: nothing is known of the spread."""


class SingleCase(Value):
    """The test of one case."""

    p: float
    """One-sided Fisher: the probability of as few passes in B if nothing changed."""
    least: float
    """The smallest p that these totals allow."""


class LikeThese(Value):
    """What the differences say of other cases like these."""

    mean: float | None
    interval: Interval | None = None
    worse: float | None = None


class Reach(Value):
    """What these runs could have seen, and what it takes to see a difference."""

    detectable: float
    """A fall that shows four times in five."""
    runs_each: int
    """Runs of each case on both sides to see the target."""
    runs_of_b: int | None
    """Runs of each case of B alone; None: A needs more, too."""


class Ratio(Value):
    """How many times as much B takes."""

    ratio: float
    interval: Interval | None = None
    p: float | None = None


class BrokenRuns(Value):
    """Whether more runs broke in B than chance explains."""

    p: float
    share_b: float
    too_many: bool


class ChangeVerdict(Value):
    """What a comparison says."""

    verdict: str
    """`regressed`, `improved`, `unchanged` or `cannot tell`."""
    change: Change
    broke: list[int]
    """Places of the cases that broke."""
    suspects: list[int]
    """Places of the cases that fell by half or more."""


def change_of(cases: Sequence[CaseRuns], steps: int | None = None) -> Change:
    """The test and the interval of the difference of pass rates. Each case has a run on both sides. `steps` are the
    additions that the exact distribution may take, where they are to be few; past them it is the normal one."""
    if not cases:
        return Change(difference=None)
    error = error_of(cases)
    difference = math.fsum(-case.fall for case in cases) / len(cases)
    worse, better, worse_exact, better_exact = _tails(cases, difference, _STEPS if steps is None else steps)
    return Change(
        difference=difference,
        worse=worse,
        better=better,
        worse_exact=worse_exact,
        better_exact=better_exact,
        standard_error=error,
        interval=_cut(difference, _Z * error),
    )


def error_of(cases: Sequence[CaseRuns]) -> float:
    """The standard error of the difference. Where no case has runs that differ, that of a share never seen in all
    pairs of runs."""
    spread = math.fsum(_spread(case) * (1 / case.runs_a + 1 / case.runs_b) for case in cases)
    count = len(cases)
    if not spread:
        pairs = sum(min(case.runs_a, case.runs_b) for case in cases)
        return float((1 - ALPHA ** (1 / pairs)) / _Z)
    one_more = math.fsum(1 / (case.runs_a * case.runs_b) for case in cases) / count
    return math.sqrt(spread + one_more) / count


def score_change_of(cases: Sequence[ScoredCase]) -> Change:
    """The same for scores: the relabelled runs keep their scores. Each case has a score on both sides."""
    if not cases:
        return Change(difference=None)
    count = len(cases)
    differences = [math.fsum(case.b) / len(case.b) - math.fsum(case.a) / len(case.a) for case in cases]
    parts = [variance([*case.a, *case.b]) * (1 / len(case.a) + 1 / len(case.b)) for case in cases]
    spread = math.fsum(parts)
    difference = math.fsum(differences) / count
    error = math.sqrt(spread) / count
    moving = [(case, seen) for case, part, seen in zip(cases, parts, differences, strict=True) if part]
    worse, better, worse_exact, better_exact = _score_tails(moving, spread)
    return Change(
        difference=difference,
        worse=worse,
        better=better,
        worse_exact=worse_exact,
        better_exact=better_exact,
        standard_error=error,
        interval=_cut(difference, _Z * error) if spread else None,
    )


def single_case(case: CaseRuns) -> SingleCase:
    """One-sided Fisher's exact test of one case."""
    ways = hypergeometric(case.passed_a + case.passed_b, case.runs_a, case.runs_b)
    return SingleCase(p=math.fsum(p for passed, p in ways if passed <= case.passed_b), least=ways[0][1])


def broken_cases(cases: Sequence[CaseRuns], alpha: float = ALPHA) -> list[int]:
    """Places of the cases that broke, by Tarone's count within Holm's steps: the chance of any false one is `alpha`.
    Cases that could not have been called do not make the others pay."""
    tests = [single_case(case) for case in cases]
    left = sorted(test.least for test in tests)
    found: list[int] = []
    paying = max(1, len(left))
    for place in sorted(range(len(tests)), key=lambda place: tests[place].p):
        while paying > 1 and bisect_right(left, alpha / (paying - 1) + _SLACK) <= paying - 1:
            paying -= 1
        if tests[place].p > alpha / paying + _SLACK:
            break
        found.append(place)
        del left[bisect_left(left, tests[place].least)]
    return sorted(found)


def suspects_of(cases: Sequence[CaseRuns]) -> list[int]:
    """Places of the cases that fell by half or more."""
    return [place for place, case in enumerate(cases) if case.fall >= FALL - _SLACK]


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


def reach_of(cases: Sequence[CaseRuns], target: float = MARGIN) -> Reach:
    """What at least one case with these runs could have shown, and how many runs show a fall of `target`."""
    detectable = _SEEN * error_of(cases)
    count = len(cases)
    spread = math.fsum(map(_spread, cases))
    if not spread:
        runs = math.ceil(math.log(ALPHA) / math.log1p(-target) / count - _EQUAL)
        return Reach(detectable=detectable, runs_each=runs, runs_of_b=runs)
    wanted = (count * target / _SEEN) ** 2 / spread
    left = wanted - 1 / min(case.runs_a for case in cases)
    return Reach(
        detectable=detectable,
        runs_each=math.ceil(2 / wanted - _EQUAL),
        runs_of_b=math.ceil(1 / left - _EQUAL) if left > 0 else None,
    )


def score_reach_of(cases: Sequence[ScoredCase], target: float = MARGIN) -> Reach | None:
    """The same for scores; None: no case has scores that differ, so nothing is known of their spread."""
    spreads = [variance([*case.a, *case.b]) for case in cases]
    spread, count = math.fsum(spreads), len(cases)
    if not spread:
        return None
    error = (
        math.sqrt(
            math.fsum(part * (1 / len(case.a) + 1 / len(case.b)) for case, part in zip(cases, spreads, strict=True))
        )
        / count
    )
    wanted = (count * target / _SEEN) ** 2 / spread
    left = wanted - 1 / min(len(case.a) for case in cases)
    return Reach(
        detectable=_SEEN * error,
        runs_each=math.ceil(2 / wanted - _EQUAL),
        runs_of_b=math.ceil(1 / left - _EQUAL) if left > 0 else None,
    )


def fewest_runs(cases: int, alpha: float = ALPHA) -> int:
    """Runs on each side with which this many cases that always fall can be called."""
    runs = 1
    while 1 / math.comb(2 * runs, runs) > alpha / cases + _SLACK:
        runs += 1
    return runs


def like_these(differences: Sequence[float]) -> LikeThese:
    """What the differences of the cases say of other cases like these: Student's interval, and the probability of a
    mean as low as this if signs were random."""
    if not differences:
        return LikeThese(mean=None)
    estimate = t_interval(differences)
    return LikeThese(mean=estimate.value, interval=estimate.interval, worse=_worse_by_signs(differences))


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
    if broke or change.worse <= alpha + _SLACK:
        return "regressed"
    if change.better <= alpha + _SLACK:
        return "improved"
    within = change.interval is not None and -margin <= change.interval.low and change.interval.high <= margin
    return "unchanged" if within and not suspect else "cannot tell"


def broken_runs(broken_a: int, runs_a: int, broken_b: int, runs_b: int) -> BrokenRuns:
    """Whether so many runs of B broke that its figures say nothing: over 20 %, or over 10 % and more than in A."""
    ways = hypergeometric(broken_a + broken_b, runs_a, runs_b)
    p = math.fsum(chance for broken, chance in ways if broken >= broken_b)
    share = broken_b / runs_b if runs_b else 0.0
    return BrokenRuns(p=p, share_b=share, too_many=share > 0.2 or (share > 0.1 and p <= 0.01 + _SLACK))


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


def _spread(case: CaseRuns) -> float:
    """The variance of one run of a case, without bias."""
    runs = case.runs_a + case.runs_b
    rate = (case.passed_a + case.passed_b) / runs
    return rate * (1 - rate) * runs / (runs - 1)


def _cut(difference: float, width: float) -> Interval:
    return Interval(low=max(-1.0, difference - width), high=min(1.0, difference + width))


def _tails(cases: Sequence[CaseRuns], difference: float, most: int) -> tuple[float, float, float, float]:
    """worse, better, and both with all ties."""
    lattice = math.lcm(*{case.runs_a for case in cases}, *{case.runs_b for case in cases})
    sums = {0: 1.0}
    seen = steps = 0
    for case in cases:
        passed = case.passed_a + case.passed_b
        step_a, step_b = lattice // case.runs_a, lattice // case.runs_b
        if not 0 < passed < case.runs_a + case.runs_b:
            continue
        seen += case.passed_b * step_b - case.passed_a * step_a
        ways = [
            (of_b * step_b - (passed - of_b) * step_a, chance)
            for of_b, chance in hypergeometric(passed, case.runs_a, case.runs_b)
        ]
        steps += len(sums) * len(ways)
        if len(sums) > _KEYS or steps > most:
            spread = math.fsum(_spread(case) * (1 / case.runs_a + 1 / case.runs_b) for case in cases)
            return _normal_tails(difference * len(cases), spread)
        added: dict[int, float] = {}
        for move, chance in ways:
            for place, weight in sums.items():
                at = place + move
                added[at] = added.get(at, 0.0) + weight * chance
        sums = added
    below = math.fsum(weight for place, weight in sums.items() if place < seen)
    above = math.fsum(weight for place, weight in sums.items() if place > seen)
    tie = sums.get(seen, 0.0)
    return below + tie / 2, above + tie / 2, min(1.0, below + tie), min(1.0, above + tie)


def _normal_tails(total: float, spread: float) -> tuple[float, float, float, float]:
    z = total / math.sqrt(spread)
    worse, better = normal_probability(z), normal_probability(-z)
    return worse, better, worse, better


def _score_tails(moving: Sequence[tuple[ScoredCase, float]], spread: float) -> tuple[float, float, float, float]:
    seen = math.fsum(difference for _, difference in moving)
    if len(moving) > _DRAWN_CASES:
        return _normal_tails(seen, spread)
    ways = math.prod(math.comb(len(case.a) + len(case.b), len(case.a)) for case, _ in moving)
    draw = random.Random(0)
    splits = [_splits(case, draw) for case, _ in moving]
    if ways <= _SUMS:
        sums = [0.0]
        for moves in splits:
            sums = [total + move for total in sums for move in moves]
        below, equal, above = _sides(sums, seen)
        return (
            (below + equal / 2) / len(sums),
            (above + equal / 2) / len(sums),
            (below + equal) / len(sums),
            (above + equal) / len(sums),
        )
    totals = [0.0] * DRAWS
    for moves in splits:
        totals = list(map(float.__add__, totals, draw.choices(moves, k=DRAWS)))
    below, equal, above = _sides(totals, seen)
    count = DRAWS + 1
    return (
        (below + (equal + 1) / 2) / count,
        (above + (equal + 1) / 2) / count,
        (below + equal + 1) / count,
        (above + equal + 1) / count,
    )


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


def _sides(sums: Sequence[float], seen: float) -> tuple[int, int, int]:
    """How many are below, equal and above."""
    below = sum(total < seen - _EQUAL for total in sums)
    above = sum(total > seen + _EQUAL for total in sums)
    return below, len(sums) - below - above, above


def _worse_by_signs(differences: Sequence[float]) -> float | None:
    if len(differences) < 2:
        return None
    sizes = [abs(difference) for difference in differences if difference]
    seen = math.fsum(differences)
    if len(sizes) <= _SIGNED:
        sums = [0.0]
        for size in sizes:
            sums = [total + signed for total in sums for signed in (-size, size)]
        below, equal, _ = _sides(sums, seen)
        return (below + equal) / len(sums)
    if len(sizes) > _DRAWN_CASES:
        mean = seen / len(differences)
        return t_probability(mean / math.sqrt(variance(differences) / len(differences)), len(differences) - 1)
    draw = random.Random(0)
    totals = [0.0] * DRAWS
    for size in sizes:
        totals = list(map(float.__add__, totals, draw.choices((-size, size), k=DRAWS)))
    below, equal, _ = _sides(totals, seen)
    return (below + equal + 1) / (DRAWS + 1)
