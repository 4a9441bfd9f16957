"""The life of one realm: boot, scripts, the test or call, the event loop, the result; realms that are made ahead; and
the alarm that stops scripts whose time is up.

The loop ends in one of three ways: the work settled; it threw; or it is a deadlock: nothing is queued, no timer is set,
and the work has not settled. When the alarm goes off, the loop ends with EngineError, whatever the scripts catch. Their
unfinished work can then be cleaned up, and for that the loop runs again."""

from __future__ import annotations

import _thread

from scripttest.realm.channel import broken_outcome, failure_envelope
from scripttest.realm.engine import Engine, EngineError
from scripttest.walls.confinement import has_room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from scripttest.realm.engine import HostBridge, ScriptParts


DEADLOCK = "deadlock: the test waits for a promise that can never settle"

RANG = "the alarm rang"
MOST = 100
"""At most this many realms are made ahead, of about 200 KB each."""


class Realm:
    """A fresh engine with a module's scripts evaluated in it."""

    def __init__(self, parts: ScriptParts, host_bridge: HostBridge, alarm: Alarm, noted: list[str]) -> None:
        """`noted` are the failures of the running test, as JSON, for the case that the realm cannot report them."""
        self._engine = Engine(parts, host_bridge)
        self._alarm, self._noted = alarm, noted
        self.dispatch, self._run_job = self._engine.dispatch, self._engine.run_job
        self.part, self.look = self._engine.part, self._engine.look
        self.stop, self.allow = self._engine.stop, self._engine.allow

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
        self._name_waits()
        self.dispatch("abandon", DEADLOCK)

    def run_jobs(self) -> bool:
        """Runs promise jobs until none is queued, and returns whether there was any."""
        ran = False
        while True:
            try:
                while self._run_job():
                    ran = True
                    if self._alarm.rang:
                        raise EngineError(RANG)
                return ran
            except EngineError as error:
                self._uncaught(error)
                ran = True

    def _uncaught(self, error: Exception) -> None:
        if self._alarm.rang:
            raise error
        self.dispatch("uncaught", str(error))

    def test(self, plan: str) -> str:
        """Runs one test, and returns its outcome as JSON."""
        try:
            outcome = self.dispatch("start", plan)
            if not isinstance(outcome, str) or self.run_jobs():
                self.settle()
                outcome = self.dispatch("result")
            return self._closed("") if self._alarm.rang else str(outcome)
        except EngineError as error:
            return self._closed(str(error)) if self._alarm.rang else self.broken(str(error))

    def _closed(self, trace: str) -> str:
        """The outcome of a test whose time is up, after those cleanups for which there was time. `trace` is the
        engine's stack where code was stopped."""
        trace, cleans_up = self._alarm.placed(trace), True
        while True:
            self._alarm.silence()
            try:
                if cleans_up:
                    self._close(trace)
                else:
                    self.dispatch("quit", trace)
                outcome = str(self.dispatch("result"))
                if not self._alarm.rang:
                    return outcome
            except EngineError as error:
                trace = str(error)
                if not self._alarm.rang:
                    return self.expired(trace)
            cleans_up = False

    def _close(self, trace: str) -> None:
        """Fails what runs because its time is up, and runs the cleanups and After hooks of a test. Raises EngineError
        when the alarm rings again."""
        self._name_waits()
        self.dispatch("expire", trace)
        self.settle()

    def expired(self, trace: str) -> str:
        """The outcome of a test whose time is up where the realm cannot report anything."""
        self._alarm.silence()
        return broken_outcome("", "timeout", self._alarm.stopped + trace, self._noted)

    def broken(self, text: str) -> str:
        """The outcome of what broke this realm; `text` is what it still reported."""
        try:
            return str(self.dispatch("broken", text))
        except EngineError as error:
            reason = str(error).partition("\n")[0].removeprefix("InternalError: ")
            reason = "out of memory" if reason == "null" else reason
            text = f"{reason}: the test left its realm unable to report the failure"
            return broken_outcome(text, "error", "", self._noted)

    def _name_waits(self) -> None:
        """Tells the core of the bindings where each asynchronous function of the test waits."""
        while self.dispatch("waiting"):
            self._engine.lend_error()
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
        try:
            self.dispatch("invoke", function, arguments)
            self.settle()
            answer = str(self.dispatch("invoked"))
            return self.given_up("") if self._alarm.rang else answer
        except EngineError as error:
            return self.given_up(str(error)) if self._alarm.rang else self.broken(str(error))

    def given_up(self, trace: str) -> str:
        """The answer of a function whose time is up: an error that says where it was, if the realm can tell."""
        self._alarm.silence()
        try:
            self._close(self._alarm.placed(trace))
            return str(self.dispatch("invoked"))
        except EngineError as error:
            frames = trace.partition("\n")[2]
            return failure_envelope(str(error), stack=self._alarm.stopped + frames)


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
        self.stopped = ""
        """Where scripts that the current work had called were stopped, innermost first, as stacks of the engine."""
        self._work = ""
        self._heard = 0
        """The number of the last message."""
        self._lock = _thread.allocate_lock()
        self._bell = _thread.allocate_lock()
        self._bell.acquire()

    def begin(self, work: str) -> None:
        """Begins work, which is identified by a text."""
        with self._lock:
            self._work, self.stopped = work, ""
            if self.rang:
                self._reset()

    def placed(self, trace: str) -> str:
        """The stack where the current work was stopped, with where the scripts were that it had called."""
        head, _, frames = trace.partition("\n")
        return f"{head}\n{self.stopped}{frames}"

    def enter(self, realm: Realm) -> None:
        """Adds a realm, inside the running ones."""
        with self._lock:
            self.realms.append(realm)
            if self.rang:
                realm.stop()

    def leave(self) -> None:
        """Removes the innermost realm, which has ended."""
        with self._lock:
            self.realms.pop()

    def ring(self, expired: str) -> None:
        """Stops the current work, from any thread. `expired` is the identifier of the work whose time is up, a slash,
        and the number of the message; one for other work, or one that was heard before, is ignored."""
        with self._lock:
            work, _, number = expired.partition("/")
            if int(number) <= self._heard:
                return
            self._heard = int(number)
            if work != self._work or self.rang:
                return
            self.rang = True
            self._bell.release()
            for realm in self.realms:
                realm.stop()

    def silence(self) -> None:
        """Lets realms run again until the next alarm."""
        with self._lock:
            if self.rang:
                self._reset()
            for realm in self.realms:
                realm.allow()

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
