"""Model calls on all machines of a run: limits of connectors, which the command has and runner processes ask for, and
answers of models, which the command stores in case a test runs again.

| runner process | command |
| --- | --- |
| `enter`: a call wants to begin | answers when it may |
| `again`: a call wants to be made again | answers when it may |
| `answered`, `refused`: how it ended | records it |
| `leave`: the call is over | records it |
| `holds`: calls are under way, every two seconds | no longer counts them when it has heard nothing for some seconds |
| sends an answer with its number | writes it into its journal, and says up to which number it has answers |
| begins no call while as many answers are not stored as tests run at a time | |

Runner processes ask only for connectors whose files have limits, so there are no more such questions than calls that
the limits allow. If one of the two is killed, at most as many calls are lost as tests run at a time, even if the
connection is slow."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.answers.journal import Journal
from runner.cluster.messages import RunnerMessage
from runner.connectors.limits import MAX_CONCURRENCY, GlobalLimit, Limits
from runner.connectors.usage import Timing, uncounted
from runner.errors import RunnerError
from runner.record.outcomes import Verdict
from runner.security.files import write_whole

if TYPE_CHECKING:
    from runner.execution.services import RunServices
    from runner.record.model import TestResult


RENEW = 2.0
"""Seconds after which a runner process says again that it has calls under way."""
LEASE = 10.0
"""Seconds for which calls count when nothing is heard of their process: it may hang, and others shall go on."""
BOUNDS = ("max_concurrency", "requests_per_minute", "tokens_per_minute")
_begins: ContextVar[bool] = ContextVar("begins", default=False)
"""Whether the call of this context has not gone out yet."""
_calls: ContextVar[tuple[int, ...]] = ContextVar("calls", default=())
"""The numbers of the calls of this context that are under way."""


class AskedLimits(GlobalLimit):
    """In a runner process: gives connectors their bounds."""

    def __init__(self, ask: Callable[[tuple[Any, ...]], None]) -> None:
        """`ask` sends a question to the command."""
        super().__init__()
        self._ask = ask
        self._numbers = count(1)
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = {}
        self._under_way = 0
        self._renewing: threading.Thread | None = None

    def limits(self, connector: str, options: Mapping[str, Any], timing: Timing) -> Limits:
        """See `GlobalLimit`; those of all machines, where the file of the connector names bounds."""
        bounds = tuple(options.get(name) for name in BOUNDS)
        if not any(bounds):
            return super().limits(connector, options, timing)
        return _Asking(connector, bounds, self, timing)

    def send(self, connector: str, bounds: tuple[Any, ...], what: str, *details: Any) -> None:
        """Says something of a connector."""
        self._ask((connector, bounds, 0, what, *details))

    async def wait(self, connector: str, bounds: tuple[Any, ...], what: str) -> int:
        """Sends a question and waits for the answer; its number. The time is not counted as time of the case."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        number = next(self._numbers)
        self._waiting[number] = loop, future
        self._ask((connector, bounds, number, what))
        try:
            with uncounted():
                await future
        except asyncio.CancelledError:
            self._ask((connector, bounds, number, "leave"))
            raise
        finally:
            self._waiting.pop(number, None)
        return number

    async def enter(self, connector: str, bounds: tuple[Any, ...]) -> int:
        """Waits until a call may begin; from then on it counts. The number of the call."""
        number = await self.wait(connector, bounds, "enter")
        self._under_way += 1
        if self._renewing is None:
            self._renewing = threading.Thread(target=self._renew, daemon=True)
            self._renewing.start()
        return number

    def leave(self, number: int) -> None:
        """Ends a call, which no longer counts."""
        self._under_way -= 1
        self._ask(("", (), number, "leave"))

    def _renew(self) -> None:
        while True:
            time.sleep(RENEW)
            if self._under_way:
                self.send("", (), "holds")

    def let(self, number: int) -> None:
        """Takes an answer; from any thread."""
        loop, future = self._waiting.get(number, (None, None))
        if loop is not None and future is not None:
            loop.call_soon_threadsafe(_settle, future)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class _Asking(Limits):
    """The bounds of one connector, in a runner process."""

    def __init__(self, connector: str, bounds: tuple[Any, ...], places: AskedLimits, timing: Timing) -> None:
        super().__init__(MAX_CONCURRENCY, None, timing)
        self._of = connector, bounds
        self._places = places

    async def __aenter__(self) -> None:
        _calls.set((*_calls.get(), await self._places.enter(*self._of)))
        _begins.set(True)

    async def __aexit__(self, *_: object) -> None:
        *outer, number = _calls.get()
        _calls.set(tuple(outer))
        self._places.leave(number)

    async def again(self) -> None:
        """See `Limits`."""
        if not _begins.get():
            await self._places.wait(*self._of, "again")

    async def turn(self) -> None:
        """See `Limits`; it has come when the call may begin, or may be made again."""
        _begins.set(False)

    def answered(self, tokens: int) -> None:
        """See `Limits`."""
        self._places.send(*self._of, "answered", tokens)

    def refused(self, began: float, seconds: float | None) -> None:
        """See `Limits`."""
        self._places.send(*self._of, "refused", self._timing.monotonic() - began, seconds)


class SharedLimits:
    """In the command: the limits of all connectors, and which attempt uses how much of them."""

    def __init__(self, let: Callable[[str, int], None], loop: asyncio.AbstractEventLoop) -> None:
        """`let` tells the runner process of an attempt that its call of a number may go on; it is called on the
        `loop`."""
        self._let, self._loop = let, loop
        self._limits: dict[str, Limits] = {}
        self._heard: dict[str, float] = {}
        """Attempt → when something was heard of it."""
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}
        """Attempt and number → a call, which ends when its task is cancelled, or what waits to be made again."""
        self._entered: set[tuple[str, int]] = set()
        """The calls that were let in."""
        loop.call_soon_threadsafe(self._end_leases)

    def take(self, attempt: str, call: tuple[Any, ...]) -> None:
        """Takes what a runner process asks or says."""
        self._loop.call_soon_threadsafe(self._take, attempt, *call)

    def give_up(self, attempt: str) -> None:
        """Frees what an attempt uses, because it has ended."""
        self._loop.call_soon_threadsafe(self._give_up, attempt)

    def _take(
        self, attempt: str, connector: str, bounds: tuple[Any, ...], number: int, what: str, *details: Any
    ) -> None:
        self._heard[attempt] = time.monotonic()
        if what == "holds":
            return
        if what == "leave":
            self._end([(attempt, number)])
            return
        limits = self._limits.get(connector)
        if limits is None:
            options = {name: value for name, value in zip(BOUNDS, bounds, strict=True) if value is not None}
            limits = self._limits[connector] = GlobalLimit().limits(connector, options, Timing())
        if what == "answered":
            limits.answered(details[0])
        elif what == "refused":
            limits.refused(Timing().monotonic() - details[0], details[1])
        else:
            key = attempt, number
            task = self._loop.create_task(self._call(key, limits) if what == "enter" else self._again(key, limits))
            task.add_done_callback(lambda _: self._tasks.pop(key, None))
            self._tasks[key] = task

    async def _call(self, key: tuple[str, int], limits: Limits) -> None:
        async with limits:
            await limits.turn()
            self._entered.add(key)
            self._let(*key)
            try:
                await asyncio.Event().wait()  # until it is over
            finally:
                self._entered.discard(key)

    async def _again(self, key: tuple[str, int], limits: Limits) -> None:
        await limits.again()
        await limits.turn()
        self._let(*key)

    def _end(self, calls: Iterable[tuple[str, int]]) -> None:
        for key in list(calls):
            if (task := self._tasks.get(key)) is not None:
                task.cancel()

    def _end_leases(self) -> None:
        """Frees what processes use of which nothing was heard for long; looks again and again."""
        late = time.monotonic() - LEASE
        self._end(key for key in self._entered if self._heard[key[0]] < late)
        self._loop.call_later(LEASE / 10, self._end_leases)

    def _give_up(self, attempt: str) -> None:
        self._end(key for key in self._tasks if key[0] == attempt)


class SentAnswers:
    """In a runner process: the lines of its journal, as its `JournalFile` and its `CallGate`."""

    def __init__(self, send: Callable[[RunnerMessage], None], at_once: int) -> None:
        """`at_once`: most calls that are running, or whose answers are not stored yet."""
        self._send = send
        self._limits = Limits(at_once, None, Timing())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sent = self._kept = 0
        """Up to which number."""
        self._open: list[int] = []
        """For each call that has an answer which is not kept: up to which number the command has to have them."""
        self._changed = threading.Condition()

    async def begin(self) -> None:
        """See `CallGate`."""
        self._loop = asyncio.get_running_loop()
        await self._limits.__aenter__()

    def give_up(self) -> None:
        """See `CallGate`."""
        self._limits.leave()

    def end(self) -> None:
        """See `CallGate`."""
        with self._changed:
            if self._kept < self._sent:
                self._open.append(self._sent)
                return
        self._limits.leave()

    def write(self, line: str) -> None:
        """Sends a line."""
        with self._changed:
            self._sent += 1
            self._send(RunnerMessage(answer=(self._sent, line)))

    def keep(self, number: int) -> None:
        """Takes note that the command has all lines up to a number; from any thread."""
        with self._changed:
            self._kept = max(number, self._kept)
            kept = [one for one in self._open if one <= self._kept]
            del self._open[: len(kept)]
            self._changed.notify_all()
        for _ in kept:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._limits.leave)

    def wait(self) -> None:
        """Waits until all are kept; blocks."""
        with self._changed:
            self._changed.wait_for(lambda: self._kept == self._sent)

    def replace(self, lines: Iterable[str]) -> None:
        """The command has these."""

    def close(self) -> None:
        """Has nothing to close."""


class StoredAnswers:
    """In the command: the journal of the run, else one that is in the memory alone."""

    def __init__(self, services: RunServices, root: Path) -> None:
        """`root` is that of the application."""
        self._services = services
        self._root = root
        self._own: Journal | None = None

    def add(self, line: str) -> None:
        """Takes an answer that a runner process has got, as a line of its journal."""
        if self._journal is None:
            self._open()
        assert self._journal is not None
        self._journal.add(line)

    def lines(self, tests: Mapping[str, Collection[str] | None]) -> tuple[str, ...]:
        """See `Journal.lines`."""
        return tuple(self._journal.lines(tests)) if self._journal is not None else ()

    def end(self, result: TestResult) -> None:
        """Takes note of the end of a run of a test; see `Journal.end`."""
        if self._journal is not None and not result.cut_short:
            self._journal.end(result.key, result.verdict is Verdict.BROKEN)

    @property
    def _journal(self) -> Journal | None:
        return self._services.journal or self._own

    def _open(self) -> None:
        if self._services.keeps_answers:
            self._services.agents()  # which opens the journal of the run
        else:
            self._own = Journal(None, None, self._root)


def write_recording(folder: Path, name: str, content: bytes | None) -> None:
    """Writes what a worker has recorded, or removes it. Raises OSError, and RunnerError for a place outside."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        raise RunnerError(f"A worker names a recording outside {folder}: {name}")
    path = folder.joinpath(*parts)
    if content is None:
        path.unlink(missing_ok=True)
    else:
        write_whole(path, content)
