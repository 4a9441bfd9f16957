"""The comparison of two reports: the verdict on the newer one, and the figures behind it."""

from __future__ import annotations

import math
from enum import StrEnum

from runner.results.judging import JudgesNoise
from runner.results.looks import Looks
from runner.results.result_keys import ResultKey
from runner.results.sides import Sides
from runner.statistics.change import Change, DetectableDifference, DifferenceInterval
from runner.statistics.intervals import Estimate, Ratio
from scripttest.values import Value

NO_VERDICT_SHARE = 0.2
"""A gate does not pass when at least this share of A's cases has no verdict in B."""


Figures = tuple[float, ...]
"""The value of the measure in each run of a case."""


class Verdict(StrEnum):
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
    figures: Sides[Figures]
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
    broken: Sides[int]
    """How many runs broke."""
    inconclusive: Sides[int]
    """How many runs have no verdict because their judges did not decide."""
    skipped: Sides[int]
    doubled: Sides[int]
    """Further results of a name that occurs several times."""
    no_score: Sides[int]
    """How many judged runs have no value of the measure."""


class Beside(Value):
    """The change of `duration_ms`, `tokens` or `cost`, as the ratio of B to A."""

    name: str
    means: Sides[float]
    """The means of the cases."""
    ratio: Ratio | None


class Part(Value):
    """A change in a part, for information only: in the score, in a criterion, or in the measure of the cases
    with a tag."""

    kind: str
    """`score`, `criterion` or `tag`."""
    name: str
    cases: int
    rates: Sides[Estimate]
    change: Change
    stands_out: bool = False
    """Whether it is worth a look; about one in ten of these is a false alarm."""


class ChangeReport(Value):
    """The comparison of a report with an older one."""

    verdict: Verdict
    measure: str
    cases: tuple[ComparedCase, ...]
    runs: Sides[int]
    rates: Sides[Estimate]
    """The measure, with intervals, from 0 to 1."""
    change: Change
    reach: DetectableDifference | None
    cost_of_reach: float | None
    """US dollars of the further runs that would decide; None: unknown."""
    like_these: DifferenceInterval
    left_out: LeftOut
    too_many_broke: bool
    noise: Noise
    margin: float
    beside: tuple[Beside, ...]
    parts: tuple[Part, ...]
    cases_of_a: int
    """How many cases of A have the measure."""
    is_same_report: bool
    judges_noise: JudgesNoise | None
    """How far the difference would be off if the judges voted again; None: there are too few votes to say."""
    is_judges_noise: bool
    """Whether both are grades of the same answers, so that only the judges can differ."""
    mean_cost: float | None
    """Mean cost of one run of a case, in US dollars."""
    has_scores: bool
    """Whether the cases have scores, which see smaller differences than verdicts."""
    looks: Looks
    """Which of the planned looks at the runs this is, and how many are planned."""
    variants: tuple[str, ...]
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
        if self.verdict is Verdict.REGRESSED:
            return True
        if self.verdict is Verdict.CANNOT_TELL and (on_unsure or self.too_many_broke):
            return True
        return self.lacks_verdicts
