"""The fold: what the events of a run that is under way add up to."""

from __future__ import annotations

from collections.abc import Callable

from runner.results.counts import Counts
from runner.results.events import (
    AttemptEnd,
    Event,
    RunEnd,
    RunError,
    RunStart,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    TestStart,
    TurnStart,
)
from runner.results.model import Suite, TestResult
from runner.results.test_place import TestPlace
from scripttest.typing_names import Record


class Execution:
    """The state of a run, computed from its events."""

    def __init__(self, clean: Callable[[str], str] = str) -> None:
        """`clean` removes secrets from texts that reporters read besides the events."""
        self.clean = clean
        self.start: RunStart | None = None
        self.suites: dict[str, Suite] = {}
        self.counts = Counts()
        self.counts_by_suite: dict[str, Counts] = {}
        self._places: dict[str, int] = {}
        self._attempted: set[TestPlace] = set()
        """Tests of which some run has ended: what that took is counted, and not once more when they end."""
        self.listed: dict[str, SuiteStart] = {}
        self.running: dict[TestPlace, str] = {}
        """Names of the tests under way, or of their runs."""
        self.turns: dict[TestPlace, int] = {}
        """The turn that each test under way is in, if it has turns."""
        self.ended: set[str] = set()
        """Suites that have ended."""
        self.cut = 0
        """Cases that were cut short, which also count as skipped."""
        self.errors: list[RunError] = []
        self.end: RunEnd | None = None
        self.root = ""
        """The folder from which reports name files."""

    def line(self, result: TestResult) -> Record:
        """The line of a result."""
        from runner.results.lines import line_of

        return line_of(result, self.suites[result.suite])

    def add(self, event: Event) -> None:
        """Processes one event."""
        if isinstance(event, TestEnd):
            result = event.result
            place, suite = result.place, result.suite
            self._ended(result, place, is_counted=place not in self._attempted)
            self._attempted.discard(place)
            of = self.suites[suite]
            self.counts_by_suite[suite].add(result, of.name, of.name_of(result.name), self._places[suite])
            self.cut += result.cut_short
        elif isinstance(event, TestStart):
            self.running[event.place] = event.name
        elif isinstance(event, TurnStart):
            self.turns[event.place] = event.turn
        elif isinstance(event, AttemptEnd):
            place = event.result.place
            self._ended(event.result, place, is_counted=True)
            self._attempted.add(place.of_test)
        elif isinstance(event, SuiteStart):
            self.listed[event.suite] = event
        elif isinstance(event, SuiteEnd):
            self.ended.add(event.suite)
        elif isinstance(event, RunStart):
            self.start = event
            self.suites = {suite.id: suite for suite in event.suites}
            self.counts_by_suite = {suite.id: Counts(self.counts) for suite in event.suites}
            self._places = {suite.id: place for place, suite in enumerate(event.suites)}
            self.root = event.suites[0].root if event.suites else ""
        elif isinstance(event, RunError):
            self.errors.append(event)
        elif isinstance(event, RunEnd):
            self.end = event

    def _ended(self, result: TestResult, place: TestPlace, is_counted: bool) -> None:
        self.running.pop(place, None)
        self.turns.pop(place, None)
        if is_counted:
            self.counts_by_suite[result.suite].take_case(result.case)
