"""Hosts of scripts into which something was put.

Scripts with mutants: first the tests of a `MutantHost` run with none of them switched on, and say where they got to.
Then it tries mutants: for each some tests of a module run, until one fails.

Scripts with a recorder, which tell what they do: `StoryHost` runs a test by itself, `StoryFunctions` calls a hook or a
tool once more."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from scripttest.protocol import MessageError, encode
from scripttest.results import Broken, Ended, Failure, Outcome, Status, TestKey
from scripttest.values import Value
from scripttest.workers import answers
from scripttest.workers.functions import FunctionPool, Owner
from scripttest.workers.host import ScriptHost
from scripttest.workers.outcomes import failures_of
from scripttest.workers.services import FunctionCall, Returned
from scripttest.workers.work import Assignment, Job, Module, ModuleRun, Slot, start_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.workers.pool import WorkerSlot


class Trial(Job):
    """Runs some tests of a module with a mutant switched on, until one fails."""

    noted: int = 0
    """The place whose values are noted; 0: none."""

    rounds: tuple[int, ...]
    """For each test, how many rounds loops and functions may go."""
    patience: tuple[float, ...]
    """For each test, how many seconds it may wait, by what its timers say."""
    seconds: tuple[float, ...]
    """For each test, how many it may take, by the clock."""


class Walked(Value):
    """Where a test got to that has ended: a record besides those of the host."""

    test: TestKey
    rounds: int
    mutants: tuple[int, ...]
    """Of each place that was reached, its first mutant."""


class Tried(Value):
    """A trial has ended."""

    trial: Trial
    test: str
    """The test that noticed; empty: none did."""
    failures: tuple[Failure, ...] = ()
    """What it said, and its subtests; without places."""
    is_endless: bool = False
    """Whether it was ended because it went too many rounds, or waited for too long."""
    values: tuple[str, ...] = ()
    """Those that the last test has noted, see `Reached`."""


class CalledFunctions:
    """The functions that tests have others call, such as hooks of agents, as `Switches` of a `FunctionPool`: each has
    the mutant and the limits of its test."""

    def __init__(self, test_of: Callable[[Owner], TestKey]) -> None:
        """`test_of` tells the test for which a function is called."""
        self._test_of = test_of
        self._leads: dict[TestKey, bytes] = {}
        self._met: dict[TestKey, list[answers.Reached]] = {}
        self.are_there = False
        """Whether there was such a function."""

    def begin(self, test: TestKey, lead: bytes) -> None:
        """A test begins, with the frame that switches its mutant on."""
        if self.are_there:
            self._leads[test] = lead

    def end(self, test: TestKey) -> list[answers.Reached]:
        """Where the functions of a test got to that has ended."""
        self._leads.pop(test, None)
        return self._met.pop(test, [])

    def lead(self, owner: Owner) -> bytes:
        """See `Switches`."""
        return self._leads.get(self._test_of(owner), _OFF)

    def reached(self, owner: Owner, message: answers.Reached) -> None:
        """See `Switches`."""
        self.are_there = True
        self._met.setdefault(self._test_of(owner), []).append(message)


_OFF = encode("switch", "0", "0")


class MutantHost(ScriptHost):
    """A script host for modules with mutants."""

    def keep(
        self, walked: Callable[[Walked], None], ended: Callable[[TestKey], None], functions: CalledFunctions
    ) -> None:
        """Has to be called first. `walked` is called for each test that has ended without a mutant; `ended` for each
        that has ended with one. `functions` are those that tests have others call."""
        self._walked, self._test_ended, self._functions = walked, ended, functions
        self._kept: dict[str, ModuleRun] = {}
        self._values: dict[int, tuple[str, ...]] = {}
        """Slot → the values that its test has noted."""
        self._endless: set[int] = set()
        """The slots in which a test ends that is endless."""
        self._queue.lead = self._switch

    def modules(self) -> dict[str, ModuleRun]:
        """The modules that have run."""
        return self._kept

    def code_of(self, module: str, index: int) -> Iterator[str]:
        """The code that a test runs, by its index: its scripts, of the last one the base and what the test needs beside
        it, and what it may call. Numbers of mutants in it are those of this run."""
        run = self._kept[module]
        assert run.slices is not None
        *others, last = (script.code for script in run.compiled.scripts)
        yield from others
        pieces = run.pieces(index)
        yield run.slices.base if pieces else last
        for piece in filter(None, pieces.split(",")):
            _, _, start, end = map(int, piece.split(":"))
            yield last[start:end]
        for compiled in self.libraries.compiled_for(module):
            yield from (script.code for script in compiled.scripts)

    def inputs_of(self, module: str) -> frozenset[str]:
        """The paths, from the root, of all files that a module and what it has called include."""
        compiled = [self._kept[module].compiled, *self.libraries.compiled_for(module)]
        return frozenset(path for one in compiled for path in one.inputs)

    def try_all(self, following: Callable[[str], Trial | None], left: Callable[[], float | None]) -> Iterator[Tried]:
        """Tries mutants until `following` returns None while no trial is under way; it gets the module that a worker
        has loaded. Blocks between results. `left` as for `run`."""
        self._tried: deque[Tried] = deque()
        self._module_runs.update(self._kept)
        wanted = True
        while True:
            while self._tried:
                yield self._tried.popleft()
                wanted = True
            if left() is not None:
                return
            while wanted and (trial := self._place(following)) is not None:
                self._queue.give(*trial)
            running = any(slot.work for slot in self._workers.slots)
            if not running and not self._tried:
                return
            if not self._tried:
                self._wait(1.0)

    def _place(self, following: Callable[[str], Trial | None]) -> tuple[Slot, Trial] | None:
        """An idle worker and its next trial; None when there is none."""
        slot = next((slot for slot in self._workers.slots if slot.work is None), None)
        if slot is None and len(self._workers.slots) >= self._queue.limit:
            return None
        trial = following(slot.module if slot is not None else "")
        return None if trial is None else (slot or self._workers.start(), trial)

    def _switch(self, job: Job) -> list[bytes]:
        if isinstance(job, Trial):
            assert job.tests is not None
            on = str(job.mutant), str(job.noted)
            waits = (round(seconds * 1000) for seconds in job.patience)
            bounds = [(str(rounds), str(wait)) for rounds, wait in zip(job.rounds, waits, strict=True)]
            for index, own in zip(job.tests, bounds, strict=True):
                self._functions.begin(self._test(job, index), encode("switch", *on, *own))
            return [encode("switch", *on, *(bound for own in bounds for bound in own))]
        return [_OFF]

    def _test(self, job: Job, index: int) -> TestKey:
        return TestKey(suite=job.key, test=self._module_runs[job.key].tests[index].name, mutant=job.mutant)

    def _close_module(self, key: str, record: Broken | None) -> None:
        if record is None and key in self._module_runs:
            self._kept[key] = self._module_runs[key]
        super()._close_module(key, record)

    def heard(self, slot: Slot, message: answers.Message) -> None:
        """Handles a message from a worker, as that of the base class; and what only modules with mutants send."""
        work = slot.work
        is_trial = work is not None and isinstance(work.job, Trial)
        if not isinstance(message, answers.Reached):
            if not (is_trial and isinstance(message, answers.Logged)):
                super().heard(slot, message)
        elif work is None or work.running is None:
            raise MessageError("unexpected reached")
        elif isinstance(work.job, Trial):
            self._values[id(slot)] = message.values
            if message.is_endless:
                self._endless.add(id(slot))
        elif work.job.key in self._module_runs:
            test = self._test(work.job, work.running)
            met = [message, *self._functions.end(test)]
            reached = dict.fromkeys(place for one in met for place in one.mutants)
            self._walked(Walked(test=test, rounds=sum(one.rounds for one in met), mutants=tuple(reached)))

    def _begin(self, slot: Slot, work: Assignment, index: int) -> None:
        if not isinstance(work.job, Trial):
            super()._begin(slot, work, index)
            return
        work.begin(index)
        assert work.job.tests is not None
        start_clock(slot, work.job.seconds[work.job.tests.index(index)])

    def _result(self, slot: Slot, work: Assignment, ended: answers.Result) -> None:
        job, index = work.job, ended.index
        if not isinstance(job, Trial):
            super()._result(slot, work, ended)
            return
        if index != work.running:
            raise MessageError("a result for a test that is not running")
        test = self._test(job, index)
        self._test_ended(test)
        met = self._functions.end(test)
        endless = id(slot) in self._endless or any(one.is_endless for one in met)
        self._endless.discard(id(slot))
        work.finish()
        if ended.next is not None:
            self._begin(slot, work, ended.next)
            return
        self._rest(slot)
        failures = tuple(failures_of(ended.record)) if ended.record["status"] == Status.FAILED else ()
        noticed = test.test if failures or endless else ""
        values = (*self._values.pop(id(slot), ()), *(value for one in met for value in one.values))
        self._tried.append(Tried(trial=job, test=noticed, failures=failures, is_endless=endless, values=values))

    def _blame(self, work: Assignment, failure: Failure) -> None:
        """A worker was lost during a trial: with the test that it was running, it is over."""
        job = work.job
        if not isinstance(job, Trial):
            super()._blame(work, failure)
            return
        test = None if work.running is None else self._test(job, work.running)
        if test is not None:
            self._test_ended(test)
            self._functions.end(test)
        self._tried.append(Tried(trial=job, test=test.test if test is not None else "?", failures=(failure,)))


class ToldLine(Value):
    """A statement that ran."""

    site: int
    depth: int
    """How many calls are around it."""
    within: int
    """The site of the function that it is in; 0: the top of a module."""
    turn: int
    """Which turn of a loop, or which call by the same statement, begins with it, from 1; 0: none."""
    turns: int
    """How many there were."""
    parts: tuple[tuple[str, int, str], ...]
    """Operation, site and values, each as `=` or `~` and a text; apart by line breaks."""


class ToldStory(Value):
    """What was told of a test."""

    count: int = 0
    """How much has happened until the first failure."""
    cut: int = 0
    """How many lines are cut at the front."""
    lines: tuple[ToldLine, ...] = ()
    outcome: Outcome | Failure | None = None
    """How the test ended this time, or why its module cannot be loaded; None: it did not end."""


class StoryHost(ScriptHost):
    """A script host for modules with a recorder."""

    _told = ""

    def story_of(self, module: Module, settings: Mapping[str, Any], left: Callable[[], float | None]) -> ToldStory:
        """The story of the only test of a module that `Services.selected` selects, or of its loading; blocks.
        `settings` are those of `bindings/src/realm/story.ts`, `left` as for `run`. Raises HostError."""
        self._told = ""
        self._queue.lead = lambda _: [encode("tell", json.dumps(settings))]
        outcome: Outcome | Failure | None = None
        for record in self.run([module], left):
            if isinstance(record, Ended):
                outcome = record.outcome
            elif isinstance(record, Broken):
                outcome = record.failure
        return read_story(self._told).replace(outcome=outcome)

    def heard(self, slot: Slot, message: answers.Message) -> None:
        """Handles a message from a worker, as that of the base class, and keeps what is told."""
        if isinstance(message, answers.Told):
            self._told = message.text
        else:
            super().heard(slot, message)


def read_story(text: str) -> ToldStory:
    """What `Story.lines` in `scripttest.realm.story` has written. Raises MessageError for something else."""
    if not text:
        return ToldStory()
    try:
        record = json.loads(text)
        lines = []
        for site, depth, within, turn, turns, parts in record["lines"]:
            if not all(type(number) is int for number in (site, depth, within, turn, turns)):
                raise ValueError("a line without numbers")
            found = tuple((str(op), int(place), str(values)) for op, place, values in parts)
            lines.append(ToldLine(site=site, depth=depth, within=within, turn=turn, turns=turns, parts=found))
        return ToldStory(count=int(record["count"]), cut=int(record["cut"]), lines=tuple(lines))
    except (ValueError, TypeError, KeyError) as error:
        raise MessageError(f"a story of another kind: {error}") from error


class StoryFunctions(FunctionPool):
    """Calls functions of scripts with a recorder, one after the other."""

    _told = ""

    async def call_told(self, call: FunctionCall, owner: Owner, settings: Mapping[str, Any]) -> Returned:
        """As `call`, with the `settings` of `bindings/src/realm/story.ts`; `told` has the story then, also when it
        raises something."""
        self._told, self._settings = "", settings
        self._switches = self
        return await self.call(call, owner)

    def told(self) -> ToldStory:
        """The story of the last call."""
        return read_story(self._told)

    def lead(self, owner: Owner) -> bytes:
        """The frame before a call, as that of `Switches`."""
        return encode("tell", json.dumps(self._settings))

    def reached(self, owner: Owner, message: answers.Reached) -> None:
        """As that of `Switches`: there are no mutants."""

    def heard(self, slot: WorkerSlot[Any], message: answers.Message) -> None:
        """As that of the base class, and keeps what is told."""
        if isinstance(message, answers.Told):
            self._told = message.text
        else:
            super().heard(slot, message)
