"""In a runner process: the events of a work unit, several in one message."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runner.cluster.messages import RunnerMessage, WorkUnit
from runner.execution.run import Observer
from runner.record.events import AttemptEnd, Event, RunEnd, RunStart, SuiteEnd, SuiteStart, TestEnd
from scripttest import Status

if TYPE_CHECKING:
    from runner.answers.recording import Recording
    from runner.execution.stopping import Stop
    from runner.record.fold import Execution
    from runner.record.model import TestResult


class EventsOut(Observer):
    """Sends the events of one work unit."""

    def __init__(
        self,
        unit: WorkUnit,
        stop: Stop,
        recording: Recording | None,
        say: Callable[[Any], None],
        say_now: Callable[[Any], None],
    ) -> None:
        """`say` takes messages to the command; `say_now` takes the first failure, which may end the run."""
        super().__init__(stop)
        self._recording = recording if recording is not None and recording.mode != "replay" else None
        self._say, self._say_failure = say, say_now
        self._modules = {module.id for module in unit.modules}

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        if isinstance(event, RunStart | RunEnd):
            return
        if isinstance(event, SuiteStart | SuiteEnd) and event.suite not in self._modules:
            return
        if isinstance(event, TestEnd):
            self._send_recordings(event.result)
        if isinstance(event, AttemptEnd | TestEnd) and event.result.outcome.status is Status.FAILED:
            self._say_failure(event)
            self._say_failure = self._say
        else:
            self._say(event)

    def _send_recordings(self, result: TestResult) -> None:
        """Sends the recordings of a test that has ended."""
        if self._recording is None:
            return
        from runner.connectors.base import Origin

        for run in [attempt.run for attempt in result.attempts] or [1]:
            name = self._recording.file(Origin(suite=result.suite, case=result.name, run=run))
            path = self._recording.folder / name
            self._say(RunnerMessage(file=(name, path.read_bytes() if path.is_file() else None)))


GATHER = 0.25
"""Seconds in which what can wait becomes one message."""


class Sender:
    """Sends values in their order, from a thread of its own."""

    def __init__(self, send: Callable[[list[Any]], None]) -> None:
        """`send` takes some values."""
        self._send = send
        self._values: list[Any] = []
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._has_some = threading.Event()
        threading.Thread(target=self._send_some, daemon=True).start()

    def put(self, value: Any) -> None:
        """Sends a value, soon; from any thread."""
        with self._lock:
            self._values.append(value)
            if len(self._values) == 1:
                self._has_some.set()

    def flush(self) -> None:
        """Sends at once what there is."""
        with self._sending:
            with self._lock:
                values, self._values = self._values, []
                self._has_some.clear()
            if values:
                self._send(values)

    def _send_some(self) -> None:
        while True:
            self._has_some.wait()
            time.sleep(GATHER)
            self.flush()
