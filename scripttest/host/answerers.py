"""Threads that answer host calls: one that has answered waits for the next call, which takes less than a new one."""

from __future__ import annotations

import _thread
from _queue import SimpleQueue
from collections.abc import Callable

Work = Callable[[], None]
MOST_IDLE = 8
"""Threads that wait for work."""


class Answerers:
    """Belongs to the thread of the host. To be closed."""

    def __init__(self) -> None:
        """Starts no thread yet."""
        self._idle: list[SimpleQueue[Work | None]] = []
        self._closed = False

    def run(self, work: Work) -> None:
        """Has work done that raises nothing: by a thread that is idle, else by a new one."""
        try:
            self._idle.pop().put(work)
        except IndexError:
            _thread.start_new_thread(self._serve, (work,))

    def close(self) -> None:
        """Ends threads that are idle, and others when they have done their work."""
        self._closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _serve(self, work: Work | None) -> None:
        inbox: SimpleQueue[Work | None] = SimpleQueue()
        while work is not None:
            work()
            if len(self._idle) >= MOST_IDLE:
                return
            self._idle.append(inbox)
            if self._closed:
                self.close()
            work = inbox.get()
