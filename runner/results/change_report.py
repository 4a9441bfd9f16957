"""What a comparison of two reports says: the verdict on the newer one, and the figures that it comes from."""

from __future__ import annotations

import math
from enum import StrEnum

from runner.results.judged_cases import Key
from runner.results.judging import JudgesNoise
from runner.results.looks import Looks
from runner.statistics.change import Change
from runner.statistics.intervals import Estimate
from runner.statistics.like_these import LikeThese
from runner.statistics.ratios import Ratio
from runner.statistics.reach import Reach
from scripttest.values import Value

NO_VERDICT_SHARE = 0.2
"""Share of A's cases without a verdict in B from which on a gate does not pass."""


class Verdict(StrEnum):
    """What a comparison says."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    CANNOT_TELL = "cannot tell"


class Noise(StrEnum):
    """Whether runs of one case may differ."""

    RUNS = "runs"
    NONE = "none"


class ComparedCase(Value):
    """A case that was judged in both reports."""

    key: Key
    a: tuple[float, ...]
    """What each run gives for the measure."""
    b: tuple[float, ...]
    p: float | None = None
    """Of its fall, where it is tested."""
    broke: bool = False
    is_suspect: bool = False

    @property
    def fall(self) -> float:
        """How much less B has."""
        return math.fsum(self.a) / len(self.a) - math.fsum(self.b) / len(self.b)


class LeftOut(Value):
    """What does not count."""

    added: tuple[Key, ...]
    removed: tuple[Key, ...]
    changed: tuple[Key, ...]
    unjudged: tuple[Key, ...]
    """Cases of both without a judged run, or without the measure, on one side."""
    broken: tuple[int, int]
    """Runs that broke, in A and in B."""
    inconclusive: tuple[int, int]
    """Runs whose judges did not decide."""
    skipped: tuple[int, int]
    doubled: tuple[int, int]
    """Results of a name that was there already."""
    no_score: tuple[int, int]
    """Judged runs without the measure."""


class Beside(Value):
    """A figure beside the measure: `duration_ms`, `tokens` or `cost` for each case, as a ratio."""

    name: str
    a: float
    b: float
    """Means of the cases."""
    ratio: Ratio | None


class Part(Value):
    """A figure of some cases, which only informs: the score, a criterion, or the measure of the cases of a tag."""

    kind: str
    """`score`, `criterion` or `tag`."""
    name: str
    cases: int
    rates: tuple[Estimate, Estimate]
    change: Change
    stands_out: bool = False
    """Whether it is worth a look: a false discovery is one of ten of these."""


class ChangeReport(Value):
    """One report against an older one."""

    verdict: Verdict
    measure: str
    cases: tuple[ComparedCase, ...]
    runs: tuple[int, int]
    rates: tuple[Estimate, Estimate]
    """The measure in A and in B, with intervals; 0 to 1."""
    change: Change
    reach: Reach | None
    cost_of_reach: float | None
    """US dollars of the further runs that would decide; None: unknown."""
    like_these: LikeThese
    left_out: LeftOut
    too_many_broke: bool
    noise: Noise
    margin: float
    beside: tuple[Beside, ...]
    parts: tuple[Part, ...]
    cases_of_a: int
    """Cases of A that have the measure."""
    is_same_report: bool
    judges_noise: JudgesNoise | None
    """How far the difference would be off if the judges voted again; None: there are too few votes to say."""
    is_judges_noise: bool
    """Whether both are grades of the same answers, so that only the judges can differ."""
    mean_cost: float | None
    """Of a run of a case, in US dollars."""
    has_scores: bool
    """Whether the cases have scores, which see smaller differences than verdicts."""
    looks: Looks
    """Which look at the runs it is, and how many were planned."""
    variants: tuple[str, ...]
    """Those of the run of B, as its command line has them."""
    cases_limit: bool
    """Whether more cases would say more than more runs of these."""

    @property
    def broke(self) -> list[ComparedCase]:
        """The cases that broke."""
        return [case for case in self.cases if case.broke]

    @property
    def suspects(self) -> list[ComparedCase]:
        """The cases that fell by half or more."""
        return [case for case in self.cases if case.is_suspect]

    @property
    def fell(self) -> list[ComparedCase]:
        """The cases that are lower in B."""
        return [case for case in self.cases if case.fall > 1e-12]

    @property
    def without_verdict(self) -> float:
        """Share of A's cases that have no verdict in B."""
        return 1 - len(self.cases) / self.cases_of_a if self.cases_of_a else 0.0

    @property
    def lacks_verdicts(self) -> bool:
        """Whether that are too many for a gate."""
        return self.without_verdict > NO_VERDICT_SHARE + 1e-12

    def fails(self, *, on_unsure: bool) -> bool:
        """Whether a gate stops B."""
        if self.verdict is Verdict.REGRESSED:
            return True
        if self.verdict is Verdict.CANNOT_TELL and (on_unsure or self.too_many_broke):
            return True
        return self.lacks_verdicts
