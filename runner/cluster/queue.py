"""The work of a run on a cluster: what no worker has yet, divided into work units in the order in which modules and
cases run; and which tests have begun, have results, or were lost with a worker. No result counts twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

from runner.cluster.messages import WorkUnit
from runner.planning.case_planning import groups_of as dependency_groups
from runner.record.events import AttemptEnd, Event, SuiteEnd, SuiteStart, TestEnd, TestStart, TurnStart
from runner.record.model import TestPlace, TestResult
from scripttest import Cause, Failure, Outcome, Status, kind_of
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.application import TestModule
    from runner.cases.reader import LocatedCase
    from runner.cluster.model_calls import StoredAnswers
    from runner.execution.repetition import Repetition, RetryPasses
    from runner.planning.plan import CaseSource, RunPlan

MOST_CASES = 50
"""Of one unit."""
MOST_MODULES = 50
"""Of one unit."""


class SourceCases(Value):
    """Cases of a source that run on the same worker."""

    source: CaseSource
    cases: list[LocatedCase]


class Work(Value):
    """What one worker is given at a time, before it is known what is left of it when it begins."""

    modules: tuple[TestModule, ...] = ()
    cases: tuple[SourceCases, ...] = ()
    round: int | None = None
    """The run of each case that is made; None: all of them."""
    begins_pass: bool = False
    """Whether it runs again because it broke."""

    def of(self, place: TestPlace) -> Work:
        """The case at a place alone."""
        (one,) = (one for one in self.cases if one.source.suite.id == place.suite)
        return self.replace(cases=(one.replace(cases=[case for case in one.cases if case.position == place.position]),))


class WorkQueue:
    """The part of a plan that no worker has been given yet. Cases are read as they are needed."""

    def __init__(
        self,
        plan: RunPlan,
        modules: Iterable[TestModule],
        reached: Callable[[CaseSource], None],
        round: int | None = None,
    ) -> None:
        """`modules` are left, and all cases; in a `round`, the run of that number of each case. `reached` hears of each
        source of cases before its first unit."""
        self._plan = plan
        self._round = round
        self._reached = reached
        self._returned: deque[Work] = deque()
        self._modules = deque(modules)
        self._size_in_modules, self._size_in_cases = UnitSize(MOST_MODULES), UnitSize(MOST_CASES)
        self._left = sum(source.selected - len(source.ended) for source in plan.sources)
        self._groups = self._all_groups()

    def give_back(self, work: Work) -> None:
        """Takes work that is to run before all other."""
        self._returned.append(work)

    def ended(self, work: Work, seconds: float) -> None:
        """Takes note of how long some work took."""
        if work.modules:
            self._size_in_modules.learn(len(work.modules), seconds)
        else:
            self._size_in_cases.learn(sum(len(one.cases) for one in work.cases), seconds)

    def take(self, places: int) -> Work | None:
        """The next work, None when there is nothing left, where so many run at a time."""
        if self._returned:
            return self._returned.popleft()
        if self._modules:
            number = self._size_in_modules.of(len(self._modules), places)
            return Work(modules=tuple(self._modules.popleft() for _ in range(number)))
        number = max(self._size_in_cases.of(self._left, places), self._plan.options.parallel or 1)
        found: dict[str, SourceCases] = {}
        taken = 0
        while taken < number and (group := next(self._groups, None)) is not None:
            for one in group:
                found.setdefault(one.source.suite.id, SourceCases(source=one.source, cases=[])).cases.extend(one.cases)
                taken += len(one.cases)
        self._left -= taken
        return Work(cases=tuple(found.values()), round=self._round) if found else None

    def _all_groups(self) -> Iterator[list[SourceCases]]:
        """Cases that run on the same worker, in all variants: one, or all that depend on each other, or all of an input
        with hooks, or with one chat."""
        for _, variants in groupby(self._plan.sources, key=lambda source: source.suite.without_variant):
            sources = list(variants)
            for source in sources:
                self._reached(source)
            for group in self._groups_of(sources[0]):
                left = [
                    SourceCases(source=source, cases=[placed for placed in group if self._is_left(source, placed)])
                    for source in sources
                ]
                yield [one for one in left if one.cases]

    def _is_left(self, source: CaseSource, placed: LocatedCase) -> bool:
        id = placed.case.id
        return id not in source.ended and self._round not in source.done.get(id, ())

    def _groups_of(self, source: CaseSource) -> Iterator[list[LocatedCase]]:
        options = self._plan.settings.of(source.assistant.id, self._plan.options)
        if options.before or options.after or self._plan.context_of(source.assistant.id)["chat_id"]:
            yield list(source.placed(self._plan.arrange))
        elif source.waited:
            names = dependency_groups(source)
            groups: dict[str, list[LocatedCase]] = {}
            for placed in source.placed(self._plan.arrange):
                id = placed.case.id
                groups.setdefault(names.get(id, f"\0{id}"), []).append(placed)
            yield from groups.values()
        else:
            for placed in source.placed(self._plan.arrange):
                yield [placed]


SHARE = 2
"""What is left is taken for so many units on each place, so that the last ones are small."""
LEAST = 0.1
"""Seconds that a work unit should take at least: each has a cost of its own."""


class UnitSize:
    """Chooses the size of the next unit from what is left, and from the time that earlier units took."""

    def __init__(self, most: int) -> None:
        """No unit has more than `most`."""
        self._most = most
        self._least = 1

    def of(self, left: int, places: int) -> int:
        """The size of the next unit, where so many are left, and so many units run at a time."""
        return min(left, self._most, max(self._least, ceil(left / (SHARE * max(1, places)))))

    def learn(self, size: int, seconds: float) -> None:
        """Takes note of how long a work unit of a size took."""
        self._least = ceil(LEAST * size / max(seconds, 0.001))


MOST_LOSSES = 3
"""A test is given up after this many workers were lost while they ran it."""


class Ledger:
    """Takes what runner processes say, and sends what is new of it."""

    def __init__(self, plan: RunPlan, repetition: Repetition, passes: RetryPasses, answers: StoredAnswers) -> None:
        """`answers` are those of models in tests that are under way."""
        self._plan, self._repetition, self._passes, self._answers = plan, repetition, passes, answers
        self._send = repetition.send
        self._modules = {module.id: module for module in plan.modules}
        self._sources: dict[str, CaseSource] = {}
        """Those that have begun."""
        self._left: dict[str, int] = {}
        """Suite → how many of its tests have no result."""
        self._began: set[TestPlace] = set()
        self._ended: dict[str, dict[int, str]] = {}
        """Suite → position → name of each test that has its result."""
        self._statuses: dict[str, dict[str, Status]] = {}
        """Suite of cases → how those ended that others depend on; in rounds, in the first one."""
        self._losses: dict[TestPlace, int] = {}

    @property
    def listed(self) -> set[str]:
        """The suites whose tests are known."""
        return set(self._left)

    def begin_source(self, source: CaseSource) -> None:
        """Begins a suite of cases."""
        suite = source.suite.id
        if suite in self._sources:  # in an earlier round
            return
        self._sources[suite] = source
        first = {id: runs[1] for id, runs in source.done.items() if 1 in runs} if self._in_rounds else {}
        self._statuses[suite] = {**source.ended, **first}
        event = SuiteStart(suite=suite, selected=source.selected, total=source.total)
        self._begin_suite(event, source.selected - len(source.ended))

    def _begin_suite(self, event: SuiteStart, left: int) -> None:
        self._ended[event.suite], self._left[event.suite] = {}, left
        self._send(event)
        if not left:
            self._send(SuiteEnd(suite=event.suite))

    @property
    def _in_rounds(self) -> bool:
        return self._repetition.rounds is not None

    def end_sources(self) -> None:
        """Ends the suites of cases that have begun, also those of which cases are left."""
        for suite in self._sources:
            if self._left[suite]:
                self._send(SuiteEnd(suite=suite))

    def take(self, event: Event, work: Work) -> None:
        """Sends what is new; `work` is what the event is about."""
        if isinstance(event, SuiteStart):
            if event.suite not in self._left:
                self._begin_suite(event, event.selected - len(self._plan.retained_tests(event.suite)))
        elif isinstance(event, TestStart):
            if event.place not in self._began and not self._is_over(event.place):
                self._began.add(event.place)
                self._send(event)
        elif isinstance(event, TurnStart):
            if not self._is_over(event.place):
                self._send(event)
        elif isinstance(event, AttemptEnd | TestEnd):
            self._end(event.result, work)

    def rest(self, work: Work) -> Work | None:
        """The tests of some work that have no result; None when all have one."""
        modules = tuple(module for module in work.modules if self._is_left(module.id))
        held = {(place.suite, place.position) for place in self._passes.held}
        cases = []
        for one in work.cases:
            suite = one.source.suite.id
            left = [placed for placed in one.cases if (suite, placed.position) not in held]
            left = [placed for placed in left if not self._has_its_run(suite, placed, work.round)]
            cases += [one.replace(cases=left)] if left else []
        return work.replace(modules=modules, cases=tuple(cases)) if modules or cases else None

    def unit(self, work: Work) -> WorkUnit:
        """What a worker is sent of the `rest` of some work."""
        cases = {one.source.suite.id: {placed.case.id for placed in one.cases} for one in work.cases}
        return WorkUnit(
            modules=work.modules,
            sources=tuple(self._source(one, work) for one in work.cases),
            elsewhere={module.id: self._elsewhere(module.id) for module in work.modules},
            answers=self._answers.lines({**dict.fromkeys(module.id for module in work.modules), **cases}),
            begins_pass=work.begins_pass,
        )

    def lose(self, under_way: Mapping[TestPlace, str]) -> None:
        """Records that a worker was lost while it ran tests. A test that has lost too many workers is broken."""
        for place, name in under_way.items():
            if self._is_over(place):
                continue
            self._losses[place] = self._losses.get(place, 0) + 1
            if self._losses[place] >= MOST_LOSSES:
                said = f"its worker was lost {MOST_LOSSES} times while it ran; it may need too much memory"
                failure = Failure(cause=Cause.INFRASTRUCTURE, message=said)
                outcome = Outcome(name=name, status=Status.FAILED, milliseconds=0, failures=(failure,))
                lost = TestResult(suite=place.suite, name=name, position=place.position, outcome=outcome)
                self._finish(self._passes.with_earlier_errors(lost))

    def begin_pass(self) -> Iterable[Work]:
        """Begins the next pass; what runs in it: a module once, however many of its tests broke."""
        again: dict[object, Work] = {}
        for result, work in self._passes.begin():
            place = result.place
            if place.suite in self._modules:
                again[place.suite] = Work(modules=(self._modules[place.suite],), begins_pass=True)
            else:
                again[place.of_test] = work.of(place).replace(begins_pass=True)
        return again.values()

    def give_up_postponed(self) -> None:
        """Ends what was to run again, but does not, with the results that it had."""
        for result in self._passes.take():
            self._finish(result)

    def _end(self, result: TestResult, work: Work) -> None:
        place = result.place
        if result.attempts:  # of its runs, each of which was sent
            return
        if place in self._passes.held or self._is_over(place):
            return  # it came twice
        if place in self._began:
            self._began.remove(place)
        else:  # a test that ends at once has no start of its own
            self._send(TestStart(suite=result.suite, name=result.name, position=result.position, run=result.run))
        could_load = result.suite not in self._modules or kind_of(result.name)
        if could_load and self._passes.holds(result, work):
            return
        self._finish(self._passes.with_earlier_errors(result))

    def _finish(self, result: TestResult) -> None:
        suite = result.suite
        ended = self._repetition.end(result)
        self._answers.end(result)
        source = self._sources.get(suite)
        if source is not None and result.name in source.waited and (ended is not None or self._in_rounds):
            self._statuses[suite].setdefault(result.name, (result if ended is None else ended).outcome.status)
        if ended is not None:
            self._ended[suite][result.position] = result.name
            self._left[suite] -= 1
            if not self._left[suite]:
                self._send(SuiteEnd(suite=suite))

    def _is_over(self, place: TestPlace) -> bool:
        has_ended = place.position in self._ended.get(place.suite, ())
        return has_ended or place.run in self._repetition.runs_of(place.of_test)

    def _has_its_run(self, suite: str, placed: LocatedCase, round: int | None) -> bool:
        """Whether a case has its result, or the run of a round."""
        return placed.position in self._ended.get(suite, ()) or round in self._runs_of(suite, placed)

    def _runs_of(self, suite: str, placed: LocatedCase) -> Mapping[int, Status]:
        return self._repetition.runs_of(TestPlace(suite=suite, position=placed.position))

    def _is_left(self, module: str) -> bool:
        held = {place.position for place in self._passes.held if place.suite == module}
        return self._left.get(module, 1) > len(held)

    def _elsewhere(self, module: str) -> dict[str, int]:
        """The tests of a module that have a result, or wait for the next pass, and their positions."""
        ended = {name: position for position, name in self._ended.get(module, {}).items()}
        held = {one.name: place.position for place, (one, _) in self._passes.held.items() if place.suite == module}
        return {**self._plan.retained_tests(module), **ended, **held}

    def _source(self, one: SourceCases, work: Work) -> CaseSource:
        """Cases as they are sent, with how those ended that they depend on. All variants of an input have the same
        cases, and those that one of them has no use for have ended there. In rounds, cases wait for others in the first
        one, which decides whether they run."""
        from runner.agents.assistant import Assistant

        source, round = one.source, work.round
        suite, input = source.suite.id, source.suite.without_variant
        others = (other.cases for other in work.cases if other.source.suite.without_variant == input)
        cases = {placed.position: placed for cases in others for placed in cases}
        own = {placed.case.id for placed in one.cases}
        known = self._statuses[suite]
        needed = {id for placed in one.cases for id in placed.case.depends_on} - own
        ended = {id: known[id] for id in needed if id in known}
        unused = [placed.case.id for placed in cases.values() if placed.case.id not in own]
        runs = {
            placed.case.id: {**source.done.get(placed.case.id, {}), **self._runs_of(suite, placed)}
            for placed in one.cases
        }
        return source.replace(
            assistant=Assistant(id=source.assistant.id, folder=source.assistant.folder, name=""),
            selected=len(own) + len(unused) + len(ended),
            total=len(own) + len(unused) + len(ended),
            cases=partial(iter, list(cases.values())),
            ids=tuple,
            waited=source.waited & (ended.keys() | own if round in (None, 1) else ended.keys()),
            done={id: made for id, made in runs.items() if made},
            ended={**dict.fromkeys(unused, Status.PASSED), **ended},
            runs=dict.fromkeys(own, (round,)) if round is not None else {},
        )
