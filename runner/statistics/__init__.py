"""The statistics of change, repeats and judges: pure functions over plain numbers, which know of no report."""

from __future__ import annotations

from scripttest.values import Value


class PassCount(Value):
    """What pass rates are computed from: how many runs of a case were judged, and how many of them passed."""

    passed: int
    judged: int

    @property
    def rate(self) -> float:
        """The share of runs that passed, 0 to 1; 0 where none was judged."""
        return self.passed / self.judged if self.judged else 0.0
