"""The connection between a run and the watcher that starts it again after each change."""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.connectors.base import ClosedModels
    from runner.execution.stopping import Stop
    from runner.fingerprints.parts import PartDigests
    from runner.record.events import Event
    from runner.record.fold import Execution
    from scripttest import Processes


class Observer:
    """Observes one run, as a reporter does, and can stop it. This one does nothing."""

    with_fingerprints = False
    """Whether results get fingerprints, which say what they depend on."""
    keeps = False
    """Whether the store keeps the run, where there is a store."""
    held_back: Callable[[str], str | None] | None = None
    """See `Recording`."""
    closed: ClosedModels | None = None
    """Why real models are not asked; None: they are."""

    def __init__(self, stop: Stop, processes: Processes | None = None) -> None:
        """`stop` stops the run; `processes` are the compiler and the idle workers, kept for the next run."""
        self.stop = stop
        self.processes = processes

    def begin(self, parts: PartDigests) -> None:
        """Called before anything runs. `parts` learns what results depend on while tests run."""

    def writes(self, path: Path, content: bytes) -> None:
        """Called before the run changes a source file; `content` is its new content."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Receives an event, as a reporter."""

    def close(self) -> None:
        """Closes, as a reporter."""
