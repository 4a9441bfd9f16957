"""Wakes the thread that waits in a poll loop, from other threads and from signal handlers."""

from __future__ import annotations

import _thread
import os

from scripttest.poll_loop import PollLoop


class Bell:
    """Wakes one poll loop. Has to be closed."""

    def __init__(self, loop: PollLoop) -> None:
        """`loop` is the poll loop that is woken."""
        self._heard, self.descriptor = os.pipe()
        """What is written to the descriptor wakes the loop too, until the bell is closed. It is for
        `signal.set_wakeup_fd`, since a signal may reach another thread than the one that waits."""
        os.set_blocking(self.descriptor, False)
        self._lock = _thread.allocate_lock()
        self._is_closed = False
        loop.watch(self._heard, self._hear)

    def ring(self) -> None:
        """Wakes the loop, from any thread; after `close` it does nothing."""
        with self._lock:
            self._write()

    def ring_at_once(self) -> None:
        """Wakes the loop without waiting for a lock, from any thread and from signal handlers."""
        if self._lock.acquire(blocking=False):  # who has the lock rings, or closes the bell
            try:
                self._write()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Closes the file descriptors."""
        with self._lock:
            self._is_closed = True
            os.close(self._heard)
            os.close(self.descriptor)

    def _hear(self) -> None:
        os.read(self._heard, 4096)

    def _write(self) -> None:
        try:
            if not self._is_closed:
                os.write(self.descriptor, b".")
        except BlockingIOError:
            return  # it has been rung often enough
