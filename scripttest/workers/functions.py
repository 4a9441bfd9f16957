"""FunctionPool: calls single functions of scripts from an event loop. Each call has a new realm.

A function may ask the host for something that takes long, such as the answer of a model. While it waits, its worker
does not count as running. The pool starts further workers for such functions, so that one more can always run, however
many wait for others. It keeps some of them for later calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from scripttest.compile.builds import Compiled, Source
from scripttest.compile.compiler import Compiler, Instrument
from scripttest.protocol import MessageError, encode
from scripttest.results import Cause, CompileError, Failure, HostError, Location, LogLine, MockedCalls, StackFrame
from scripttest.shortcuts.slicing import BootConfig
from scripttest.workers.answers import (
    PLACES,
    Begun,
    EarlyFailure,
    FunctionResult,
    HostCall,
    Logged,
    Message,
    Reached,
    mocked_of,
)
from scripttest.workers.pool import Libraries, WorkerPool, WorkerSlot
from scripttest.workers.services import FunctionCall, FunctionError, MissingFunctionError, Returned
from scripttest.workers.worker import LAST_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.diagnostics.stack import StackMapper


LEAST_WAIT = 0.01
"""Seconds between two looks at the clock."""
IDLE = 32
"""At most this many idle workers are kept."""
FEW_UNRESTED = 8
"""A second worker is started only after this many functions in close succession; a run with fewer gains nothing
from it."""
MOST_LINES = 1 << 17
"""At most so many captured lines of one call are kept."""
Owner = Any
"""Whatever identifies a call of a function for its caller; it is handed back with every host call of the function."""


class FunctionServices(Protocol):
    """What functions ask the owner of the pool."""

    async def answer(self, owner: Owner, name: str, arguments: str, world: str) -> str:
        """Answers a host call: JSON arguments in, JSON envelope out, as `Services.call` does. `world` is what the realm
        of the function tells of it; see `protocol`."""

    def returned(self, owner: Owner, world: str, mocked: Sequence[MockedCalls]) -> None:
        """Called when a function has ended, with what its realm reports of its world, and the calls that
        mocks answered."""

    def stopped(self, owner: Owner, frames: tuple[StackFrame, ...]) -> None:
        """Called with the frames where a function was when its time was up, innermost first."""

    def library(self, module: str, script: str) -> Path:
        """The file of the script that `Process("scripts.a.b.Fn")` names without its function. Raises ScriptError."""


class Switches(Protocol):
    """Switches mutants on and off in the functions that run."""

    def lead(self, owner: Owner) -> bytes:
        """The frame before a call of a function: its mutant, and its limits."""

    def reached(self, owner: Owner, message: Reached) -> None:
        """Called when a function has ended, with where it got to."""


class FunctionPool:
    """Runs functions of scripts in workers. Belongs to one event loop, and has to be closed in it."""

    def __init__(
        self,
        root: Path,
        command: list[str],
        services: FunctionServices,
        names: Mapping[str, str],
        workers: int,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
        is_late: Callable[[], bool] = lambda: False,
        instrument: Instrument | None = None,
        switches: Switches | None = None,
    ) -> None:
        """Starts nothing yet.

        Args:
            root: absolute path of the application.
            command: the command line of a worker, from `start_processes`.
            names: name of a global → part of the bindings that provides it.
            workers: most functions that run at the same time; those that wait for the host do not count.
            waiting: entered while a function waits for its turn.
            is_late: whether a call was cancelled because its time is up.
            instrument: changes the compiled code of files, to measure coverage.
            switches: of mutants, in a run that has some."""
        self._root, self._services, self._switches = root, services, switches
        self._workers, self._waiting, self._is_late = workers, waiting, is_late
        self._boots = BootConfig(names)
        self._running = asyncio.Semaphore(workers)
        self._unrested = 0
        """How often the only worker has begun a function without a pause before it."""
        self._compiler = Compiler(root, self, instrument=instrument)
        self._libraries = Libraries(self._compiler, lambda module, script: services.library(module, script))
        self._pool: WorkerPool[_Call] = WorkerPool(command, self, self, self._libraries)
        self._checking: asyncio.TimerHandle | None = None
        """The timer that checks whether the compiler takes too long."""
        self._compiled: dict[str, asyncio.Future[LoadedScript]] = {}

    async def call(self, call: FunctionCall, owner: Owner) -> Returned:
        """Calls a function and waits for it. If it is cancelled, its worker is ended. Raises MissingFunctionError:
        the script has no such function; FunctionError: it threw an error, its script cannot be compiled or
        evaluated, or its worker died; HostError: a worker or the compiler cannot be started."""
        loaded = await self.load(call.script, call.module)
        with self._waiting() if self._running.locked() else nullcontext():
            await self._running.acquire()
        try:
            returned = None
            while returned is None:
                returned = await self._run(call, loaded, owner)
            return returned
        finally:
            self._running.release()

    async def _run(self, call: FunctionCall, loaded: LoadedScript, owner: Owner) -> Returned | None:
        """The answer of a worker; None when it had been killed while it was idle."""
        key = str(call.script)
        slot = self._pool.idle(key)
        was_idle = slot is not None
        slot = slot or self._pool.start()
        self._have_another_rest(slot)
        work = slot.work = _Call(owner, loaded)
        frames = [] if slot.loaded == key else [loaded.module_frame]
        slot.module = slot.loaded = key
        if self._switches is not None:
            frames.append(self._switches.lead(owner))
        try:
            slot.worker.send(*frames, loaded.frame(call))
            while isinstance(event := await work.events.get(), HostCall):
                slot.reply(event.number, await self._outside(owner, event))
            if isinstance(event, FunctionResult):
                slot.work = None
                slot.worked_until = time.monotonic()
                self._services.returned(owner, event.record.get("world") or "", mocked_of(event.record))
                return loaded.read(event.record, call.function, tuple(work.logs))
            if was_idle and not work.began and event.cause == Cause.INFRASTRUCTURE:
                return None
            error = FunctionError(event.message)
            error.logs = tuple(work.logs)
            error.infrastructure = event.cause == Cause.INFRASTRUCTURE
            raise error
        except asyncio.CancelledError:
            if self._is_late() and slot.work is work and slot.is_open:
                self._services.stopped(owner, await _place_of(slot, work, loaded))
            raise
        finally:
            if slot.work is not None and slot.is_open:
                slot.end()
            self._pool.keep(max(IDLE, self._workers))

    def _have_another_rest(self, slot: WorkerSlot[_Call]) -> None:
        """Starts a second worker when the only one has often worked without a pause. From then on, one of them prepares
        its next realm while the other one works."""
        if self._workers > 1 and len(self._pool.slots) == 1 and not slot.has_rested(time.monotonic()):
            self._unrested += 1
            if self._unrested >= FEW_UNRESTED:
                with suppress(HostError):
                    self._pool.start()

    async def _outside(self, owner: Owner, call: HostCall) -> str:
        """Answers a host call of a function. Meanwhile, another function may run."""
        if call.name.startswith("store."):
            return await self._services.answer(owner, call.name, call.arguments, call.world)
        self._running.release()
        try:
            return await self._services.answer(owner, call.name, call.arguments, call.world)
        finally:
            if self._running.locked():
                with self._waiting():
                    await asyncio.shield(self._running.acquire())
            else:
                await self._running.acquire()

    def heard(self, slot: WorkerSlot[_Call], message: Message) -> None:
        """Handles a message from a worker. Raises MessageError when it does not fit to what the worker does."""
        work = slot.work
        if work is None:
            raise MessageError(f"unexpected {message.kind}")
        if isinstance(message, Begun):
            work.began = True
        elif isinstance(message, Logged):
            if len(work.logs) < MOST_LINES:
                work.logs.append(message.line)
        elif isinstance(message, FunctionResult) and not work.returned:
            work.events.put_nowait(message)
            work.returned = True
        elif isinstance(message, Reached) and self._switches is not None:
            self._switches.reached(work.owner, message)
        elif not isinstance(message, EarlyFailure):
            raise MessageError(f"unexpected {message.kind}")

    def asked(self, slot: WorkerSlot[_Call], call: HostCall) -> None:
        """Answers a host call, or hands it to the task that waits for the function."""
        work = slot.work
        assert work is not None
        if call.name == PLACES:
            slot.reply(call.number, work.loaded.mapper.written(call.arguments))
            return
        work.events.put_nowait(call)

    def lost(self, slot: WorkerSlot[_Call], loss: Failure) -> None:
        """Tells the task that waits for the function that its worker is lost."""
        if slot.work is not None:
            slot.work.events.put_nowait(loss)

    async def load(self, script: Path, module: Path | None = None) -> LoadedScript:
        """Compiles a script, once. Raises FunctionError."""
        key = str(script)
        future = self._compiled.get(key)
        if future is None:
            future = self._compiled[key] = asyncio.get_running_loop().create_future()
            try:
                self._compiler.add([Source(key=key, test=script, script=module)], self._loaded)
            except HostError as error:
                future.set_exception(error)
            self._check_time()
        return future.result() if future.done() else await asyncio.shield(future)

    async def declared(self, script: Path, module: Path | None = None) -> frozenset[str]:
        """The names that a script exports or declares at its top level. Raises FunctionError."""
        return (await self.load(script, module)).declared

    def tell_compiled(self, told: Callable[[Compiled], None]) -> None:
        """Sets a function that is called with every script that is compiled from now on."""
        self._libraries.told = told

    async def used(self, script: Path, module: Path | None = None) -> list[Source]:
        """A script, and those that its functions have called so far. Raises FunctionError."""
        loaded = await self.load(script, module)
        return [loaded.compiled.source, *self._libraries.called_by(str(script))]

    async def close(self) -> None:
        """Ends all workers and the compiler."""
        self._pool.close()
        if self._checking is not None:
            self._checking.cancel()
        self._compiler.close()

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Lets the event loop call `ready` whenever there is something to read."""
        asyncio.get_running_loop().add_reader(descriptor, ready)

    def unwatch(self, descriptor: int) -> None:
        """Stops watching a descriptor, which stays open."""
        asyncio.get_running_loop().remove_reader(descriptor)

    def _check_time(self) -> None:
        """Ends a build that takes too long, and checks again when the time of the next build is up."""
        self._compiler.expire()
        if self._checking is not None:
            self._checking.cancel()
        loop, deadline = asyncio.get_running_loop(), self._compiler.deadline
        wait = None if deadline is None else max(deadline - time.monotonic(), LEAST_WAIT)
        self._checking = None if wait is None else loop.call_later(wait, self._check_time)

    def _loaded(self, source: Source, result: Compiled | CompileError) -> None:
        future = self._compiled[source.key]
        if isinstance(result, Compiled):
            self._libraries.told(result)
            future.set_result(LoadedScript(result, self._root, self._boots, self._libraries.called))
        else:
            future.set_exception(compile_failure(result))
            future.exception()


class _Call:
    """A call of a function that a worker runs."""

    def __init__(self, owner: Owner, loaded: LoadedScript) -> None:
        self.owner = owner
        self.loaded = loaded
        self.events: asyncio.Queue[HostCall | FunctionResult | Failure] = asyncio.Queue()
        """The host calls of the function, and at last its result, or how its worker was lost."""
        self.logs: list[LogLine] = []
        self.began = False
        """Whether the worker has started the function."""
        self.returned = False


async def _place_of(slot: WorkerSlot[_Call], work: _Call, loaded: LoadedScript) -> tuple[StackFrame, ...]:
    """Where a function is that is about to be given up; empty when its worker does not say so in time."""
    slot.worker.expire("call")
    try:
        async with asyncio.timeout(LAST_WORDS):
            while isinstance(event := await work.events.get(), HostCall):
                continue
    except TimeoutError:
        return ()
    return loaded.stopped(event.record) if isinstance(event, FunctionResult) else ()


class LoadedScript:
    """A compiled script and what its realms need."""

    def __init__(
        self, compiled: Compiled, root: Path, boots: BootConfig, called: Callable[[str], Compiled | None]
    ) -> None:
        from scripttest.shortcuts.slicing import scan

        self.compiled = compiled
        self._root = root
        self._boots = boots
        self._called = called
        scanned = scan("\n".join(script.code for script in compiled.scripts), boots.names)
        self._boot = boots.own(scanned, None)
        self._draws = any("random" in one.code or "scripts." in one.code for one in compiled.scripts)
        self.declared = compiled.declared
        parts = ["", "", ""]
        for script in compiled.scripts:
            parts += [str(script.first_line), script.code]
        self.module_frame = encode("module", *parts)

    def frame(self, call: FunctionCall) -> bytes:
        """The frame that calls a function."""
        at = "null" if call.context_at is None else str(call.context_at)
        seed = f',"seed":"{call.seed}"' if self._draws and call.seed is not None else ""
        own = f'{self._boot[:-1]},"shared":true,"mocks":{call.mocks},"contextAt":{at}{seed}}}'
        function = self.compiled.exports.get(call.function, call.function)
        return encode("invoke", own, self._boots.nested, call.context, function, call.arguments)

    def read(self, record: dict[str, Any], function: str, logs: tuple[LogLine, ...]) -> Returned:
        """Reads a worker's answer."""
        if "ok" in record:
            return Returned(value=record["ok"], sent=tuple(record.get("sent") or ()), logs=logs)
        if record.get("missing"):
            missing = MissingFunctionError(f"there is no function {function} in {self.compiled.source.test}")
            missing.known = tuple(sorted(self.declared))
            raise missing
        failure = record["error"]
        message, frames = self.mapper.error(failure["message"], failure.get("stack") or "")
        place = frames[0].location if frames else None
        error = FunctionError(message, place, _hint(message, place))
        error.frames = frames
        error.code = failure.get("code")
        error.logs = logs
        error.infrastructure = failure.get("broke") is True
        error.loading = record.get("unloaded") is True
        raise error

    def stopped(self, record: dict[str, Any]) -> tuple[StackFrame, ...]:
        """Where a function was whose time was up, from its worker's answer; nothing when it had ended."""
        failure = record.get("error", {})
        stack = failure.get("stack") or ""
        return self.mapper.stopped(stack) if failure.get("stopped") else tuple(self.mapper.frames(stack))

    @cached_property
    def mapper(self) -> StackMapper:
        """Maps positions in realms to the sources."""
        from scripttest.diagnostics.stack import StackMapper

        return StackMapper(self.compiled, self._root, self._called)


def _hint(message: str, place: Location | None) -> str | None:
    if not message.startswith("ReferenceError: "):
        return None
    from scripttest.diagnostics.sources import what_to_write

    return what_to_write(message, place)


def compile_failure(error: CompileError) -> FunctionError:
    """The answer to a call of a script that cannot be compiled."""
    failure = FunctionError(error.message, error.location, error.hint)
    failure.infrastructure = error.cause == Cause.INFRASTRUCTURE
    if error.location and error.location.line:
        failure.frames = (StackFrame(function="", location=error.location),)
    return failure
