"""What a comparison knows of a case: the judged runs of it in both reports, by their verdicts or by their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runner.statistics.intervals import variance
from scripttest.values import Value


class CaseRuns(Value):
    """The judged runs of a case in both reports."""

    passed_a: int
    runs_a: int
    passed_b: int
    runs_b: int

    def __hash__(self) -> int:
        return hash((self.passed_a, self.runs_a, self.passed_b, self.runs_b))  # equal ones are counted by the thousand

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
