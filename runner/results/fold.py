"""Folds the event stream into what reporters and the exit code need; the only place that counts."""

from __future__ import annotations

from runner.execution.stopping import CUT
from runner.results.events import (
    AttemptEnd,
    Event,
    RunEnd,
    RunError,
    RunStart,
    Suite,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    TestResult,
    TestStart,
    TurnStart,
)

NAMED = 10
"""Cases that check nothing and are named."""


class Counts:
    """Results by status, and the time they took."""

    __slots__ = (
        "checks_nothing",
        "errors",
        "failed",
        "first_of_nothing",
        "milliseconds",
        "not_judged",
        "passed",
        "skipped",
        "warnings",
    )

    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0
        self.errors = 0
        """Results that are no verdict, because what the test needs broke; they are in none of the others."""
        self.warnings = 0
        """Warnings of results, whatever their status."""
        self.milliseconds = 0.0
        self.not_judged = 0
        """Criteria that no judge could judge."""
        self.checks_nothing = 0
        """Cases that passed and check nothing."""
        self.first_of_nothing: list[tuple[int, int, str]] = []
        """The first of them: place of the suite, place in it, id."""

    @property
    def total(self) -> int:
        """All results."""
        return self.passed + self.failed + self.skipped + self.errors

    @property
    def bad(self) -> int:
        """Results with which a run does not pass."""
        return self.failed + self.errors

    @property
    def checks_nothing_first(self) -> list[str]:
        """The ids of the first of the cases that check nothing, in the order of the suites and their cases."""
        return [id for _, _, id in self.first_of_nothing]

    def add(self, result: TestResult, suite: int) -> None:
        """Counts one result of the suite at a place among the suites."""
        outcome = result.outcome
        broke = outcome.status == "failed" and outcome.cause == "infrastructure"
        status = "errors" if broke else outcome.status
        setattr(self, status, getattr(self, status) + 1)
        self.warnings += len(outcome.warnings)
        self.not_judged += outcome.not_judged
        if status == "passed" and result.case is not None and result.case.checks_nothing:
            self.checks_nothing += 1
            first = [*self.first_of_nothing, (suite, result.position, outcome.name)]
            self.first_of_nothing = sorted(first)[:NAMED]
        attempts = result.attempts
        self.milliseconds += sum(run.duration_ms for run in attempts) if attempts else result.outcome.milliseconds


class Execution:
    """The run so far."""

    def __init__(self) -> None:
        self.start: RunStart | None = None
        self.suites: dict[str, Suite] = {}
        self.counts = Counts()
        self.of_suite: dict[str, Counts] = {}
        self._places: dict[str, int] = {}
        self.listed: dict[str, SuiteStart] = {}
        self.running: dict[tuple[str, int, int], str] = {}
        """Names of the tests under way, by suite, index and run."""
        self.turns: dict[tuple[str, int, int], int] = {}
        """The turn that each of them is in, if it has turns."""
        self.ended: set[str] = set()
        """Suites that have ended."""
        self.cut = 0
        """Cases that were cut short; they are among the skipped ones."""
        self.errors: list[RunError] = []
        self.end: RunEnd | None = None
        self.root = ""
        """The folder from which reports name files."""
        self.input_tokens = self.output_tokens = 0
        """Of all cases that have ended."""
        self.cost: float | None = None
        """US dollars; None while no price is known."""

    @property
    def tokens(self) -> int:
        """Of all cases that have ended."""
        return self.input_tokens + self.output_tokens

    def add(self, event: Event) -> None:
        """Folds one event in."""
        if isinstance(event, TestEnd):
            result = event.result
            self._ended(result)
            place = self._places[result.suite]
            self.counts.add(result, place)
            self.of_suite[result.suite].add(result, place)
            self.cut += result.outcome.status == "skipped" and (result.outcome.skip_reason or "").startswith(CUT)
        elif isinstance(event, TestStart):
            self.running[event.suite, event.position, event.run] = event.name
        elif isinstance(event, TurnStart):
            self.turns[event.suite, event.position, event.run] = event.turn
        elif isinstance(event, AttemptEnd):
            self._ended(event.result)
        elif isinstance(event, SuiteStart):
            self.listed[event.suite] = event
        elif isinstance(event, SuiteEnd):
            self.ended.add(event.suite)
        elif isinstance(event, RunStart):
            self.start = event
            self.suites = {suite.id: suite for suite in event.suites}
            self.of_suite = {suite.id: Counts() for suite in event.suites}
            self._places = {suite.id: place for place, suite in enumerate(event.suites)}
            self.root = event.suites[0].root if event.suites else ""
        elif isinstance(event, RunError):
            self.errors.append(event)
        elif isinstance(event, RunEnd):
            self.end = event

    def _ended(self, result: TestResult) -> None:
        key = (result.suite, result.position, result.run)
        self.running.pop(key, None)
        self.turns.pop(key, None)
        if result.case is not None and not result.attempts:
            self.input_tokens += result.case.input_tokens
            self.output_tokens += result.case.output_tokens
            if result.case.cost is not None:
                self.cost = (self.cost or 0) + result.case.cost
