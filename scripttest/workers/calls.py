"""Answers the host calls of tests on threads, and passes the answers to the workers on the thread of the host, which is
woken from its poll loop."""

from __future__ import annotations

import _thread
import os
from collections import deque
from collections.abc import Callable

from scripttest.process import PollLoop
from scripttest.results import TEST, TestKey, kind_of
from scripttest.workers.answers import HostCall
from scripttest.workers.services import Backed, Services
from scripttest.workers.work import Slot, start_clock

Work = Callable[[], None]
_NOTHING_MORE = '{"ok": null}'
"""What a fuzz test or a benchmark gets whose time is up: what it would go on with is for its next realm."""
MOST_IDLE = 8
"""At most this many idle threads are kept."""


class HostCalls:
    """The running host calls. Used only by the thread of the host."""

    def __init__(self, services: Services, bell: WakeUp) -> None:
        """`bell` is rung when there is something to deliver."""
        self._services = services
        self._bell = bell
        self._ready: deque[Work] = deque()
        """What threads have for the thread of the host to do."""
        self._broke: BaseException | None = None
        """What an answer broke with, which is a fault of the owner."""
        self._asked_back = 0
        self._answerers = Answerers()

    def begin(self, slot: Slot, call: HostCall, *, test: TestKey, timeout: float) -> None:
        """Starts to answer a host call on another thread.

        Args:
            slot: the slot of the calling worker, which waits for the answer.
            call: what it calls.
            test: the run of a test that calls.
            timeout: time limit of a test of the module, in seconds."""
        assert slot.work is not None
        running = slot.work.running

        def ask(back: str, values: str, done: Backed) -> None:
            self._ready.append(lambda: self._ask_back(slot, running, back, values, done))
            self._bell.ring()

        kind = kind_of(test.test)
        stands = kind not in ("", TEST) and call.name.startswith(f"{kind.lower()}.")
        if stands and slot.worker.is_late:
            slot.reply(call.number, _NOTHING_MORE)
            return
        if stands:
            slot.worker.deadline = None

        def answer() -> None:
            try:
                envelope = self._services.call(test, call.name, call.arguments, call.world, ask)
                seconds = (self._services.seconds_after(test, call.name) or timeout) if stands else None
                self._ready.append(lambda: _deliver(slot, call.number, envelope, seconds))
            except BaseException as error:
                self._broke = error
            self._bell.ring()

        self._answerers.run(answer)

    def close(self) -> None:
        """Ends the threads that are idle."""
        self._answerers.close()

    def deliver(self) -> None:
        """Sends the answers of the threads to the workers, and their questions to the realms of tests. Raises what an
        answer broke with."""
        if self._broke is not None:
            raise self._broke
        while self._ready:
            self._ready.popleft()()

    def _ask_back(self, slot: Slot, index: int | None, name: str, arguments: str, done: Backed) -> None:
        """Asks the realm of a test, by its index; `done` gets the answer."""
        work = slot.work
        if not slot.is_open or work is None or work.running != index:
            done(None, "")
            return
        self._asked_back += 1
        number = str(self._asked_back)
        work.backs[number] = done
        slot.ask_back(number, name, arguments)


def _deliver(slot: Slot, number: str, envelope: str, seconds: float | None) -> None:
    """Answers a question of a worker. `seconds`: that the test has from then on, if its clock stood still meanwhile."""
    if seconds is not None and slot.is_open:
        start_clock(slot, seconds)
    slot.reply(number, envelope)


class _Inbox:
    """Hands an idle thread its next work. Loading `queue` would take longer than a small test."""

    def __init__(self) -> None:
        self._work: Work | None = None
        self._filled = _thread.allocate_lock()
        self._filled.acquire()

    def put(self, work: Work | None) -> None:
        """Hands it over; once for each `get`."""
        self._work = work
        self._filled.release()

    def get(self) -> Work | None:
        """Waits for it."""
        self._filled.acquire()
        return self._work


class Answerers:
    """A pool of threads, which are used again, because a new one costs more than an idle one. Used by the thread of the
    host only; has to be closed."""

    def __init__(self) -> None:
        """Starts no thread yet."""
        self._idle: list[_Inbox] = []
        """The inboxes of idle threads."""
        self._closed = False

    def run(self, work: Work) -> None:
        """Runs a function on an idle thread, or else on a new one. The function must not raise."""
        try:
            self._idle.pop().put(work)
        except IndexError:
            _thread.start_new_thread(self._serve, (work,))

    def close(self) -> None:
        """Ends idle threads at once, and the others when they have finished."""
        self._closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _serve(self, work: Work | None) -> None:
        inbox = _Inbox()
        while work is not None:
            work()
            if len(self._idle) >= MOST_IDLE:
                return
            self._idle.append(inbox)
            if self._closed:
                self.close()
            work = inbox.get()


class WakeUp:
    """Wakes a thread that waits in a poll loop, from other threads and from signal handlers. Has to be closed."""

    def __init__(self, loop: PollLoop) -> None:
        """`loop` is the poll loop that is woken."""
        self._heard, self.descriptor = os.pipe()
        """What is written to the descriptor wakes the loop too, until the bell is closed. It is for
        `signal.set_wakeup_fd`, since a signal may reach another thread than the one that waits."""
        os.set_blocking(self.descriptor, False)
        self._lock = _thread.allocate_lock()
        self._is_closed = False
        self._missed = False
        """Whether somebody has found the lock taken, and is to be rung for."""
        loop.watch(self._heard, self._hear)

    def ring(self) -> None:
        """Wakes the loop, from any thread; after `close` it does nothing."""
        with self._lock:
            self._write()
        self._ring_missed()

    def ring_at_once(self) -> None:
        """Wakes the loop without waiting for a lock, from any thread and from signal handlers."""
        self._missed = True
        self._ring_missed()

    def close(self) -> None:
        """Closes the file descriptors."""
        with self._lock:
            self._is_closed = True
            os.close(self._heard)
            os.close(self.descriptor)

    def _ring_missed(self) -> None:
        while self._missed and self._lock.acquire(blocking=False):  # else who has the lock rings, or closes the bell
            try:
                self._missed = False
                self._write()
            finally:
                self._lock.release()

    def _hear(self) -> None:
        os.read(self._heard, 4096)

    def _write(self) -> None:
        try:
            if not self._is_closed:
                os.write(self.descriptor, b".")
        except BlockingIOError:
            return  # it has been rung often enough
