"""The clocks of model calls, which tests hand in, and the time that a case has."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from scripttest.values import Value


class Timing(Value):
    """The clocks, the function that waits, and the source of random numbers."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    """Waits this many seconds."""
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    """Seconds since 1970, for `Retry-After` as a date."""
    random: Callable[[], float] = random.random
    """From 0 up to 1."""


class CaseTime:
    """The time of one case, or of a call from a script test: `async with` raises TimeoutError when it runs out.

    It is stopped while a call waits in a queue of this tool or for a person, which is not the fault of the agent. A
    call that is being answered at that moment may take as long as was left then."""

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(seconds)
        self._pauses = 0
        self._left = 0.0
        self._paused_at = 0.0
        self._stood_still = 0.0
        self._is_over = False
        self._answered: dict[object, float] = {}
        """Calls that are being answered → their beginning; at the earliest, when the clock was stopped."""

    async def __aenter__(self) -> CaseTime:
        await self._timeout.__aenter__()
        self._token = _current.set(self)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._is_over = True
        _current.reset(self._token)
        await self._timeout.__aexit__(kind, error, None)

    def end(self) -> float | None:
        """When it runs out, on the monotonic clock; None while it is stopped."""
        return self._timeout.when()

    @property
    def is_over(self) -> bool:
        """Whether it has run out."""
        return self._timeout.expired()

    def now(self) -> float:
        """Seconds of the monotonic clock, without those for which it stood still."""
        return (self._paused_at if self._pauses else time.monotonic()) - self._stood_still

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stops it; several pauses at the same time count once."""
        if not self._pauses:
            self._paused_at = time.monotonic()
            self._left = (self._timeout.when() or 0.0) - self._paused_at
            self._answered = dict.fromkeys(self._answered, self._paused_at)
        self._pauses += 1
        self._bound_calls()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._stood_still += time.monotonic() - self._paused_at
                self._reschedule(time.monotonic() + self._left)

    def begin_answer(self, call: object) -> None:
        """Notes that a call is being answered, which has a time limit even while the clock is stopped."""
        self._answered[call] = time.monotonic()
        self._bound_calls()

    def end_answer(self, call: object) -> None:
        """Notes that it no longer is."""
        del self._answered[call]
        self._bound_calls()

    def count_in(self, seconds: float) -> None:
        """Adds the time that was spent in an earlier run; that alone does not end the time."""
        self._stood_still -= seconds

    def _bound_calls(self) -> None:
        """While it is stopped, it runs out when the first of the calls that are being answered has used its time."""
        if self._pauses:
            since = min(self._answered.values(), default=None)
            self._reschedule(None if since is None else since + self._left)

    def _reschedule(self, when: float | None) -> None:
        if not (self._is_over or self._timeout.expired()):
            self._timeout.reschedule(when)


_current: ContextVar[CaseTime | None] = ContextVar("case_time", default=None)


def uncounted() -> AbstractContextManager[None]:
    """Inside the `with` block, the clock of the running case is stopped."""
    case = _current.get()
    return nullcontext() if case is None else case.pause()


class Answering:
    """Inside the `with` block, a host answers a call of the running case."""

    def __enter__(self) -> None:
        self._case = _current.get()
        if self._case is not None:
            self._case.begin_answer(self)

    def __exit__(self, *_: object) -> None:
        if self._case is not None:
            self._case.end_answer(self)


def case_end() -> float | None:
    """When the running case runs out of time, on the monotonic clock; None for never."""
    case = _current.get()
    return case.end() if case is not None else None


def is_case_late() -> bool:
    """Whether the running case has run out of time."""
    case = _current.get()
    return case is not None and case.is_over


def case_now() -> float:
    """The monotonic clock, without the seconds for which the clock of the running case was stopped."""
    case = _current.get()
    return case.now() if case is not None else time.monotonic()


def count_in(seconds: float) -> None:
    """Adds to the time of the running case the time that an answer took in an earlier run."""
    case = _current.get()
    if case is not None:
        case.count_in(seconds)
