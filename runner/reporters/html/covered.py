"""The coverage on the HTML page: the figures of each file, and how often each of its lines ran."""

from __future__ import annotations

from runner.reporters.html.frames import Frames
from runner.results.coverage import METRICS, CoverageReport, Figure, figures, lines, totals, uncovered
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass
MOST_LINES = 20_000
"""Lines of sources that a page shows; further files have figures only."""


def covered_record(coverage: CoverageReport, frames: Frames) -> Record:
    """`{totals, files: [{path, figures, uncovered, hits, lines}]}`: figures are `[covered, total]` for
    statements, branches, functions and lines, `hits` are pairs of a line and how often it ran."""
    files = []
    room = MOST_LINES
    for path, file in coverage.files.items():
        source = frames.lines(f"{coverage.folder}/{path}" if coverage.folder else path)
        room -= len(source)
        files.append(
            {
                "path": path,
                "figures": _figures(figures(file)),
                "uncovered": uncovered(file),
                "hits": list(lines(file).items()),
                "lines": source if room >= 0 else [],
            }
        )
    return {"totals": _figures(totals(coverage.files.values())), "files": files}


def _figures(found: dict[str, Figure]) -> list[list[int]]:
    return [[found[metric].covered, found[metric].total] for metric in METRICS]
