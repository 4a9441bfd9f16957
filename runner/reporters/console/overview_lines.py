"""Several reports against the first one as one table: a row for each, the same in all formats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from runner.reporters.console.verdict_lines import Row, difference_of, figure_of, rate_of
from runner.results.change_report import ChangeReport
from runner.results.judged_cases import SCORE
from runner.results.sides import Sides

_FIGURES = {"duration_ms": "Duration", "tokens": "Tokens", "cost": "Cost"}


def overview(verdicts: Sequence[ChangeReport], names: Sequence[str], title: str = "Report") -> list[Row]:
    """A head, the first report, then the others with their verdicts. Columns without any value are left out.

    Args:
        verdicts: of all reports except the first.
        names: names of all reports.
        title: what is compared.
    """
    first = verdicts[0]
    head = (title, first.measure.capitalize(), "Score", *_FIGURES.values(), "Difference (95 %)", "Verdict")
    rows = [head, (names[0], *_cells(first).a, "", "")]
    for found, name in zip(verdicts, names[1:], strict=True):
        rows.append((name, *_cells(found).b, difference_of(found), str(found.verdict)))
    known = [at for at in range(len(head)) if any(row[at] for row in rows[1:])]
    return [tuple(row[at] for at in known) for row in rows]


def _cells(found: ChangeReport) -> Sides[list[str]]:
    """The measure, the score and what it took, of both sides of a comparison."""
    empty = Sides(a="", b="")
    scores = [part.rates.each(rate_of) for part in found.parts if part.kind == SCORE]
    took = {beside.name: beside.means.each(partial(figure_of, beside.name)) for beside in found.beside}
    columns = [found.rates.each(rate_of), *(scores or [empty]), *(took.get(name, empty) for name in _FIGURES)]
    return Sides(a=[column.a for column in columns], b=[column.b for column in columns])
