"""The clock of a world: the real one, until a test stops it; then it moves only on request."""

from __future__ import annotations

import time

PATIENCE = 3000
"""How often in a row scripts may read a stopped clock before we assume that a loop waits for it to move."""
CLOCK_STANDS = "t.mock.now, or mocks.now of a case, has stopped it; move it with t.mock.advance or time.Sleep"


class Clock:
    """Tells the time of a test. Threads may share it."""

    def __init__(self, stopped_at: float | None = None) -> None:
        """`stopped_at`: milliseconds since 1970; None: it goes with the real time."""
        self.stopped_at = stopped_at
        self.asked = 0
        """How often in a row scripts have asked for the time, and for nothing else."""

    @property
    def milliseconds(self) -> float:
        """Since 1970."""
        return time.time() * 1000 if self.stopped_at is None else self.stopped_at

    @property
    def seconds(self) -> float:
        """Since 1970."""
        return self.milliseconds / 1000

    def is_waited_for(self) -> bool:
        """Counts a read of the clock. Returns whether a script only waits for a stopped clock to move."""
        self.asked = 0 if self.stopped_at is None else self.asked + 1
        return self.asked > PATIENCE

    def sleep(self, milliseconds: float) -> bool:
        """Moves a stopped clock, and returns at once; whether it is stopped: the real one is not waited for."""
        if self.stopped_at is None:
            return False
        self.stopped_at += max(0.0, milliseconds)
        return True
