"""Costs in US dollars, in memory, in reports and for people.

An `Estimate` stays one in sums and when it is rounded, so that whoever shows or writes a cost need not know where it
comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


PRICES = ("input", "output", "cached", "cache_write")
"""Prices of a model, US dollars for a million tokens."""


class Estimate(float):
    """A cost that rests on a price nobody has named, such as that of writing to a cache."""

    def __add__(self, other: float) -> Estimate:
        return Estimate(float(self) + other)

    __radd__ = __add__

    def __mul__(self, other: float) -> Estimate:
        return Estimate(float(self) * other)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Estimate:
        return Estimate(float(self) / other)

    def __round__(self, digits: Any = None) -> Any:
        return Estimate(round(float(self), digits))


def mean(figures: Sequence[float]) -> float:
    """The mean of figures, of which there is at least one; that of costs is an estimate if one of them is."""
    from math import fsum  # most commands need no mean

    found = fsum(figures) / len(figures)
    return Estimate(found) if any(isinstance(figure, Estimate) for figure in figures) else found


def dollars(cost: float, digits: int = 4) -> str:
    """A cost for people: `$0.0012`, an estimate as `~$0.0012`."""
    return f"{'~' * isinstance(cost, Estimate)}${cost:.{digits}f}"


def cost_record(cost: float | None) -> Record:
    """`{cost?, cost_estimated?}`: no `cost` where it is not known, `cost_estimated: true` for an estimate."""
    if cost is None:
        return {}
    return {"cost": float(cost), **({"cost_estimated": True} if isinstance(cost, Estimate) else {})}


def cost_in(record: Mapping[str, Any]) -> Any:
    """The cost in such a record."""
    cost = record.get("cost")
    return Estimate(cost) if cost is not None and record.get("cost_estimated") else cost
