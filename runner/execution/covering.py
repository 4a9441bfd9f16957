"""`--coverage`: reads the counters at the end of a run, and makes the figures of the coverage."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.application.application import repository_of
from runner.options.values import misses_in
from runner.results.coverage import CoverageReport
from runner.security.walk import walk

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from runner.options.values import CoverageThreshold
    from scripttest import Coverage


def coverage_of(coverage: Coverage, thresholds: Collection[CoverageThreshold], root: Path) -> CoverageReport:
    """The coverage of a run that has ended, with the thresholds that it misses; `root` is that of the application."""
    folder = os.path.relpath(root, repository_of(root))
    tops = (root / "assistants", root / "scripts")
    folders = walk(*tops, root=root, enters=_holds_scripts, follows=False)
    there = [f"{one.path}/{name}" for one in folders for name in one.files]
    found = CoverageReport(files=coverage.finish(there), folder="" if folder == os.curdir else folder)
    return found.replace(misses=misses_in(found.miss, thresholds))


def _holds_scripts(_: str, name: str) -> bool:
    return name != "node_modules" and not name.startswith(".")
