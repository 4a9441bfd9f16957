"""The work of a run on a cluster: what no worker has yet, divided into work units in the order in which modules and
cases run; and which tests have begun, have results, or were lost with a worker. No result counts twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

from runner.cluster.messages import CasesPart, EndedTest, ModulePart, WorkUnit
from runner.planning.case_planning import groups_of as dependency_groups
from runner.record.events import AttemptEnd, Event, SuiteEnd, SuiteStart, TestEnd, TestStart, TurnStart
from runner.record.model import TestPlace, TestResult
from scripttest import Cause, Failure, Outcome, Status, kind_of
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.application import TestModule
    from runner.cluster.model_calls import StoredAnswers
    from runner.execution.repetition import Repetition, RetryPasses
    from runner.planning.plan import CaseSource, PlacedCase, RunPlan

MOST_CASES = 50
"""Of one unit."""
MOST_MODULES = 50
"""Of one unit."""


class _SourceCases(Value):
    """Cases of a source that run on the same worker."""

    source: CaseSource
    cases: list[PlacedCase]


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
        self._returned: deque[WorkUnit] = deque()
        self._modules = deque(map(self._part_of, modules))
        self._size_in_modules, self._size_in_cases = UnitSize(MOST_MODULES), UnitSize(MOST_CASES)
        self._left = sum(source.selected - len(source.ended) for source in plan.sources)
        self._groups = self._all_groups()

    def give_back(self, unit: WorkUnit) -> None:
        """Takes a work unit that is to run before all others."""
        self._returned.append(unit)

    def ended(self, unit: WorkUnit, seconds: float) -> None:
        """Takes note of how long a work unit took."""
        if unit.modules:
            self._size_in_modules.learn(len(unit.modules), seconds)
        else:
            self._size_in_cases.learn(sum(len(part.cases) for part in unit.cases), seconds)

    def take(self, places: int) -> WorkUnit | None:
        """The next unit, None when there is nothing left, where so many run at a time."""
        if self._returned:
            return self._returned.popleft()
        if self._modules:
            number = self._size_in_modules.of(len(self._modules), places)
            return WorkUnit(modules=tuple(self._modules.popleft() for _ in range(number)))
        number = max(self._size_in_cases.of(self._left, places), self._plan.options.parallel or 1)
        found: dict[str, _SourceCases] = {}
        taken = 0
        while taken < number and (group := next(self._groups, None)) is not None:
            for one in group:
                found.setdefault(one.source.suite.id, _SourceCases(source=one.source, cases=[])).cases.extend(one.cases)
                taken += len(one.cases)
        self._left -= taken
        parts = tuple(cases_part(one.source, one.cases, self._round) for one in found.values())
        return WorkUnit(cases=parts) if parts else None

    def _part_of(self, module: TestModule) -> ModulePart:
        plan = self._plan
        id = module.id
        retained = plan.retained
        done = (
            EndedTest(name=result.name, position=result.position, run=result.run, status=result.status)
            for result in (retained.results.get(id, ()) if retained is not None else ())
        )
        return ModulePart(module=module, picked=plan.picked.get(id), done=tuple(done))

    def _all_groups(self) -> Iterator[list[_SourceCases]]:
        """Cases that run on the same worker, in all variants: one, or all that depend on each other, or all of an input
        with hooks, or with one chat."""
        for _, variants in groupby(self._plan.sources, key=lambda source: source.suite.without_variant):
            sources = list(variants)
            for source in sources:
                self._reached(source)
            for group in self._groups_of(sources[0]):
                left = [
                    _SourceCases(source=source, cases=[placed for placed in group if self._is_left(source, placed)])
                    for source in sources
                ]
                yield [one for one in left if one.cases]

    def _is_left(self, source: CaseSource, placed: PlacedCase) -> bool:
        id = placed.case.id
        return id not in source.ended and self._round not in source.done.get(id, ())

    def _groups_of(self, source: CaseSource) -> Iterator[list[PlacedCase]]:
        options = self._plan.settings.of(source.assistant.id, self._plan.options)
        if options.before or options.after or self._plan.context_of(source.assistant.id)["chat_id"]:
            yield list(self._placed(source))
        elif source.waited:
            names = dependency_groups(source)
            groups: dict[str, list[PlacedCase]] = {}
            for placed in self._placed(source):
                id = placed.case.id
                groups.setdefault(names.get(id, f"\0{id}"), []).append(placed)
            yield from groups.values()
        else:
            for placed in self._placed(source):
                yield [placed]

    def _placed(self, source: CaseSource) -> Iterable[PlacedCase]:
        order = self._plan.order
        return source.placed(None if order is None else order.tests)


def cases_part(source: CaseSource, cases: list[PlacedCase], round: int | None) -> CasesPart:
    """Cases of a source as they travel. In a `round` with the number of their run: those that depend on others wait for
    them in the first one, which decides whether they run."""
    ids = {placed.case.id for placed in cases}
    first = {id: runs[1] for id, runs in source.done.items() if round is not None and 1 in runs}
    known = {id: status for id, status in {**source.ended, **first}.items() if id not in ids}
    ended = {id: known[id] for placed in cases for id in placed.case.depends_on if id in known}
    return CasesPart(
        suite=source.suite,
        folder=source.folder,
        cases=tuple(cases),
        waited=source.waited & (ended.keys() | ids if round in (None, 1) else ended.keys()),
        broken=source.broken,
        variant=source.variant,
        done={id: runs for id, runs in source.done.items() if id in ids},
        ended=ended,
        runs=dict.fromkeys(ids, (round,)) if round is not None else {},
    )


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

    def __init__(
        self,
        send: Callable[[Event], None],
        repetition: Repetition,
        passes: RetryPasses,
        answers: StoredAnswers,
    ) -> None:
        """`answers` are those of models in tests that are under way."""
        self._send = send
        self._repetition = repetition
        self._passes = passes
        self._answers = answers
        self._selected: dict[str, int] = {}
        """Suite → how many of its tests run, or have run before."""
        self._began: set[TestPlace] = set()
        self._runs: dict[TestPlace, dict[int, Status]] = {}
        """Test of which some runs have ended → how."""
        self._ended: dict[str, dict[int, Status]] = {}
        """Suite → position → how the test ended."""
        self._over: set[str] = set()
        """Suites of which all tests have ended."""
        self._done: dict[str, list[EndedTest]] = {}
        """Module → its results."""
        self._held: dict[TestPlace, tuple[str, ModulePart | CasesPart]] = {}
        """Results that are held back for the next pass → the name of the test, and what runs it again."""
        self._losses: dict[TestPlace, int] = {}
        self._sources: dict[str, CaseSource] = {}
        self.repeated = 0
        """Results that came twice."""

    @property
    def listed(self) -> set[str]:
        """The suites whose tests are known."""
        return set(self._selected)

    def begin_source(self, source: CaseSource) -> None:
        """Begins a suite of cases."""
        suite = source.suite.id
        if suite in self._sources:  # in an earlier round
            return
        self._sources[suite] = source
        self._ended.setdefault(suite, {})
        self._send(SuiteStart(suite=suite, selected=source.selected, total=source.total))
        self._selected[suite] = source.selected - len(source.ended)
        self._end_suite(suite)

    def end_sources(self) -> None:
        """Ends the suites of cases that have begun, also those of which cases are left."""
        for suite in self._sources:
            if suite not in self._over:
                self._send(SuiteEnd(suite=suite))

    def take(self, event: Event, part: ModulePart | CasesPart | None) -> None:
        """Sends what is new. `part` is what the event is about of a work unit."""
        if isinstance(event, SuiteStart):
            if event.suite not in self._selected:
                assert isinstance(part, ModulePart)
                self._ended[event.suite] = {}
                self._done[event.suite] = list(part.done)
                self._selected[event.suite] = event.selected - len({done.position for done in part.done})
                self._send(event)
                self._end_suite(event.suite)
        elif isinstance(event, TestStart):
            if event.place not in self._began and not self._is_over(event.place):
                self._began.add(event.place)
                self._send(event)
        elif isinstance(event, TurnStart):
            if not self._is_over(event.place):
                self._send(event)
        elif isinstance(event, AttemptEnd | TestEnd):
            self._end(event.result, part)

    def rest(self, unit: WorkUnit) -> WorkUnit | None:
        """The tests of a work unit that have no result; None when all have one."""
        modules = [left for one in unit.modules if (left := self._rest_of_module(one)) is not None]
        cases = [rest for part in unit.cases if (rest := self._rest_of_cases(part)) is not None]
        if not modules and not cases:
            return None
        of_cases = {part.suite.id: {placed.case.id for placed in part.cases} for part in cases}
        answers = self._answers.lines({**dict.fromkeys(part.module.id for part in modules), **of_cases})
        return unit.replace(modules=tuple(modules), cases=tuple(cases), answers=answers)

    def lose(self, unit: WorkUnit, under_way: Mapping[TestPlace, str]) -> None:
        """Records that a worker was lost while it ran tests. A test that has lost too many workers is broken."""
        for place, name in under_way.items():
            if self._is_over(place):
                continue
            self._losses[place] = self._losses.get(place, 0) + 1
            if self._losses[place] >= MOST_LOSSES:
                said = f"its worker was lost {MOST_LOSSES} times while it ran; it may need too much memory"
                failure = Failure(cause=Cause.INFRASTRUCTURE, message=said)
                outcome = Outcome(name=name, status=Status.FAILED, milliseconds=0, failures=(failure,))
                result = TestResult(suite=place.suite, name=name, position=place.position, outcome=outcome)
                self._finish(result, unit.part_with(place.suite))

    def begin_pass(self) -> Iterator[WorkUnit]:
        """Begins the next pass; what runs in it."""
        parts = [self._held.pop(result.place)[1] for result in self._passes.begin()]
        modules = {part.module.id: part for part in parts if isinstance(part, ModulePart)}
        for module in modules.values():
            rest = self._rest_of_module(module)
            if rest is not None:
                yield WorkUnit(modules=(rest,), begins_pass=True)
        for part in parts:
            if isinstance(part, CasesPart):
                yield WorkUnit(cases=(part,), begins_pass=True)

    def give_up_postponed(self) -> None:
        """Ends what was to run again, but does not, with the results that it had."""
        for result in self._passes.take():
            self._finish(result, self._held.pop(result.place)[1])

    def _end(self, result: TestResult, part: ModulePart | CasesPart | None) -> None:
        place = result.place
        if result.attempts:  # of its runs, each of which was sent
            return
        if place in self._held or self._is_over(place):
            self.repeated += 1
            return
        if place in self._began:
            self._began.remove(place)
        else:  # a test that ends at once has no start of its own
            self._send(TestStart(suite=result.suite, name=result.name, position=result.position, run=result.run))
        is_module = isinstance(part, ModulePart) and not kind_of(result.name)  # which could not be loaded
        if part is not None and not is_module and self._passes.holds(result):
            self._held[place] = result.name, _alone(part, result)
            return
        self._finish(result, part)

    def _finish(self, result: TestResult, part: ModulePart | CasesPart | None) -> None:
        suite, position, status = result.suite, result.position, result.outcome.status
        ended = self._repetition.end(self._passes.with_earlier_errors(result))
        if suite in self._done:
            self._done[suite].append(EndedTest(name=result.name, position=position, run=result.run, status=status))
        if result.run:
            self._runs.setdefault(result.place.of_test, {})[result.run] = status
        self._answers.end(result)
        if ended is not None:
            self._ended.setdefault(suite, {})[position] = ended.outcome.status
            if result.run:
                del self._runs[result.place.of_test]
            self._end_suite(suite)

    def _end_suite(self, suite: str) -> None:
        if len(self._ended[suite]) == self._selected.get(suite, -1):
            self._over.add(suite)
            self._send(SuiteEnd(suite=suite))

    def _has_its_runs(self, part: CasesPart, placed: PlacedCase) -> bool:
        """Whether the runs of a case have ended that a part names, where it names some."""
        numbers = part.runs.get(placed.case.id)
        return numbers is not None and self._runs_of(part, placed).keys() >= set(numbers)

    def _runs_of(self, part: CasesPart, placed: PlacedCase) -> Mapping[int, Status]:
        """How those runs of a case ended that have, while others have not."""
        return self._runs.get(TestPlace(suite=part.suite.id, position=placed.position), {})

    def _is_over(self, place: TestPlace) -> bool:
        if place.position in self._ended.get(place.suite, ()):
            return True
        return bool(self._runs) and place.run in self._runs.get(place.of_test, ())

    def _rest_of_module(self, part: ModulePart) -> ModulePart | None:
        id = part.module.id
        if id not in self._selected:
            return part
        held = {place.position for place in self._held if place.suite == id}
        if len(self._ended[id].keys() | held) >= self._selected[id]:
            return None
        over = [done for done in self._done[id] if done.position in self._ended[id]]
        before = [done for done in part.done if done not in over]
        waits = [
            EndedTest(name=name, position=place.position, run=place.run, status=Status.FAILED)
            for place, (name, _) in self._held.items()
            if place.suite == id
        ]
        return part.replace(done=(*before, *over, *waits))

    def _rest_of_cases(self, part: CasesPart) -> CasesPart | None:
        suite = part.suite.id
        ended = self._ended.get(suite, {})
        held = {place.position for place in self._held if place.suite == suite}
        cases = tuple(
            placed
            for placed in part.cases
            if placed.position not in ended and placed.position not in held and not self._has_its_runs(part, placed)
        )
        if not cases:
            return None
        over = {placed.case.id: ended[placed.position] for placed in part.cases if placed.position in ended}
        over |= {  # of which a round has the first run
            placed.case.id: self._runs_of(part, placed)[1]
            for placed in part.cases
            if placed.position not in ended and self._has_its_runs(part, placed) and 1 in self._runs_of(part, placed)
        }
        done = {
            placed.case.id: {**part.done.get(placed.case.id, {}), **self._runs_of(part, placed)} for placed in cases
        }
        return part.replace(
            cases=cases, ended={**part.ended, **over}, done={id: runs for id, runs in done.items() if runs}
        )


def _alone(part: ModulePart | CasesPart, result: TestResult) -> ModulePart | CasesPart:
    """What runs one test of a part again."""
    if isinstance(part, ModulePart):
        return part
    return part.replace(cases=tuple(placed for placed in part.cases if placed.position == result.position))
