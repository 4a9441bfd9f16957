"""Detects that a host is down. Calls then fail at once with one clear cause, instead of waiting one after the other.

An attempt finds the host down if it gets no connection, or if the host has not begun to answer when the time of the
attempt or of its case is up. After `FAILURES` such attempts in a row, of at least two calls, calls fail at once. Every
`PAUSE` seconds one attempt is still made; any answer to it ends this state.
"""

from __future__ import annotations

from runner.connectors.base import ConnectorError
from runner.connectors.timing import Timing

FAILURES = 5
PAUSE = 10.0
"""Seconds."""


class HostDown(ConnectorError):  # noqa: N818
    """This call was not made, because earlier calls could not reach the host."""

    unreached = True


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
        """Raises HostDown while calls fail at once."""
        if self.is_open and self._last is not None:
            raise HostDown(
                f"{self._name}: the host is down, this call was not made. "
                f"{len(self._failed)} attempts in a row ended with: {self._last.message}",
                hint=self._last.hint,
            )

    def begin(self) -> None:
        """Lets an attempt go out. Raises HostDown."""
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
