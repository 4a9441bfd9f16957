"""Test modules while they run: their code in the form that workers take, their tests, and the records of these; and the
jobs of workers: which are waiting, which worker gets the next one, and how much of its job each has done."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from scripttest.compile.builds import Compiled, Source
from scripttest.protocol import MessageError, encode
from scripttest.results import TEST, HostRecord, Line, Listed, LogLine, Outcome, Started, Status, kind_of
from scripttest.shortcuts.slicing import BootConfig, declared, scan, slice_module
from scripttest.values import Value
from scripttest.workers.answers import AnsweredBack, EarlyFailure
from scripttest.workers.pool import WorkerPool, WorkerSlot
from scripttest.workers.services import Backed, Selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.shortcuts.slicing import Slices, Test
    from scripttest.workers.outcomes import Outcomes


CHUNK = 40
"""How many tests a worker gets at once."""
MOST_FAILED = 1000
"""At most this many failures of a running test are kept, for the case that the test has no outcome."""
BIG = 50_000
"""A module with more characters of code than this is big, see `is_big`."""
_PLAIN = {"status", "duration_ms", "assertions", "failures", "steps"}
"""What workers say of a test that passed, if there is nothing else to say."""
MOST_EARLY = 10_000
"""At most this many captured lines of a module's top-level code are kept."""


class Module(Value):
    """A test module that will run."""

    source: Source
    context: str
    """JSON of `ContextData` in `bindings/src/kernel.ts`."""
    timeout: float | None = None
    """Seconds that one test of it may take; None: as the others."""
    run: int = 0
    """Which of several runs of its tests it is for, from 1, where only that one runs; it becomes `ctx.metadata.run`."""
    whole: bool = False
    """Whether its realms have all of its code and all globals, also what no test names."""


class ModuleRun:
    """The state of a module while it runs."""

    def __init__(
        self,
        module: Module,
        compiled: Compiled,
        root: Path,
        called: Callable[[str], Compiled | None],
        timeout: float,
        runs: int,
    ) -> None:
        """`called` has the scripts that were called by `Process`; `timeout` is the time limit of a test in seconds;
        `runs` is how often each test runs."""
        self._runs = runs
        self.timeout = module.timeout or timeout
        """Seconds that one test may take."""
        self.module = module
        self.compiled = compiled
        self.slices: Slices | None = None
        self.selected = Selected(tests=())
        self.tests: tuple[Test, ...] = ()
        """The tests, each as often as it runs: index = position * runs + run - 1."""
        self.plans: list[str] = []
        """For each test, JSON of `Plan` in `bindings/src/core-state.ts`."""
        self.left = 0
        self.again: set[int] = set()
        """Indexes of the tests that have begun more than once."""
        self._root = root
        self._called = called
        self._outcomes: Outcomes | None = None
        self.early: list[LogLine] = []
        """Captured lines of its top-level code, until they belong to a test."""
        self.loads_again = False
        """Whether its top-level code runs again for the first test, because it has made host calls."""
        self._frame: bytes | None = None

    def position(self, index: int) -> tuple[int, int]:
        """The position of a test among the listed ones, and which run of it it is, by its index."""
        return index // self._runs, index % self._runs + 1

    def listed_by(
        self, sources: Mapping[str, str], kinds: tuple[str, ...], select: Callable[[Mapping[str, str]], Selected]
    ) -> Listed:
        """Takes the functions that a worker listed, name → source, and keeps the tests among them that `select`
        says, by their names and sources."""
        compiled = self.compiled
        slices = slice_module(compiled.scripts[-1].code, compiled.entry_start, compiled.exports, sources, kinds)
        self.selected = select({test.name: sources.get(test.entry, "") for test in slices.tests})
        selected = [test for test in slices.tests if test.name in self.selected.tests]
        self.slices = slices
        self.tests = tuple(test for test in selected for _ in range(self._runs))
        self.left = len(self.tests)
        if self.loads_again:
            self.early.clear()
        known = tuple(test.name for test in slices.tests)
        names = tuple(test.name for test in selected)
        return Listed(module=compiled.source.key, tests=names, known=known)

    def plan(self, filter: bool, seed: int | None) -> None:
        """Makes the plans of the tests. The random numbers of a test depend on its name and on `seed`, if there is
        one."""
        selected = self.selected
        focuses = selected.focuses and not selected.forbidden and ".only(" in self.compiled.scripts[-1].code
        self.plans.clear()
        for index, test in enumerate(self.tests):
            kind = kind_of(test.name)
            said = {
                "run": self.module.run if self._runs == 1 else self.position(index)[1],
                "seed": "" if seed is None else f"{seed} {test.name}",
                "kind": "" if kind == TEST else kind.lower(),
                "only": "forbidden" if selected.forbidden else "runs" if test.name in selected.only else "",
                "focus": focuses,
            }
            more = {name: value for name, value in said.items() if value}
            self.plans.append(json.dumps({"name": test.name, "entry": test.entry, "filter": filter, **more}))

    def pieces(self, index: int) -> str:
        """What a worker puts back into the base for a test; see `Test.pieces`."""
        return "" if self.module.whole else self.tests[index].pieces

    def begun(self, index: int) -> list[HostRecord]:
        """The records of a test that begins, with the lines of the module's top-level code."""
        module, (position, run) = self.compiled.source.key, self.position(index)
        early, self.early = self.early, []
        return [
            Started(module=module, position=position, run=run, again=index in self.again),
            *[Line(module=module, position=position, line=line, run=run) for line in early],
        ]

    def printed(self, line: LogLine, index: int | None) -> list[HostRecord]:
        """The record of a captured line of a test; none of one of the top-level code, which is kept."""
        if line.level == "watch" and "\0" in line.text:
            line = line.replace(text=self.outcomes.watched(*line.text.split("\0", 2)))
        if index is not None:
            position, run = self.position(index)
            return [Line(module=self.compiled.source.key, position=position, line=line, run=run)]
        if len(self.early) < MOST_EARLY:
            self.early.append(line)
        return []

    @property
    def outcomes(self) -> Outcomes:
        """Makes outcomes of what workers say of its tests."""
        if self._outcomes is None:
            from scripttest.workers.outcomes import Outcomes

            self._outcomes = Outcomes(self.compiled, self._root, self._called, self.timeout)
        self._outcomes.tests = self.tests
        return self._outcomes

    def outcome(self, record: dict[str, Any], name: str, index: int | None, seconds: float | None = None) -> Outcome:
        """See `Outcomes.outcome`."""
        if record.keys() == _PLAIN and record["status"] == Status.PASSED and not record["steps"]:
            milliseconds, assertions = record["duration_ms"], record["assertions"]
            return Outcome(name=name, status=Status.PASSED, milliseconds=milliseconds, assertions=assertions)
        return self.outcomes.outcome(record, name, index, seconds)

    def listed(self, kinds: tuple[str, ...]) -> tuple[str, str]:
        """What a worker lists, apart by blanks: how the names of tests begin; and what else, tests under other names
        and what tests may not need."""
        exports = self.compiled.exports.items()
        renamed = [local for name, local in exports if name.startswith(kinds) and not local.startswith(kinds)]
        return " ".join(kinds), " ".join({*renamed, *declared(self.compiled.scripts[-1].code, kinds)})

    @property
    def is_big(self) -> bool:
        """Whether it may have work for many workers."""
        return len(self.compiled.scripts[-1].code) > BIG

    def frame(self, boots: BootConfig) -> bytes:
        """The frame that loads the module into a worker, with realms that have only what the code needs."""
        if self._frame is None:
            code = "\n".join(script.code for script in self.compiled.scripts)
            seed = boots.seed([code])
            boot = boots.whole(seed) if self.module.whole else boots.own(scan(code, boots.names), seed)
            parts = [boot, boots.nested, self.module.context]
            for script in self.compiled.scripts:
                parts += [str(script.first_line), script.code]
            self._frame = encode("module", *parts)
        return self._frame


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
