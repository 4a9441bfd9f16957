"""The clocks of model calls, which tests hand in, and the time that the caller of a model has."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from scripttest.tuples import NamedTuple


class Timing(NamedTuple):
    """What waiting takes."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    """Waits so many seconds."""
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    """Seconds since 1970, for `Retry-After` as a date."""
    random: Callable[[], float] = random.random
    """From 0 up to 1."""


_deadline: ContextVar[Callable[[], float | None]] = ContextVar("deadline", default=lambda: None)


@contextmanager
def until(deadline: Callable[[], float | None]) -> Iterator[None]:
    """Within it, model calls that cannot end in time are not begun. `deadline` gives a time of the monotonic clock,
    None for no end, and is asked anew each time."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def deadline() -> float | None:
    """When the case that is under way runs out of time, on the monotonic clock; None for never."""
    return _deadline.get()()
