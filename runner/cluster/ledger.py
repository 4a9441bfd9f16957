"""Records which tests of a run have begun, have results, or were lost with a worker. No result counts twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from runner.cluster.messages import CasesPart, EndedTest, ModulePart, WorkUnit
from runner.record.events import AttemptEnd, Event, SuiteEnd, SuiteStart, TestEnd, TestStart, TurnStart
from runner.record.model import TestPlace, TestResult
from scripttest import Cause, Failure, Outcome, Status, kind_of

if TYPE_CHECKING:
    from runner.cluster.model_calls import StoredAnswers
    from runner.execution.repetition import Repetition, RetryPasses
    from runner.planning.case_source import CaseSource, PlacedCase

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
