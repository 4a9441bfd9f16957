"""Signals that end a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest

from runner.execution.stopping import Signals, Stop

INTERRUPTED_AT_EACH_LINE = """
import os, signal, sys, threading
from runner.execution.stopping import Signals, Stop
from runner.watch.changes import Inbox

FILES = (threading.__file__, sys.modules["runner.watch.changes"].__file__)

def ended_by(wanted):
    inbox, stop, lines = Inbox(), Stop(), 0
    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            lines += 1
            if lines == wanted:
                os.kill(os.getpid(), signal.SIGTERM)
        return trace
    try:
        with Signals(stop):
            sys.settrace(trace)
            try:
                inbox.gathered(set())
            finally:
                sys.settrace(None)
    except BaseException as error:
        return f"{type(error).__name__} {stop.code}"
    return None

found = []
while (how := ended_by(len(found) + 1)) is not None:
    found.append(how)
print(len(found), *sorted(set(found)))
"""


def test_a_signal_at_any_line_of_a_wait_ends_it_as_that_signal() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_AT_EACH_LINE], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines, *how = done.stdout.split()
    assert int(lines) > 30 and how == ["KeyboardInterrupt", "143"]


def test_a_second_signal_at_any_line_of_the_handler_leaves_code_and_reason_of_one_signal() -> None:
    handler = Signals._heard.__code__

    def ended_by(wanted: int) -> tuple[int, str | None, int | None]:
        stop, lines = Stop(), 0
        stop.heeded = True

        def trace(frame: FrameType, event: str, _: object) -> object:
            nonlocal lines
            if frame.f_code is not handler:
                return None
            if event == "line" and (lines := lines + 1) == wanted:
                signal.raise_signal(signal.SIGTERM)
            return trace

        with Signals(stop):
            sys.settrace(trace)  # type: ignore[arg-type]
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                sys.settrace(None)
        return lines, stop.reason, stop.code

    length, *_ = ended_by(0)
    found = {ended_by(wanted)[1:] for wanted in range(1, length + 1)}
    assert length > 6 and found <= {("interrupted", 130), ("terminated", 143)}


def test_an_interrupt_that_a_library_turns_into_an_error_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    stop = Stop()
    with pytest.raises(KeyboardInterrupt), Signals(stop):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt as interrupt:
            said = repr(interrupt)
        raise ValueError(said)
    assert stop.code == 143


def test_nothing_is_said_of_what_an_interrupt_leaves_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closing:
        def __init__(self, interrupts: bool) -> None:
            self._interrupts = interrupts

        def __del__(self) -> None:
            if not self._interrupts:
                raise ValueError
            os.kill(os.getpid(), signal.SIGTERM)

    said: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: said.append(ignored.exc_type))
    stop = Stop()
    with Signals(stop):
        for interrupts in (False, True, False):
            Closing(interrupts)
    assert (stop.code, said) == (143, [ValueError])
