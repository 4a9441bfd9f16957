"""How large the pieces of a run are."""

from __future__ import annotations

import pytest

from runner.cluster.queue import LEAST, UnitSize


def sizes(count: int, places: int, size: UnitSize) -> list[int]:
    """The sizes of all pieces of so many tests."""
    found: list[int] = []
    while left := count - sum(found):
        found.append(size.of(left, places))
    return found


def test_pieces_become_smaller_towards_the_end() -> None:
    assert sizes(20, 2, UnitSize(50)) == [5, 4, 3, 2, 2, 1, 1, 1, 1]
    assert sizes(500, 1, UnitSize(50))[:3] == [50, 50, 50]
    assert sizes(3, 100, UnitSize(50)) == [1, 1, 1]


@pytest.mark.parametrize(("each", "size"), [(LEAST / 10, 10), (LEAST / 1000, 50), (LEAST * 30, 1)])
def test_a_piece_of_short_tests_is_worth_its_cost(each: float, size: int) -> None:
    pieces = UnitSize(50)
    pieces.learn(4, 4 * each)
    assert pieces.of(left=60, places=60) == size


def test_a_piece_without_a_duration_says_nothing_bad() -> None:
    pieces = UnitSize(50)
    pieces.learn(4, 0.0)
    assert pieces.of(left=60, places=1) == 50
