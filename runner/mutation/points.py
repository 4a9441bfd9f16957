"""What differs at the point of a survivor: the values there with the mutant and without it, in tests that reach it.
Equal values are a test that is missing; other ones are values at which no test looks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, zip_longest

from runner.mutation.trials import Walk, trial_of
from runner.mutation.verdicts import Point
from scripttest import Mutant, MutantHost, Trial

MOST = 200
"""At most this many survivors are looked at,"""
MOST_TESTS = 25
"""each in at most this many tests."""
_JSON = "="
_UNDEFINED = "=undefined"


class _Look:
    """A survivor that is being looked at, in one test after the other."""

    def __init__(self, mutant: Mutant, tests: list[Walk]) -> None:
        self.mutant = mutant
        self.left = deque(tests[:MOST_TESTS])
        self.are_all = len(tests) <= MOST_TESTS
        self.without: tuple[str, ...] = ()
        self.point: Point | None = None

    def take(self, mutated: tuple[str, ...]) -> bool:
        """Takes the values in the first of the tests that are left; returns whether others are to be tried."""
        test = self.left.popleft().key
        pairs = list(zip_longest(self.without, mutated, fillvalue=_JSON))
        for without, value in pairs:
            if not (without.startswith(_JSON) and value.startswith(_JSON)):
                self.point = None
                return False
            if without != value:
                if without == _UNDEFINED and value == _JSON:  # a call that returns nothing, and is left out
                    self.point = None
                    return False
                self.point = Point(test=test, without=without[1:], mutated=value[1:])
                return False
        if pairs and self.are_all and not self.left:
            self.point = Point(without=pairs[-1][0][1:])
        return bool(pairs and self.left)


def points_of(
    survivors: Iterable[Mutant],
    walks: Mapping[int, list[Walk]],
    host: MutantHost,
    left: Callable[[], float | None],
    limit: float,
) -> dict[int, Point]:
    """Number of a survivor → its point, where that can be told. Blocks.

    Args:
        walks: number of a mutant → the tests that reach it.
        left: as for `MutantHost.try_all`.
        limit: the time limit of a test in seconds.
    """
    looks = [_Look(mutant, walks[mutant.number]) for mutant in islice(survivors, MOST) if mutant.noted]
    waiting = deque((look, -look.mutant.number) for look in looks)  # which is none, in a world of its own
    asked: dict[int, _Look] = {}

    def following(module: str) -> Trial | None:
        for _ in range(len(waiting)):  # a worker goes on with the module that it has loaded
            if waiting[0][0].left[0].key.suite == module:
                break
            waiting.rotate(-1)
        if not waiting:
            return None
        look, number = waiting.popleft()
        trial = trial_of([look.left[0]], number, limit, noted=look.mutant.noted)
        asked[id(trial)] = look
        return trial

    for tried in host.try_all(following, left):
        look = asked.pop(id(tried.trial))
        if tried.trial.mutant < 0:
            look.without = tried.values
            waiting.append((look, look.mutant.number))
        elif look.take(tried.values):
            waiting.append((look, -look.mutant.number))
    return {look.mutant.number: look.point for look in looks if look.point is not None}
