"""Limits of one connector: calls at a time, requests and tokens per minute; and one limit for all connectors together.

After a refusal (429) the number of calls at a time is halved. Each answer raises it a little, so that it grows by one
with each round of calls. Refusals of calls that began before the last halving do not halve it again. `Retry-After`
delays all calls.

The time that a case waits here is not counted as its time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from runner.connectors.timing import Timing, uncounted

MAX_CONCURRENCY = 256
FIRST_GUESS = 1000
"""Tokens that a call is taken for before any has ended."""


class Places:
    """Limits how many requests run at the same time, to all hosts together; without a number there is no limit.
    For one event loop."""

    def __init__(self) -> None:
        self._limits: Limits | None = None

    def bound(self, number: int) -> None:
        """Lets so many through at a time from here on."""
        self._limits = Limits(number, None, Timing())

    def limits(self, connector: str, options: Mapping[str, Any], timing: Timing) -> Limits:
        """The bounds of a connector, by its id and its options."""
        return Limits(
            options.get("max_concurrency", MAX_CONCURRENCY),
            options.get("requests_per_minute"),
            timing,
            options.get("tokens_per_minute"),
        )

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """A place, as long as it is held; what a case waits for it does not count as its time."""
        if self._limits is None:
            yield
            return
        async with self._limits:
            yield


class Limits:
    """Lets calls through in the order in which they came: `async with` is one call. For one event loop."""

    def __init__(
        self, concurrency: int, per_minute: float | None, timing: Timing, tokens_per_minute: float | None = None
    ) -> None:
        self._most = concurrency
        self._allowed = float(concurrency)
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timing = timing
        self._halved_at = float("-inf")
        self._seconds = 60 / per_minute if per_minute else 0.0
        self._seconds_of_token = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._next = 0.0
        self._next_tokens = 0.0
        self._guess = float(FIRST_GUESS)

    @property
    def allowed(self) -> int:
        """Most calls at a time, at the moment."""
        return int(self._allowed)

    async def __aenter__(self) -> None:
        if self._waiting or self._under_way >= self.allowed:
            await self._line_up(self._waiting.append)
        else:
            self._under_way += 1

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    async def again(self) -> None:
        """Called before a call is made again: waits while too many are running, with priority over new calls."""
        if self._under_way <= self.allowed:
            return
        self.leave()
        try:
            await self._line_up(self._waiting.appendleft)
        except asyncio.CancelledError:
            self._under_way += 1  # the end of the call takes it off again
            raise

    async def turn(self) -> None:
        """Waits until the next request may go out. Requests, and the tokens that they are expected to take, are spread
        evenly over the minute; the turn of one that is cancelled while it waits passes unused."""
        now = self._timing.monotonic()
        start = max(now, self._next, self._next_tokens)
        if self._seconds:
            self._next = start + self._seconds
        if self._seconds_of_token:
            self._next_tokens = start + self._guess * self._seconds_of_token
        if start > now:
            with uncounted():
                await self._timing.sleep(start - now)

    def answered(self, tokens: int) -> None:
        """Notes an answer and what it took."""
        self._allowed = min(self._most, self._allowed + 1 / self._allowed)
        if self._seconds_of_token and tokens:
            self._next_tokens += (tokens - self._guess) * self._seconds_of_token
            self._guess = tokens if self._guess == FIRST_GUESS else 0.8 * self._guess + 0.2 * tokens
        self._admit()

    def refused(self, began: float, seconds: float | None) -> None:
        """Notes a 429 to a request that went out at `began`, and for how long `Retry-After` asks to wait."""
        now = self._timing.monotonic()
        if began > self._halved_at:
            self._halved_at = now
            self._allowed = max(1.0, min(self._allowed, float(self._under_way)) / 2)
        if seconds:
            self._next = max(self._next, now + seconds)

    async def _line_up(self, add: Callable[[asyncio.Future[None]], None]) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        add(place)
        try:
            with uncounted():
                await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._waiting.remove(place)
                self._admit()
            else:
                self.leave()  # it was let through at the same moment
            raise

    def leave(self) -> None:
        """Notes the end of a call."""
        self._under_way -= 1
        self._admit()

    def _admit(self) -> None:
        while self._under_way < self.allowed:
            place = next((place for place in self._waiting if not place.done()), None)
            if place is None:
                return
            self._waiting.remove(place)
            self._under_way += 1
            place.set_result(None)
