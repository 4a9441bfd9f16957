"""The verdict on two runs of some cases, put together as `diff` does it."""

from __future__ import annotations

from collections.abc import Sequence

from runner.statistics.change import MARGIN, MeanDifference, change_of, verdict_from
from runner.statistics.exact_tests import CaseRuns, broken_cases, suspects_of
from scripttest.values import Value


class ChangeVerdict(Value):
    verdict: str
    change: MeanDifference
    broke: list[int]
    suspects: list[int]


def verdict_of(cases: Sequence[CaseRuns], margin: float = MARGIN) -> ChangeVerdict:
    """What the runs of these cases say of B."""
    change, broke, suspects = change_of(cases), broken_cases(cases), suspects_of(cases)
    verdict = verdict_from(change, broke=bool(broke), suspect=bool(suspects), margin=margin)
    return ChangeVerdict(verdict=verdict, change=change, broke=broke, suspects=suspects)
