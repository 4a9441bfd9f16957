"""The life of one realm: boot, scripts, the test or call, the event loop, the result; realms that are made ahead; and
the alarm that stops scripts whose time is up.

The loop ends in one of three ways: the work settled; it threw; or it is a deadlock: nothing is queued, no timer is set,
and the work has not settled. When the alarm goes off, the loop ends with EngineError, whatever the scripts catch. Their
unfinished work can then be cleaned up, and for that the loop runs again."""

from __future__ import annotations

import _thread

from scripttest.realm.engine import Engine, EngineError
from scripttest.realm.limits import has_room
from scripttest.realm.quickjs import Interrupts, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from scripttest.realm.engine import HostBridge, ScriptParts, TimeLimit


DEADLOCK = "deadlock: the test waits for a promise that can never settle"

RANG = "the alarm rang"
MOST = 100
"""At most this many realms are made ahead, of about 200 KB each."""


class Realm:
    """A fresh engine with a module's scripts evaluated in it."""

    def __init__(self, parts: ScriptParts, host_bridge: HostBridge, alarm: TimeLimit) -> None:
        self._engine = Engine(parts, host_bridge)
        self._alarm = alarm
        self.dispatch = self._engine.dispatch
        self.part = self._engine.part
        self.look = self._engine.look

    def stop(self, interrupts: Interrupts) -> None:
        """Stops its code, from any thread; see `Engine.stop`."""
        self._engine.stop(interrupts)

    def allow(self, interrupts: Interrupts) -> None:
        """Lets its code run again after `stop`."""
        self._engine.allow(interrupts)

    def load(self, scripts: list[str]) -> None:
        """Evaluates scripts in order. Raises EngineError."""
        for script in scripts:
            self._engine.eval(script)

    def settle(self) -> None:
        """Runs jobs and timers until the work has ended; blocks. Raises EngineError when the alarm rings."""
        while True:
            self.run_jobs()
            try:
                wait = self.dispatch("poll")
            except EngineError as error:
                self._uncaught(error)
                continue
            if not isinstance(wait, int | float):
                return
            if wait != wait:
                self._deadlock()
            elif wait < 0:
                return
            elif wait > 0 and self._alarm.sleep(wait / 1000):
                raise EngineError(RANG)

    def _deadlock(self) -> None:
        """Fails what waits for something that cannot happen any more, and lets cleanups run; the second time, ends the
        work."""
        if interrupts := self._alarm.interrupts():
            self._name_waits(interrupts)
        self.dispatch("abandon", DEADLOCK)

    def run_jobs(self) -> bool:
        """Runs promise jobs until none is queued, and returns whether there was any."""
        failed = False
        while True:
            try:
                return self._engine.drain(self._alarm) or failed
            except EngineError as error:
                self._uncaught(error)
                failed = True

    def _uncaught(self, error: Exception) -> None:
        if self._alarm.rang:
            raise error
        self.dispatch("uncaught", str(error))

    def test(self, plan: str) -> str:
        """Runs one test, and returns its outcome as JSON."""
        outcome = self.dispatch("start", plan)
        if isinstance(outcome, str) and not self.run_jobs():
            return outcome
        self.settle()
        return str(self.dispatch("result"))

    def close(self, trace: str, interrupts: Interrupts) -> None:
        """Fails the running test because its time is up, and runs its cleanups and After hooks; `trace` is the engine's
        stack where code was stopped. Raises EngineError when the alarm rings again."""
        self._name_waits(interrupts)
        self.dispatch("expire", trace)
        self.settle()

    def _name_waits(self, interrupts: Interrupts) -> None:
        """Tells the core of the bindings where each asynchronous function of the test waits."""
        while self.dispatch("waiting"):
            self._engine.lend_error(interrupts)
            try:
                self.dispatch("wake")
            except EngineError as error:
                self.dispatch("waits", str(error))

    def call(self, process: str, arguments: str) -> str:
        """Calls the function that a process names in the loaded scripts, and returns the JSON envelope of its
        result."""
        self.dispatch("call", process, arguments)
        self.settle()
        return str(self.dispatch("answer"))

    def invoke(self, function: str, arguments: str) -> str:
        """Calls a function of the loaded scripts for the host, and returns its result as JSON."""
        self.dispatch("invoke", function, arguments)
        self.settle()
        return str(self.dispatch("invoked"))


class SpareRealms:
    """The spare and used realms of one worker: they are made before they are needed, and freed while nobody waits for
    the worker, since both take longer than a small test. The next run is expected to need as many as the last one."""

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


def put_back(base: str, end: int, full: str, pieces: str) -> str:
    """A script up to an offset of its base, the script without its pieces, with some of them; see `slicing`."""
    text, at = [], 0
    for piece in pieces.split(","):
        offset, skip, start, stop = map(int, piece.split(":"))
        text += [base[at:offset], full[start:stop]]
        at = offset + skip
    return "".join(text) + base[at:end]


class Alarm:
    """The alarm of one worker, which the thread that gets the message and the one that runs scripts share.

    The supervisor names the work whose time is up, because the worker may have begun the next one meanwhile. Each
    message is sent twice, in two ways, and has a number: the later copy must not stop the same work if that has begun
    again. The first alarm stops the work, so that it can clean up; the second one stops the cleanup."""

    def __init__(self) -> None:
        self.rang = False
        """Whether the time of the current work is up, so that its realms are being stopped."""
        self.realms: list[Realm] = []
        """The running realms, the innermost last."""
        self.patience: float | None = None
        """Seconds that the current work may still wait, by what its timers say and not by a clock; None: as long as it
        likes."""
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
        """Waits this many seconds, and returns whether the alarm cut that short, or patience ended."""
        if self.rang:
            return True
        if self.patience is not None:
            self.patience -= seconds
            if self.patience < 0:
                return True
        if self._bell.acquire(timeout=min(max(0.0, seconds), _thread.TIMEOUT_MAX)):
            self._bell.release()
            return True
        return False

    def _reset(self) -> None:
        self.rang = False
        self._bell.acquire()
