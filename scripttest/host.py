"""ScriptHost: test modules in, a stream of records out.

One thread waits for the compiler and all workers. Work is a queue of jobs: to list a module, then to run a chunk of its
tests; a worker that lists a module goes on with its first chunk, and the others take what is left. Records come in the
order in which things happen; putting modules into a stable order is the caller's business.
"""

from __future__ import annotations

import _thread
import json
import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from scripttest.compile.compiler import Compiled, Compiler, Source
from scripttest.errors import CompileError, HostError, ScriptError
from scripttest.results import Broken, Cause, Ended, Failure, HostRecord, Line, Listed, Outcome, Started, broken_by
from scripttest.values import Value
from scripttest.workers.module_run import Module, ModuleRun, plan, timeout_text
from scripttest.workers.process import Ending
from scripttest.workers.protocol import encode
from scripttest.workers.supervisor import Processes, Worker

CHUNK = 40
"""Tests that a worker is given at once."""
LEVELS = frozenset(("trace", "debug", "info", "warn", "error"))
"""Of captured lines."""
LONGEST_WAIT = 3600.0
"""Seconds that one wait takes at the most; the system call takes no more than a few weeks."""
MAX_IDLE_DEATHS = 3
"""How many workers in a row may end without a word while no test runs, before the host gives up."""
MAX_IDLE_KILLS = 30
"""The same for workers that somebody kills."""


class Services:
    """What the host asks of its owner, who overrides it."""

    def call(self, module: str, test: str, name: str, arguments: str) -> str:
        """Answers a host call: JSON arguments in, JSON envelope out (`{"ok": ...}`, `{"bytes": base64}` or
        `{"error": {"message", "code"}}`). `test` is the name of the test, with `#2` behind it in its second run. Runs
        on a thread of its own and may block."""
        raise NotImplementedError

    def library(self, module: str, script: str) -> Path:
        """The file of the script that `Process("scripts.a.b.Fn")` names without its function. Raises ScriptError."""
        raise NotImplementedError

    def selects(self, module: str, test: str) -> bool:
        """Whether a test of a module is to be run."""
        raise NotImplementedError


class _Job(Value):
    key: str
    tests: tuple[int, ...] | None
    """None: list the module."""


class _Seat:
    """A worker and what it is doing."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.job: _Job | None = None
        self.todo: deque[int] = deque()
        self.running: int | None = None
        self.failed: list[tuple[str, str]] = []
        """Failures of the running test so far: name of it or its subtest, JSON."""
        self.asking: str | None = None
        """Key of the script that it waits for."""
        self.question = ""
        """Number of what it asked last."""


class ScriptHost:
    """Runs test modules in worker processes. To be closed, or used as a context manager."""

    def __init__(
        self,
        root: Path,
        processes: Processes,
        services: Services,
        names: Mapping[str, str],
        workers: int,
        timeout: float,
        filter: bool = False,
        list_only: bool = False,
        runs: int = 1,
    ) -> None:
        """Takes over running processes.

        Args:
            root: absolute path of the application; `@scripts/*` and stack positions are resolved against it.
            processes: from `start_processes`; ended by `close`.
            names: global name → part of the bindings that supplies it.
            workers: how many worker processes at the most.
            timeout: seconds that one test, or the evaluation of one module, may take.
            filter: ask by the host call `subtest.Selects` which subtests are to run.
            list_only: list the tests of the modules and run none.
            runs: how often each test runs, each time in a realm of its own.
        """
        self._root = root
        self._services = services
        self._names = names
        self._limit = workers
        self._timeout = timeout
        self._filter = filter
        self.list_only = list_only
        self._runs = runs
        self._command = processes.command
        self._seats: list[_Seat] = []
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}
        self._compiler = Compiler(root, self, processes.compiler)
        self._jobs: deque[_Job] = deque()
        self._modules: dict[str, Module] = {}
        self._states: dict[str, ModuleRun] = {}
        self._open: set[str] = set()
        self._libraries: dict[str, Compiled | ScriptError] = {}
        self._library_keys: dict[str, str] = {}
        self._wanted: set[str] = set()
        self._out: deque[HostRecord] = deque()
        self._idle_deaths = 0
        self._answers: deque[tuple[_Seat, str, str]] = deque()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._wake_lock = _thread.allocate_lock()
        self._closed = False
        self._ending = False
        """Whether no further test begins."""
        self._listed_by: float | None = None
        """When `run` ends, though there are modules that are not listed."""
        self.watch(self._wake_read, self._rung)
        self._add_seat(processes.worker)

    def __enter__(self) -> ScriptHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all processes."""
        for seat in self._seats:
            seat.worker.child.kill()
        for seat in self._seats:
            seat.worker.end()
        self._seats.clear()
        self._compiler.close()
        with self._wake_lock:
            self._closed = True
            os.close(self._wake_read)
            os.close(self._wake_write)

    def run(self, modules: list[Module], left: Callable[[], float | None] = lambda: None) -> Iterator[HostRecord]:
        """Compiles, lists and runs modules; blocks between records. Raises HostError when the host itself breaks.

        Once `left` gives a number no further test begins, and those that run have so many seconds. Who changes it calls
        `wake`.
        """
        self._modules = {module.source.key: module for module in modules}
        self._open = set(self._modules)
        self._compiler.add([module.source for module in modules], self._compiled)
        self._reserve(len(modules))
        while self._open or self._out:
            while self._out:
                yield self._out.popleft()
            seconds = left()
            if seconds is not None:
                self._ending = True
                if not seconds or all(seat.running is None for seat in self._seats):
                    return
                self._wait(seconds)
            elif self._open:
                self._assign()
                if self._listed_by is None:
                    self._wait()
                elif (rest := self._listed_by - time.monotonic()) > 0:
                    self._wait(rest)
                else:
                    return

    def only_list(self, seconds: float) -> None:
        """From here on `run` lists the modules that are not listed yet, for so many seconds at the most, and no test
        runs; those under way have no result. Modules that are listed before are done."""
        self.list_only = True
        self._listed_by = time.monotonic() + seconds
        self._jobs = deque(job for job in self._jobs if job.tests is None)
        for seat in [seat for seat in self._seats if seat.job is not None and seat.job.tests is not None]:
            self._remove(seat)
        for key in [key for key, state in self._states.items() if state.slices is not None]:
            self._close_module(key, None)
        self._out = deque(record for record in self._out if isinstance(record, Listed | Broken))

    def wake(self) -> None:
        """Makes `run` look at `left`. From any thread, and from a signal handler."""
        if self._wake_lock.acquire(blocking=False):  # who has it wakes the host, or closes it
            try:
                self._ring()
            finally:
                self._wake_lock.release()

    @property
    def wake_descriptor(self) -> int:
        """What is written to it wakes `run`, until `close`. It is for `signal.set_wakeup_fd`, since a signal may reach
        another thread than the one that waits."""
        return self._wake_write

    def _ring(self) -> None:
        try:
            if not self._closed:
                os.write(self._wake_write, b".")
        except BlockingIOError:
            return  # it has been rung often enough

    def _rung(self) -> None:
        os.read(self._wake_read, 4096)

    # waiting

    def watch(self, descriptor: int, ready: Callable[[], None]) -> None:
        """Has `ready` called in `run` whenever there is something to read."""
        self._ready[descriptor] = ready
        self._poll.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Forgets a descriptor, which is still open."""
        self._poll.unregister(descriptor)
        del self._ready[descriptor]

    def _wait(self, longest: float = LONGEST_WAIT) -> None:
        now = time.monotonic()
        deadlines = [self._compiler.deadline, *(seat.worker.deadline for seat in self._seats)]
        first = min((deadline for deadline in deadlines if deadline is not None), default=now + longest)
        wait = min(max(0.0, first - now), longest) * 1000 + 1
        heard = [(descriptor, self._ready[descriptor]) for descriptor, _ in self._poll.poll(wait)]
        for descriptor, ready in heard:
            if self._ready.get(descriptor) is ready:  # not closed meanwhile, and its number given to another
                ready()
        self._compiler.expire()
        while self._answers:
            seat, number, envelope = self._answers.popleft()
            if seat in self._seats:
                seat.worker.ask("reply", number, envelope)
        now = time.monotonic()
        for seat in list(self._seats):
            if seat.worker.deadline is not None and seat.worker.deadline <= now:
                self._expired(seat)

    def _compiled(self, source: Source, result: Compiled | CompileError) -> None:
        if isinstance(result, CompileError):
            self._out.append(broken_by(source.key, result))
            self._open.discard(source.key)
        else:
            state = self._states[source.key] = ModuleRun(
                self._modules[source.key], result, self._root, self._called, self._timeout
            )
            self._jobs.append(_Job(key=source.key, tests=None))
            if state.is_big:
                self._reserve(self._limit)

    def _library_compiled(self, source: Source, result: Compiled | CompileError) -> None:
        self._wanted.discard(source.key)
        self._libraries[source.key] = result
        for seat in self._seats:
            if seat.asking == source.key:
                self._answer_library(seat, result)

    # giving work

    def _assign(self) -> None:
        for seat in self._seats:
            if self._jobs and seat.job is None:
                self._give(seat, self._next_job(seat))
        while self._jobs and len(self._seats) < self._limit:
            self._give(self._add_seat(Worker(self._command)), self._jobs.popleft())

    def _reserve(self, workers: int) -> None:
        """Starts workers ahead of their work, so that it does not wait for them."""
        while len(self._seats) < min(workers, self._limit):
            self._add_seat(Worker(self._command))

    def _next_job(self, seat: _Seat) -> _Job:
        for job in self._jobs:
            if job.key == seat.worker.module:
                self._jobs.remove(job)
                return job
        return self._jobs.popleft()

    def _give(self, seat: _Seat, job: _Job) -> None:
        state = self._states[job.key]
        worker = seat.worker
        seat.job = job
        frames = []
        if job.tests is None and state.is_big:
            worker.module = None
            frames.append(state.whole_frame(self._names))
        elif worker.module != job.key or job.tests is None:
            frames.append(state.frame(self._names))
            worker.module = job.key
            worker.planned = False
        if job.tests is None:
            frames.append(encode("discover", state.listed))
            worker.start_clock(self._timeout)
        else:
            assert state.slices is not None
            if not worker.planned:
                frames.append(encode("plan", state.slices.base))
                worker.planned = True
            seat.todo = deque(job.tests)
            parts: list[str] = []
            for index in job.tests:
                parts += [str(index), *state.plans[index]]
            frames.append(encode("run", *parts))
        worker.send(*frames)
        state.frame(self._names)

    def _add_seat(self, worker: Worker) -> _Seat:
        seat = _Seat(worker)
        self._seats.append(seat)
        self.watch(worker.child.stdout, lambda: self._heard(seat))
        return seat

    # hearing from workers

    def _heard(self, seat: _Seat) -> None:
        try:
            frames = seat.worker.read()
            if frames is None:
                self._died(seat)
                return
            for kind, parts in frames:
                self._idle_deaths = 0
                if seat in self._seats:
                    self._frame(seat, kind, parts)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self._lost(
                seat,
                Failure(cause="crash", message=f"The worker process sent something that is not a message: {error}"),
            )

    def _frame(self, seat: _Seat, kind: str, parts: list[str]) -> None:
        job = seat.job
        if kind in ("call", "library"):
            self._ask(seat, kind, parts)
            return
        if job is None:
            raise ValueError(f"unexpected {kind}")
        state = self._states.get(job.key)
        if kind == "start":
            self._begin(seat, state, int(parts[0]))
        elif kind == "log" and state is not None:
            text = json.loads(parts[1])
            if parts[0] not in LEVELS or not isinstance(text, str):
                raise ValueError("a line that is no text")
            if seat.running is None:
                state.early.append((parts[0], text))
            else:
                position, run = self._place(seat.running)
                self._out.append(Line(module=job.key, position=position, level=parts[0], text=text, run=run))
        elif kind == "failed":
            seat.failed.append((parts[0], parts[1]))
        elif kind == "result":
            index = int(parts[0])
            if index != seat.running:
                raise ValueError("a result for a test that is not running")
            if state is not None:
                self._ended(state, index, state.outcome(json.loads(parts[1]), state.tests[index].name, index))
            seat.running = None
            seat.failed.clear()
            if parts[2]:
                self._begin(seat, state, int(parts[2]))
            else:
                seat.worker.deadline = None
                seat.job = None
        elif kind == "tests":
            seat.worker.deadline = None
            if state is not None:
                self._listed(seat, state, parts)
            else:
                seat.job = None
        elif kind == "broken":
            seat.worker.deadline = None
            seat.job = None
            if state is not None:
                failure = state.outcome(json.loads(parts[0]), "", None).failures[0]
                self._close_module(job.key, Broken(module=job.key, failure=failure))

    def _begin(self, seat: _Seat, state: ModuleRun | None, index: int) -> None:
        if self._ending:
            self._remove(seat)
            return
        seat.running = index
        if seat.todo.popleft() != index:
            raise ValueError("tests out of order")
        seat.worker.start_clock(self._timeout)
        if state is None or seat.job is None:
            return
        key = seat.job.key
        position, run = self._place(index)
        self._out.append(Started(module=key, position=position, run=run))
        if state.early:
            self._out += [
                Line(module=key, position=position, level=level, text=text, run=run) for level, text in state.early
            ]
            state.early = []

    def _place(self, index: int) -> tuple[int, int]:
        """Position and run of what a worker knows by an index."""
        return index // self._runs, index % self._runs + 1

    def _listed(self, seat: _Seat, state: ModuleRun, parts: list[str]) -> None:
        from scripttest.shortcuts.slicing import slice_module

        compiled = state.compiled
        found = list(zip(parts[0::2], parts[1::2], strict=True))
        slices = slice_module(compiled.scripts[-1].code, compiled.entry_start, compiled.exports, found)
        selected = [test for test in slices.tests if self._services.selects(state.compiled.source.key, test.name)]
        runs = (0,) if self._runs == 1 else range(1, self._runs + 1)
        tests = tuple(test for test in selected for _ in runs)
        state.slices = slices
        state.tests = tests
        state.plans = [plan(test, self._filter, run) for test in selected for run in runs]
        state.left = len(tests)
        key = compiled.source.key
        known = tuple(test.name for test in slices.tests)
        self._out.append(Listed(module=key, tests=tuple(test.name for test in selected), known=known))
        seat.job = None
        if not tests or self.list_only:
            self._close_module(key, None)
            return
        chunks = [tuple(range(at, min(at + CHUNK, len(tests)))) for at in range(0, len(tests), CHUNK)]
        self._jobs.extendleft(_Job(key=key, tests=chunk) for chunk in reversed(chunks[1:]))
        self._give(seat, _Job(key=key, tests=chunks[0]))

    def _ended(self, state: ModuleRun, index: int, outcome: Outcome) -> None:
        key = state.compiled.source.key
        position, run = self._place(index)
        self._out.append(Ended(module=key, position=position, outcome=outcome, run=run))
        state.left -= 1
        if state.left == 0:
            self._close_module(key, None)

    def _close_module(self, key: str, record: Broken | None) -> None:
        if record is not None:
            self._out.append(record)
        self._open.discard(key)
        self._states.pop(key, None)

    # host calls

    def _ask(self, seat: _Seat, kind: str, parts: list[str]) -> None:
        if seat.job is None:
            raise ValueError("a host call without a test")
        key = seat.job.key
        number, *parts = parts
        seat.question = number
        if kind == "library":
            self._ask_library(seat, key, parts[0])
            return
        state = self._states.get(key)
        test = ""
        if state is not None and seat.running is not None:
            run = self._place(seat.running)[1]
            test = state.tests[seat.running].name + (f"#{run}" if run > 1 else "")
        name, arguments = parts
        from threading import Thread

        def work() -> None:
            self._answers.append((seat, number, self._services.call(key, test, name, arguments)))
            with self._wake_lock:
                self._ring()

        Thread(target=work, daemon=True).start()

    def _ask_library(self, seat: _Seat, module: str, script: str) -> None:
        try:
            path = self._services.library(module, script)
        except ScriptError as error:
            self._answer_library(seat, error)
            return
        key = self._library_keys[script] = f"library {path}"
        if key in self._libraries:
            self._answer_library(seat, self._libraries[key])
            return
        seat.asking = key
        if key not in self._wanted:
            self._wanted.add(key)
            self._compiler.add([Source(key=key, test=path, script=None)], self._library_compiled)

    def _called(self, script: str) -> Compiled | None:
        result = self._libraries.get(self._library_keys.get(script, ""))
        return result if isinstance(result, Compiled) else None

    def _answer_library(self, seat: _Seat, result: Compiled | ScriptError) -> None:
        seat.asking = None
        if isinstance(result, Compiled):
            seat.worker.ask("reply", seat.question, "ok", *["\n" + script.code for script in result.scripts])
        else:
            where = (
                f"{result.location.file}:{result.location.line}:{result.location.column}: " if result.location else ""
            )
            seat.worker.ask("reply", seat.question, "error", where + result.message)

    # what goes wrong

    def _expired(self, seat: _Seat) -> None:
        seat.asking = None
        if seat.worker.expire("module" if seat.running is None else str(seat.running)):
            return
        message = timeout_text(self._timeout, of_module=seat.running is None)
        if seat.running is not None:
            message += "; the script could not be stopped, so that clean-ups and After hooks did not run"
        self._lost(seat, Failure(cause="timeout", message=message))

    def _died(self, seat: _Seat) -> None:
        if seat.running is None:
            self._idle_deaths += 1
        ending = self._remove(seat)
        if self._idle_deaths >= (MAX_IDLE_KILLS if ending.was_killed else MAX_IDLE_DEATHS):
            raise HostError(f"The worker process does not start: it {ending.text}")
        if ending.was_killed and seat.job is not None and seat.job.tests is None:
            self._jobs.appendleft(seat.job)  # no test has begun, so the module can be listed again
            return
        cause: Cause = "infrastructure" if ending.was_killed else "crash"
        self._blame(seat, Failure(cause=cause, message=f"The worker process {ending.text}"))

    def _lost(self, seat: _Seat, failure: Failure) -> None:
        self._remove(seat)
        self._blame(seat, failure)

    def _remove(self, seat: _Seat) -> Ending:
        self._seats.remove(seat)
        self.unwatch(seat.worker.child.stdout)
        return seat.worker.end()

    def _blame(self, seat: _Seat, failure: Failure) -> None:
        """The running test fails, what the worker had not started goes back into the queue."""
        job = seat.job
        state = self._states.get(job.key) if job is not None else None
        if job is None or state is None:
            return
        failure = state.placed(failure, seat.running)
        if job.tests is None:
            self._close_module(job.key, Broken(module=job.key, failure=failure))
            return
        if seat.todo:
            self._jobs.appendleft(_Job(key=job.key, tests=tuple(seat.todo)))
        if seat.running is not None:
            milliseconds = self._timeout * 1000 if failure.cause == "timeout" else 0
            self._ended(state, seat.running, state.cut_short(seat.failed, seat.running, failure, milliseconds))
