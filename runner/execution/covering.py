"""`--coverage`: reads the counters at the end of a run, and makes the figures of the coverage."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.application.application import repository_of
from runner.options.values import misses_in
from runner.results.coverage import CoverageReport

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from runner.options.values import CoverageThreshold
    from scripttest import Coverage


def coverage_of(coverage: Coverage, thresholds: Collection[CoverageThreshold], root: Path) -> CoverageReport:
    """The coverage of a run that has ended, with the thresholds that it misses; `root` is that of the application."""
    folder = os.path.relpath(root, repository_of(root))
    found = CoverageReport(files=coverage.finish(), folder="" if folder == os.curdir else folder)
    return found.replace(misses=misses_in(found.miss, thresholds))
