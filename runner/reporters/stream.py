"""Reporters, and how one stream of events reaches many of them. A reporter that breaks is dropped and named to the
others, and the run does not pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path

from runner.errors import RunnerError
from runner.record import events
from runner.record.fold import Execution
from runner.record.model import TestResult
from runner.security.secrets import Secrets
from scripttest.typing_names import Protocol

UNSHOWN = "An error of the run cannot be shown"


class Reporter(Protocol):
    """A consumer of the event stream."""

    def on_event(self, event: events.Event, so_far: Execution) -> None:
        """Takes one event; `so_far` has it folded in already."""

    def close(self) -> None:
        """Called once after the last event, whatever happened. May raise IncompleteError."""
        return


class IncompleteError(Exception):
    """A reporter could not do all of its work. That fails nothing: the message becomes a warning of the run."""


class Multiplexer:
    """Folds events and passes them on. Events that it gets may contain secrets; those that it passes on do not."""

    def __init__(self, reporters: list[Reporter], secrets: Secrets | None = None, counts: bool = True) -> None:
        """`counts`: `execution` also has what begins and ends of tests, and what comes of them; nobody needs that of a
        part of a run, which is counted where all parts come together."""
        self._counts = counts
        self._secrets = Secrets() if secrets is None else secrets
        self.execution = Execution(self._secrets.text)
        self._reporters = list(reporters)
        self.untold: list[events.RunError] = []
        """Errors that came when no reporter was left that tells the user of errors."""
        self._has_teller = any(map(_tells_errors, reporters))
        self._is_unread = False
        """Whether nobody reads any more what is said: the reader of a pipe has left."""

    def send(self, event: events.Event) -> None:
        """Folds one event into `execution` and gives it to every reporter that still works.

        If removing secrets from it raises an exception, errors and the end of the run are sent without their texts.
        The start is too, and then raises the exception, because no test may run. All other events only raise it."""
        try:
            clean = self._secrets.value(event)
        except Exception as error:
            bare = _bare(event, error)
            if bare is not None:
                self._pass_on(bare)
            if not isinstance(bare, events.RunError | events.RunEnd):
                raise
        else:
            self._pass_on(clean)

    def _pass_on(self, event: events.Event) -> None:
        if self._counts or not isinstance(event, (events.TestStart, events.TestEnd, events.AttemptEnd)):
            self.execution.add(event)
        if isinstance(event, events.RunError) and not self._is_told:
            self.untold.append(event)
        broken: list[events.RunError] = []
        for reporter in list(self._reporters):
            try:
                reporter.on_event(event, self.execution)
            except Exception as error:
                self._reporters.remove(reporter)
                self._is_unread |= isinstance(error, BrokenPipeError) and _tells_errors(reporter)
                with suppress(Exception):  # its further errors are not reported
                    reporter.close()
                broken.append(_problem(reporter, error))
        for problem in broken:
            self.send(problem)

    @property
    def _is_told(self) -> bool:
        tellers = filter(_tells_errors, self._reporters) if self._has_teller else self._reporters
        return self._is_unread or any(True for _ in tellers)

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
                self.send(events.Warned(message=str(warning)))
            except Exception as error:
                self.send(_problem(reporter, error))
        self._reporters = written

    def written(self) -> list[Path]:
        """The files of the reporters that still work, which are whole once they are closed."""
        found: list[Path | None] = [getattr(reporter, "path", None) for reporter in self._reporters]
        return [path for path in found if path is not None]


def _bare(event: events.Event, error: Exception) -> events.Event | None:
    """What every report needs of an event from which secrets cannot be removed; None: no report needs it."""
    if isinstance(event, events.RunStart):
        return events.RunStart(started_at=event.started_at, version=event.version, suites=(), environment={})
    if isinstance(event, events.RunError):
        return events.RunError(message=f"{UNSHOWN}: {type(error).__name__} when secrets were removed from it")
    if isinstance(event, events.RunEnd):
        return events.RunEnd(status=events.RunStatus.ERROR, seconds=event.seconds, completed_at=event.completed_at)
    return None


def _tells_errors(reporter: Reporter) -> bool:
    """Whether the user reads what a reporter says while the run goes on: the console does, a file does not."""
    return bool(getattr(reporter, "tells_errors", False))


def _problem(reporter: Reporter, error: Exception) -> events.RunError:
    if isinstance(error, RunnerError):
        return events.RunError(message=error.message, hint=error.hint)
    if _tells_errors(reporter):
        what = "Cannot write the output" if isinstance(error, OSError) else "The console output failed"
        return events.RunError(message=f"{what}: {describe(error)}")
    path = getattr(reporter, "path", None)
    if isinstance(error, OSError) and error.strerror and (path or error.filename):
        return events.RunError(message=f"Cannot write {path or error.filename}: {error.strerror}")
    return events.RunError(message=f"Reporter {path or type(reporter).__name__} crashed: {describe(error)}")


def describe(error: BaseException) -> str:
    """An exception as one line for people."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "out of memory"
    return ": ".join(filter(None, [type(error).__name__, str(error)]))


class Ordered:
    """A reporter that passes events on to another one, whose output is read from top to bottom, in the order of the
    suites and their tests.

    Suites run in parallel and end in any order. Events of a suite are held back until every suite before it has ended,
    and `TestEnd` events until every test before them has ended. `TestStart`, which says what is running now, has no
    place there. The counts that an event comes with are those of the whole run, which may be ahead of it."""

    def __init__(self, inner: Reporter, as_they_end: bool = False) -> None:
        """`as_they_end`: tests of a suite stay in the order in which they end."""
        self._as_they_end = as_they_end
        self._inner = inner
        self.tells_errors: bool = getattr(inner, "tells_errors", False)
        self._order: deque[str] = deque()
        """Suites that have not passed, the first of which may have begun to."""
        self._is_open = False
        self._next = 0
        """The position of its next test."""
        self._held: dict[str, dict[int, events.TestEnd]] = {}
        self._started: dict[str, events.SuiteStart] = {}
        self._ended: set[str] = set()

    def on_event(self, event: events.Event, so_far: Execution) -> None:
        """Passes on what is due."""
        if isinstance(event, events.TestEnd):
            self._held.setdefault(event.result.suite, {})[event.result.position] = event
        elif isinstance(event, events.SuiteStart):
            self._started[event.suite] = event
        elif isinstance(event, events.SuiteEnd):
            self._ended.add(event.suite)
        elif isinstance(event, events.TestStart):
            return
        else:
            if isinstance(event, events.RunStart):
                self._order.extend(suite.id for suite in event.suites)
            elif isinstance(event, events.RunEnd):
                self._release_all(so_far)
            self._inner.on_event(event, so_far)
            return
        while self._order and self._release(self._order[0], so_far):
            self._inner.on_event(events.SuiteEnd(suite=self._order.popleft()), so_far)
            self._is_open = False

    def close(self) -> None:
        """Closes the inner reporter."""
        self._inner.close()

    def _release(self, suite: str, so_far: Execution) -> bool:
        """Passes on what is due of the first suite; whether that is all of it."""
        is_over = suite in self._ended
        if not self._is_open:
            start = self._started.pop(suite, None)
            if start is not None:
                self._inner.on_event(start, so_far)
            elif not is_over:
                return False
            self._is_open, self._next = True, 0
        held = self._held.setdefault(suite, {})
        due: Iterable[int] = takewhile(held.__contains__, count(self._next))
        for position in list(held) if self._as_they_end else sorted(held) if is_over else list(due):
            self._inner.on_event(held.pop(position), so_far)
            self._next = position + 1
        return is_over

    def _release_all(self, so_far: Execution) -> None:
        """At the end of a run that was cut short: everything that ended, with gaps."""
        for suite in self._order:
            if not self._is_open and suite in self._started:
                self._inner.on_event(self._started.pop(suite), so_far)
            self._is_open = False
            for _, event in sorted(self._held.pop(suite, {}).items()):
                self._inner.on_event(event, so_far)
