"""The comparison of two reports: the verdict on the newer one, and the figures behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Generic, TypeVar

from runner.record.events import InterimLooks
from runner.record.keys import ResultKey
from runner.record.votes import JudgesNoise
from runner.statistics.change import DetectableDifference, DifferenceInterval, MeanDifference
from runner.statistics.intervals import Estimate, Ratio
from scripttest.values import Value, fields_of

NO_VERDICT_SHARE = 0.2
"""A gate does not pass when at least this share of A's cases has no verdict in B."""


Figures = tuple[float, ...]
"""The value of the measure in each run of a case."""


class ChangeVerdict(StrEnum):
    """The verdict of a comparison."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    CANNOT_TELL = "cannot tell"


class Noise(StrEnum):
    """Whether several runs of one case may differ."""

    RUNS = "runs"
    NONE = "none"


class ComparedCase(Value):
    """A case that was judged in both reports."""

    key: ResultKey
    figures: BeforeAfter[Figures]
    p: float | None = None
    """The p-value of its fall, where it is tested."""
    broke: bool = False
    is_suspect: bool = False

    @property
    def fall(self) -> float:
        """How much lower the measure is in B."""
        a, b = (math.fsum(values) / len(values) for values in self.figures.both)
        return a - b

    @property
    def fewest_runs(self) -> int:
        """The runs of the report that has fewer of them."""
        return min(map(len, self.figures.both))


class LeftOut(Value):
    """How much was left out of the comparison, and why."""

    added: tuple[ResultKey, ...]
    removed: tuple[ResultKey, ...]
    changed: tuple[ResultKey, ...]
    unjudged: tuple[ResultKey, ...]
    """Cases of both reports that have no judged run, or no value of the measure, in one of them."""
    broken: BeforeAfter[int]
    """How many runs broke."""
    inconclusive: BeforeAfter[int]
    """How many runs have no verdict because their judges did not decide."""
    skipped: BeforeAfter[int]
    doubled: BeforeAfter[int]
    """Further results of a name that occurs several times."""
    no_score: BeforeAfter[int]
    """How many judged runs have no value of the measure."""


class ResourceChange(Value):
    """The change of `duration_ms`, `tokens` or `cost`, as the ratio of B to A."""

    name: str
    means: BeforeAfter[float]
    """The means of the cases."""
    ratio: Ratio | None


class Breakdown(Value):
    """A change in a part, for information only: in the score, in a criterion, or in the measure of the cases
    with a tag."""

    kind: str
    """`score`, `criterion` or `tag`."""
    name: str
    cases: int
    rates: BeforeAfter[Estimate]
    change: MeanDifference
    stands_out: bool = False
    """Whether it is worth a look; about one in ten of these is a false alarm."""


class ChangeReport(Value):
    """The comparison of a report with an older one."""

    verdict: ChangeVerdict
    measure: str
    cases: tuple[ComparedCase, ...]
    runs: BeforeAfter[int]
    rates: BeforeAfter[Estimate]
    """The measure, with intervals, from 0 to 1."""
    change: MeanDifference
    reach: DetectableDifference | None
    cost_of_reach: float | None
    """US dollars of the further runs that would decide; None: unknown."""
    like_these: DifferenceInterval
    left_out: LeftOut
    too_many_broke: bool
    noise: Noise
    margin: float
    beside: tuple[ResourceChange, ...]
    parts: tuple[Breakdown, ...]
    cases_of_a: int
    """How many cases of A have the measure."""
    is_same_report: bool = False
    judges_noise: JudgesNoise | None
    """How far the difference would be off if the judges voted again; None: there are too few votes to say."""
    is_judges_noise: bool = False
    """Whether both are grades of the same answers, so that only the judges can differ."""
    mean_cost: float | None
    """Mean cost of one run of a case, in US dollars."""
    has_scores: bool
    """Whether the cases have scores, which see smaller differences than verdicts."""
    looks: InterimLooks
    """Which of the planned looks at the runs this is, and how many are planned."""
    variants: tuple[str, ...] = ()
    """The variants of the run of B, as on its command line."""
    cases_limit: bool
    """Whether more cases would help more than more runs of these cases."""

    @property
    def broke(self) -> list[ComparedCase]:
        """The cases that broke."""
        return [case for case in self.cases if case.broke]

    @property
    def suspects(self) -> list[ComparedCase]:
        """The cases whose measure fell by half or more."""
        return [case for case in self.cases if case.is_suspect]

    @property
    def fell(self) -> list[ComparedCase]:
        """The cases whose measure is lower in B."""
        return [case for case in self.cases if case.fall > 1e-12]

    @property
    def without_verdict(self) -> float:
        """Share of A's cases that have no verdict in B."""
        return 1 - len(self.cases) / self.cases_of_a if self.cases_of_a else 0.0

    @property
    def lacks_verdicts(self) -> bool:
        """Whether too many cases have no verdict, so that a gate must not pass."""
        return self.without_verdict > NO_VERDICT_SHARE + 1e-12

    def fails(self, *, on_unsure: bool) -> bool:
        """Whether a gate rejects B."""
        if self.verdict is ChangeVerdict.REGRESSED:
            return True
        if self.verdict is ChangeVerdict.CANNOT_TELL and (on_unsure or self.too_many_broke):
            return True
        return self.lacks_verdicts


T = TypeVar("T")
Made = TypeVar("Made")


class BeforeAfter(Generic[T], Value):
    """Something of A, the older report, and the same of B."""

    a: T
    b: T

    @property
    def both(self) -> tuple[T, T]:
        """A's, then B's."""
        return self.a, self.b

    def each(self, make: Callable[[T], Made]) -> BeforeAfter[Made]:
        """What a function makes of A's, and of B's."""
        return BeforeAfter(a=make(self.a), b=make(self.b))


A_AND_B = BeforeAfter(a="A", b="B")
"""The names of the sides."""


def verdict_record(found: ChangeReport) -> dict[str, object]:
    """The verdict as JSON; rates and intervals are from 0 to 1."""

    def named(keys: Sequence[ResultKey]) -> list[dict[str, str]]:
        return [key.record for key in keys]

    def values(rates: BeforeAfter[Estimate]) -> dict[str, object]:
        return fields_of(rates.each(lambda rate: _maybe(rate.value)))

    def ends(estimate: Estimate | DifferenceInterval | MeanDifference | Ratio | None) -> list[float] | None:
        if estimate is None or estimate.interval is None:
            return None
        return [_rounded(estimate.interval.low), _rounded(estimate.interval.high)]

    change, reach, left_out, noise = found.change, found.reach, found.left_out, found.judges_noise
    return {
        "verdict": found.verdict.replace(" ", "_"),
        "measure": found.measure,
        "cases": len(found.cases),
        "runs": fields_of(found.runs),
        "rates": values(found.rates),
        "rate_intervals": fields_of(found.rates.each(ends)),
        "difference": _maybe(change.difference),
        "interval": ends(change),
        "worse": _maybe(change.worse),
        "better": _maybe(change.better),
        "worse_exact": _maybe(change.worse_exact),
        "better_exact": _maybe(change.better_exact),
        "broke": [case.key.name for case in found.broke],
        "suspects": [case.key.name for case in found.suspects],
        "margin": found.margin,
        "level": 0.95,
        "detectable": _maybe(reach.detectable) if reach else None,
        "runs_needed": {
            "target": found.margin,
            "each": reach.runs_each,
            "of_b": reach.runs_of_b,
            "cost": _maybe(found.cost_of_reach),
        }
        if reach
        else None,
        "like_these": {"interval": ends(found.like_these), "worse": _maybe(found.like_these.worse)},
        "left_out": {
            "added": named(left_out.added),
            "removed": named(left_out.removed),
            "changed": named(left_out.changed),
            "unjudged": named(left_out.unjudged),
            "broken": fields_of(left_out.broken),
            "skipped": fields_of(left_out.skipped),
            "inconclusive": fields_of(left_out.inconclusive),
            "doubled": fields_of(left_out.doubled),
            "no_score": fields_of(left_out.no_score),
        },
        "beside": {
            beside.name: {
                **fields_of(beside.means.each(_rounded)),
                "ratio": _maybe(beside.ratio.ratio) if beside.ratio else None,
                "interval": ends(beside.ratio),
            }
            for beside in found.beside
        },
        "parts": [
            {
                "kind": part.kind,
                "name": part.name,
                "cases": part.cases,
                "rates": values(part.rates),
                "difference": _maybe(part.change.difference),
                "interval": ends(part.change),
                "look_at": part.stands_out,
            }
            for part in found.parts
        ],
        "judges_noise": {"answers": noise.answers, "interval": _rounded(noise.of(found.measure))} if noise else None,
        "noise": str(found.noise),
        "looks": found.looks.made,
    }


def _maybe(value: float | None) -> float | None:
    return None if value is None else _rounded(value)


def _rounded(value: float) -> float:
    return round(value, 6) + 0.0
