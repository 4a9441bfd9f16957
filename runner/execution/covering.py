"""`--coverage`: the counters of a run, and what they come to at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.results.coverage import CoverageReport, totals

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.cli.coverage_threshold import CoverageThreshold
    from scripttest import Coverage


def coverage_of(coverage: Coverage, thresholds: Collection[CoverageThreshold]) -> CoverageReport:
    """The coverage of a run that has ended, with what is below a threshold."""
    files = coverage.finish()
    misses = []
    for threshold in thresholds:
        inside = [
            file
            for path, file in files.items()
            if not threshold.folder or f"{path}/".startswith(f"{threshold.folder}/")
        ]
        of = f" below {threshold.folder}" if threshold.folder else ""
        if not inside:
            misses.append(f"No file{of} is counted; --coverage-threshold {threshold}")
            continue
        figure = totals(inside)[threshold.metric]
        if figure.covered * 100 < threshold.percent * figure.total:
            said = f"{figure.percent:.2f} % ({figure.covered} of {figure.total})"
            misses.append(f"Coverage of {threshold.metric}{of} is {said}; --coverage-threshold {threshold}")
    return CoverageReport(files=files, misses=tuple(misses))
