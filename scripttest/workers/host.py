"""ScriptHost: takes test modules, and returns a stream of records.

One thread waits for the compiler and all workers. The work is a queue of jobs: first to list the tests of a module,
then to run its tests in chunks. A worker that lists a module continues with the first chunk; others take the rest.
Records come in the order in which things happen. The caller must sort them if it needs a stable order of modules."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from scripttest.compile.builds import Compiled, Source
from scripttest.compile.compiler import Compiler, Instrument
from scripttest.compile.configuration import readable
from scripttest.compile.esbuild import Service
from scripttest.process import PollLoop
from scripttest.protocol import MessageError
from scripttest.results import (
    EVERY_RUN,
    TEST,
    Broken,
    Cause,
    CompileError,
    Ended,
    Failure,
    HostError,
    HostRecord,
    Listed,
    Outcome,
    TestKey,
    kind_of,
)
from scripttest.shortcuts import is_off
from scripttest.shortcuts.slicing import BootConfig
from scripttest.workers import answers
from scripttest.workers.calls import HostCalls, WakeUp
from scripttest.workers.pool import Libraries, WorkerPool
from scripttest.workers.services import Services
from scripttest.workers.work import Assignment, Job, Module, ModuleRun, Slot, WorkQueue, start_clock
from scripttest.workers.worker import Processes, Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

LONGEST_WAIT = 3600.0
"""Seconds that one wait takes at the most; the system call takes no more than a few weeks."""
FIRST_ANSWERS = 0.05
"""Seconds in which the compiler is answered before anybody asks for records."""
AHEAD = 20
"""With so many jobs at hand, no module is looked for among those that were kept."""
MAX_IDLE_DEATHS = 3
"""The host gives up when this many workers in a row have ended without an error message while no test ran."""
MAX_IDLE_KILLS = 30
"""The same for workers that something outside has killed."""


class ScriptHost:
    """Runs test modules in worker processes. Has to be closed, or used as a context manager."""

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
        kept: str | None = None,
    ) -> None:
        """Takes over running processes.

        Args:
            root: absolute path of the application, for `@scripts/*` and the paths in stacks.
            processes: from `start_processes`; `close` ends them.
            names: name of a global → part of the bindings that provides it.
            workers: most worker processes.
            timeout: time limit in seconds, for one test and for the evaluation of one module.
            filter: whether to call the host function `subtest.Selects` for each subtest.
            list_only: list the tests of the modules, and run none.
            runs: how many times each test runs, each time in a new realm.
            seed: seed of the random numbers of each test, together with its name; None: the numbers are not
                reproducible.
            instrument: changes the compiled code of files, to measure coverage.
            kinds: kinds of test functions that run, see `names`.
            kept: the folder of what earlier runs have compiled, see `Compiler`."""
        self._root = root
        self._kinds = kinds
        self._services = services
        self._timeout = timeout
        self._filter = filter
        self.list_only = list_only
        self._runs = runs
        self.boots = BootConfig(names, seed)
        self._loop = PollLoop()
        self._bell = WakeUp(self._loop)
        kept = None if is_off("compiled") else kept
        self._compiler = Compiler(root, self._loop, processes.compiler, instrument=instrument, kept=kept)
        self.libraries = Libraries(self._compiler, services.library)
        self._workers: WorkerPool[Assignment] = WorkerPool(processes.command, self._loop, self, self.libraries)
        self._modules: dict[str, Module] = {}
        self._begun: list[Module] | None = None
        """What `begin` has given to the compiler, until it runs."""
        self._broken: HostError | None = None
        """Why the compiler could not take it."""
        self._module_runs: dict[str, ModuleRun] = {}
        self._queue = WorkQueue(self._workers, workers, self.boots, kinds, self._module_runs, services.wanted)
        self._calls = HostCalls(services, self._bell)
        self._open: set[str] = set()
        self._out: deque[HostRecord] = deque()
        self._idle_deaths = 0
        self._closed = False
        self._ending = False
        """Whether no further test begins."""
        self._listed_by: float | None = None
        """The time at which `run` ends even if some modules are not listed yet."""
        for worker in processes.workers:
            self._workers.start(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def release(self) -> Processes:
        """Closes the host; its compiler and idle workers, for another one; starts missing ones. Raises HostError."""
        compiler, workers, command = self._compiler.release(), self._workers.release(), self._workers.command
        workers = workers or [Worker(command)]
        self.close()
        compiler = compiler or Service(readable(self._root))
        return Processes(compiler=compiler, workers=tuple(workers), command=command)

    def kill(self) -> None:
        """Kills all processes, when nothing is left for them to do; `close` waits for their end."""
        self._workers.kill()
        self._compiler.kill()

    def close(self) -> None:
        """Ends all processes."""
        if self._closed:
            return
        self.kill()
        for one in (self._workers, self._compiler, self._bell, self._calls):
            one.close()
        self._closed = True

    def begin(self, modules: list[Module]) -> None:
        """Gives modules to the compiler, for a caller who does something else before it runs them. Does not block."""
        self._begun, self._broken = modules, None
        self._modules = {module.source.key: module for module in modules}
        self._open = set(self._modules)
        try:
            self._compiler.add([module.source for module in modules], self._compiled)
        except HostError as error:
            self._broken = error

    def run(self, modules: list[Module], left: Callable[[], float | None] = lambda: None) -> Iterator[HostRecord]:
        """Compiles, lists and runs modules; blocks between records, and for `FIRST_ANSWERS` seconds at most before it
        returns, while the compiler asks about the first modules. The iterator raises HostError if the host itself
        fails.

        `left` returns None, or how many seconds running tests may still take; then no further test begins. Whoever
        changes its result must call `wake`."""
        if self._begun is not modules:
            self.begin(modules)
        self._begun = None
        if self._broken is None:
            try:
                self._queue.reserve(len(modules))
                end = time.monotonic() + FIRST_ANSWERS
                while self._open and not self._module_runs and (rest := end - time.monotonic()) > 0:
                    self._wait(rest)
                self._queue.assign()
            except HostError as error:
                self._broken = error
        return self._records(left)

    def _records(self, left: Callable[[], float | None]) -> Iterator[HostRecord]:
        if self._broken is not None:
            raise self._broken
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
                self._queue.assign()
                rest = LONGEST_WAIT if self._listed_by is None else self._listed_by - time.monotonic()
                if rest <= 0:
                    return
                self._wait(rest)

    def only_list(self, seconds: float) -> None:
        """From now on `run` only lists the modules that are not listed yet, for at most this many seconds. No test runs
        any more, and tests under way have no result. Modules that are listed already are left out."""
        self.list_only = True
        self._listed_by = time.monotonic() + seconds
        self._queue.only_list()
        for slot in [slot for slot in self._workers.slots if slot.work and slot.work.job.tests is not None]:
            slot.end()
        for key in [key for key, run in self._module_runs.items() if run.slices is not None]:
            self._close_module(key, None)
        self._out = deque(record for record in self._out if isinstance(record, Listed | Broken))

    def wake(self) -> None:
        """Makes `run` call `left` again. May be called from any thread and from signal handlers."""
        self._bell.ring_at_once()

    @property
    def wake_descriptor(self) -> int:
        """A write to this descriptor wakes `run`, until `close`; see `Bell.descriptor`."""
        return self._bell.descriptor

    def _wait(self, longest: float) -> None:
        longest = 0.0 if len(self._queue.jobs) < AHEAD and self._compiler.look() else longest
        now = time.monotonic()
        deadlines = [one - now for one in (self._compiler.deadline, self._workers.deadline) if one is not None]
        self._loop.wait(min([longest, *deadlines]))
        self._compiler.expire()
        self._calls.deliver()
        for slot in self._workers.late():
            self._expired(slot)

    def _compiled(self, source: Source, result: Compiled | CompileError) -> None:
        if isinstance(result, CompileError):
            from scripttest.workers.outcomes import broken_by

            self._close_module(source.key, broken_by(source.key, result))
        else:
            self.libraries.told(result)
            module, called = self._modules[source.key], self.libraries.called
            run = ModuleRun(module, result, self._root, called, self._timeout, self._runs)
            self._queue.add(run)

    def heard(self, slot: Slot, message: answers.Message) -> None:
        """Handles a message from a worker. Raises MessageError when it does not fit to what the worker does."""
        self._idle_deaths = 0
        work = slot.work
        if work is None:
            raise MessageError(f"unexpected {message.kind}")
        run = self._module_runs.get(work.job.key)
        if isinstance(message, answers.Result):
            self._result(slot, work, message)
        elif isinstance(message, answers.Begun):
            self._begin(slot, work, message.index)
        elif isinstance(message, answers.Logged):
            self._out += run.printed(message.line, work.running) if run is not None else ()
        elif isinstance(message, answers.EarlyFailure):
            work.note_failure(message)
        elif isinstance(message, answers.AnsweredBack):
            work.answered_back(message)
        elif isinstance(message, answers.Functions | answers.Unusable) and work.job.tests is None:
            if run is None:
                self._rest(slot)
            elif isinstance(message, answers.Functions):
                self._listed(slot, run, message)
            else:
                failure = run.outcome(message.record, "", None).failures[0]
                self._rest(slot)
                self._close_module(work.job.key, Broken(module=work.job.key, failure=failure))
        else:
            raise MessageError(f"unexpected {message.kind}")

    def _begin(self, slot: Slot, work: Assignment, index: int) -> None:
        if self._ending:
            slot.end()
            return
        work.begin(index)
        run = self._module_runs.get(work.job.key)
        start_clock(slot, run.timeout if run is not None else self._timeout)
        self._out += run.begun(index) if run is not None else ()

    def _result(self, slot: Slot, work: Assignment, ended: answers.Result) -> None:
        index = ended.index
        if index != work.running:
            raise MessageError("a result for a test that is not running")
        if (ended.next is None) == bool(work.todo):
            raise MessageError("tests out of order")
        if run := self._module_runs.get(work.job.key):
            self._ended(run, index, run.outcome(ended.record, run.tests[index].name, index, work.seconds))
        work.finish()
        if ended.next is not None:
            self._begin(slot, work, ended.next)
        else:
            self._rest(slot)

    def _rest(self, slot: Slot) -> None:
        """Gives the next job to a worker that has finished one."""
        slot.worker.deadline = None
        if slot.work is not None:
            slot.work.abandon()
        slot.work = None

    def _listed(self, slot: Slot, run: ModuleRun, functions: answers.Functions) -> None:
        key = run.compiled.source.key
        listed = run.listed_by(functions.sources, self._kinds, lambda tests: self._services.selected(key, tests))
        run.plan(self._filter, self.boots.seed(script.code for script in run.compiled.scripts))
        self._rest(slot)
        self._out.append(listed)
        if not run.tests or self.list_only:
            self._close_module(key, None)
            return
        places = self._services.arranged(key, listed.tests)
        indexes = [place * self._runs + repeat for place in places for repeat in range(self._runs)]
        self._queue.give_tests(slot, key, indexes)

    def _ended(self, run: ModuleRun, index: int, outcome: Outcome) -> None:
        key, test = run.compiled.source.key, run.tests[index].name
        position, repeat = run.position(index)
        if kind_of(test) != TEST:
            settled = self._services.settled(TestKey(suite=key, test=test, run=repeat), outcome)
            if settled is None:
                run.again.add(index)
                self._queue.jobs.appendleft(Job(key=key, tests=(index,)))
                return
            outcome = settled
        self._out.append(Ended(module=key, position=position, outcome=outcome, run=repeat))
        run.left -= 1
        if run.left == 0:
            self._close_module(key, None)

    def _close_module(self, key: str, record: Broken | None) -> None:
        self._out += [record] if record is not None else []
        self._open.discard(key)
        self._module_runs.pop(key, None)

    def asked(self, slot: Slot, call: answers.HostCall) -> None:
        """Answers a host call."""
        work = slot.work
        assert work is not None
        test = TestKey(suite=work.job.key, test="")
        run = self._module_runs.get(work.job.key)
        if run is not None and call.name == answers.PLACES:
            slot.reply(call.number, run.outcomes.mapper.written(call.arguments))
            return
        if run is not None and work.running is not None:
            name, (_, repeat) = run.tests[work.running].name, run.position(work.running)
            test = TestKey(suite=work.job.key, test=name, run=repeat, mutant=work.job.mutant)
        elif run is not None:
            run.loads_again = True
        self._calls.begin(slot, call, test=test, timeout=run.timeout if run else self._timeout)

    def _expired(self, slot: Slot) -> None:
        work = slot.work
        assert work is not None
        if slot.worker.expire("module" if work.running is None else str(work.running)):
            return
        from scripttest.workers.outcomes import timeout_text

        message = timeout_text(work.seconds, of_module=work.running is None)
        if work.running is not None:
            message += "; the script could not be stopped, so cleanups and After hooks did not run"
        slot.end()
        work.abandon()
        self._blame(work, Failure(cause=Cause.TIMEOUT, message=message))

    def lost(self, slot: Slot, loss: Failure) -> None:
        """Replaces a worker that has ended. Raises HostError when no worker starts."""
        work = slot.work
        was_killed = loss.cause == Cause.INFRASTRUCTURE
        if work is not None:
            work.abandon()
        if work is None or work.running is None:
            self._idle_deaths += 1
            if self._idle_deaths >= (MAX_IDLE_KILLS if was_killed else MAX_IDLE_DEATHS):
                raise HostError(f"The worker process did not start: {loss.message}")
        if work is not None and was_killed and work.job.tests is None:
            self._queue.jobs.appendleft(work.job)  # no test has begun, so the module can be listed again
        elif work is not None:
            self._blame(work, loss)

    def _blame(self, work: Assignment, failure: Failure) -> None:
        """Fails the test that a lost worker was running, and puts its other tests back into the queue."""
        job = work.job
        run = self._module_runs.get(job.key)
        if run is None:
            return
        failure = run.outcomes.placed(failure, work.running)
        if job.tests is None:
            self._close_module(job.key, Broken(module=job.key, failure=failure))
            return
        if work.todo:
            self._queue.jobs.appendleft(Job(key=job.key, tests=tuple(work.todo)))
        if work.running is not None:
            milliseconds = run.timeout * 1000 if failure.cause == Cause.TIMEOUT else 0
            self._ended(run, work.running, run.outcomes.cut_short(work.failed, work.running, failure, milliseconds))
