"""Threads that answer host calls. They are used again, because a new thread costs more than an idle one."""

from __future__ import annotations

import _thread
from _queue import SimpleQueue
from collections.abc import Callable

Work = Callable[[], None]
MOST_IDLE = 8
"""At most this many idle threads are kept."""


class Answerers:
    """A pool of threads. Used by the thread of the host only; has to be closed."""

    def __init__(self) -> None:
        """Starts no thread yet."""
        self._idle: list[SimpleQueue[Work | None]] = []
        self._closed = False

    def run(self, work: Work) -> None:
        """Runs a function on an idle thread, or else on a new one. The function must not raise."""
        try:
            self._idle.pop().put(work)
        except IndexError:
            _thread.start_new_thread(self._serve, (work,))

    def close(self) -> None:
        """Ends idle threads at once, and the others when they have finished."""
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
