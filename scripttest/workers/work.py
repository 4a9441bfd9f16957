"""The jobs of workers: which are waiting, which worker gets the next one, and how much of its job each worker
has done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from scripttest.protocol import MessageError, encode
from scripttest.results import TEST
from scripttest.shortcuts.slicing import BootConfig
from scripttest.values import Value
from scripttest.workers.answers import AnsweredBack, EarlyFailure
from scripttest.workers.module_run import ModuleRun
from scripttest.workers.pool import WorkerPool, WorkerSlot
from scripttest.workers.services import Backed

CHUNK = 40
"""How many tests a worker gets at once."""
MOST_FAILED = 1000
"""At most this many failures of a running test are kept, for the case that the test has no outcome."""


class Job(Value):
    """Lists a module, or runs some of its tests."""

    key: str
    """Key of the module."""
    tests: tuple[int, ...] | None
    """Indexes of the tests; None: the job is to list the module."""
    mutant: int = 0
    """The mutant that is switched on; 0: none."""


class Assignment:
    """The job of a worker, and how much of it is done."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.todo = deque(job.tests or ())
        self.running: int | None = None
        self.seconds = 0.0
        """Seconds that the running test may take since its clock was last started."""
        self.failed: list[EarlyFailure] = []
        """Failures of the running test so far."""
        self.backs: dict[str, Backed] = {}
        """By number, the functions that get the answers of the running test's realm."""

    def note_failure(self, failure: EarlyFailure) -> None:
        """Keeps a failure of the running test."""
        if len(self.failed) < MOST_FAILED:
            self.failed.append(failure)

    def answered_back(self, answer: AnsweredBack) -> None:
        """Passes on the answer of the running test's realm. Raises MessageError if nothing was asked."""
        done = self.backs.pop(answer.number, None)
        if done is None:
            raise MessageError("an answer to no question")
        done(answer.envelope, answer.world)

    def begin(self, index: int) -> None:
        """A test begins. Raises MessageError if it is not the next one."""
        if self.running is not None or not self.todo or self.todo.popleft() != index:
            raise MessageError("tests out of order")
        self.running = index

    def finish(self) -> None:
        """The running test has ended."""
        self.running = None
        self.failed.clear()
        self.abandon()

    def abandon(self) -> None:
        """Tells those who wait for an answer of the running test that it has ended."""
        while self.backs:
            self.backs.popitem()[1](None, "")


Slot = WorkerSlot[Assignment]


def start_clock(slot: Slot, seconds: float) -> None:
    """Gives the running test of a worker this many seconds from now."""
    if slot.work is not None:
        slot.work.seconds = seconds
        slot.worker.start_clock(seconds)


class WorkQueue:
    """The jobs that no worker has yet, and how they are given to workers."""

    def __init__(
        self,
        workers: WorkerPool[Assignment],
        limit: int,
        boots: BootConfig,
        kinds: tuple[str, ...],
        runs: dict[str, ModuleRun],
        wanted: Callable[[], str | None],
    ) -> None:
        """`limit`: see there; `kinds` are the kinds of tests that are listed; `runs` has the
        modules that run, by key; `wanted` is that of `Services`."""
        self.jobs: deque[Job] = deque()
        self._workers = workers
        self.limit = limit
        """The highest number of workers."""
        self._boots = boots
        self._kinds = kinds
        self._runs = runs
        self._wanted = wanted
        self._held: dict[str, dict[str, list[int]]] = {}
        """Module → its tests that were not wanted yet, by name, with their indexes."""
        self.lead: Callable[[Job], list[bytes]] | None = None
        """Makes what a worker gets before a job."""

    def assign(self) -> None:
        """Gives jobs to idle workers, and starts workers as needed."""
        for key, tests in self._held.items():
            if indexes := tests.pop(self._wanted() or "", ()):
                self.jobs.append(Job(key=key, tests=tuple(indexes)))
        for slot in self._workers.slots:
            if self.jobs and slot.work is None:
                self.give(slot, self._next_for(slot))
        while self.jobs and len(self._workers.slots) < self.limit:
            self.give(self._workers.start(), self.jobs.popleft())

    def reserve(self, workers: int) -> None:
        """Starts workers before there are jobs for them, because their start takes time."""
        while len(self._workers.slots) < min(workers, self.limit):
            self._workers.start()

    def add(self, run: ModuleRun) -> None:
        """Adds a module, and the job to list it."""
        key = run.compiled.source.key
        self._runs[key] = run
        self.jobs.append(Job(key=key, tests=None))
        if run.is_big:
            self.reserve(self.limit)

    def only_list(self) -> None:
        """Drops all jobs that run tests."""
        self.jobs = deque(job for job in self.jobs if job.tests is None)

    def give(self, slot: Slot, job: Job) -> None:
        """Gives a job to an idle worker."""
        run = self._runs[job.key]
        frames = self.lead(job) if self.lead is not None else []
        if slot.loaded != job.key or job.tests is None:
            slot.loaded, slot.has_base = job.key, False
            frames.append(run.frame(self._boots))
        if job.tests is None:
            frames.append(encode("discover", *run.listed(self._kinds)))
        else:
            assert run.slices is not None
            if not slot.has_base:
                slot.has_base = True
                frames.append(encode("base", run.slices.base))
            parts: list[str] = []
            for index in job.tests:
                parts += [str(index), run.plans[index], run.pieces(index)]
            frames.append(encode("run", *parts))
        slot.module = job.key
        slot.work = Assignment(job)
        if job.tests is None:
            start_clock(slot, run.timeout)
        slot.worker.send(*frames)

    def give_tests(self, slot: Slot, key: str, indexes: list[int]) -> None:
        """Gives a worker the first tests of the module that it has listed. The other tests become jobs for
        all workers. Where one test is wanted at a time, each waits for that."""
        if self._wanted() is not None:
            held = self._held[key] = {}
            for index in indexes:
                held.setdefault(self._runs[key].tests[index].name, []).append(index)
            return
        size = CHUNK if TEST in self._kinds else 1  # others may continue in another realm before the next begins
        first, *others = (Job(key=key, tests=tuple(indexes[at : at + size])) for at in range(0, len(indexes), size))
        self.jobs.extendleft(reversed(others))
        self.give(slot, first)

    def _next_for(self, slot: Slot) -> Job:
        """The next job of the module that a worker has loaded, else the first job. Tests of modules that are under way
        stand in front of the modules that are not listed yet."""
        for index, job in enumerate(self.jobs):
            if job.tests is None:
                break
            if job.key == slot.module:
                del self.jobs[index]
                return job
        return self.jobs.popleft()
