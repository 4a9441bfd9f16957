"""Waits for descriptors of child processes, for those who have no event loop."""

from __future__ import annotations

import select
from collections.abc import Callable


class PollLoop:
    """Belongs to one thread; implements `scripttest.compile.compiler.Watcher`."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Calls `ready` in `wait` whenever there is something to read."""
        self._ready[descriptor] = ready
        self._poll.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Forgets a descriptor, which is still open."""
        self._poll.unregister(descriptor)
        del self._ready[descriptor]

    def wait(self, seconds: float | None) -> None:
        """Waits for something to read, at most so long; None: however long it takes."""
        heard = self._poll.poll(None if seconds is None else max(0.0, seconds) * 1000 + 1)
        for descriptor, ready in [(descriptor, self._ready[descriptor]) for descriptor, _ in heard]:
            if self._ready.get(descriptor) is ready:  # it was not closed meanwhile, so its number was not reused
                ready()
