"""What a reporter is."""

from __future__ import annotations

from typing import Protocol

from runner.events import Event
from runner.execution import Execution


class Reporter(Protocol):
    """A consumer of the event stream."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Takes one event; `so_far` has it folded in already."""

    def close(self) -> None:
        """Called once after the last event, whatever happened."""
