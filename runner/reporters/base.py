"""The interface of reporters."""

from __future__ import annotations

from pathlib import Path

from runner.results.events import Event
from runner.results.fold import Execution
from scripttest.typing_names import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.results.report import Report


class Reporter(Protocol):
    """A consumer of the event stream."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Takes one event; `so_far` has it folded in already."""

    def close(self) -> None:
        """Called once after the last event, whatever happened. May raise IncompleteError."""


class IncompleteError(Exception):
    """A reporter could not do all of its work. That fails nothing: the message becomes a warning of the run."""


class FileReporter(Reporter, Protocol):
    """A reporter that can also write a saved run."""

    @property
    def path(self) -> Path | None:
        """The file that it writes; None for a stream."""

    def write(self, report: Report) -> None:
        """Writes a whole report. Raises OSError."""
