"""Divides a plan into pieces: modules and cases, in the order in which they run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from runner.cluster.piece_size import PieceSize
from runner.cluster.pieces import CasesPart, Done, ModulePart, Piece
from runner.planning.case_planning import groups_of
from scripttest import Status
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.application import TestModule
    from runner.planning.case_source import CaseSource, PlacedCase
    from runner.planning.plan import RunPlan

MOST_CASES = 50
"""Of one piece."""
MOST_MODULES = 50
"""Of one piece."""


class _Taken(Value):
    """Cases of a source that run on the same worker."""

    source: CaseSource
    cases: list[PlacedCase]


class Feed:
    """The part of a plan that no worker has been given yet. Cases are read as they are needed."""

    def __init__(
        self,
        plan: RunPlan,
        modules: Iterable[TestModule],
        reached: Callable[[CaseSource], None],
        round: int | None = None,
    ) -> None:
        """`modules` are left, and all cases; in a `round`, the run of that number of each case. `reached` hears of each
        source of cases before its first piece."""
        self._plan = plan
        self._round = round
        self._reached = reached
        self._returned: deque[Piece] = deque()
        self._modules = deque(map(self._part_of, modules))
        self._size_in_modules, self._size_in_cases = PieceSize(MOST_MODULES), PieceSize(MOST_CASES)
        self._left = sum(source.selected - len(source.ended) for source in plan.sources)
        self._units = self._all_units()

    def give_back(self, piece: Piece) -> None:
        """Takes a piece that is to run before all others."""
        self._returned.append(piece)

    def ended(self, piece: Piece, seconds: float) -> None:
        """Takes note of how long a piece took."""
        if piece.modules:
            self._size_in_modules.learn(len(piece.modules), seconds)
        else:
            self._size_in_cases.learn(sum(len(part.cases) for part in piece.cases), seconds)

    def take(self, places: int) -> Piece | None:
        """The next piece, None when there is nothing left, where so many run at a time."""
        if self._returned:
            return self._returned.popleft()
        if self._modules:
            number = self._size_in_modules.of(len(self._modules), places)
            return Piece(modules=tuple(self._modules.popleft() for _ in range(number)))
        number = max(self._size_in_cases.of(self._left, places), self._plan.options.parallel or 1)
        found: dict[str, _Taken] = {}
        taken = 0
        while taken < number and (unit := next(self._units, None)) is not None:
            for one in unit:
                found.setdefault(one.source.suite.id, _Taken(source=one.source, cases=[])).cases.extend(one.cases)
                taken += len(one.cases)
        self._left -= taken
        parts = tuple(cases_part(one.source, one.cases, self._round) for one in found.values())
        return Piece(cases=parts) if parts else None

    def _part_of(self, module: TestModule) -> ModulePart:
        plan = self._plan
        id = module.id
        retained = plan.resume.retained if plan.resume is not None else None
        records = retained.results.get(id, ()) if retained is not None else ()
        done = (
            Done(
                name=record["id"],
                position=record["position"],
                run=record.get("run", 0),
                status=Status(record["status"]),
            )
            for record in records
        )
        return ModulePart(module=module, picked=plan.picked.get(id), done=tuple(done))

    def _all_units(self) -> Iterator[list[_Taken]]:
        """Cases that run on the same worker, in all variants: one, or all that depend on each other, or all of an input
        with hooks, or with one chat."""
        for _, group in groupby(self._plan.sources, key=lambda source: source.suite.without_variant):
            sources = list(group)
            for source in sources:
                self._reached(source)
            for unit in self._units_of(sources[0]):
                left = [
                    _Taken(source=source, cases=[placed for placed in unit if self._is_left(source, placed)])
                    for source in sources
                ]
                yield [one for one in left if one.cases]

    def _is_left(self, source: CaseSource, placed: PlacedCase) -> bool:
        id = placed.case.id
        return id not in source.ended and self._round not in source.done.get(id, ())

    def _units_of(self, source: CaseSource) -> Iterator[list[PlacedCase]]:
        options = self._plan.settings.of(source.assistant.id, self._plan.options)
        if options.before or options.after or self._plan.context_of(source.assistant.id)["chat_id"]:
            yield list(self._placed(source))
        elif source.waited:
            groups = groups_of(source)
            units: dict[str, list[PlacedCase]] = {}
            for placed in self._placed(source):
                id = placed.case.id
                units.setdefault(groups.get(id, f"\0{id}"), []).append(placed)
            yield from units.values()
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
