"""Combines the attempts of a test into one result: it collects attempts as they end, and sends the result after the
last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.results.events import AttemptEnd, Event, TestEnd
from runner.results.model import TestResult
from runner.results.test_place import TestPlace
from scripttest import Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.execution.tally import Tally


class Repetition:
    """Sends the ends of attempts and of tests; for a test that runs once, only the end of the test."""

    def __init__(
        self,
        send: Callable[[Event], None],
        runs: int,
        min_pass_rate: float,
        checked: Callable[[TestResult], TestResult] | None = None,
        strict: bool = False,
        on_inconclusive: str | None = None,
    ) -> None:
        """`min_pass_rate` is in percent; `checked` gives the result of an attempt as it is to count; with `strict` its
        warnings fail it. `on_inconclusive` is the flag of that name."""
        self.runs = runs
        self._failed: set[TestPlace] = set()
        """Tests that have failed, or can no longer pass."""
        self._send = send
        self._least = min_pass_rate
        self._checked = checked
        self._strict = strict
        self._on_inconclusive = on_inconclusive
        self._open: dict[TestPlace, Tally] = {}

    @property
    def failures(self) -> int:
        """How many tests have failed or broken, or can no longer pass."""
        return len(self._failed)

    def end(self, result: TestResult) -> TestResult | None:
        """Sends the end of an attempt, or of a test without attempts (`result.run` is 0). Returns the result of the
        test if it is complete with that, else None."""
        if self._checked is not None:
            result = self._checked(result)
        if self._strict:
            from runner.results.strictness import strict

            result = strict(result)
        result = self._settled(result)
        if not result.run:
            return self._ended(result)
        test = result.place.of_test
        tally = self.tally(test, result.policy)
        result = result.replace(policy=tally.policy)
        self._send(AttemptEnd(result=result))
        tally.add(result)
        if tally.has_failed(self._least):
            self._failed.add(test)
        return self._together(test) if tally.is_over else None

    def tally(self, test: TestPlace, policy: Any = None, numbers: Sequence[int] = ()) -> Tally:
        """The runs of a test. When they are asked for first: those with the given `numbers`, or as many as a `policy`
        needs, or as many as every test makes."""
        if test not in self._open:
            from runner.execution.tally import Tally

            self._open[test] = Tally(numbers or (() if policy is not None else range(1, self.runs + 1)), policy)
        return self._open[test]

    def open_results(self) -> list[TestResult]:
        """The runs that have ended of tests that may make more runs."""
        return [result for tally in self._open.values() for result in tally.results]

    def cut(self, suite: str) -> None:
        """Ends the tests of a suite whose runs have not all ended, with the results that they have."""
        for test in [test for test in self._open if test.suite == suite]:
            if self._open[test].results:
                self._together(test)

    def _together(self, test: TestPlace) -> TestResult:
        results = sorted(self._open.pop(test).results, key=lambda result: result.run)
        from runner.results.combining import of_runs

        return self._ended(self._settled(of_runs(results, self._least)))

    def _settled(self, result: TestResult) -> TestResult:
        if self._on_inconclusive is None:
            return result
        from runner.results.inconclusive import settled

        return settled(result, self._on_inconclusive)

    def _ended(self, result: TestResult) -> TestResult:
        if result.outcome.status == Status.FAILED:
            self._failed.add(result.place.of_test)
        self._send(TestEnd(result=result))
        return result
