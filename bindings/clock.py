"""The clock of a world: the real one, until a test stops it; then it moves only on request."""

from __future__ import annotations

import time

CLOCK_STANDS = "t.mock.now, or mocks.now of a case, has stopped it; move it with t.mock.advance or time.Sleep"


class Clock:
    """Tells the time of a test. Threads may share it."""

    def __init__(self, stopped_at: float | None = None) -> None:
        """`stopped_at`: milliseconds since 1970; None: it goes with the real time."""
        self.stopped_at = stopped_at
        self.looks = 0
        """How often it was looked at, while it was stopped, by what runs here or in other realms."""
        self.writes = 0
        """How often something of the world was written while it was stopped."""

    @property
    def milliseconds(self) -> float:
        """Since 1970."""
        if self.stopped_at is None:
            return time.time() * 1000
        self.looks += 1
        return self.stopped_at

    @property
    def seconds(self) -> float:
        """Since 1970."""
        return self.milliseconds / 1000

    @property
    def told(self) -> dict[str, float]:
        """What the realm of a script needs to know of it: `now` where it is stopped, and `looks` and `writes`, from
        which the realm tells whether a loop waits for it; see `bindings/src/mocks/waiting.ts`."""
        if self.stopped_at is None:
            return {}
        return {"now": self.stopped_at, "looks": self.looks, "writes": self.writes}

    def sleep(self, milliseconds: float) -> bool:
        """Moves a stopped clock, and returns at once; whether it is stopped: the real one is not waited for."""
        if self.stopped_at is None:
            return False
        self.stopped_at += max(0.0, milliseconds)
        return True
