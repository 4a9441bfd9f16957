"""Several reports against the first one as one table: a row for each, the same in all formats."""

from __future__ import annotations

from collections.abc import Sequence

from runner.reporters.console.verdict_lines import Row, difference_of, figure_of, rate_of
from runner.results.change_report import ChangeReport
from runner.results.judged_cases import SCORE

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
    rows = [head, (names[0], *_of(first, 0), "", "")]
    for found, name in zip(verdicts, names[1:], strict=True):
        rows.append((name, *_of(found, 1), difference_of(found), str(found.verdict)))
    known = [at for at in range(len(head)) if any(row[at] for row in rows[1:])]
    return [tuple(row[at] for at in known) for row in rows]


def _of(found: ChangeReport, side: int) -> list[str]:
    """The measure, the score and what it took, of one side of a comparison."""
    scores = [rate_of(part.rates[side]) for part in found.parts if part.kind == SCORE]
    took = {beside.name: (beside.a, beside.b)[side] for beside in found.beside}
    figures = [figure_of(name, took[name]) if name in took else "" for name in _FIGURES]
    return [rate_of(found.rates[side]), *(scores or [""]), *figures]
