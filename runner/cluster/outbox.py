"""Collects the events of a runner process and sends several in one message, since each message has a cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runner.results.events import AttemptEnd, TestEnd, TestStart

if TYPE_CHECKING:
    from runner.results.model import TestResult

GATHER = 0.25
"""Seconds in which what can wait becomes one message."""


class Outbox:
    """Sends values in their order, from a thread of its own."""

    def __init__(self, send: Callable[[list[Any]], None]) -> None:
        """`send` takes some values."""
        self._send = send
        self._values: list[Any] = []
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._has_some = threading.Event()
        threading.Thread(target=self._send_some, daemon=True).start()

    def put(self, value: Any) -> None:
        """Sends a value, soon; from any thread."""
        with self._lock:
            values = self._values
            if values and isinstance(value, AttemptEnd | TestEnd) and _is_start_of(values[-1], value.result):
                values[-1] = value
                return
            values.append(value)
            if len(values) == 1:
                self._has_some.set()

    def flush(self) -> None:
        """Sends at once what there is."""
        with self._sending:
            with self._lock:
                values, self._values = self._values, []
                self._has_some.clear()
            if values:
                self._send(_without_plain_starts(values))

    def _send_some(self) -> None:
        while True:
            self._has_some.wait()
            time.sleep(GATHER)
            self.flush()


def _is_start_of(value: Any, result: TestResult) -> bool:
    """Whether a value is the start of what has this result, which says the same."""
    return (
        isinstance(value, TestStart)
        and (value.position, value.run) == (result.position, result.run)
        and value.suite == result.suite
    )


def _without_plain_starts(values: list[Any]) -> list[Any]:
    """Without the starts of tests that end in the same message."""
    starts = {one.place for one in values if isinstance(one, TestStart)}
    if not starts:
        return values
    ended = starts.intersection(one.result.place for one in values if isinstance(one, AttemptEnd | TestEnd))
    return [one for one in values if not isinstance(one, TestStart) or one.place not in ended]
