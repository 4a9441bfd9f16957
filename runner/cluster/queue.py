"""The part of a plan that no worker has yet, divided into work units in the order in which modules and cases run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

from runner.cluster.messages import CasesPart, EndedTest, ModulePart, WorkUnit
from runner.planning.case_planning import groups_of as dependency_groups
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.application import TestModule
    from runner.planning.case_source import CaseSource, PlacedCase
    from runner.planning.plan import RunPlan


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
