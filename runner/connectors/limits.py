"""How often and when a connector asks its host: limits, repeated calls, and a host that is down.

Limits are of calls at a time, and of requests and tokens per minute. After a refusal (429) the number of calls at a
time is halved. Each answer raises it a little, so that it grows by one with each round of calls. Refusals of calls that
began before the last halving do not halve it again. `Retry-After` delays all calls. The time that a case waits here is
not counted as its time.

A call is repeated if its failure may be temporary: 429, 5xx, a lost connection, or no answer. It is made again after
about 1, 2 and 4 seconds, each up to a quarter more or less by chance, or after the time in `Retry-After`. Any other
call fails at once, and so does a call if its case has no time left for the next attempt.

An attempt finds the host down if it gets no connection, or if the host has not begun to answer when the time of the
attempt or of its case is up. After `FAILURES` such attempts in a row, of at least two calls, calls fail at once. Every
`PAUSE` seconds one attempt is still made; any answer to it ends this state."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, TypeVar

from runner.connectors.base import ConnectorError
from runner.connectors.usage import Timing, case_end, uncounted

MAX_CONCURRENCY = 256
FIRST_GUESS = 1000
"""Tokens that a call is taken for before any has ended."""
RETRIES = 3
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is not waited for."""
_SECONDS = r"[0-9]{1,12}(\.[0-9]{1,12})?"
FAILURES = 5
PAUSE = 10.0
"""Seconds."""

T = TypeVar("T")


class GlobalLimit:
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

    def one(self) -> AbstractAsyncContextManager[None]:
        """A place, as long as it is held; what a case waits for it does not count as its time."""
        return self._limits or nullcontext()


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
                await asyncio.sleep(0)  # the answer that made room is taken first, and written where answers are kept
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
        while self._waiting and self._under_way < self.allowed:
            place = next((place for place in self._waiting if not place.done()), None)
            if place is None:
                return
            self._waiting.remove(place)
            self._under_way += 1
            place.set_result(None)


async def with_retries(
    attempt: Callable[[], Awaitable[T]], retries: int, timing: Timing, shortest: Callable[[], float] = lambda: 0.0
) -> T:
    """The result of the first attempt that works; `shortest` says how many seconds an attempt takes at the least.
    Raises the last ConnectorError."""
    for count in range(retries + 1):
        try:
            return await attempt()
        except ConnectorError as error:
            asked = error.retry_after
            if not error.retryable or count == retries:
                _note(error, count)
                raise
            if asked is not None and asked > LONGEST_WAIT:
                _note(error, count, f"it asks for a wait of {asked:.0f} s")
                raise
            chance = timing.random()
            wait = float(2**count) * (0.75 + chance / 2) if asked is None else asked * (1 + chance / 10)
            if not has_time(wait + shortest(), timing):
                _note(error, count, "the case has no time left for another attempt")
                raise
        await timing.sleep(wait)
    raise AssertionError("unreachable")


def has_time(seconds: float, timing: Timing) -> bool:
    """Whether what takes so long ends within the time of the case."""
    end = case_end()
    return end is None or timing.monotonic() + seconds < end


def retry_after(headers: Mapping[str, str], timing: Timing) -> float | None:
    """Seconds that `Retry-After` asks for, as a number or as an HTTP date (RFC 9110, section 10.2.3); None when it is
    neither."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if re.fullmatch(_SECONDS, text):
        return float(text)
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - timing.wall())
    except (ValueError, OverflowError):
        return None


class Circuit:
    """Remembers whether calls of one connector could reach its host. For one event loop."""

    def __init__(self, name: str, timing: Timing) -> None:
        """`name` is the id of the connector, for messages."""
        self._name = name
        self._timing = timing
        self._reached_at = timing.monotonic()
        self._failed: list[object] = []
        """The calls of the attempts that found the host down since it was last reached."""
        self._last: ConnectorError | None = None
        self._next_try: float | None = None
        """When an attempt may go out; None while all may."""

    @property
    def is_open(self) -> bool:
        """Whether calls fail at once."""
        return self._next_try is not None and self._timing.monotonic() < self._next_try

    def check(self) -> None:
        """Raises ConnectorError while calls fail at once."""
        if self.is_open and self._last is not None:
            down = ConnectorError(
                f"{self._name}: the host is down, so this call was not made. "
                f"{len(self._failed)} attempts in a row failed with: {self._last.message}",
                hint=self._last.hint,
            )
            down.unreached = True
            raise down

    def begin(self) -> None:
        """Lets an attempt go out. Raises ConnectorError while calls fail at once."""
        self.check()
        if self._next_try is not None:
            self._next_try = self._timing.monotonic() + PAUSE

    def reached(self) -> None:
        """Notes that the host has answered something."""
        self._failed.clear()
        self._next_try = None
        self._reached_at = self._timing.monotonic()

    def unreachable(self, call: object, began: float, error: ConnectorError) -> None:
        """Notes an attempt of a call that found the host down; `began` is when, by the timing's clock."""
        if began < self._reached_at:
            return
        self._failed.append(call)
        self._last = ConnectorError(error.message, hint=error.hint)
        if self._next_try is not None or (len(self._failed) >= FAILURES and len(set(self._failed)) > 1):
            self._next_try = self._timing.monotonic() + PAUSE


def _note(error: ConnectorError, count: int, why: str = "") -> None:
    if why:
        error.message += f" ({why})"
    if count:
        error.message += f" (tried {count + 1} times)"
    error.args = (error.message,)
