"""Answers the host calls of tests on threads, and passes the answers to the workers on the thread of the host."""

from __future__ import annotations

from collections import deque

from scripttest.host.answerers import Answerers
from scripttest.host.bell import Bell
from scripttest.host.services import Backed, Link, Services
from scripttest.host.work import Slot, start_clock
from scripttest.names import TEST, kind_of


class HostCalls:
    """The running host calls. Used only by the thread of the host."""

    def __init__(self, services: Services, bell: Bell) -> None:
        """`bell` is rung when there is something to deliver."""
        self._services = services
        self._bell = bell
        self._answers: deque[tuple[Slot, str, str, float | None]] = deque()
        """Answers to host calls: the slot and number of the question, the answer, and the seconds that the test has
        from then on, if its clock stood still meanwhile."""
        self._asks: deque[tuple[Slot, int | None, str, str, Backed]] = deque()
        """What the realms of tests are asked: slot and index of the test, a name, arguments, and the function that gets
        the answer."""
        self._asked_back = 0
        self._answerers = Answerers()

    def begin(
        self, slot: Slot, number: str, name: str, arguments: str, world: str, *, key: str, test: str, timeout: float
    ) -> None:
        """Starts to answer a host call on another thread.

        Args:
            slot: the slot of the calling worker, which waits for the answer.
            number: the worker's number of the call.
            name: name of the process.
            arguments: JSON.
            world: state of the test's world, see `protocol`.
            key: key of the module.
            test: key of the running test; empty if none is running.
            timeout: time limit of a test of the module, in seconds.
        """
        assert slot.work is not None
        running = slot.work.running

        def ask(back: str, values: str, done: Backed) -> None:
            self._asks.append((slot, running, back, values, done))
            self._bell.ring()

        link = Link(ask)
        kind = kind_of(test)
        stands = kind not in ("", TEST) and name.startswith(f"{kind.lower()}.") and not slot.worker.is_late
        if stands:
            slot.worker.deadline = None

        def answer() -> None:
            envelope = self._services.call(key, test, name, arguments, world, link)
            seconds = None
            if stands:
                seconds = self._services.seconds_after(key, test, name) or timeout
            self._answers.append((slot, number, envelope, seconds))
            self._bell.ring()

        self._answerers.run(answer)

    def close(self) -> None:
        """Ends the threads that are idle."""
        self._answerers.close()

    def deliver(self) -> None:
        """Sends the answers of the threads to the workers, and their questions to the realms of tests."""
        while self._answers:
            slot, number, envelope, seconds = self._answers.popleft()
            if seconds is not None and slot.is_open:
                start_clock(slot, seconds)
            slot.reply(number, envelope)
        while self._asks:
            self._ask_back(*self._asks.popleft())

    def _ask_back(self, slot: Slot, index: int | None, name: str, arguments: str, done: Backed) -> None:
        work = slot.work
        if not slot.is_open or work is None or work.running != index:
            done(None, "")
            return
        self._asked_back += 1
        number = str(self._asked_back)
        work.backs[number] = done
        slot.ask_back(number, name, arguments)
