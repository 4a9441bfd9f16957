"""ScriptHost: test modules in, a stream of records out.

One thread waits for the compiler and all workers. Work is a queue of jobs: to list a module, then to run a chunk of its
tests; a worker that lists a module goes on with its first chunk, and the others take what is left. Records come in the
order in which things happen; putting modules into a stable order is the caller's business.
"""

from __future__ import annotations

import _thread
import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from scripttest.compile.builds import Source
from scripttest.compile.compiler import Compiled, Compiler, Instrument
from scripttest.compile.esbuild import Service
from scripttest.compile.reach import readable
from scripttest.errors import Cause, CompileError, HostError
from scripttest.names import EVERY_RUN, TEST, kind_of
from scripttest.results import Broken, Ended, Failure, HostRecord, Line, Listed, Outcome, Started
from scripttest.values import Value
from scripttest.workers.answers import failure_of, line_of, outcome_of
from scripttest.workers.boots import Boots
from scripttest.workers.libraries import Libraries
from scripttest.workers.module_run import Module, ModuleRun, broken_by, order, timeout_text
from scripttest.workers.pool import WorkerPool
from scripttest.workers.protocol import encode
from scripttest.workers.session import Loss, WorkerSlot
from scripttest.workers.worker import Processes, Worker

CHUNK = 40
"""Tests that a worker is given at once."""
MOST_EARLY = 10_000
"""Lines of the top-level code of a module that are kept."""
MOST_FAILED = 1000
"""Failures of a running test that are kept in case it has no outcome."""
LONGEST_WAIT = 3600.0
"""Seconds that one wait takes at the most; the system call takes no more than a few weeks."""
MAX_IDLE_DEATHS = 3
"""How many workers in a row may end without a word while no test runs, before the host gives up."""
MAX_IDLE_KILLS = 30
"""The same for workers that somebody kills."""


class Services:
    """What the host asks of its owner, who overrides it."""

    def call(self, module: str, test: str, name: str, arguments: str, world: str, link: Link) -> str:
        """Answers a host call; runs on a thread of its own and may block.

        Args:
            module: the key of the test's module.
            test: the name of the test, with `#2` behind it in its second run.
            name: of the process.
            arguments: JSON.
            world: what the realm of the test tells of its world; see `protocol`.
            link: the way back to that realm, until the call is answered.

        Returns:
            A JSON envelope: `{"ok": ...}`, `{"bytes": base64}` or `{"error": {"message", "code"}}`.
        """
        raise NotImplementedError

    def library(self, module: str, script: str) -> Path:
        """The file of the script that `Process("scripts.a.b.Fn")` names without its function. Raises ScriptError."""
        raise NotImplementedError

    def selects(self, module: str, test: str) -> bool:
        """Whether a test of a module is to be run."""
        raise NotImplementedError

    def arranged(self, module: str, tests: Sequence[str]) -> Sequence[int]:
        """The places of the tests of a module that run, in the order in which they run."""
        return range(len(tests))

    def seconds_after(self, module: str, test: str, name: str) -> float | None:
        """Seconds that a fuzz test or a benchmark has anew once it has its answer to a host call of its own kind
        (`fuzz.*`, `benchmark.*`), during which its clock stands; None: as many as any test."""
        return None

    def settled(self, module: str, test: str, outcome: Outcome) -> Outcome | None:
        """The outcome of a fuzz test or a benchmark whose realm has ended; None: it runs once more, in a new one."""
        return outcome


Backed = Callable[[str | None, str], None]
"""Hears what a realm answered, and what it told of its world; None: the test has ended."""


class Link:
    """The way back to the realm of a test that waits for a host call."""

    def __init__(self, ask: Callable[[str, str, Backed], None]) -> None:
        self._ask = ask

    def ask(self, name: str, arguments: str, done: Backed) -> None:
        """Has the realm answer, and returns at once; `done` is called once, on any thread. From any thread.

        Args:
            name: of what the script half of the bindings answers.
            arguments: JSON list.
            done: hears the JSON envelope of the answer and what the realm tells of its world then.
        """
        self._ask(name, arguments, done)


class _Job(Value):
    key: str
    tests: tuple[int, ...] | None
    """None: list the module."""


class _Assignment:
    """A job that a worker has, and how far it is with it."""

    def __init__(self, job: _Job) -> None:
        self.job = job
        self.todo = deque(job.tests or ())
        self.running: int | None = None
        self.seconds = 0.0
        """What the running test may take, since its clock was started last."""
        self.failed: list[tuple[str, str]] = []
        """Failures of the running test so far: name of it or its subtest, JSON."""
        self.backs: dict[str, Backed] = {}
        """By number, who waits for what the realm of the running test is asked back."""

    def abandon(self) -> None:
        """Tells those who wait for the running test that it has ended."""
        while self.backs:
            self.backs.popitem()[1](None, "")


_Slot = WorkerSlot[_Assignment]


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
        seed: int | None = None,
        instrument: Instrument | None = None,
        kinds: tuple[str, ...] = EVERY_RUN,
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
            seed: what the random numbers of each test are made of, with its name; None: they cannot be foreseen.
            instrument: changes what is built of files.
            kinds: of tests that there are, see `names`; functions of another kind are none.
        """
        self._root = root
        self._kinds = kinds
        self._services = services
        self._boots = Boots(names)
        self._limit = workers
        self._timeout = timeout
        self._filter = filter
        self.list_only = list_only
        self._runs = runs
        self._seed = seed
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], None]] = {}
        self._compiler = Compiler(root, self, processes.compiler, instrument=instrument)
        self._libraries = Libraries(self._compiler, services.library)
        self._workers: WorkerPool[_Assignment] = WorkerPool(processes.command, self, self, self._libraries)
        self._jobs: deque[_Job] = deque()
        self._modules: dict[str, Module] = {}
        self._module_runs: dict[str, ModuleRun] = {}
        self._open: set[str] = set()
        self._out: deque[HostRecord] = deque()
        self._idle_deaths = 0
        self._answers: deque[tuple[_Slot, str, str, float | None]] = deque()
        """What host calls came to: the slot and number of the question, the answer, and what the test has from then on
        where its clock stood meanwhile."""
        self._asks: deque[tuple[_Slot, int | None, str, str, Backed]] = deque()
        """What tests are asked back: slot and index of the test, a name, arguments, and who waits for the answer."""
        self._asked_back = 0
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._wake_lock = _thread.allocate_lock()
        self._closed = False
        self._ending = False
        """Whether no further test begins."""
        self._listed_by: float | None = None
        """When `run` ends, though there are modules that are not listed."""
        self._told: Callable[[Compiled], None] | None = None
        self.watch(self._wake_read, self._rung)
        for worker in (processes.worker, *processes.more):
            self._workers.start(worker)
        self._command = processes.command

    def __enter__(self) -> ScriptHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def release(self) -> Processes:
        """Closes the host, and gives what still runs and is idle to another one, with what is missing started anew.
        Raises HostError."""
        compiler, workers = self._compiler.release(), self._workers.release()
        first, *more = workers or [Worker(self._command)]
        self.close()
        return Processes(
            compiler=compiler or Service(readable(self._root)), worker=first, more=tuple(more), command=self._command
        )

    def close(self) -> None:
        """Ends all processes."""
        if self._closed:
            return
        self._workers.close()
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
                if not seconds or not any(slot.work and slot.work.running is not None for slot in self._workers.slots):
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

    def tell_compiled(self, told: Callable[[Compiled], None]) -> None:
        """Has every script that is compiled from here on told."""
        self._told = self._libraries.told = told

    def called_by(self, module: str) -> list[Source]:
        """The scripts that the tests of a module have called so far."""
        return self._libraries.called_by(module)

    def only_list(self, seconds: float) -> None:
        """From here on `run` lists the modules that are not listed yet, for so many seconds at the most, and no test
        runs; those under way have no result. Modules that are listed before are done."""
        self.list_only = True
        self._listed_by = time.monotonic() + seconds
        self._jobs = deque(job for job in self._jobs if job.tests is None)
        for slot in [slot for slot in self._workers.slots if slot.work and slot.work.job.tests is not None]:
            slot.end()
        for key in [key for key, run in self._module_runs.items() if run.slices is not None]:
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
        deadlines = (self._compiler.deadline, self._workers.deadline)
        first = min((deadline for deadline in deadlines if deadline is not None), default=now + longest)
        wait = min(max(0.0, first - now), longest) * 1000 + 1
        heard = [(descriptor, self._ready[descriptor]) for descriptor, _ in self._poll.poll(wait)]
        for descriptor, ready in heard:
            if self._ready.get(descriptor) is ready:  # not closed meanwhile, and its number given to another
                ready()
        self._compiler.expire()
        while self._answers:
            slot, number, envelope, seconds = self._answers.popleft()
            if seconds is not None and slot.is_open and slot.work is not None:
                self._start_clock(slot, slot.work, seconds)
            slot.reply(number, envelope)
        while self._asks:
            self._ask_back(*self._asks.popleft())
        for slot in self._workers.late():
            self._expired(slot)

    def _compiled(self, source: Source, result: Compiled | CompileError) -> None:
        if isinstance(result, CompileError):
            self._out.append(broken_by(source.key, result))
            self._open.discard(source.key)
        else:
            if self._told is not None:
                self._told(result)
            run = self._module_runs[source.key] = ModuleRun(
                self._modules[source.key], result, self._root, self._libraries.called, self._timeout
            )
            self._jobs.append(_Job(key=source.key, tests=None))
            if run.is_big:
                self._reserve(self._limit)

    # giving work

    def _assign(self) -> None:
        for slot in self._workers.slots:
            if self._jobs and slot.work is None:
                self._give(slot, self._next_job(slot))
        while self._jobs and len(self._workers.slots) < self._limit:
            self._give(self._workers.start(), self._jobs.popleft())

    def _reserve(self, workers: int) -> None:
        """Starts workers ahead of their work, so that it does not wait for them."""
        while len(self._workers.slots) < min(workers, self._limit):
            self._workers.start()

    def _next_job(self, slot: _Slot) -> _Job:
        for job in self._jobs:
            if job.key == slot.module:
                self._jobs.remove(job)
                return job
        return self._jobs.popleft()

    def _give(self, slot: _Slot, job: _Job) -> None:
        run = self._module_runs[job.key]
        frames = []
        if job.tests is None and run.is_big:
            slot.loaded = None
            frames.append(run.whole_frame(self._boots))
        elif slot.loaded != job.key or job.tests is None:
            slot.loaded, slot.has_base = job.key, False
            frames.append(run.frame(self._boots))
        if job.tests is None:
            frames.append(encode("discover", *run.listed(self._kinds)))
            slot.worker.start_clock(run.timeout)
        else:
            assert run.slices is not None
            if not slot.has_base:
                slot.has_base = True
                frames.append(encode("base", run.slices.base))
            parts: list[str] = []
            for index in job.tests:
                parts += [str(index), *run.orders[index]]
            frames.append(encode("run", *parts))
        slot.module = job.key
        slot.work = _Assignment(job)
        slot.worker.send(*frames)
        run.frame(self._boots)

    # hearing from workers

    def heard(self, slot: _Slot, kind: str, parts: list[str]) -> None:
        """Takes what a worker has sent. Raises ValueError when it does not fit to what the worker does."""
        self._idle_deaths = 0
        work = slot.work
        if work is None:
            raise ValueError(f"unexpected {kind}")
        run = self._module_runs.get(work.job.key)
        if kind == "start":
            self._begin(slot, work, int(parts[0]))
        elif kind == "log":
            self._line(work, run, *line_of(parts))
        elif kind == "failed":
            if len(work.failed) < MOST_FAILED:
                failure_of(parts[1])
                work.failed.append((parts[0], parts[1]))
        elif kind == "result":
            self._result(slot, work, parts)
        elif kind == "backed":
            work.backs.pop(parts[0])(parts[1], parts[2])
        elif kind in ("tests", "broken") and work.job.tests is None:
            if run is None:
                self._rest(slot)
            elif kind == "tests":
                self._listed(slot, run, parts)
            else:
                failure = run.outcome(outcome_of(parts[0]), "", None).failures[0]
                self._rest(slot)
                self._close_module(work.job.key, Broken(module=work.job.key, failure=failure))
        else:
            raise ValueError(f"unexpected {kind}")

    def _begin(self, slot: _Slot, work: _Assignment, index: int) -> None:
        if self._ending:
            slot.end()
            return
        if work.running is not None or not work.todo or work.todo.popleft() != index:
            raise ValueError("tests out of order")
        work.running = index
        key = work.job.key
        run = self._module_runs.get(key)
        self._start_clock(slot, work, run.timeout if run is not None else self._timeout)
        if run is None:
            return
        position, repeat = self._place(index)
        self._out.append(Started(module=key, position=position, run=repeat, again=index in run.again))
        self._out += [
            Line(module=key, position=position, level=level, text=text, run=repeat) for level, text in run.early
        ]
        run.early.clear()

    def _start_clock(self, slot: _Slot, work: _Assignment, seconds: float) -> None:
        work.seconds = seconds
        slot.worker.start_clock(seconds)

    def _line(self, work: _Assignment, run: ModuleRun | None, level: str, text: str) -> None:
        if run is None:
            return
        if work.running is None:
            if len(run.early) < MOST_EARLY:
                run.early.append((level, text))
        else:
            position, repeat = self._place(work.running)
            self._out.append(Line(module=work.job.key, position=position, level=level, text=text, run=repeat))

    def _result(self, slot: _Slot, work: _Assignment, parts: list[str]) -> None:
        index = int(parts[0])
        if index != work.running:
            raise ValueError("a result for a test that is not running")
        record = outcome_of(parts[1])
        if bool(parts[2]) != bool(work.todo):
            raise ValueError("tests out of order")
        if run := self._module_runs.get(work.job.key):
            self._ended(run, index, run.outcome(record, run.tests[index].name, index, work.seconds))
        work.running = None
        work.failed.clear()
        work.abandon()
        if parts[2]:
            self._begin(slot, work, int(parts[2]))
        else:
            self._rest(slot)

    def _rest(self, slot: _Slot) -> None:
        """A worker has done its job."""
        slot.worker.deadline = None
        if slot.work is not None:
            slot.work.abandon()
        slot.work = None

    def _place(self, index: int) -> tuple[int, int]:
        """Position and run of what a worker knows by an index."""
        return index // self._runs, index % self._runs + 1

    def _listed(self, slot: _Slot, run: ModuleRun, parts: list[str]) -> None:
        from scripttest.shortcuts.slicing import slice_module

        compiled = run.compiled
        found = list(zip(parts[0::2], parts[1::2], strict=True))
        slices = slice_module(compiled.scripts[-1].code, compiled.entry_start, compiled.exports, found, self._kinds)
        selected = [test for test in slices.tests if self._services.selects(run.compiled.source.key, test.name)]
        repeats = (0,) if self._runs == 1 else range(1, self._runs + 1)
        tests = tuple(test for test in selected for _ in repeats)
        run.slices = slices
        run.tests = tests
        run.orders = [order(test, self._filter, repeat, self._seed) for test in selected for repeat in repeats]
        run.left = len(tests)
        key = compiled.source.key
        self._rest(slot)
        known = tuple(test.name for test in slices.tests)
        self._out.append(Listed(module=key, tests=tuple(test.name for test in selected), known=known))
        if not tests or self.list_only:
            self._close_module(key, None)
            return
        places = self._services.arranged(key, [test.name for test in selected])
        indexes = [place * self._runs + repeat for place in places for repeat in range(self._runs)]
        size = CHUNK if TEST in self._kinds else 1  # others may go on in another realm, before the next begins
        chunks = [tuple(indexes[at : at + size]) for at in range(0, len(tests), size)]
        self._jobs.extendleft(_Job(key=key, tests=chunk) for chunk in reversed(chunks[1:]))
        self._give(slot, _Job(key=key, tests=chunks[0]))

    def _ended(self, run: ModuleRun, index: int, outcome: Outcome) -> None:
        key, test = run.compiled.source.key, run.tests[index].name
        position, repeat = self._place(index)
        if kind_of(test) != TEST:
            settled = self._services.settled(key, _test_key(test, repeat), outcome)
            if settled is None:
                run.again.add(index)
                self._jobs.appendleft(_Job(key=key, tests=(index,)))
                return
            outcome = settled
        self._out.append(Ended(module=key, position=position, outcome=outcome, run=repeat))
        run.left -= 1
        if run.left == 0:
            self._close_module(key, None)

    def _close_module(self, key: str, record: Broken | None) -> None:
        if record is not None:
            self._out.append(record)
        self._open.discard(key)
        self._module_runs.pop(key, None)

    def asked(self, slot: _Slot, number: str, name: str, arguments: str, world: str) -> None:
        """Answers a host call on a thread of its own."""
        work = slot.work
        assert work is not None
        running = work.running

        def ask(back: str, values: str, done: Backed) -> None:
            self._asks.append((slot, running, back, values, done))
            with self._wake_lock:
                self._ring()

        link = Link(ask)
        key, test = work.job.key, ""
        run = self._module_runs.get(key)
        if run is not None and work.running is not None:
            test = _test_key(run.tests[work.running].name, self._place(work.running)[1])
        kind = kind_of(test)
        stands = kind not in ("", TEST) and name.startswith(f"{kind.lower()}.") and not slot.worker.is_late
        if stands:
            slot.worker.deadline = None

        def answer() -> None:
            envelope = self._services.call(key, test, name, arguments, world, link)
            seconds = None
            if stands:
                seconds = self._services.seconds_after(key, test, name) or (run.timeout if run else self._timeout)
            self._answers.append((slot, number, envelope, seconds))
            with self._wake_lock:
                self._ring()

        _thread.start_new_thread(answer, ())

    def _ask_back(self, slot: _Slot, index: int | None, name: str, arguments: str, done: Backed) -> None:
        work = slot.work
        if not slot.is_open or work is None or work.running != index:
            done(None, "")
            return
        self._asked_back += 1
        number = str(self._asked_back)
        work.backs[number] = done
        slot.ask_back(number, name, arguments)

    # what goes wrong

    def _expired(self, slot: _Slot) -> None:
        running = slot.work.running if slot.work else None
        if slot.worker.expire("module" if running is None else str(running)):
            return
        run = self._module_runs.get(slot.work.job.key) if slot.work else None
        seconds = run.timeout if run is not None else self._timeout
        if running is not None and slot.work is not None:
            seconds = slot.work.seconds
        message = timeout_text(seconds, of_module=running is None)
        if running is not None:
            message += "; the script could not be stopped, so that clean-ups and After hooks did not run"
        slot.end()
        if slot.work is not None:
            slot.work.abandon()
        self._blame(slot, Failure(cause=Cause.TIMEOUT, message=message))

    def lost(self, slot: _Slot, loss: Loss) -> None:
        """Goes on without a worker. Raises HostError when no worker starts."""
        work = slot.work
        was_killed = loss.cause == Cause.INFRASTRUCTURE
        if work is not None:
            work.abandon()
        if work is None or work.running is None:
            self._idle_deaths += 1
            if self._idle_deaths >= (MAX_IDLE_KILLS if was_killed else MAX_IDLE_DEATHS):
                raise HostError(f"The worker process does not start: {loss.message}")
        if was_killed and work is not None and work.job.tests is None:
            self._jobs.appendleft(work.job)  # no test has begun, so the module can be listed again
            return
        self._blame(slot, Failure(cause=loss.cause, message=loss.message))

    def _blame(self, slot: _Slot, failure: Failure) -> None:
        """The running test of a worker that is gone fails, what it had not started goes back into the queue."""
        work = slot.work
        run = self._module_runs.get(work.job.key) if work is not None else None
        if work is None or run is None:
            return
        job = work.job
        failure = run.placed(failure, work.running)
        if job.tests is None:
            self._close_module(job.key, Broken(module=job.key, failure=failure))
            return
        if work.todo:
            self._jobs.appendleft(_Job(key=job.key, tests=tuple(work.todo)))
        if work.running is not None:
            milliseconds = run.timeout * 1000 if failure.cause == Cause.TIMEOUT else 0
            self._ended(run, work.running, run.cut_short(work.failed, work.running, failure, milliseconds))


def _test_key(name: str, run: int) -> str:
    """What a test is known by: its name, with `#2` behind it in its second run."""
    return f"{name}#{run}" if run > 1 else name
