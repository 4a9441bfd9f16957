"""The connection between a run and the watcher that starts it again after each change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.connectors.closed import ClosedModels
    from runner.execution.stopping import Stop
    from runner.fingerprints.parts import PartDigests
    from runner.results.events import Event
    from runner.results.fold import Execution
    from scripttest import Processes


class Observer(Protocol):
    """Observes one run, as a reporter does, and can stop it."""

    stop: Stop
    """Stops the run."""
    processes: Processes | None
    """The compiler and the idle workers, kept for the next run."""
    traces: bool
    """Whether results get fingerprints, which say what they depend on."""
    keeps: bool
    """Whether the store keeps the run, where there is a store."""

    held_back: Callable[[str], str | None] | None
    """See `Recording`."""

    @property
    def closed(self) -> ClosedModels | None:
        """Why real models are not asked; None: they are."""

    def begin(self, parts: PartDigests) -> None:
        """Called before anything runs. `parts` learns what results depend on while tests run."""

    def writes(self, path: Path, content: bytes) -> None:
        """Called before the run changes a source file; `content` is its new content."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Receives an event, as a reporter."""

    def close(self) -> None:
        """Closes, as a reporter."""
