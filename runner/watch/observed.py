"""One run that `--watch` has started, as seen through its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runner.execution.stopping import Stop
from runner.results.events import Event, RunStart, SuiteEnd, TestEnd
from runner.watch.dependents import Dependents

if TYPE_CHECKING:
    from runner.fingerprints.parts import PartDigests
    from runner.parts import Part
    from runner.results.fold import Execution
    from scripttest import Processes


class ObservedRun:
    """Implements `runner.execution.observing.Observer`."""

    traces = True
    keeps = True
    closed = None

    def __init__(
        self,
        dependents: Dependents,
        processes: Processes | None,
        writes: Callable[[Path, bytes], None],
        held_back: Callable[[str], str | None] | None,
        begun: Callable[[], None],
    ) -> None:
        """`writes` and `held_back` are those of `Observer`; `begun` is called when `open` is known."""
        self._begun = begun
        self.stop = Stop()
        self.processes = processes
        self.writes = writes
        self.held_back = held_back
        self.is_given_up = False
        """Whether a key stopped it."""
        self.open: frozenset[str] = frozenset()
        """Suites that have not ended."""
        self.kept: dict[str, dict[str, str]] = {}
        """Suite → its tests and how they ended."""
        self._dependents = dependents
        self._parts: PartDigests | None = None
        self._learned = 0
        """Of how many scripts the files are known."""

    def begin(self, parts: PartDigests) -> None:
        """See `Observer`."""
        self._parts = parts

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        assert self._parts is not None
        if isinstance(event, RunStart):
            self.open = frozenset(so_far.suites)
            self._dependents.begin(so_far.suites)
            self._begun()
        elif isinstance(event, TestEnd):
            if len(self._parts.files) != self._learned:
                self._learn(self._parts.files)
            self._dependents.take(event.result)
            self.kept.setdefault(event.result.suite, {})[event.result.name] = event.result.outcome.status
        elif isinstance(event, SuiteEnd):
            self._learn(self._parts.files)
            self._dependents.end(event.suite)
            self.open = self.open - {event.suite}  # other threads read it

    def close(self) -> None:
        """See `Observer`."""

    def _learn(self, files: Mapping[Part, frozenset[str]]) -> None:
        self._learned = len(files)
        self._dependents.learn(files)
