"""In a runner process: what a piece sends to the command, which has the positions of the whole plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.cluster.piece_plan import placed_in
from runner.cluster.pieces import Heard, Piece
from runner.results.events import (
    AttemptEnd,
    Event,
    RunEnd,
    RunStart,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    TestStart,
    TurnStart,
)
from scripttest import Status

if TYPE_CHECKING:
    from runner.answers.recording import Recording
    from runner.execution.stopping import Stop
    from runner.fingerprints.parts import PartDigests
    from runner.results.fold import Execution
    from runner.results.model import TestResult
    from scripttest import Processes


class ShippedEvents:
    """Sends the events of one piece; implements `runner.execution.observing.Observer`."""

    def __init__(
        self,
        piece: Piece,
        stop: Stop,
        recording: Recording | None,
        say: Callable[[Any], None],
        say_now: Callable[[Any], None],
    ) -> None:
        """`say` takes messages to the command; `say_now` takes the first failure, which may end the run."""
        self.stop = stop
        self.processes: Processes | None = None
        self.traces = self.keeps = False
        self.closed = None
        self.held_back: Callable[[str], str | None] | None = None
        self._recording = recording if recording is not None and recording.mode != "replay" else None
        self._say, self._say_failure = say, say_now
        self._modules = {part.module.id for part in piece.modules}
        self._places = {part.suite.id: [placed.position for placed in placed_in(part, piece)] for part in piece.cases}
        """Suite → the positions of its cases, by their places in this piece."""

    def begin(self, parts: PartDigests) -> None:
        """See `Observer`."""

    def writes(self, path: Path, content: bytes) -> None:
        """See `Observer`."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """See `Observer`."""
        if isinstance(event, RunStart | RunEnd):
            return
        if isinstance(event, SuiteStart | SuiteEnd) and event.suite not in self._modules:
            return
        if isinstance(event, TestEnd):
            self._send_recordings(event.result)
        event = self._in_place(event)
        if isinstance(event, AttemptEnd | TestEnd) and event.result.outcome.status is Status.FAILED:
            self._say_failure(event)
            self._say_failure = self._say
        else:
            self._say(event)

    def close(self) -> None:
        """See `Observer`."""

    def _in_place(self, event: Event) -> Event:
        if isinstance(event, AttemptEnd | TestEnd):
            result = event.result
            places = self._places.get(result.suite)
            return event if places is None else event.replace(result=result.replace(position=places[result.position]))
        if isinstance(event, TestStart | TurnStart):
            places = self._places.get(event.suite)
            return event if places is None else event.replace(position=places[event.position])
        return event

    def _send_recordings(self, result: TestResult) -> None:
        """Sends the recordings of a test that has ended."""
        if self._recording is None:
            return
        from runner.connectors.base import Origin

        for run in [attempt.run for attempt in result.attempts] or [1]:
            name = self._recording.file(Origin(suite=result.suite, case=result.name, run=run))
            path = self._recording.folder / name
            self._say(Heard(file=(name, path.read_bytes() if path.is_file() else None)))
