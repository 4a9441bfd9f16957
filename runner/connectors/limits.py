"""Bounds of one connector: calls at a time, requests and tokens per minute.

The calls at a time adapt: a 429 halves them, each answer gives back a part, so that they grow by one with each round.
Calls that were under way when they were halved do not halve them again, and are made again within the new bound.
`Retry-After` holds back all calls.
"""

from __future__ import annotations

import asyncio
from collections import deque

from runner.connectors.timing import Timing

MAX_CONCURRENCY = 256
FIRST_GUESS = 1000
"""Tokens that a call is taken for before any has ended."""


class Limits:
    """Lets calls through in the order in which they came. For one event loop."""

    def __init__(
        self, concurrency: int, per_minute: float | None, timing: Timing, tokens_per_minute: float | None = None
    ) -> None:
        self._most = concurrency
        self._allowed = float(concurrency)
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._seconds = 60 / per_minute if per_minute else 0.0
        self._seconds_of_token = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._timing = timing
        self._next = 0.0
        self._next_tokens = 0.0
        self._guess = float(FIRST_GUESS)
        self._round = 0

    @property
    def allowed(self) -> int:
        """Calls at a time, as things stand."""
        return int(self._allowed)

    @property
    def round(self) -> int:
        """How often the calls at a time were halved."""
        return self._round

    async def __aenter__(self) -> None:
        if self._under_way < self.allowed and not self._waiting:
            self._under_way += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            elif place in self._waiting:
                self._waiting.remove(place)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    async def again(self) -> None:
        """Before a further attempt of a call: gives its place up when there are more now than may be, and waits for
        another, ahead of calls that have not begun."""
        if self._under_way <= self.allowed:
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.appendleft(place)
        self._under_way -= 1
        try:
            await place
        except asyncio.CancelledError:
            if not place.done() or place.cancelled():
                self._under_way += 1  # it leaves with the call
                if place in self._waiting:
                    self._waiting.remove(place)
            raise

    def wait(self) -> float:
        """Seconds until the next request may go out, if it were asked for now."""
        return max(0.0, self._start() - self._timing.monotonic())

    async def turn(self) -> None:
        """Waits until the next request may go out. Requests, and the tokens that they are expected to take, are spread
        evenly over the minute; the turn of one that is cancelled while it waits passes unused."""
        start = self._start()
        if self._seconds:
            self._next = start + self._seconds
        if self._seconds_of_token:
            self._next_tokens = start + self._guess * self._seconds_of_token
        wait = start - self._timing.monotonic()
        if wait > 0:
            await self._timing.sleep(wait)

    def answered(self, tokens: int) -> None:
        """Notes an answer and what it took."""
        self._allowed = min(self._most, self._allowed + 1 / self._allowed)
        if self._seconds_of_token and tokens:
            self._next_tokens += (tokens - self._guess) * self._seconds_of_token
            self._guess = tokens if self._guess == FIRST_GUESS else 0.8 * self._guess + 0.2 * tokens
        self._admit()

    def refused(self, round: int, seconds: float | None) -> None:
        """Notes a 429 to a call that began in a round, and for how long `Retry-After` asks to wait."""
        if round == self._round:
            self._round += 1
            self._allowed = max(1.0, min(self._allowed, float(self._under_way)) / 2)
        if seconds:
            self._next = max(self._next, self._timing.monotonic() + seconds)

    def _start(self) -> float:
        return max(self._timing.monotonic(), self._next, self._next_tokens)

    def _leave(self) -> None:
        self._under_way -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._under_way < self.allowed:
            place = self._waiting.popleft()
            if not place.done():
                self._under_way += 1
                place.set_result(None)
