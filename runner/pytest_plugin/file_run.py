"""One run of a file, which pytest asks for one test after the other. On its own thread, each test begins when it is
asked for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from runner.execution.run import Observer
from runner.execution.stopping import Signals, Stop
from runner.record.events import Event, RunEnd, RunError, RunStart, SuiteStart, TestEnd

if TYPE_CHECKING:
    import pytest

    from runner.connectors.base import ClosedModels
    from runner.record.fold import Execution
    from runner.record.model import Suite, TestResult
    from scripttest import Processes

LONG = 24 * 3600.0
"""Seconds that the end of a run may take. Hooks after all cases have a time limit of their own."""


class ObservedRun(Observer):
    """What is known of one run. Its events come on other threads than pytest's."""

    def __init__(self, processes: Processes | None, closed: ClosedModels | None, wanted: str | None) -> None:
        """`wanted` is the first test; see `Observer`."""
        super().__init__(Stop(), processes)
        self.closed, self.wanted = closed, wanted
        self.results: dict[str, list[TestResult]] = {}
        """Test → its results, one for each variant of the agent, until its item has taken them."""
        self.suites: dict[str, Suite] = {}
        self.tests: tuple[str, ...] | None = None
        """The tests of the module, when they are known; for one that cannot be loaded, its name."""
        self.heard: SimpleQueue[None] = SimpleQueue()
        """Gets something with each event, and when the run has ended."""
        self.code = 0
        """The exit code of the run."""
        self.stopped: str | None = None
        """Why the run ended early, such as the budget that is used up."""
        self.errors: list[str] = []
        """What broke outside tests."""
        self.flags: tuple[str, ...] = ()

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        if isinstance(event, RunStart):
            self.flags, self.suites = event.flags, {suite.id: suite for suite in event.suites}
        elif isinstance(event, SuiteStart):
            self.tests = event.tests
        elif isinstance(event, TestEnd):
            self.results.setdefault(event.result.name, []).append(event.result)
        elif isinstance(event, RunError):
            self.errors.append("\n".join(filter(None, [event.message, event.hint])))
        elif isinstance(event, RunEnd):
            self.stopped = event.stopped
        self.heard.put(None)

    def close(self) -> None:
        """See `Observer`."""

    def has(self, test: str) -> bool:
        """Whether all results of a test are there."""
        return len(self.results.get(test, ())) >= max(1, len(self.suites))

    def lacks_model(self, result: TestResult) -> bool:
        """Whether a real model would have answered, in the test or in a hook around several."""
        if self.closed is None:
            return False
        reason, said = self.closed.reason, (failure.message for failure in result.outcome.failures)
        wanted = {(key.suite, key.test) for key in self.closed.wanted}
        return (result.suite, result.name) in wanted or any(reason in text for text in said)


class FileRun:
    """A run of a file, on its thread. For pytest's thread; has to be ended."""

    def __init__(self, path: Path, observed: ObservedRun, work: Callable[[], None]) -> None:
        """Begins `work`, which carries out the run."""
        self.path = path
        self.observed = observed
        observed.hears_signals = True
        self._given: set[str] = set()
        """Tests that have been asked for."""
        self.given_up = False
        """Whether it was stopped here, before it ended by itself."""
        threads = ThreadPoolExecutor(max_workers=1)
        self._over = threads.submit(work)
        threads.shutdown(wait=False)
        self._over.add_done_callback(lambda _: observed.heard.put(None))

    def serves(self, item: pytest.Item) -> bool:
        """Whether the run can give the results of an item. It gives them once."""
        may_have = self.observed.has(item.name) or not self._over.done()
        return self.path == item.path and item.name not in self._given and may_have

    def results(self, test: str) -> list[TestResult]:
        """The results of a test, which begins now if no other one needed it before; blocks. That of the module if it
        cannot be loaded; empty when the run ends without any. Raises RunnerError when nothing can run. When something
        else is raised meanwhile, as the time limit of a plugin is, the run is given up."""
        observed = self.observed
        self._given.add(test)
        if observed.wanted is not None and not observed.has(test):
            observed.wanted = test
            observed.stop.wake()
        try:
            with Signals(observed.stop):
                while not (observed.has(test) or self._over.done() or self._is_no_test(test)):
                    observed.heard.get()
        except BaseException:
            self.end("given up", 0)
            raise
        if not observed.has(test):
            self.end("there is no such test", LONG)
            self._over.result()
        of_module = list(observed.results.values()) if self._is_no_test(test) else []
        return observed.results.pop(test, None) or (of_module[0] if of_module else [])

    def end(self, reason: str, seconds: float) -> None:
        """Ends the run, for which nothing more is asked; blocks for about so many seconds at most."""
        self.given_up = self.given_up or not self._over.done()
        stop = self.observed.stop
        try:
            with Signals(stop):
                stop.request(reason, seconds)
                stop.hurry(seconds)
                wait([self._over])
        except BaseException:
            stop.hurry(0)
            wait([self._over])
            raise

    def _is_no_test(self, test: str) -> bool:
        return bool(self.observed.tests) and test not in (self.observed.tests or ())
