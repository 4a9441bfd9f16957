"""Runs the items of a pytest run: those of a file together, on one host for the whole process."""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.application.application import Application, find_root
from runner.application.configuration import configured
from runner.application.context import with_files
from runner.connectors.base import ClosedModels
from runner.environment import Environment
from runner.execution.run import Observer
from runner.execution.start import run
from runner.execution.stopping import Interrupted, Stop
from runner.options.options import RunOptions
from runner.planning.plan import RunRequest
from runner.pytest_plugin.models import CLOSED, GIVEN
from runner.record.events import Event, RunEnd, RunStart, TestEnd
from runner.record.outcomes import error_text
from runner.reporters.console.console import failure_text
from runner.reporters.console.rerun_command import pattern_of
from runner.security.keys import take_keys
from runner.security.secrets import Secrets
from runner.security.terminal import inert, unsteered
from runner.security.walk import is_test
from scripttest import Status, start_processes

if TYPE_CHECKING:
    from runner.record.fold import Execution
    from runner.record.model import Suite, TestResult
    from scripttest import Processes


class TestFailedError(Exception):
    """A test failed; the text is what yao-test prints of it."""

    __test__ = False


class _ObservedRun(Observer):
    def __init__(self, processes: Processes | None, closed: ClosedModels | None) -> None:
        super().__init__(Stop(), processes)
        self.closed = closed
        self.results: dict[str, TestResult] = {}
        self.suite: Suite | None = None
        self.code = 0
        """The exit code of the run."""
        self.stopped: str | None = None
        """Why the run ended early, such as the budget that is used up."""
        self.flags: tuple[str, ...] = ()

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        if isinstance(event, RunStart):
            self.flags = event.flags
        elif isinstance(event, TestEnd):
            self.suite = so_far.suites[event.result.suite]
            self.results[event.result.name] = event.result
        elif isinstance(event, RunEnd):
            self.stopped = event.stopped

    def close(self) -> None:
        """See `Observer`."""

    def lacks_model(self, result: TestResult) -> bool:
        """Whether a real model would have answered, in the test or in a hook around several."""
        if self.closed is None:
            return False
        reason, said = self.closed.reason, (failure.message for failure in result.outcome.failures)
        wanted = {(key.suite, key.test) for key in self.closed.wanted}
        return (result.suite, result.name) in wanted or any(reason in text for text in said)


class PytestRuns:
    """The runs of one pytest process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        variables = dict(os.environ)
        keys = take_keys(variables)
        environment = Environment(
            directory=Path(config.invocation_params.dir),
            variables=variables,
            stdout=StringIO(),
            stderr=StringIO(),
            cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            secrets=Secrets(os.environ),
            keys=keys,
        )
        self._environment = with_files(environment, config.getoption("--yao-env-file"))
        self._processes: Processes | None = None
        self._ran: dict[Path, _ObservedRun] = {}
        self._ended: int | None = None
        """The exit code of a run, when a signal ended it."""

    def run(self, item: pytest.Item) -> None:
        """Runs an item, unless it ran with the others of its file. Raises TestFailedError, RunnerError when nothing can
        run, and KeyboardInterrupt when a signal has ended the run; a skipped test is skipped."""
        ran = self._ran.get(item.path)
        if ran is None:
            ran = self._ran[item.path] = self._run_file(item.path, self._names(item))
        if item.name not in ran.results and ran.stopped and self._ended is None:
            raise TestFailedError(f"{item.name} did not run: {ran.stopped}")
        if item.name not in ran.results:
            ran = self._run_file(item.path, [item.name])
        result = ran.results.pop(item.name, None) or next(iter(ran.results.values()), None)
        if result is None or ran.suite is None:
            raise TestFailedError(f"{item.name} is not a test of {item.path}")
        if result.logs:
            item.add_report_section("call", "yao-test", unsteered(inert("\n".join(line.text for line in result.logs))))
        if self._ended is not None and not ran.results:
            item.session.shouldstop = "a signal"
        if ran.lacks_model(result):
            raise _skipped(CLOSED)
        outcome = result.outcome
        if outcome.status == Status.SKIPPED:
            raise _skipped(unsteered(inert(outcome.skip_reason or "skipped")))
        if outcome.status == Status.FAILED:
            decisive = outcome.decisive
            head = error_text(decisive) if decisive is not None else "it failed"
            text = failure_text(ran.suite, result, ran.flags, self._environment)
            raise TestFailedError(unsteered(inert(f"{head}\n\n{text}")))

    def listed(self, path: Path) -> tuple[list[str], str]:
        """The tests of a module that is loaded for it, in the order of the source, and why it cannot be loaded, or
        nothing. Raises RunnerError and HostError when nothing can run."""
        printed = StringIO()
        options = RunOptions(inputs=(str(path.resolve()),), dry_run=True, json="document")
        is_broken = self._carry_out(path, options, self._environment.replace(stdout=printed)).code == exit_codes.FAILED
        document = json.loads(printed.getvalue())
        errors = [error["message"] for error in document["errors"]] if is_broken else []
        return [test["test"] for test in document["tests"]], "\n".join(errors)

    def close(self) -> None:
        """Ends all processes."""
        if self._processes is not None:
            self._processes.close()

    def _names(self, item: pytest.Item) -> list[str]:
        """The items that run together: those of a file, but with xdist, where others have some of them."""
        if hasattr(self._config, "workerinput"):
            return [item.name]
        return [other.name for other in item.session.items if other.path == item.path]

    def _run_file(self, path: Path, names: list[str]) -> _ObservedRun:
        options = RunOptions(inputs=(str(path.resolve()),), run=pattern_of(names))
        return self._carry_out(path, options, self._environment)

    def _carry_out(self, path: Path, options: RunOptions, environment: Environment) -> _ObservedRun:
        if self._ended is not None:
            raise Interrupted(self._ended)
        path = path.resolve()
        application = Application(find_root(path))
        typed = options.replace(skip_interactive=True, watch=True, quiet=True)
        found = configured(typed, GIVEN, application)
        is_module = is_test(path.name)
        if is_module and self._processes is None:
            self._processes = start_processes(SCRIPT_PARTS, application.root)
        processes, rest = (self._processes, None) if is_module else (None, self._processes)
        self._processes = None
        closed = None if self._config.getoption("--yao-models") else ClosedModels(CLOSED)
        observed = _ObservedRun(rest, closed)
        try:
            request = RunRequest(
                options=found.options,
                settings=found.settings.replace(typed=RunOptions(inputs=())),
                environment=environment,
                application=application,
            )
            observed.code = run(request, processes, observer=observed)
        finally:
            self._processes = observed.processes
        self._ended = observed.stop.code
        return observed


def _skipped(reason: str) -> BaseException:
    """A skip at the place of the test, and not at one of this package."""
    return pytest.skip.Exception(reason, _use_item_location=True)


_KEY = pytest.StashKey[PytestRuns]()


def runs_of(config: pytest.Config) -> PytestRuns:
    """The runs of a pytest process."""
    if _KEY not in config.stash:
        config.stash[_KEY] = PytestRuns(config)
    return config.stash[_KEY]


def end(config: pytest.Config) -> None:
    """Ends what there is of them."""
    if _KEY in config.stash:
        config.stash[_KEY].close()
        del config.stash[_KEY]
