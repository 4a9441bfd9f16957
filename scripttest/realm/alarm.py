"""Stops scripts whose time is up. The thread of a worker that gets the message and the one that runs scripts share it.

The supervisor names the work whose time is up, because the worker may have begun the next one meanwhile. Each message
is sent twice, in two ways, and has a number: the later copy must not stop the same work if that has begun again. The
first alarm stops the work, so that it can clean up; the second one stops the cleanup.
"""

from __future__ import annotations

import _thread

from scripttest.realm.quickjs import Interrupts, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.realm.realm import Realm


class Alarm:
    """The alarm of one worker."""

    def __init__(self) -> None:
        self.rang = False
        """Whether the time of the current work is up, so that its realms are being stopped."""
        self.realms: list[Realm] = []
        """The running realms, the innermost last."""
        self._work = ""
        self._heard = 0
        """The number of the last message."""
        self._lock = _thread.allocate_lock()
        self._bell = _thread.allocate_lock()
        self._bell.acquire()
        self._interrupts: Interrupts | None = None

    def begin(self, work: str) -> None:
        """Begins work, which is identified by a text."""
        with self._lock:
            self._work = work
            if self.rang:
                self._reset()

    def enter(self, realm: Realm) -> None:
        """Adds a realm, inside the running ones."""
        with self._lock:
            self.realms.append(realm)
            if self.rang and self._interrupts:
                realm.stop(self._interrupts)

    def leave(self) -> None:
        """Removes the innermost realm, which has ended."""
        with self._lock:
            self.realms.pop()

    def ring(self, expired: str) -> None:
        """Stops the current work, from any thread. `expired` is the identifier of the work whose time is up, a slash,
        and the number of the message; one for other work, or one that was heard before, is ignored. Does nothing where
        code in the engine cannot be stopped."""
        with self._lock:
            work, _, number = expired.partition("/")
            if int(number) <= self._heard:
                return
            self._heard = int(number)
            if work != self._work or self.rang or not self.interrupts():
                return
            self.rang = True
            self._bell.release()
            for realm in self.realms:
                realm.stop(self._interrupts)  # type: ignore[arg-type]

    def interrupts(self) -> Interrupts | None:
        """What can stop code in the engine; None where that is not possible."""
        if self._interrupts is None:
            try:
                self._interrupts = Interrupts()
            except UnsupportedError:
                return None
        return self._interrupts

    def silence(self) -> Interrupts | None:
        """Lets realms run again until the next alarm, and returns what stops them."""
        with self._lock:
            if self.rang:
                self._reset()
            if self._interrupts:
                for realm in self.realms:
                    realm.allow(self._interrupts)
            return self._interrupts

    def sleep(self, seconds: float) -> bool:
        """Waits this many seconds, and returns whether the alarm cut that short."""
        if self.rang:
            return True
        if self._bell.acquire(timeout=min(max(0.0, seconds), _thread.TIMEOUT_MAX)):
            self._bell.release()
            return True
        return False

    def _reset(self) -> None:
        self.rang = False
        self._bell.acquire()
