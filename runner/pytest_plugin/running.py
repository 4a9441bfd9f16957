"""Runs the items of a pytest run, each when pytest comes to it. Items of a file that follow each other share a run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from io import StringIO
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.application.application import Application, find_root
from runner.application.configuration import configured
from runner.application.context import with_files
from runner.connectors.base import ClosedModels
from runner.environment import Environment, environment_of
from runner.execution.run import Observer
from runner.execution.start import run
from runner.execution.stopping import Interrupted, Signals, Stop
from runner.filters import pattern_of
from runner.options.options import RunOptions
from runner.planning.plan import RunRequest
from runner.record.events import Event, RunEnd, RunError, RunStart, SuiteStart, TestEnd
from runner.record.outcomes import error_text
from runner.reporters.console.console import failure_text
from runner.security.files import is_test
from runner.security.terminal import inert, unsteered
from scripttest import Status, start_processes

if TYPE_CHECKING:
    from runner.record.fold import Execution
    from runner.record.model import Suite, TestResult
    from scripttest import Processes


GIVEN = frozenset({"input", "run", "skip-interactive", "watch", "quiet", "output", "max-failures", "fail-fast"})
"""Flags that the configuration file does not set here: pytest has its own of the kind."""
CLOSED = "it needs a real model: --yao-models calls it"
"""Why a test or a case is skipped."""
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


class TestFailedError(Exception):
    """A test failed; the text is what yao-test prints of it."""

    __test__ = False


class PytestRuns:
    """The runs of one pytest process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        directory = Path(config.invocation_params.dir)
        environment = environment_of(directory, dict(os.environ), StringIO(), StringIO())
        self._environment = with_files(environment, config.getoption("--yao-env-file"))
        self._processes: Processes | None = None
        self._open: FileRun | None = None
        self._stopped: dict[Path, str] = {}
        """File → why no more of it runs, such as the budget that is used up."""
        self._ended: int | None = None
        """The exit code of a run, when a signal ended it."""

    def run(self, item: pytest.Item) -> None:
        """Runs an item. Raises TestFailedError, RunnerError when nothing can run, and KeyboardInterrupt when a signal
        has ended the run; a skipped test is skipped."""
        observed, results = self._results(item)
        if logs := [line.text for result in results for line in result.logs]:
            item.add_report_section("call", "yao-test", unsteered(inert("\n".join(logs))))
        if any(map(observed.lacks_model, results)):
            raise _skipped(CLOSED)
        failed = [result for result in results if result.outcome.status == Status.FAILED]
        if failed:
            decisive = failed[0].outcome.decisive
            head = error_text(decisive) if decisive is not None else "it failed"
            texts = [failure_text(observed.suites[one.suite], one, observed.flags, self._environment) for one in failed]
            raise TestFailedError(unsteered(inert("\n\n".join([head, *texts]))))
        if results[0].outcome.status == Status.SKIPPED:
            raise _skipped(unsteered(inert(results[0].outcome.skip_text or "skipped")))

    def end_file(self) -> None:
        """Ends the run of a file, if one is open. Fails what pytest does meanwhile if something broke outside tests."""
        run, self._open = self._open, None
        if run is None:
            return
        run.end("nothing more of it is asked for", LONG)
        observed = run.observed
        self._ended = self._ended or observed.stop.code
        if observed.stopped and not run.given_up:
            self._stopped[run.path] = observed.stopped
        if observed.errors:
            raise pytest.fail.Exception(unsteered(inert("\n".join(observed.errors))), pytrace=False)

    def listed(self, path: Path) -> tuple[list[str], str]:
        """The tests of a module that is loaded for it, in the order of the source; why it cannot be loaded, or nothing.
        Raises RunnerError and HostError when nothing can run."""
        printed = StringIO()
        options = RunOptions(inputs=(str(path.resolve()),), dry_run=True, json="document")
        observed, work = self._prepared(path, options, self._environment.replace(stdout=printed))
        work()
        self._ended = observed.stop.code
        is_broken = observed.code == exit_codes.FAILED
        document = json.loads(printed.getvalue())
        errors = [error["message"] for error in document["errors"]] if is_broken else []
        return [test["test"] for test in document["tests"]], "\n".join(errors)

    def close(self) -> None:
        """Ends all processes."""
        if self._open is not None:
            self._open.end("given up", 0)
        if self._processes is not None:
            self._processes.close()

    def _results(self, item: pytest.Item) -> tuple[ObservedRun, list[TestResult]]:
        """The results of an item, from the open run or a new one. Raises what `run` does."""
        for _ in range(2):  # the open run may end before the item
            if self._open is None or not self._open.serves(item):
                self.end_file()
                self._open = self._begin(item)
            observed = self._open.observed
            results = self._open.results(item.name)
            if observed.stop.code is not None:
                self._ended, item.session.shouldstop = observed.stop.code, "a signal"
            if results:
                return observed, results
        raise TestFailedError(f"{item.name} is not a test of {item.path}")

    def _begin(self, item: pytest.Item) -> FileRun:
        """Begins a run of all items of the file of an item, which is its first."""
        if item.path in self._stopped:
            raise TestFailedError(f"{item.name} did not run: {self._stopped[item.path]}")
        names = [other.name for other in item.session.items if other.path == item.path]
        options = RunOptions(inputs=(str(item.path.resolve()),), run=pattern_of(names))
        return FileRun(item.path, *self._prepared(item.path, options, self._environment, item.name))

    def _prepared(
        self, path: Path, options: RunOptions, environment: Environment, wanted: str | None = None
    ) -> tuple[ObservedRun, Callable[[], None]]:
        """A run of a file, and what carries it out; `wanted` is its first test, None: all run at once."""
        if self._ended is not None:
            raise Interrupted(self._ended)
        path = path.resolve()
        application = Application(find_root(path))
        typed = options.replace(skip_interactive=True, watch=True, quiet=True)
        found = configured(typed, GIVEN, application)
        closed = None if self._config.getoption("--yao-models") else ClosedModels(CLOSED)
        observed = ObservedRun(None, closed, None if found.options.until_decided else wanted)
        request = RunRequest(
            options=found.options,
            settings=found.settings.replace(typed=RunOptions(inputs=())),
            environment=environment,
            application=application,
        )

        def work() -> None:
            if not is_test(path.name):
                observed.code = run(request, None, observer=observed)
                return
            processes = self._processes or start_processes(SCRIPT_PARTS, application.root)
            self._processes = None
            try:
                observed.code = run(request, processes, observer=observed)
            finally:
                self._processes = observed.processes

        return observed, work


def _skipped(reason: str) -> BaseException:
    """A skip at the place of the test, and not at one of this package."""
    return pytest.skip.Exception(reason, _use_item_location=True)


_KEY = pytest.StashKey[PytestRuns]()


def runs_of(config: pytest.Config) -> PytestRuns:
    """The runs of a pytest process."""
    if _KEY not in config.stash:
        config.stash[_KEY] = PytestRuns(config)
    return config.stash[_KEY]


def end_file(config: pytest.Config) -> None:
    """Ends the run of a file, if one is open; see `PytestRuns.end_file`."""
    if _KEY in config.stash:
        config.stash[_KEY].end_file()


def end(config: pytest.Config) -> None:
    """Ends what there is of them."""
    if _KEY in config.stash:
        config.stash[_KEY].close()
        del config.stash[_KEY]
