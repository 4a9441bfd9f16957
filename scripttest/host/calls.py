"""Answers the host calls of tests on threads, and passes the answers to the workers on the thread of the host."""

from __future__ import annotations

from collections import deque

from scripttest.host.answerers import Answerers
from scripttest.host.bell import Bell
from scripttest.host.services import Backed, Link, Services
from scripttest.host.work import Slot, start_clock
from scripttest.names import TEST, kind_of
from scripttest.test_key import TestKey
from scripttest.values import Value
from scripttest.workers.answers import HostCall


class _Answer(Value):
    """The answer to a host call."""

    slot: Slot
    """Of the worker that waits for it."""
    number: str
    """Of the question."""
    envelope: str
    seconds: float | None
    """That the test has from then on, if its clock stood still meanwhile."""


class _Ask(Value):
    """A question to the realm of a test."""

    slot: Slot
    index: int | None
    """Of the test."""
    name: str
    arguments: str
    done: Backed
    """Gets the answer."""


class HostCalls:
    """The running host calls. Used only by the thread of the host."""

    def __init__(self, services: Services, bell: Bell) -> None:
        """`bell` is rung when there is something to deliver."""
        self._services = services
        self._bell = bell
        self._answers: deque[_Answer] = deque()
        self._asks: deque[_Ask] = deque()
        self._broke: BaseException | None = None
        """What an answer broke with, which is a fault of the owner."""
        self._asked_back = 0
        self._answerers = Answerers()

    def begin(self, slot: Slot, call: HostCall, *, test: TestKey, timeout: float) -> None:
        """Answers a host call at once where `Services.at_once` can, else starts to answer it on another thread.

        Args:
            slot: the slot of the calling worker, which waits for the answer.
            call: what it calls.
            test: the run of a test that calls.
            timeout: time limit of a test of the module, in seconds.
        """
        assert slot.work is not None
        quick = self._services.at_once(test, call.name, call.arguments, call.world) if test.test else None
        if quick is not None:
            slot.reply(call.number, quick)
            return
        running = slot.work.running

        def ask(back: str, values: str, done: Backed) -> None:
            self._asks.append(_Ask(slot=slot, index=running, name=back, arguments=values, done=done))
            self._bell.ring()

        link = Link(ask)
        kind = kind_of(test.test)
        stands = kind not in ("", TEST) and call.name.startswith(f"{kind.lower()}.") and not slot.worker.is_late
        if stands:
            slot.worker.deadline = None

        def answer() -> None:
            try:
                envelope = self._services.call(test, call.name, call.arguments, call.world, link)
                seconds = (self._services.seconds_after(test, call.name) or timeout) if stands else None
                self._answers.append(_Answer(slot=slot, number=call.number, envelope=envelope, seconds=seconds))
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
        while self._answers:
            answer = self._answers.popleft()
            if answer.seconds is not None and answer.slot.is_open:
                start_clock(answer.slot, answer.seconds)
            answer.slot.reply(answer.number, answer.envelope)
        while self._asks:
            self._ask_back(self._asks.popleft())

    def _ask_back(self, ask: _Ask) -> None:
        work = ask.slot.work
        if not ask.slot.is_open or work is None or work.running != ask.index:
            ask.done(None, "")
            return
        self._asked_back += 1
        number = str(self._asked_back)
        work.backs[number] = ask.done
        ask.slot.ask_back(number, ask.name, ask.arguments)
