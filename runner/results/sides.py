"""`Sides`: the same of both reports of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from scripttest.values import Value

T = TypeVar("T")
Made = TypeVar("Made")


class Sides(Generic[T], Value):
    """Something of A, the older report, and the same of B."""

    a: T
    b: T

    @property
    def both(self) -> tuple[T, T]:
        """A's, then B's."""
        return self.a, self.b

    def each(self, make: Callable[[T], Made]) -> Sides[Made]:
        """What a function makes of A's, and of B's."""
        return Sides(a=make(self.a), b=make(self.b))


A_AND_B = Sides(a="A", b="B")
"""The names of the sides."""
