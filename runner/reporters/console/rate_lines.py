"""How sure the rates and mean scores of a run are, on the console: lines of the summary, and a table by suite, tag,
criterion and checkpoint."""

from __future__ import annotations

from runner.columns import aligned
from runner.reporters.console.style import SINGLE, Style
from runner.results.certainty import certainty_of, judges_text, part_rows, rate_text
from runner.results.counts import Counts
from runner.results.criteria import Part

ROWS = 20
"""Parts of a kind that the table shows."""
NAME_WIDTH = 40
HEAD = ("", "Cases", "Pass rate", "Mean score")


def rate_lines(counts: Counts) -> list[str]:
    """The pass rate and the mean score of all cases, each where there is one."""
    known = certainty_of(counts)
    said = [("Pass rate: ", rate_text(known)), ("Mean score:", rate_text(known, "mean_score"))]
    said.append(("Judges' noise:", judges_text(known)))
    return [f"  {title} {text}" for title, text in said if text]


def rate_table(counts: Counts, style: Style) -> str:
    """A row for each suite, tag, criterion and checkpoint; empty where there are none."""
    found = part_rows(certainty_of(counts), ROWS)
    if not found:
        return ""
    rows = [(_named(row.part), row.cases, row.rate, row.score) for row in found]
    used = [at for at in range(len(HEAD)) if at == 0 or any(row[at] for row in rows)]
    cells = [[row[at] for at in used] for row in (HEAD, *rows)]
    lines = [f"  {'  '.join(row)}".rstrip() for row in aligned(cells)]
    return "\n".join([SINGLE, "  Rates (with 95 % intervals)", SINGLE, style.paint(lines[0], "dim"), *lines[1:]]) + "\n"


def _named(part: Part) -> str:
    line = " ".join(part.name.split())
    if len(line) > NAME_WIDTH:
        line = f"...{line[3 - NAME_WIDTH :]}" if part.kind == "suite" else f"{line[: NAME_WIDTH - 3]}..."
    return f"{part.kind} {line}"
