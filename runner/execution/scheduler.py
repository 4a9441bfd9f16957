"""Runs the cases of all case inputs: several at the same time, with hooks around each input, and sends their events.

Cases are read from their files as they are needed. A case that must wait for others (`depends_on`) is put aside until
they have ended, and another one is taken instead. With `--runs`, a case becomes several items, one for each run, so
that its runs may happen at the same time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from itertools import chain, groupby
from typing import TYPE_CHECKING

from runner.agents.chat import JudgeUse
from runner.execution.attempts import CaseRun
from runner.execution.repetition import Repetition, RetryPasses, interleave
from runner.execution.suite_run import HookError, SuiteRun
from runner.modes.base import CaseAttempt
from runner.planning.plan import CaseSource
from runner.record.events import SuiteEnd, SuiteStart, TestStart, TurnStart, Warned
from runner.record.model import TestPlace, TestResult
from scripttest import Cause, Failure, Status, TestKey
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.cases.reader import LocatedCase
    from runner.execution.run import Run
    from runner.execution.stories import CaseStories


async def run_cases(run: Run, repetition: Repetition) -> None:
    """Runs all cases of a run and sends their events. When enough tests have failed, no case begins any more, and those
    under way are given up, as they are when this is cancelled: they have no result, unless some of their turns, or
    runs, have ended."""
    schedule = _Schedule(run, repetition)
    try:
        await schedule.run()
    except _EnoughFailedError:
        schedule.stopped = f"cancelled by {run.options.failure_flag}"
    except asyncio.CancelledError:
        schedule.stopped = run.stop.reason or schedule.stopped
        raise
    finally:
        await schedule.close()
    await schedule.finish()


class _EnoughFailedError(Exception):
    """The run stops because enough tests have failed or can no longer pass."""


class _Item(Value):
    """A case, or one of its runs, that is waiting to run."""

    suite: SuiteRun
    placed: LocatedCase
    run: int = 0
    """Number of the run, from 1; 0: the case runs once."""

    @property
    def case(self) -> Case:
        """The case."""
        return self.placed.case

    @property
    def key(self) -> TestKey:
        """The key of the case and this run."""
        return TestKey(suite=self.suite.source.suite.id, test=self.case.id, run=self.run or 1)

    @property
    def place(self) -> TestPlace:
        """Where the case stands, with the number of this run."""
        return TestPlace(suite=self.suite.source.suite.id, position=self.placed.position, run=self.run)


class _Schedule:
    """Which case, or run of one, begins next, and what follows when one has ended."""

    def __init__(self, run: Run, repetition: Repetition) -> None:
        self.stopped = "interrupted"
        """Why cases are given up, when they are."""
        self._run, self._repetition = run, repetition
        self._send, self._rounds = repetition.send, repetition.rounds
        self._tasks: list[asyncio.Task[None]] = []
        self._over = False
        self._suites: dict[str, SuiteRun] = {}
        self._queue = self._cases()
        self._is_paced = run.wanted() is not None
        """Whether an observer says which case begins; see `Observer.wanted`."""
        self._wanted: str | None = None
        """The last one that it has said."""
        self._held: dict[str, list[_Item]] | None = None
        """The cases that it has not; None before the first one."""
        self._ready: deque[_Item] = deque()
        """Items that may begin now: cases that no longer have to wait, and further runs of cases that have begun."""
        self._aside: list[_Item] = []
        self._passes = RetryPasses(run.options.retry_errors, self._send, run.stop)
        self._running = 0
        self._shared: set[JudgeUse] = set()
        """Judges that use the connector of the agent that they judge, and for which that was said."""
        story = run.options.story or ("off" if run.environment.ci or not run.options.verbose else "few")
        self._runtime = run.services.agents().runtime
        self._runtime.keeps_functions = story == "all" or (story == "few" and run.options.verbose > 0)
        self._stories: CaseStories | None = None
        self._in_waves = 0
        """Cases that may need more runs when their running ones have ended."""
        self._changed = asyncio.Event()
        """Set when waiting tasks should look again for an item, or when nothing runs any more."""
        if self._is_paced:
            loop = asyncio.get_running_loop()

            def wake() -> None:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self._changed.set)

            run.stop.listen(wake)

    async def run(self) -> None:
        """Runs all cases, in rounds where there are rounds, and after each of these again what broke."""
        parallel = self._run.options.parallel or 1
        if self._rounds is not None:
            self._rounds.begin()
        while True:
            self._passes.number = 1  # each round has its own
            await self._work(parallel)
            while self._passes.continues:
                for pause in self._passes.pauses():
                    await asyncio.sleep(pause)
                if self._passes.continues:
                    self._begin_pass()
                    await self._work(self._passes.at_a_time(parallel))
            if self._rounds is None or self._run.stop.reason or not self._rounds.goes_on():
                return
            self._queue = self._cases()

    async def close(self) -> None:
        """Gives up what is under way, and sends the results of what has ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._stories is not None:
            await self._stories.close()
        for result in self._passes.take():
            self._repetition.end(result)
        for source in self._run.plan.sources:
            self._repetition.cut(source.suite.id)

    async def finish(self) -> None:
        """Ends the suites with cases that have not run, because the run stopped."""
        for suite in self._suites.values():
            if suite.left:
                await suite.finish()

    async def _work(self, parallel: int) -> None:
        self._over = False
        tasks: list[asyncio.Task[None]] = []
        while len(tasks) < parallel and not self._over:
            tasks.append(asyncio.create_task(self._take_all()))
            self._tasks.append(tasks[-1])
            await asyncio.sleep(0)  # so that the first requests are sent before the last cases begin
        await asyncio.gather(*tasks)

    async def _take_all(self) -> None:
        try:
            while (item := await self._take()) is not None:
                self._running += 1
                await self._case(item)
                self._running -= 1
                if self._repetition.has_failed_enough:
                    raise _EnoughFailedError
                await asyncio.sleep(0)
            self._changed.set()
        finally:
            self._over = True

    def _begin_pass(self) -> None:
        self._runtime.begin_pass()
        for _, item in self._passes.begin():
            item.suite.begin_again()
            self._runtime.begin_again(item.key)
            self._ready.append(item)

    # which is next

    def _cases(self) -> Iterator[list[_Item]]:
        """Yields the cases that have no result, each in all its variants."""
        for _, group in groupby(self._run.plan.sources, key=lambda source: source.suite.without_variant):
            sources = list(group)
            suites = [self._suites.get(source.suite.id) or self._begun(source) for source in sources]
            for placed in sources[0].placed(self._run.plan.arrange):
                yield [_Item(suite=suite, placed=placed) for suite in suites if not suite.has_ended(placed.case)]

    def _begun(self, source: CaseSource) -> SuiteRun:
        id = source.suite.id
        self._suites[id] = suite = SuiteRun(source, self._run, self._send, self._rounds is not None)
        self._send(SuiteStart(suite=id, selected=source.selected, total=source.total))
        if not suite.left:
            self._send(SuiteEnd(suite=id))
        return suite

    def _look_for_wanted(self) -> None:
        """Queues the case that the observer wants behind those that it depends on; stops the run if there is none."""
        wanted = self._run.wanted()
        if wanted is None or wanted == self._wanted:
            return
        if self._held is None:
            self._held, self._queue = {items[0].case.id: items for items in self._queue if items}, iter(())
        self._wanted, ids = wanted, [wanted]
        found: deque[list[_Item]] = deque()
        while ids:
            if items := self._held.pop(ids.pop(), None):
                found.appendleft(items)
                ids += items[0].case.depends_on
        if not found:
            self._run.stop.request(f"there is no case {wanted}", 0)
        self._queue = chain(self._queue, found)

    async def _take(self) -> _Item | None:
        """Returns the next item that may begin; waits while there may be one later. None: there will be none."""
        while True:
            if self._run.stop.reason:
                return None
            if self._ready:
                if (item := self._begin([self._ready.popleft()])) is not None:
                    return item
                continue
            if self._is_paced:
                self._look_for_wanted()
            for items in self._queue:
                free = [item for item in items if not item.suite.waits(item.case)]
                self._aside += [item for item in items if item not in free]
                if free and (item := self._begin(free)) is not None:
                    return item
            if not self._is_paced and not self._aside and not (self._running and self._in_waves):
                return None
            if not self._running and self._passes.is_waiting:
                return None  # they wait for what runs again
            if not self._running and self._aside:  # nobody is left who could end what they wait for
                self._ready += self._aside
                self._aside.clear()
                continue
            self._changed.clear()
            await self._changed.wait()

    def _begin(self, items: list[_Item]) -> _Item | None:
        """Returns the first run of cases that may begin, and makes their other runs ready. Runs of variants are
        interleaved. None when an earlier run has made all runs of this round."""
        seed = f"{self._run.options.seed} {items[0].suite.source.suite.without_variant} {items[0].case.id}"
        due = interleave([self._runs_of(item) for item in items], seed)
        self._make_ready(due[1:])
        return due[0] if due else None

    def _runs_of(self, item: _Item) -> list[_Item]:
        case, source = item.case, item.suite.source
        if item.run or case.skip or item.suite.obstacle(case):
            return [item]
        policy = self._run.options.repeat
        if case.repeat is not None:
            from runner.cases.validation import repeat_of

            policy = repeat_of(case)
        if self._run.options.runs == 1 and policy is None:
            return [item]
        tally = self._repetition.tally(item.place, policy, source.runs.get(case.id, ()))
        self._in_waves += policy is not None
        due = tally.due(source.done.get(case.id, {}), None if self._rounds is None else self._rounds.made)
        return [item.replace(run=run) for run in due]

    def _make_ready(self, items: list[_Item]) -> None:
        if items:
            self._ready.extendleft(reversed(items))
            self._changed.set()

    # one case

    async def _case(self, item: _Item) -> None:
        suite, case = item.suite, item.case
        if not self._passes.is_again(item.place):
            of = suite.source.suite.id
            self._send(TestStart(suite=of, name=case.id, position=item.placed.position, run=item.run))
        run = CaseRun(lambda: self._attempt(item))
        try:
            obstacle = suite.obstacle(case)
            if suite.source.broken and not case.skip:
                result = run.last.failed(Failure(cause=Cause.INFRASTRUCTURE, message=suite.source.broken))
            elif obstacle is not None and not case.skip and not item.run:
                result = run.last.skipped(obstacle)
            else:
                if not case.skip:
                    await suite.prepare()
                result = await run.run(suite.within)
            if (refused := self._runtime.refused) and item.key in refused:  # a budget is used up
                self._give_up(item, run, self._run.stop.reason or self.stopped)
                return
        except HookError as error:
            result = run.last.failed(error.failure)
        except asyncio.CancelledError:
            self._give_up(item, run, self.stopped)
            raise
        self._warn_of_judges(run)
        if item.run:
            result = result.replace(run=item.run)
        if not suite.source.broken and self._passes.holds(result, item):
            return
        if run.functions and result.status == Status.FAILED:
            result = await self._with_story(result, run)
        suite.note(result, item.run)
        whole = self._repetition.end(self._passes.with_earlier_errors(result))
        if whole is not None:
            self._in_waves -= whole.repeat is not None
            self._end(item, whole)
            await suite.end_case(case)
        elif self._rounds is not None:
            self._end(item, result)
        else:
            due = self._repetition.tally(item.place.of_test).due()
            self._make_ready([item.replace(run=run) for run in due])

    def _end(self, item: _Item, result: TestResult) -> None:
        if item.suite.end(item.case.id, result.outcome.status):
            aside, self._aside = self._aside, []
            for other in aside:
                (self._aside if other.suite.waits(other.case) else self._ready).append(other)
            self._changed.set()

    async def _with_story(self, result: TestResult, run: CaseRun) -> TestResult:
        """The result with the story of its hooks and tools; without it when the run is given up meanwhile."""
        if self._stories is None:
            from runner.execution.stories import CaseStories

            self._stories = CaseStories(self._run)
        try:
            return result.replace(story=await self._stories.story_of(run.functions))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()  # where this waits next
            return result

    def _give_up(self, item: _Item, run: CaseRun, why: str) -> None:
        """Sends the result of a case that does not go on, if some of its turns or trials have ended."""
        cut = run.interrupted(why)
        if cut is not None:
            self._repetition.end(cut.replace(run=item.run))

    def _warn_of_judges(self, run: CaseRun) -> None:
        for use in run.last.attempt.shared_judges:
            if use not in self._shared:
                self._shared.add(use)
                said = f"{use.judge} judges with {use.connector}, which the agent uses too"
                hint = "models are lenient with their own answers; choose another connector with --judge-connector"
                self._send(Warned(message=f"{said}: {hint}"))

    def _attempt(self, item: _Item) -> CaseAttempt:
        source, position, run = item.suite.source, item.placed.position, item.run
        suite = source.suite
        attempt = CaseAttempt(
            item.suite.environment,
            suite,
            source.folder,
            source.assistant,
            item.case,
            position,
            item.placed.line,
            run=run,
            on_turn=lambda turn: self._send(TurnStart(suite=suite.id, position=position, turn=turn, run=run)),
        )
        attempt.chat.variant = source.variant
        attempt.chat.parts |= item.suite.parts  # of the hooks around all cases
        if run:
            context = attempt.chat.context
            context["chat_id"] += f"-run-{run}"
            context["metadata"] = {"run": run, **context["metadata"]}
        return attempt
