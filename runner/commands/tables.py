"""What changed between two runs as tables, for the terminal of a person. Only here is `rich` loaded: it takes longer
than the rest of the command, which scripts and CI jobs that read plain lines need not pay for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.record.fingerprint_changes import described
from runner.reporters.console.change_lines import error_of, fact_of, runs_of
from runner.security.terminal import own, unsteered

if TYPE_CHECKING:
    from runner.compare.comparison import Change
    from runner.environment import Environment

COLORS = {"passed": "green", "failed": "red", "broken": "red", "flaky": "yellow", "skipped": "cyan"}
"""Status → colour."""
HEADS = ("Result", "Before", "After", "Passed", "Measure", "Took", "Changed", "Error")
RIGHT = ("Passed", "Measure", "Took")
"""Columns of numbers, which are aligned to the right."""
MEASURED = ("lower_scores", "more_tokens", "higher_costs")
"""Kinds of changes with a column for what was measured."""
WIDTH = 80
"""Width in columns of a terminal that does not tell its width."""


def table_of(kind: str, changes: Sequence[Change], environment: Environment, colors: bool) -> str:
    """Changes of one kind as a table, at most as wide as the terminal. Empty columns are left out."""
    hidden = environment.secrets.text  # before a cell is wrapped, which would tear a secret apart
    rows = [[_painted(unsteered(hidden(cell))) for cell in _cells(kind, change)] for change in changes]
    used = [place for place in range(len(HEADS)) if any(row[place] for row in rows)]
    table = Table(box=SIMPLE_HEAD, border_style="dim", pad_edge=False)
    for place in used:
        table.add_column(HEADS[place], overflow="fold", justify="right" if HEADS[place] in RIGHT else "left")
    for row in rows:
        table.add_row(*(row[place] for place in used))
    text = StringIO()
    system: Literal["standard"] | None = "standard" if colors else None
    width = _width(environment)
    Console(file=text, width=width, force_terminal=colors, color_system=system, highlight=False).print(table)
    return re.sub(r"\x1b\[[\d;]*m", lambda code: own(code[0]), text.getvalue())


def _width(environment: Environment) -> int:
    said = environment.variables.get("COLUMNS", "")
    try:
        return int(said) if said.isdecimal() else os.get_terminal_size(environment.stdout.fileno()).columns or WIDTH
    except OSError:
        return WIDTH


def _cells(kind: str, change: Change) -> tuple[str, ...]:
    sides = (change.before, change.after)
    took = " → ".join(f"{round(side.milliseconds)}ms" for side in sides if side is not None)
    before, after = (side.status if side is not None else "" for side in sides)
    passed = runs_of(change) if change.is_repeated else ""
    measure = fact_of(kind, change) if kind in MEASURED else ""
    name, changed_parts = f"{change.suite} › {change.id}", described(change.parts)
    return name, before, after, passed, measure, took, changed_parts, error_of(change)


def _painted(cell: str) -> Text:
    return Text(cell, COLORS.get(cell, ""))
