"""Bounds of one connector: calls at a time, and calls per minute."""

from __future__ import annotations

import asyncio

from runner.connectors.timing import Timing

MAX_CONCURRENCY = 256


class Limits:
    """Lets calls through in the order in which they came. For one event loop."""

    def __init__(self, concurrency: int, per_minute: float | None, timing: Timing) -> None:
        self._places = asyncio.Semaphore(concurrency)
        self._seconds = 60 / per_minute if per_minute else 0.0
        self._timing = timing
        self._next = 0.0

    async def __aenter__(self) -> None:
        await self._places.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._places.release()

    async def turn(self) -> None:
        """Waits until the next request may go out. Requests are spread evenly over the minute; the turn of one that
        is cancelled while it waits passes unused."""
        if not self._seconds:
            return
        now = self._timing.monotonic()
        start = max(now, self._next)
        self._next = start + self._seconds
        if start > now:
            await self._timing.sleep(start - now)
