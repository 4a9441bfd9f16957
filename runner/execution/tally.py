"""The runs of one test: which of them begin next, and whether there are enough."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner.results.model import TestResult
from runner.results.stability import pass_rate
from runner.results.verdict import Verdict, verdict_on
from scripttest import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Tally:
    """Counts the runs of one test: a fixed number, or as many as a policy needs."""

    def __init__(self, numbers: Sequence[int], policy: Any) -> None:
        """`numbers` are those of the runs to make; empty: as many runs as the policy needs. `policy` is as its file has
        it; None: the test has none."""
        self.policy = policy
        self.results: list[TestResult] = []
        self._failed = 0
        self._has_broken = False
        self._numbers = numbers
        self._begun: set[int] = set()

    def add(self, result: TestResult) -> None:
        """Adds a run that has ended."""
        self.results.append(result)
        self._failed += result.outcome.status == Status.FAILED
        self._has_broken |= verdict_on(result) is Verdict.BROKEN

    def due(self, known: Collection[int] = ()) -> list[int]:
        """Returns the numbers of the runs that begin now, and marks them as begun; `known` runs already have
        results."""
        if self._numbers:
            numbers = [number for number in self._numbers if number not in known]
        else:
            from runner.results.repeating import needs_more

            verdicts = {result.run: verdict_on(result) for result in self.results}
            if self._begun - verdicts.keys():
                return []
            numbers = needs_more(self.policy, verdicts)
        ended = {result.run for result in self.results}  # also those of an earlier run
        numbers = [number for number in numbers if number not in self._begun | ended]
        self._begun.update(numbers)
        return numbers

    def of_round(self, round: int, known: Collection[int] = ()) -> list[int]:
        """With `--until-decided`: returns the number of the next run, if it belongs to this round or an earlier one,
        and marks it as begun; `known` runs already have results."""
        made = self._begun | {result.run for result in self.results} | set(known)
        numbers = [number for number in self._numbers if number <= round and number not in made][:1]
        self._begun.update(numbers)
        return numbers

    @property
    def is_over(self) -> bool:
        """Whether all runs that are needed have ended."""
        if self._numbers:
            return len(self.results) == len(self._numbers)
        return self._begun <= {result.run for result in self.results} and self._verdict is not None

    def has_failed(self, least: float) -> bool:
        """Whether the test has failed or broken, or can no longer pass; `least` is the pass rate in percent that it
        needs."""
        if self.policy is not None:
            return self._verdict in (Verdict.FAILED, Verdict.BROKEN)
        runs = len(self._numbers)
        return self._has_broken or pass_rate(runs - self._failed, runs) < least

    @property
    def _verdict(self) -> Verdict | None:
        from runner.results.repeating import repeat_of

        ordered = sorted(self.results, key=lambda result: result.run)
        return repeat_of(self.policy, [verdict_on(result) for result in ordered]).verdict
