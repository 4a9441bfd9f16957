"""The texts that are put into a script to count what runs, and their order where several have the same place."""

from __future__ import annotations

from scripttest.values import Value


class Insertion(Value):
    """Text to be put in before a byte."""

    at: int
    text: str
    order: tuple[bool, int, int]
    """Its place among those before the same byte: whether it opens, and the order of those that do."""


class Insertions:
    """The texts for one script."""

    def __init__(self) -> None:
        self._found: list[Insertion] = []

    def in_order(self) -> list[Insertion]:
        """All, as they stand in the script."""
        return sorted(self._found, key=lambda one: (one.at, one.order))

    def wrap(self, start: int, end: int, before: str, after: str, rank: int) -> None:
        """Puts a text before something and another one after it."""
        self.open(start, end, before, rank)
        self.close(start, end, after, 1)

    def open(self, at: int, end: int, text: str, rank: int) -> None:
        """Puts a text before something that ends at `end`. What ends later comes first."""
        self._found.append(Insertion(at=at, text=text, order=(True, -end, rank)))

    def close(self, start: int, at: int, text: str, rank: int) -> None:
        """Puts a text after something that begins at `start`. What begins later comes first."""
        self._found.append(Insertion(at=at, text=text, order=(False, -start, rank)))
