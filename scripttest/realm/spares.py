"""Realms that are made before they are wanted, and freed after they were used, while nobody waits for the worker.

That is for a worker whose next run wants about as many as its last one: both take longer than a small test.
"""

from __future__ import annotations

from scripttest.realm.limits import has_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from scripttest.realm.realm import Realm

MOST = 100
"""Realms that are made ahead, of some 200 KB each."""


class SpareRealms:
    """Those of one worker."""

    def __init__(self, make: Callable[[], Realm]) -> None:
        self._make = make
        self._spare: list[Realm] = []
        self._used: list[Realm] = []
        self._wanted = 0
        """How many were taken since the last pause."""
        self._most_used = 0
        """As many as were made ahead, so that the worker never holds more of them than in a pause."""

    def take(self) -> Realm:
        """A realm in which nothing has run."""
        self._wanted += 1
        return self._spare.pop() if self._spare else self._make()

    def put_aside(self, realm: Realm) -> None:
        """Keeps a realm that is no longer needed until the next pause, where that takes little memory."""
        if len(self._used) < self._most_used and has_room():
            self._used.append(realm)

    def pause(self) -> None:
        """Nobody waits: frees what was used, and makes as many as were taken since the last pause."""
        self._used.clear()
        while len(self._spare) < min(self._wanted, MOST):
            self._spare.append(self._make())
        self._wanted, self._most_used = 0, len(self._spare)
