"""`--coverage-threshold lines=90`, or `assistants/demo:lines=90` for one folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

_METRICS = ("statements", "branches", "functions", "lines")


class CoverageThreshold(Value):
    """How many percent of a metric must be covered, in all files or in one folder."""

    metric: str
    percent: float
    """Above 0, at most 100."""
    folder: str = ""
    """Path from the application's root; empty: all files."""

    def __str__(self) -> str:
        return f"{self.folder + ':' if self.folder else ''}{self.metric}={self.percent:g}"


def misses_in(
    miss: Callable[[str, float, str], str | None], thresholds: Iterable[CoverageThreshold]
) -> tuple[str, ...]:
    """Describes each threshold that is not reached, in one sentence; `miss` makes that sentence from a metric, a
    percentage and a folder."""
    said = ((miss(one.metric, one.percent, one.folder), one) for one in thresholds)
    return tuple(f"{what}; --coverage-threshold {one}" for what, one in said if what is not None)


def read_coverage_threshold(text: str) -> tuple[CoverageThreshold, ...]:
    """Reads the value of the flag. Raises ConfigurationError."""
    where = f'Cannot read --coverage-threshold "{text}"'
    match = re.fullmatch(r"(?:(.+):)?(\w+)=([\d.]+)%?", text)
    if match is None:
        raise ConfigurationError(
            f"{where}: it must be a metric and a percentage",
            "Write lines=90, or assistants/demo:lines=90 for the files below a folder of the application",
        )
    folder, metric, number = match.groups()
    if metric not in _METRICS:
        hint = did_you_mean(metric, _METRICS) or f"The metrics are {', '.join(_METRICS)}"
        raise ConfigurationError(f'{where}: there is no metric "{metric}"', hint)
    if not re.fullmatch(r"\d+(\.\d+)?", number) or not 0 < float(number) <= 100:
        raise ConfigurationError(f"{where}: {number} is not a percentage above 0 and up to 100")
    folder = (folder or "").strip("/").removeprefix("./")
    return (CoverageThreshold(metric=metric, percent=float(number), folder=folder),)
