"""`--coverage`: the table at the end of a run."""

from __future__ import annotations

from runner.columns import filled, in_cell
from runner.columns import width as width_of
from runner.reporters.console.fitting import cut
from runner.reporters.console.style import SINGLE, WIDTH, Style
from runner.results.coverage import METRICS, CoverageReport, Figure, figures, totals, uncovered

_HEADS = ("% Stmts", "% Branch", "% Funcs", "% Lines")
_MOST = 14
"""Columns for which, by the lines that did not run, names are shortened."""
GOOD, FAIR = 80.0, 50.0
"""Percentages from which on a figure is green, and yellow."""


def coverage_table(coverage: CoverageReport, style: Style) -> str:
    """Lines for all files, each with the lines that never ran, and for all together."""
    figured = sum(map(len, _HEADS)) + 2 * len(_HEADS)
    lacking = max((len(uncovered(file)) for file in coverage.files.values()), default=0)
    longest = max(width_of(in_cell(name)) for name in (*coverage.files, "All files"))
    width = min(longest, WIDTH - figured - 2 - max(len("Uncovered"), min(lacking, _MOST)))
    rest = WIDTH - figured - 2 - width
    rows = [f"{'File':<{width}}  {'  '.join(_HEADS)}  Uncovered", SINGLE]
    rows.append(_row("All files", totals(coverage.files.values()), "", width, rest, style))
    rows += [_row(path, figures(file), uncovered(file), width, rest, style) for path, file in coverage.files.items()]
    return "\n".join([style.paint("Coverage", "bold"), *rows, SINGLE]) + "\n"


def _row(name: str, found: dict[str, Figure], lacking: str, width: int, rest: int, style: Style) -> str:
    cells = []
    for metric, head in zip(METRICS, _HEADS, strict=True):
        percent = found[metric].percent
        color = "green" if percent >= GOOD else "yellow" if percent >= FAIR else "red"
        cells.append(style.paint(f"{percent:>{len(head)}.2f}", color))
    shown = lacking if len(lacking) <= rest else lacking[: rest - 1].rpartition(",")[0] + ",…"
    return f"{filled(_shortened(in_cell(name), width), width)}  {'  '.join(cells)}  {shown}".rstrip()


def _shortened(name: str, width: int) -> str:
    """The text without its middle if it is too long."""
    if width_of(name) <= width:
        return name
    head, _ = cut(name, (width - 1) // 3)
    tail, _ = cut(name[::-1], width - 1 - width_of(head))
    return f"{head}…{tail[::-1]}"
