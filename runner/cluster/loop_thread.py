"""The event loop of the connection to a cluster, on a thread of its own: what still runs on it ends with it, such as
attempts to reach a scheduler again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
LATE = 5.0
"""Seconds that what runs on the loop gets to end."""


class LoopThread:
    """Runs until it is ended."""

    def __init__(self) -> None:
        self._ready, self._over = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="cluster-loop", daemon=True)
        self._thread.start()
        self._ready.wait()

    def start(self, call: Callable[[], Awaitable[T]]) -> Future[T]:
        """Calls a function on the loop, and waits there for what it returns; from any thread."""

        async def called() -> T:
            return await call()

        return asyncio.run_coroutine_threadsafe(called(), self._asyncio)

    def end(self) -> None:
        """Ends the loop, and all that runs on it."""
        if self._thread.is_alive():
            self._asyncio.call_soon_threadsafe(self._over.set)
            self._thread.join(LATE)

    async def _run(self) -> None:
        self._asyncio = asyncio.get_running_loop()
        self._ready.set()
        await self._over.wait()
