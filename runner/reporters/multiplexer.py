"""Sends one stream to many reporters. A reporter that breaks is dropped and named to the others, and the run does
not pass."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import RunnerError
from runner.reporters.base import IncompleteError
from runner.results.events import Event, RunError, Warned
from runner.results.fold import Execution
from runner.results.model import TestResult
from runner.security.secrets import Secrets

if TYPE_CHECKING:
    from runner.reporters.base import Reporter


class Multiplexer:
    """Folds events and passes them on. Events that it gets may contain secrets; those that it passes on do not."""

    def __init__(self, reporters: list[Reporter], secrets: Secrets | None = None) -> None:
        self._secrets = Secrets() if secrets is None else secrets
        self.execution = Execution(self._secrets.text)
        self._reporters = list(reporters)
        self.untold: list[RunError] = []
        """Errors that came when all reporters were closed."""

    def send(self, event: Event) -> None:
        """Folds one event into `execution` and gives it to every reporter that still works."""
        event = self._secrets.value(event)
        self.execution.add(event)
        broken: list[RunError] = []
        for reporter in list(self._reporters):
            try:
                reporter.on_event(event, self.execution)
            except Exception as error:
                self._reporters.remove(reporter)
                _close(reporter)
                broken.append(_problem(reporter, error))
        for problem in broken:
            self.send(problem)

    def checked(self, result: TestResult) -> TestResult:
        """The result of an attempt as it is to count."""
        return result

    def close(self) -> None:
        """Closes every reporter that still works, the first ones last: they say what goes wrong with the others."""
        written: list[Reporter] = []
        while self._reporters:
            reporter = self._reporters.pop()
            try:
                reporter.close()
                written.append(reporter)
            except IncompleteError as warning:
                self.send(Warned(message=str(warning)))
            except Exception as error:
                self.say(_problem(reporter, error))
        self._reporters = written

    def say(self, problem: RunError) -> None:
        """Sends an error at the end of a run, and keeps it in `untold` when no reporter is left that could say it."""
        if not self._reporters:
            self.untold.append(self._secrets.value(problem))
        self.send(problem)

    def written(self) -> list[Path]:
        """The files of the reporters that still work, which are whole once they are closed."""
        found: list[Path | None] = [getattr(reporter, "path", None) for reporter in self._reporters]
        return [path for path in found if path is not None]


def _close(reporter: Reporter) -> None:
    """Closes a reporter that broke. Further errors of it are not reported."""
    try:
        reporter.close()
    except Exception:
        return


def _problem(reporter: Reporter, error: Exception) -> RunError:
    if isinstance(error, RunnerError):
        return RunError(message=error.message, hint=error.hint)
    return RunError(message=f"Reporter {type(reporter).__name__} broke: {describe(error)}")


def describe(error: BaseException) -> str:
    """An exception as one line for people."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"
