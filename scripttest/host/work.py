"""Work for workers: what waits to be done, who gets it next, and how far each worker is with its own."""

from __future__ import annotations

from collections import deque

from scripttest.host.services import Backed
from scripttest.names import TEST
from scripttest.values import Value
from scripttest.workers.answers import failure_of
from scripttest.workers.boots import Boots
from scripttest.workers.module_run import ModuleRun
from scripttest.workers.pool import WorkerPool
from scripttest.workers.protocol import encode
from scripttest.workers.session import WorkerSlot

CHUNK = 40
"""Tests that a worker is given at once."""
MOST_FAILED = 1000
"""Failures of a running test that are kept in case it has no outcome."""


class Job(Value):
    """To list a module, or to run some of its tests."""

    key: str
    """Of the module."""
    tests: tuple[int, ...] | None
    """None: list the module."""


class Assignment:
    """A job that a worker has, and how far it is with it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.todo = deque(job.tests or ())
        self.running: int | None = None
        self.seconds = 0.0
        """What the running test may take, since its clock was started last."""
        self.failed: list[tuple[str, str]] = []
        """Failures of the running test so far: name of it or its subtest, JSON."""
        self.backs: dict[str, Backed] = {}
        """By number, who waits for what the realm of the running test is asked back."""

    def note_failure(self, name: str, failure: str) -> None:
        """Keeps a failure of the running test, or of its subtest of this name. Raises ValueError for what is none."""
        if len(self.failed) < MOST_FAILED:
            failure_of(failure)
            self.failed.append((name, failure))

    def abandon(self) -> None:
        """Tells those who wait for the running test that it has ended."""
        while self.backs:
            self.backs.popitem()[1](None, "")


Slot = WorkerSlot[Assignment]


def start_clock(slot: Slot, seconds: float) -> None:
    """Gives the running test of a worker so long from now."""
    if slot.work is not None:
        slot.work.seconds = seconds
        slot.worker.start_clock(seconds)


class WorkQueue:
    """The jobs that no worker has, and the workers that get them."""

    def __init__(
        self,
        workers: WorkerPool[Assignment],
        limit: int,
        boots: Boots,
        kinds: tuple[str, ...],
        runs: dict[str, ModuleRun],
    ) -> None:
        """`limit`: how many workers at the most; `kinds` of tests are listed; `runs`: key → module, while it runs."""
        self.jobs: deque[Job] = deque()
        self._workers = workers
        self._limit = limit
        self._boots = boots
        self._kinds = kinds
        self._runs = runs

    def assign(self) -> None:
        """Gives jobs to idle workers, and to new ones."""
        for slot in self._workers.slots:
            if self.jobs and slot.work is None:
                self.give(slot, self._next_for(slot))
        while self.jobs and len(self._workers.slots) < self._limit:
            self.give(self._workers.start(), self.jobs.popleft())

    def reserve(self, workers: int) -> None:
        """Starts workers ahead of their work, so that it does not wait for them."""
        while len(self._workers.slots) < min(workers, self._limit):
            self._workers.start()

    def add(self, run: ModuleRun) -> None:
        """A module that is to be listed."""
        self.jobs.append(Job(key=run.compiled.source.key, tests=None))
        if run.is_big:
            self.reserve(self._limit)

    def only_list(self) -> None:
        """Drops all tests."""
        self.jobs = deque(job for job in self.jobs if job.tests is None)

    def give(self, slot: Slot, job: Job) -> None:
        """Gives a job to an idle worker."""
        run = self._runs[job.key]
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
        slot.work = Assignment(job)
        slot.worker.send(*frames)
        run.frame(self._boots)

    def give_tests(self, slot: Slot, key: str, indexes: list[int]) -> None:
        """Gives a worker the first tests of the module that it has listed; the others come next, for all workers."""
        size = CHUNK if TEST in self._kinds else 1  # others may go on in another realm, before the next begins
        first, *others = (Job(key=key, tests=tuple(indexes[at : at + size])) for at in range(0, len(indexes), size))
        self.jobs.extendleft(reversed(others))
        self.give(slot, first)

    def _next_for(self, slot: Slot) -> Job:
        """The next job of the module that a worker knows, else the first one."""
        for job in self.jobs:
            if job.key == slot.module:
                self.jobs.remove(job)
                return job
        return self.jobs.popleft()
