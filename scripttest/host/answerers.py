"""Threads that answer host calls. They are used again, because a new thread costs more than an idle one."""

from __future__ import annotations

import _thread
from collections.abc import Callable

Work = Callable[[], None]
MOST_IDLE = 8
"""At most this many idle threads are kept."""


class _Inbox:
    """Hands an idle thread its next work."""

    def __init__(self) -> None:
        self._work: Work | None = None
        self._filled = _thread.allocate_lock()
        self._filled.acquire()

    def put(self, work: Work | None) -> None:
        """Hands it over; once for each `get`."""
        self._work = work
        self._filled.release()

    def get(self) -> Work | None:
        """Waits for it."""
        self._filled.acquire()
        return self._work


class Answerers:
    """A pool of threads. Used by the thread of the host only; has to be closed."""

    def __init__(self) -> None:
        """Starts no thread yet."""
        self._idle: list[_Inbox] = []
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
        inbox = _Inbox()
        while work is not None:
            work()
            if len(self._idle) >= MOST_IDLE:
                return
            self._idle.append(inbox)
            if self._closed:
                self.close()
            work = inbox.get()
