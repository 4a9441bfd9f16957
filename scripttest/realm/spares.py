"""Makes realms before they are needed, and frees used ones, while nobody waits for the worker.

Making and freeing a realm takes longer than a small test. The next run is expected to need about as many realms as the
last one.
"""

from __future__ import annotations

from scripttest.realm.limits import has_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from scripttest.realm.realm import Realm

MOST = 100
"""At most this many realms are made ahead, of about 200 KB each."""


class SpareRealms:
    """The spare and used realms of one worker."""

    def __init__(self, make: Callable[[], Realm]) -> None:
        self._make = make
        self._spare: list[Realm] = []
        self._used: list[Realm] = []
        self._wanted = 0
        """How many realms were taken since the last pause."""
        self._most_used = 0
        """At most this many used realms are kept: as many as were made ahead, so that the worker never has more than in
        a pause."""

    def take(self) -> Realm:
        """Returns a realm in which nothing has run."""
        self._wanted += 1
        return self._spare.pop() if self._spare else self._make()

    def put_aside(self, realm: Realm) -> None:
        """Keeps a used realm until the next pause, if it takes little memory, because freeing it takes time."""
        if len(self._used) < self._most_used and has_room():
            self._used.append(realm)

    def pause(self) -> None:
        """Called in a pause: frees used realms, and makes as many as were used since the last pause."""
        self._used.clear()
        while len(self._spare) < min(self._wanted, MOST):
            self._spare.append(self._make())
        self._wanted, self._most_used = 0, len(self._spare)
