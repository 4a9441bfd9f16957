"""Durations and costs: the one place that converts between texts and seconds, and costs in US dollars, in memory, in
reports and for people. An `Estimate` stays one in sums and when it is rounded, so that whoever shows or writes a cost
need not know where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from runner.errors import ConfigurationError
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMS = "500ms, 30s, 1m30s or 2h"
"""How a duration may be written, for messages."""
_DURATION = r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+"
_PART = r"([\d.]+)(ms|h|m|s)"
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

Cost = float
"""US dollars, in the fields of values that are JSON objects; an `Estimate` where it is one."""
Milliseconds = float
"""A duration in such fields, where it is a whole number, `duration_ms`."""

PRICES = ("input", "output", "cached", "cache_write")
"""Prices of a model, US dollars for a million tokens."""


class Duration(str):
    """A duration as it is written, with its `seconds`."""

    __slots__ = ("seconds",)
    seconds: float

    def __new__(cls, text: str, where: str = "duration") -> Duration:
        """Raises ConfigurationError as `seconds_of` does."""
        duration = super().__new__(cls, text)
        duration.seconds = seconds_of(text, where)
        return duration


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


def seconds_of(text: str, where: str) -> float:
    """Seconds of `30s`, `1m30s`, `500ms`, `2h`; `where` names the flag or field in the ConfigurationError that is
    raised for any other text."""
    if not re.fullmatch(_DURATION, text):
        forms = f"{text}s or {text}ms" if text.isdecimal() else FORMS
        raise ConfigurationError(f'Cannot read {where} "{text}": not a duration', f"Write it as {forms}")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in re.findall(_PART, text))
    if seconds <= 0:
        raise ConfigurationError(f'Cannot use {where} "{text}": it must be longer than 0')
    return seconds


def in_words(seconds: float) -> str:
    """A duration as one writes it: 30s, 1m30s, 500ms, 2h."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    words = ""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds >= size:
            words += f"{seconds // size:g}{unit}"
            seconds %= size
    return f"{words}{seconds:g}s" if seconds or not words else words


def mean(figures: Sequence[float]) -> float:
    """The mean of figures, of which there is at least one; that of costs is an estimate if one of them is."""
    from math import fsum  # most commands need no mean

    found = fsum(figures) / len(figures)
    return Estimate(found) if any(isinstance(figure, Estimate) for figure in figures) else found


def mean_known(figures: Iterable[float | None]) -> float | None:
    """The mean of the figures that are known; None where none is."""
    known = [figure for figure in figures if figure is not None]
    return mean(known) if known else None


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
