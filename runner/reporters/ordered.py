"""Puts a stream into the order of the suites and their tests, for reporters whose output is read from top to bottom.

Suites run in parallel and end in any order. Events of a suite are held back until every suite before it has ended, and
`TestEnd` events until every test before them has ended. `TestStart` passes at once: it says what is running now. The
counts that an event comes with are those of the whole run, which may be ahead of it.
"""

from __future__ import annotations

from runner.results.events import Event, RunEnd, RunStart, SuiteEnd, SuiteStart, TestEnd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.reporters.base import Reporter
    from runner.results.fold import Execution


class Ordered:
    """A reporter that passes events on to another reporter, in their stable order."""

    def __init__(self, inner: Reporter, as_they_end: bool = False) -> None:
        """`as_they_end`: tests of a suite stay in the order in which they end."""
        self._as_they_end = as_they_end
        self._inner = inner
        self.tells_errors: bool = getattr(inner, "tells_errors", False)
        self._order: list[str] = []
        self._at = 0
        self._next = 0
        self._held: dict[str, dict[int, TestEnd]] = {}
        self._started: dict[str, SuiteStart] = {}
        self._ended: set[str] = set()
        self._open = False

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Passes on what is due."""
        if isinstance(event, TestEnd):
            self._held.setdefault(event.result.suite, {})[event.result.position] = event
        elif isinstance(event, SuiteStart):
            self._started[event.suite] = event
        elif isinstance(event, SuiteEnd):
            self._ended.add(event.suite)
        else:
            if isinstance(event, RunStart):
                self._order = [suite.id for suite in event.suites]
            elif isinstance(event, RunEnd):
                self._release_all(so_far)
            self._inner.on_event(event, so_far)
            return
        self._release(so_far)

    def close(self) -> None:
        """Closes the inner reporter."""
        self._inner.close()

    def _release(self, so_far: Execution) -> None:
        while self._at < len(self._order):
            suite = self._order[self._at]
            if not self._open:
                if suite not in self._started:
                    if suite not in self._ended:
                        return
                else:
                    self._inner.on_event(self._started.pop(suite), so_far)
                self._open = True
                self._next = 0
            held = self._held.get(suite, {})
            while self._as_they_end and held:
                self._inner.on_event(held.pop(next(iter(held))), so_far)
            while self._next in held:
                self._inner.on_event(held.pop(self._next), so_far)
                self._next += 1
            if suite not in self._ended:
                return
            self._finish(suite, so_far)

    def _finish(self, suite: str, so_far: Execution) -> None:
        for _, event in sorted(self._held.pop(suite, {}).items()):
            self._inner.on_event(event, so_far)
        self._inner.on_event(SuiteEnd(suite=suite), so_far)
        self._at += 1
        self._open = False

    def _release_all(self, so_far: Execution) -> None:
        """At the end of a run that was cut short: everything that ended, with gaps."""
        for suite in self._order[self._at :]:
            if not self._open and suite in self._started:
                self._inner.on_event(self._started.pop(suite), so_far)
            self._open = False
            if suite in self._held:
                for _, event in sorted(self._held.pop(suite).items()):
                    self._inner.on_event(event, so_far)
