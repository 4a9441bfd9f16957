"""What scripts print during one piece of work: the first lines go out at once; of the others the last ones are kept,
which come before a failure, and go out when the work ends."""

from __future__ import annotations

from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 1_000_000
"""Characters that go out at once, and that are kept of the others at the most."""
MOST_LINES = 10_000
LAST_LINES = 200
"""Lines that are kept of the others, and more if they have fewer characters than `LAST`."""
LAST = 64 * 1024


class Printed:
    """The lines of the work of a worker."""

    def __init__(self, send: Callable[..., None]) -> None:
        """`send` takes `"log"`, a level, and a text as JSON."""
        self._send = send
        self._size = self._lines = 0
        self._last: deque[tuple[str, str]] = deque()
        self._kept = self._dropped = 0
        """Characters that are kept; lines that are not."""

    def add(self, level: str, text: str) -> None:
        """Takes a line, whose text is JSON."""
        self._size += len(text)
        self._lines += 1
        if self._size <= MOST and self._lines <= MOST_LINES:
            self._send("log", level, text)
            return
        self._last.append((level, text))
        self._kept += len(text)
        while self._kept > MOST or (len(self._last) > LAST_LINES and self._kept - len(self._last[0][1]) >= LAST):
            self._kept -= len(self._last.popleft()[1])
            self._dropped += 1

    def end(self) -> None:
        """Sends what was kept. The next line belongs to other work."""
        if self._dropped:
            self._send("log", "warn", f'"output is cut here: {self._dropped} lines are left out"')
        for level, text in self._last:
            self._send("log", level, text)
        self._last.clear()
        self._size = self._lines = self._kept = self._dropped = 0
