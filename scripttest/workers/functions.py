"""FunctionPool: single functions of scripts, called from an event loop; each call has a realm of its own.

A worker that runs a function may ask the host for something that takes long, such as a model's answer. While it waits
it does not count as running, so that however many functions wait for others, one more can always run: the pool starts
further workers for them, and keeps some for the calls that follow.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scripttest.compile.compiler import Compiled, Compiler, Source
from scripttest.errors import CompileError, HostError, ScriptError, StackFrame
from scripttest.values import Value
from scripttest.workers.module_run import boot
from scripttest.workers.protocol import encode
from scripttest.workers.supervisor import Worker

if TYPE_CHECKING:
    from scripttest.diagnostics.stack import StackMapper

_DECLARATION = r"^(?:function\*? |var |async function )([\w$]+)"
"""A top-level declaration as the compiler prints it."""
LEAST_WAIT = 0.01
"""Seconds between two looks at the clock."""
IDLE = 32
"""How many idle workers are kept."""
Owner = Any
"""What the caller of a function knows it by; handed back with everything that the function asks for."""


class FunctionServices(Protocol):
    """What functions ask of the host's owner."""

    async def answer(self, owner: Owner, name: str, arguments: str) -> str:
        """Answers a host call: JSON arguments in, JSON envelope out, as `Services.call` does."""

    def library(self, module: str, script: str) -> Path:
        """The file of the script that `Process("scripts.a.b.Fn")` names without its function. Raises ScriptError."""


class FunctionCall(Value):
    """What is to be called."""

    script: Path
    """Absolute path of the file that is loaded."""
    function: str
    """Name of a top-level or exported function."""
    arguments: str
    """JSON list."""
    context: str
    """JSON of `ContextData` in `bindings/src/kernel.ts`."""
    mocks: str = "null"
    """JSON of `mocks` in `bindings/src/parts/invoke.ts`."""
    module: Path | None = None
    """The script that a test file belongs to, loaded with it."""
    context_at: int | None = None
    """Index of the argument that the context stands in for."""


class Returned(Value):
    """What a function returned."""

    value: Any
    """JSON value."""
    sent: tuple[dict[str, Any], ...]
    """What `ctx.Send` and its siblings sent."""
    logs: tuple[tuple[str, str], ...]
    """Captured lines: level and text."""


class FunctionError(ScriptError):
    """A function failed, or could not be loaded."""

    frames: tuple[StackFrame, ...] = ()
    """The user's frames, innermost first."""
    code: int | None = None
    """The code of an `Exception`."""
    logs: tuple[tuple[str, str], ...] = ()
    infrastructure: bool = False
    """Whether its worker or the compiler was killed by somebody else."""
    loading: bool = False
    """Whether its script threw while it was loaded, so that the function never ran."""


class MissingFunctionError(ScriptError):
    """The script has no such function; `known` lists what it declares."""

    known: tuple[str, ...] = ()


class FunctionPool:
    """Runs functions. Belongs to one event loop; to be closed in it."""

    def __init__(
        self, root: Path, command: list[str], services: FunctionServices, names: Mapping[str, str], workers: int
    ) -> None:
        """Starts nothing yet.

        Args:
            root: absolute path of the application.
            command: the command line of a worker, from `start_processes`.
            names: global name → part of the bindings that supplies it.
            workers: how many functions may run at the same time; those that wait for the host do not count.
        """
        self._root = root
        self._command = command
        self._services = services
        self._names = names
        self._workers = workers
        self._slots = asyncio.Semaphore(workers)
        self._idle: list[Worker] = []
        self._compiler = Compiler(root, self)
        self._checking: asyncio.TimerHandle | None = None
        """Looks whether the compiler takes too long."""
        self._compiled: dict[str, asyncio.Future[_Loaded]] = {}
        self._called: dict[str, Compiled] = {}
        """Scripts that were called by `Process`, by their names."""

    async def call(self, call: FunctionCall, owner: Owner) -> Returned:
        """Calls a function and waits for it. Cancelling ends the worker that runs it.

        Raises:
            MissingFunctionError: the script has none of that name.
            FunctionError: it threw, or its script cannot be compiled or evaluated, or its worker died.
            HostError: a worker or the compiler cannot be started.
        """
        loaded = await self.load(call.script, call.module)
        async with self._slots:
            answer = None
            while answer is None:
                worker = self._take(str(call.script))
                session = _Session(self, worker, loaded, owner)
                try:
                    answer = await session.run(call)
                finally:
                    session.detach()
                    if session.whole and len(self._idle) < max(IDLE, self._workers):
                        self._idle.append(worker)
                    elif not session.died:
                        worker.end()
        return loaded.read(answer, call.function, tuple(session.logs))

    async def load(self, script: Path, module: Path | None = None) -> _Loaded:
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
        return await asyncio.shield(future)

    async def declared(self, script: Path, module: Path | None = None) -> frozenset[str]:
        """The names that a script exports or declares at its top level. Raises FunctionError."""
        return (await self.load(script, module)).declared

    async def close(self) -> None:
        """Ends all idle workers and the compiler."""
        for worker in self._idle:
            worker.end()
        self._idle.clear()
        if self._checking is not None:
            self._checking.cancel()
        self._compiler.close()

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Has the event loop call `ready` whenever there is something to read."""
        asyncio.get_running_loop().add_reader(descriptor, ready)

    def unwatch(self, descriptor: int) -> None:
        """Forgets a descriptor, which is still open."""
        asyncio.get_running_loop().remove_reader(descriptor)

    def _check_time(self) -> None:
        """Ends a build that takes too long, and looks again when the time of the next is up."""
        self._compiler.expire()
        if self._checking is not None:
            self._checking.cancel()
        loop, deadline = asyncio.get_running_loop(), self._compiler.deadline
        wait = None if deadline is None else max(deadline - time.monotonic(), LEAST_WAIT)
        self._checking = None if wait is None else loop.call_later(wait, self._check_time)

    def _loaded(self, source: Source, result: Compiled | CompileError) -> None:
        future = self._compiled[source.key]
        if isinstance(result, Compiled):
            future.set_result(_Loaded(result, self._root, self._names, self._called))
        else:
            future.set_exception(_compile_failure(result))
            future.exception()

    def _take(self, key: str) -> Worker:
        """An idle worker, best one that has loaded the script, else a new one."""
        while self._idle:
            worker = next((worker for worker in self._idle if worker.module == key), self._idle[-1])
            self._idle.remove(worker)
            if not worker.child.has_ended:
                return worker
            worker.end()
        return Worker(self._command)


class _Loaded:
    """A compiled script and what its realms need."""

    def __init__(
        self, compiled: Compiled, root: Path, names: Mapping[str, str], called: Mapping[str, Compiled]
    ) -> None:
        from scripttest.shortcuts.scan import everything, scan

        self.compiled = compiled
        self._root = root
        self._names = names
        self._called = called
        self._scan = scan("\n".join(script.code for script in compiled.scripts), names)
        self._nested = boot(everything(names, guarded=False), True, names)
        self._mapper: StackMapper | None = None
        self.declared = frozenset(compiled.exports) | {
            name for script in compiled.scripts for name in re.findall(_DECLARATION, script.code, re.MULTILINE)
        }
        parts = ["", "", ""]
        for script in compiled.scripts:
            parts += [str(script.first_line), script.code]
        self.module_frame = encode("module", *parts)

    def frame(self, call: FunctionCall) -> bytes:
        """The frame that calls a function."""
        at = "null" if call.context_at is None else str(call.context_at)
        own = f'{boot(self._scan, False, self._names)[:-1]},"shared":true,"mocks":{call.mocks},"contextAt":{at}}}'
        function = self.compiled.exports.get(call.function, call.function)
        return encode("invoke", own, self._nested, call.context, function, call.arguments)

    def read(self, answer: str, function: str, logs: tuple[tuple[str, str], ...]) -> Returned:
        """What a worker's answer means."""
        record = json.loads(answer)
        if "ok" in record:
            return Returned(value=record["ok"], sent=tuple(record.get("sent") or ()), logs=logs)
        if record.get("missing"):
            missing = MissingFunctionError(f"there is no function {function} in {self.compiled.source.test}")
            missing.known = tuple(sorted(self.declared))
            raise missing
        unloaded = record.get("unloaded")
        failure = record.get("error") or (unloaded or record)["failures"][0]
        message, frames = self.mapper.error(failure["message"], failure.get("stack") or "")
        error = FunctionError(message, frames[0].location if frames else None)
        error.frames = frames
        error.code = failure.get("code")
        error.logs = logs
        error.loading = unloaded is not None
        raise error

    @property
    def mapper(self) -> StackMapper:
        """Maps positions in realms to the sources."""
        if self._mapper is None:
            from scripttest.diagnostics.stack import StackMapper

            self._mapper = StackMapper(self.compiled, self._root, self._called.get)
        return self._mapper


class _Session:
    """One call in one worker."""

    def __init__(self, pool: FunctionPool, worker: Worker, loaded: _Loaded, owner: Owner) -> None:
        self._pool = pool
        self._worker = worker
        self._loaded = loaded
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._frames: asyncio.Queue[tuple[str, list[str]] | None] = asyncio.Queue()
        self.logs: list[tuple[str, str]] = []
        self.whole = False
        """Whether the worker can serve further calls."""
        self.died = False
        self._began = False
        self._loop.add_reader(worker.child.stdout, self._readable)

    def detach(self) -> None:
        """Stops listening to the worker."""
        self._loop.remove_reader(self._worker.child.stdout)

    async def run(self, call: FunctionCall) -> str | None:
        """JSON of what the function answered; None when the worker had been killed while it was idle. Raises
        FunctionError when the worker ends later."""
        worker = self._worker
        was_idle = worker.module is not None
        key = str(call.script)
        frames = [] if worker.module == key else [self._loaded.module_frame]
        worker.module = key
        worker.send(*frames, self._loaded.frame(call))
        while (frame := await self._frames.get()) is not None:
            kind, parts = frame
            if kind == "returned":
                self.whole = True
                return parts[0]
            if kind == "log":
                self.logs.append((parts[0], json.loads(parts[1])))
            elif kind == "call":
                worker.ask("reply", parts[0], await self._outside(parts[1], parts[2]))
            elif kind == "library":
                worker.ask("reply", parts[0], *await self._library(key, parts[1]))
        self.died = True
        ending = worker.end()
        if was_idle and not self._began and ending.was_killed:
            return None
        error = FunctionError(f"The worker process {ending.text}")
        error.infrastructure = ending.was_killed
        raise error

    async def _outside(self, name: str, arguments: str) -> str:
        """Asks the host, and lets another function run meanwhile."""
        if name.startswith("store."):
            return await self._pool._services.answer(self._owner, name, arguments)
        self._pool._slots.release()
        try:
            return await self._pool._services.answer(self._owner, name, arguments)
        finally:
            await asyncio.shield(self._pool._slots.acquire())

    async def _library(self, module: str, script: str) -> list[str]:
        try:
            path = self._pool._services.library(module, script)
            loaded = await self._pool.load(path)
        except ScriptError as error:
            at = error.location
            return ["error", (f"{at.file}:{at.line}:{at.column}: " if at else "") + error.message]
        self._pool._called[script] = loaded.compiled
        return ["ok", *["\n" + script.code for script in loaded.compiled.scripts]]

    def _readable(self) -> None:
        try:
            frames = self._worker.read()
            if frames is None:
                self.detach()
                self._frames.put_nowait(None)
                return
            for frame in frames:
                if frame[0] == "start":
                    self._began = True
                else:
                    self._frames.put_nowait(frame)
        except (ValueError, IndexError):
            self.detach()
            self._frames.put_nowait(None)


def _compile_failure(error: CompileError) -> FunctionError:
    failure = FunctionError(error.message, error.location, error.hint)
    failure.infrastructure = error.cause == "infrastructure"
    if error.location and error.location.line:
        failure.frames = (StackFrame(function="", location=error.location),)
    return failure
