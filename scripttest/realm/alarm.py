"""Time that is up: what the thread that hears of it and the thread that runs scripts share in a worker.

The supervisor names the work whose time is up, since the worker may have gone on to the next meanwhile. The first time
the work is stopped, to clean up; the second time its cleaning up is.
"""

from __future__ import annotations

import _thread

from scripttest.realm.interrupt import Interrupts
from scripttest.shortcuts.bytecode import UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.realm.realm import Realm


class Alarm:
    """Belongs to one worker."""

    def __init__(self) -> None:
        self.rang = False
        """Whether the time of the work is up; its realms are being stopped."""
        self.realms: list[Realm] = []
        """Those that run, innermost last."""
        self._work = ""
        self._times = 0
        """How often its time has been up."""
        self._lock = _thread.allocate_lock()
        self._bell = _thread.allocate_lock()
        self._bell.acquire()
        self._interrupts: Interrupts | None = None

    def begin(self, work: str) -> None:
        """Work begins; it is known by a text."""
        with self._lock:
            self._work, self._times = work, 0
            if self.rang:
                self._reset()

    def enter(self, realm: Realm) -> None:
        """A realm runs, inside the others."""
        with self._lock:
            self.realms.append(realm)
            if self.rang and self._interrupts:
                realm.stop(self._interrupts)

    def leave(self) -> None:
        """The innermost realm is over."""
        with self._lock:
            self.realms.pop()

    def ring(self, expired: str) -> None:
        """Stops work, unless it is over or this was heard before; from any thread. `expired` is the work, a slash, and
        which time it is. Does nothing where the engine is one that cannot be stopped."""
        with self._lock:
            work, _, time = expired.partition("/")
            if work != self._work or int(time) <= self._times:
                return
            self._times = int(time)
            if self.rang:
                return
            if not self.interrupts():
                return
            self.rang = True
            self._bell.release()
            for realm in self.realms:
                realm.stop(self._interrupts)  # type: ignore[arg-type]

    def interrupts(self) -> Interrupts | None:
        """What stops code; None where the engine is one that cannot be stopped."""
        if self._interrupts is None:
            try:
                self._interrupts = Interrupts()
            except UnsupportedError:
                return None
        return self._interrupts

    def silence(self) -> Interrupts | None:
        """Lets the realms run again, until it rings again; what stops them."""
        with self._lock:
            if self.rang:
                self._reset()
            if self._interrupts:
                for realm in self.realms:
                    realm.allow(self._interrupts)
            return self._interrupts

    def sleep(self, seconds: float) -> bool:
        """Waits so long; whether it was for nothing, because it rang."""
        if self.rang:
            return True
        if self._bell.acquire(timeout=min(max(0.0, seconds), _thread.TIMEOUT_MAX)):
            self._bell.release()
            return True
        return False

    def _reset(self) -> None:
        self.rang = False
        self._bell.acquire()
