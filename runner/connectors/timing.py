"""The clocks of model calls; tests hand in their own."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple


class Timing(NamedTuple):
    """What waiting takes."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    """Waits so many seconds."""
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    """Seconds since 1970, for `Retry-After` as a date."""
    random: Callable[[], float] = random.random
    """From 0 up to 1."""
