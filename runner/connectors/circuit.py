"""Notices that a host is down, so that calls fail at once with one clear cause instead of waiting one after the other.

Down is a host that gives no connection, and one that is silent: that does not begin to answer before the attempt, or
the case, has run out of time, and that nobody else reached meanwhile.

| state | calls | changes |
| --- | --- | --- |
| closed | go out | opens after `FAILURES` attempts in a row that found it down, of at least two calls |
| open | fail at once, those that wait for another try too | after `PAUSE` seconds one call may try |
| trying | one goes out, the others fail at once | an answer of any kind closes, none opens again |
"""

from __future__ import annotations

from runner.connectors.base import ConnectorError
from runner.connectors.timing import Timing

FAILURES = 5
PAUSE = 10.0
"""Seconds."""


class HostDown(ConnectorError):  # noqa: N818
    """The host could not be reached by the calls before, so this one was not made."""


class Circuit:
    """Of one connector. For one event loop."""

    def __init__(self, name: str, timing: Timing) -> None:
        """`name` is the id of the connector, for messages."""
        self._name = name
        self._timing = timing
        self._calls: set[int] = set()
        self._failures = 0
        self._reached = timing.monotonic()
        self._reason = ""
        self._hint: str | None = None
        self._again: float | None = None
        """When one may try; None while the circuit is closed."""

    def check(self) -> None:
        """Raises HostDown while calls fail at once."""
        if self.open:
            raise HostDown(
                f"{self._name}: the host is down, this call was not made. "
                f"{self._failures} attempts in a row ended with: {self._reason}",
                hint=self._hint,
            )

    def begin(self) -> None:
        """Lets an attempt through; while the host is down, one each `PAUSE`. Raises HostDown."""
        self.check()
        if self._again is not None:
            self._again = self._timing.monotonic() + PAUSE

    @property
    def open(self) -> bool:
        """Whether calls fail at once."""
        return self._again is not None and self._timing.monotonic() < self._again

    def reached(self) -> None:
        """Notes that the host was reached."""
        self._calls.clear()
        self._failures = 0
        self._again = None
        self._reached = self._timing.monotonic()

    def unreachable(self, call: int, began: float, reason: str, hint: str | None) -> None:
        """Notes an attempt of a call that found the host down; `began` is when, by the timing's clock."""
        if began < self._reached:
            return
        self._calls.add(call)
        self._failures += 1
        self._reason, self._hint = reason, hint
        if self._again is not None or (self._failures >= FAILURES and len(self._calls) > 1):
            self._again = self._timing.monotonic() + PAUSE
