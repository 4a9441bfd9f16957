"""How many modules, or how many cases, a piece has."""

from __future__ import annotations

from math import ceil

SHARE = 2
"""What is left is taken for so many pieces on each place, so that the last ones are small."""
LEAST = 0.1
"""Seconds that a piece should take at least: each has a cost of its own."""


class PieceSize:
    """Chooses the size of the next piece from what is left, and from the time that earlier pieces took."""

    def __init__(self, most: int) -> None:
        """No piece has more than `most`."""
        self._most = most
        self._least = 1

    def of(self, left: int, places: int) -> int:
        """The size of the next piece, where so many are left, and so many pieces run at a time."""
        return min(left, self._most, max(self._least, ceil(left / (SHARE * max(1, places)))))

    def learn(self, size: int, seconds: float) -> None:
        """Takes note of how long a piece of a size took."""
        self._least = ceil(LEAST * size / max(seconds, 0.001))
