"""Errors of a run by name, and reporters that break at any moment."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable

import pytest
from table_tests import each

from runner.errors import ConfigurationError
from runner.execution.ending import error_of, goes_well
from runner.execution.stopping import Stop
from runner.record.events import Event, RunEnd, RunError, RunStart
from runner.record.fold import Execution
from runner.reporters.stream import Multiplexer
from scripttest import HostError

START = RunStart(started_at="2026-01-01T00:00:00Z", version="1", suites=(), environment={})
END = RunEnd(status="passed", seconds=1, completed_at="2026-01-01T00:00:01Z")


@each(
    ("error", "message"),
    [
        (HostError("The compiler ended"), "The compiler ended"),
        (ConfigurationError("Cannot read cases.jsonl: gone"), "Cannot read cases.jsonl: gone"),
        (
            OSError(28, "No space left on device", "/data/x"),
            "Cannot continue running: No space left on device: /data/x",
        ),
        (BlockingIOError(11, "Try again"), "Cannot continue running: Try again"),
        (MemoryError(), "Out of memory while running"),
        (KeyError("suite"), "yao-test crashed while running: KeyError: 'suite'"),
        (RecursionError("too deep"), "yao-test crashed while running: RecursionError: too deep"),
        (SystemExit(0), "yao-test crashed while running: SystemExit: 0"),
        (asyncio.CancelledError(), "yao-test crashed while running: CancelledError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_error_is_named_for_what_it_was(error: BaseException, message: str) -> None:
    assert error_of(error, "running").message == message


def fails_with(error: BaseException) -> Callable[[], None]:
    def step() -> None:
        raise error

    return step


def test_what_is_raised_is_sent() -> None:
    sent: list[RunError] = []
    steps = {
        "running the tests": fails_with(ValueError("first")),
        "storing the snapshots": fails_with(PermissionError(13, "Permission denied", "/app")),
        "ending the run": lambda: None,
    }
    assert [goes_well(step, doing, sent.append, Stop(), None) for doing, step in steps.items()] == [False, False, True]
    assert [error.message for error in sent] == [
        "yao-test crashed while running the tests: ValueError: first",
        "Cannot continue storing the snapshots: Permission denied: /app",
    ]


def test_an_interrupt_stops_the_run_and_is_no_error() -> None:
    sent: list[RunError] = []
    stop = Stop()
    assert goes_well(fails_with(KeyboardInterrupt()), "running the tests", sent.append, stop, None)
    assert (stop.reason, stop.code, stop.over, sent) == ("interrupted", 130, True, [])


def test_a_traceback_is_written_when_asked_for() -> None:
    stderr = io.StringIO()
    goes_well(fails_with(ValueError("here")), "running the tests", lambda _: None, Stop(), stderr)
    assert "Traceback" in stderr.getvalue()
    assert "ValueError: here" in stderr.getvalue()


class Faulty:
    """A reporter that raises at one moment, and keeps what came before."""

    def __init__(self, at: str, error: Exception | None) -> None:
        self.at = at
        self.error = error
        self.events: list[str] = []
        self.said: list[str] = []

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Keeps it."""
        self._moment(type(event).__name__)
        if isinstance(event, RunError):
            self.said.append(event.message)

    def close(self) -> None:
        """Keeps it."""
        self._moment("close")

    def _moment(self, name: str) -> None:
        self.events.append(name)
        if self.error is not None and name == self.at:
            raise self.error


ERRORS = [OSError(28, "No space left on device", "/r.xml"), MemoryError(), RecursionError("deep"), KeyError("x")]


@each("error", ERRORS, ids=lambda error: type(error).__name__)
@each("at", ["RunStart", "RunEnd", "close"])
def test_a_reporter_that_raises_is_closed_and_the_others_say_so(at: str, error: Exception) -> None:
    good, bad = Faulty("", None), Faulty(at, error)
    stream = Multiplexer([good, bad])
    stream.send(START)
    stream.send(END)
    stream.close()
    assert bad.events[-1] == "close"
    assert bad.events.count("close") == 1
    assert len(good.said) == 1
    assert good.said[0].startswith(("Reporter Faulty crashed: ", "Cannot write /r.xml: "))
    assert good.events.count("close") == 1
    assert good.events[-1] == "close"
    assert [error.message for error in stream.execution.errors] == good.said
    assert stream.untold == []


def test_an_error_when_no_reporter_is_left_is_kept() -> None:
    stream = Multiplexer([Faulty("close", ERRORS[0])])
    stream.send(START)
    stream.send(END)
    stream.close()
    assert [error.message for error in stream.untold] == ["Cannot write /r.xml: No space left on device"]
    assert stream.execution.errors == stream.untold


class FaultyConsole(Faulty):
    """What the user reads, which raises at one moment."""

    tells_errors = True


@pytest.mark.parametrize("at", ["RunStart", "RunEnd", "close"])
def test_that_the_console_broke_is_kept_to_be_said_and_so_is_what_comes_after_it(at: str) -> None:
    report = Faulty("", None)
    stream = Multiplexer([FaultyConsole(at, MemoryError()), report])
    stream.send(START)
    stream.send(END)
    stream.send(RunError(message="later"))
    stream.close()
    later = [] if at == "close" else ["later"]
    assert [error.message for error in stream.untold] == ["The console output failed: out of memory", *later]
    assert "The console output failed: out of memory" in report.said or at == "close"


def test_a_reader_who_has_left_is_told_nothing() -> None:
    stream = Multiplexer([FaultyConsole("RunStart", BrokenPipeError(32, "Broken pipe")), Faulty("", None)])
    stream.send(START)
    stream.send(RunError(message="later"))
    stream.close()
    assert stream.untold == []
    assert [error.message for error in stream.execution.errors] == ["Cannot write the output: Broken pipe", "later"]
