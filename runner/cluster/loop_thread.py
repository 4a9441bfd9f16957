"""The event loop of the connection to a cluster, on a thread of its own: what still runs on it ends with it, such as
attempts to reach a scheduler again."""

from __future__ import annotations

import asyncio
import threading

from tornado.ioloop import IOLoop

LATE = 5.0
"""Seconds that what runs on the loop gets to end."""


class LoopThread:
    """Runs until it is ended."""

    def __init__(self) -> None:
        self._ready, self._over = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="cluster-loop", daemon=True)
        self._thread.start()
        self._ready.wait()

    def end(self) -> None:
        """Ends the loop, and all that runs on it."""
        if self._thread.is_alive():
            self._asyncio.call_soon_threadsafe(self._over.set)
            self._thread.join(LATE)

    async def _run(self) -> None:
        self.loop, self._asyncio = IOLoop.current(), asyncio.get_running_loop()
        self._ready.set()
        await self._over.wait()
