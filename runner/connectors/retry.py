"""Repeats failed model calls.

A call is repeated if its failure may be temporary: 429, 5xx, a lost connection, or no answer. It is made again after
about 1, 2 and 4 seconds, each up to a quarter more or less by chance, or after the time in `Retry-After`. Any other
call fails at once, and so does a call if its case has no time left for the next attempt.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from runner.connectors.base import ConnectorError
from runner.connectors.timing import Timing, case_end

RETRIES = 3
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is not waited for."""
_SECONDS = r"[0-9]{1,12}(\.[0-9]{1,12})?"

T = TypeVar("T")


class RetryLater(ConnectorError):  # noqa: N818
    """A failure whose answer says when to try again."""

    retry_after: float | None = None
    """Seconds."""


async def with_retries(
    attempt: Callable[[], Awaitable[T]], retries: int, timing: Timing, shortest: Callable[[], float] = lambda: 0.0
) -> T:
    """The result of the first attempt that works; `shortest` says how many seconds an attempt takes at the least.
    Raises the last ConnectorError."""
    for count in range(retries + 1):
        try:
            return await attempt()
        except ConnectorError as error:
            asked = error.retry_after if isinstance(error, RetryLater) else None
            if not error.retryable or count == retries:
                _note(error, count)
                raise
            if asked is not None and asked > LONGEST_WAIT:
                _note(error, count, f"it asks to wait {asked:.0f} s")
                raise
            chance = timing.random()
            wait = float(2**count) * (0.75 + chance / 2) if asked is None else asked * (1 + chance / 10)
            if not has_time(wait + shortest(), timing):
                _note(error, count, "the case has no time for another attempt")
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


def _note(error: ConnectorError, count: int, why: str = "") -> None:
    if why:
        error.message += f" ({why})"
    if count:
        error.message += f" (tried {count + 1} times)"
    error.args = (error.message,)
