"""What the loop waits for: files that were saved, and keys. Any thread puts in, the main thread takes out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from queue import Empty, SimpleQueue

from scripttest.values import Value

QUIET = 0.02
"""Seconds without a change, after which a run begins."""
FILLING = 0.2
"""The same where a file is empty: who saves it has perhaps not written it yet."""
LOOK = 1.0
"""Seconds after which a signal is seen that came just before the waiting began, and did not end it."""
LONGEST = 0.3
"""Seconds after the first change, after which it begins in any case."""


class Saved(Value):
    """A file was saved, or is gone."""

    path: str


class Pressed(Value):
    """A key; an empty text when the terminal is gone."""

    key: str


class Broke(Value):
    """Nobody watches the files any more."""

    reason: str


Message = Saved | Pressed | Broke


class Inbox:
    """Messages in the order in which they came."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Message] = SimpleQueue()

    def put(self, messages: Iterable[Message]) -> None:
        """Puts them in. From any thread."""
        for message in messages:
            self._queue.put(message)

    def next(self) -> Message:
        """Waits for the next one."""
        while True:
            try:
                return self._queue.get(timeout=LOOK)
            except Empty:
                continue

    def gathered(self, changed: set[str]) -> tuple[set[str], list[Message]]:
        """Waits until it is quiet: all changes until then, with those that are given, and what else came."""
        others: list[Message] = []
        end = time.monotonic() + LONGEST
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._queue.get(timeout=min(FILLING if any(map(_is_empty, changed)) else QUIET, left))
            except Empty:
                break
            if isinstance(message, Saved):
                changed.add(message.path)
            else:
                others.append(message)
        return changed, others


def _is_empty(path: str) -> bool:
    try:
        return not os.path.getsize(path)
    except OSError:
        return False
