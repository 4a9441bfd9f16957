"""What the loop waits for: files that were saved, and keys. Any thread puts in, the main thread takes out."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable
from threading import Condition

from scripttest.values import Value

QUIET = 0.02
"""Seconds without a change, after which a run begins."""
ONE_FILE = 0.004
"""The same where one file was saved, as by an editor."""
FILLING = 0.2
"""The same where a file is empty: who saves it has perhaps not written it yet."""
LOOK = 1.0
"""Seconds after which a signal is seen that came just before the waiting began, and did not end it."""
LONGEST = 0.3
"""Seconds after the first change, after which it begins in any case."""
MANY = 20
"""More files than that are written by a tool, such as a switch of branches, which is waited for longer."""
QUIET_OF_MANY = 0.1
LONGEST_OF_MANY = 5.0


class Saved(Value):
    """A file was saved or removed."""

    path: str


class Pressed(Value):
    """A key; an empty text if the terminal was closed."""

    key: str


class Broke(Value):
    """Nobody watches the files any more."""

    reason: str


Message = Saved | Pressed | Broke


class Inbox:
    """Messages in the order in which they came."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self._came = Condition()

    def put(self, messages: Iterable[Message]) -> None:
        """Puts them in. From any thread."""
        with self._came:
            self._messages.extend(messages)
            self._came.notify()

    def waiting(self) -> list[Message]:
        """The entries that have not been taken yet. From any thread."""
        with self._came:
            return list(self._messages)

    def next(self) -> Message:
        """Waits for the next one."""
        while (message := self._take(LOOK)) is None:
            continue
        return message

    def gathered(self, changed: set[str]) -> tuple[set[str], list[Message]]:
        """Waits until it is quiet: all changes until then, with those that are given, and what else came."""
        others: list[Message] = []
        began = time.monotonic()
        while (left := began + _longest(changed) - time.monotonic()) > 0:
            message = self._take(min(_quiet(changed), left))
            if message is None:
                break
            if isinstance(message, Saved):
                changed.add(message.path)
            else:
                others.append(message)
        return changed, others

    def _take(self, seconds: float) -> Message | None:
        with self._came:
            return self._messages.popleft() if self._came.wait_for(lambda: self._messages, seconds) else None


def _longest(changed: set[str]) -> float:
    return LONGEST_OF_MANY if len(changed) > MANY else LONGEST


def _quiet(changed: set[str]) -> float:
    """Seconds without a further change, after which those so far are all."""
    if len(changed) > MANY:
        return QUIET_OF_MANY
    sizes = [_size(path) for path in changed]
    if 0 in sizes:
        return FILLING
    return QUIET if None in sizes or len(sizes) != 1 else ONE_FILE


def _size(path: str) -> int | None:
    """Bytes of a file; None when there is none."""
    try:
        return os.path.getsize(path)
    except OSError:
        return None
