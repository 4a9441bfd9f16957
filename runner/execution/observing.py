"""The connection between a run and the watcher that starts it again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.execution.stopping import Stop
    from runner.fingerprints.parts import PartDigests
    from runner.results.events import Event
    from runner.results.fold import Execution
    from scripttest import Processes


class Observer(Protocol):
    """Of one run. It is a reporter too."""

    stop: Stop
    """Ends the run."""
    processes: Processes | None
    """What ran scripts, for the next run."""
    traces: bool
    """Whether it is noted what results are made of."""
    keeps: bool
    """Whether the run goes into a store, where there is one."""

    held_back: Callable[[str], str | None] | None
    """See `Recording`."""

    def begin(self, parts: PartDigests) -> None:
        """Called before anything runs; `parts` learns what results are made of while they are made."""

    def writes(self, path: Path, content: bytes) -> None:
        """Called before the run writes a source; `content` is what that will hold."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """As of a reporter."""

    def close(self) -> None:
        """As of a reporter."""
