"""Runs a test counts as one: attempts come in as they end, the result of the test goes out when the last has."""

from __future__ import annotations

from collections.abc import Callable

from runner.results.events import AttemptEnd, Event, TestEnd
from runner.results.model import TestResult
from runner.results.stability import pass_rate
from runner.results.verdict import Verdict, verdict_on
from scripttest import Status


class Repetition:
    """Sends the ends of attempts and of tests. Of a test that runs once, only the latter."""

    def __init__(
        self,
        send: Callable[[Event], None],
        runs: int,
        min_pass_rate: float,
        checked: Callable[[TestResult], TestResult] | None = None,
        strict: bool = False,
    ) -> None:
        """`min_pass_rate` is in percent; `checked` gives the result of an attempt as it is to count; with `strict` its
        warnings fail it."""
        self.runs = runs
        self._failed: set[tuple[str, int]] = set()
        """Suite and position of the tests that have failed, or can no longer pass."""
        self._send = send
        self._least = min_pass_rate
        self._checked = checked
        self._strict = strict
        self._open: dict[tuple[str, int], list[TestResult]] = {}

    @property
    def failures(self) -> int:
        """How many tests have failed or broken, or can no longer pass."""
        return len(self._failed)

    def end(self, result: TestResult) -> TestResult | None:
        """Sends the end of an attempt, or of a test that has none (`result.run` is 0). The result of the test when it
        has ended with that."""
        if self._checked is not None:
            result = self._checked(result)
        if self._strict:
            from runner.results.strictness import strict

            result = strict(result)
        if not result.run:
            return self._ended(result)
        self._send(AttemptEnd(result=result))
        key = (result.suite, result.position)
        results = self._open.setdefault(key, [])
        results.append(result)
        failed = sum(result.outcome.status == Status.FAILED for result in results)
        broke = verdict_on(result) is Verdict.BROKEN
        if broke or pass_rate(self.runs - failed, self.runs) < self._least:
            self._failed.add(key)
        return self._together(key) if len(results) == self.runs else None

    def cut(self, suite: str) -> None:
        """Ends the tests of a suite of which not all runs have ended, with those that have."""
        for key in [key for key in self._open if key[0] == suite]:
            self._together(key)

    def _together(self, key: tuple[str, int]) -> TestResult:
        results = sorted(self._open.pop(key), key=lambda result: result.run)
        from runner.results.combining import of_runs

        return self._ended(of_runs(results, self._least))

    def _ended(self, result: TestResult) -> TestResult:
        if result.outcome.status == Status.FAILED:
            self._failed.add((result.suite, result.position))
        self._send(TestEnd(result=result))
        return result
