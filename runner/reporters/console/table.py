"""Tables of the console: as wide as the terminal at most, without a broken word. Where a row has no room, the columns
that matter least are left out; below 80 columns, rows become blocks of `name: value`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence

from runner import columns
from runner.environment import Environment
from runner.reporters.console.terminal import fitted

TABLES_FROM = 80
"""Columns from which on a table may lose columns to stay a table."""
INDENT = "  "
Paint = Callable[[int, str, str], str]
"""The number of a row (from 0), the title of a column and the cell → the cell in colours."""


def columns_of(environment: Environment) -> int | None:
    """How wide the output is: the variable `COLUMNS`, or the width of the terminal; None: as wide as it likes."""
    said = environment.variables.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    if not environment.terminal:
        return None
    try:
        return os.get_terminal_size(environment.stdout.fileno()).columns or TABLES_FROM
    except OSError:
        return TABLES_FROM


def show(environment: Environment, text: str) -> None:
    """Writes whole lines to standard output; where the terminal is too narrow, they are broken at blanks."""
    room = columns_of(environment)
    # before a line is broken, which would tear a secret apart
    environment.stdout.write(text if room is None else fitted(environment.secrets.text(text), room))


def table(
    rows: Sequence[Sequence[str]], room: int | None = None, *, least: Collection[str] = (), paint: Paint | None = None
) -> str:
    """A table with a line for each row, of which the first has the titles; empty columns are left out.

    Args:
        rows: cells without colours.
        room: how many columns there are; None: as many as it takes.
        least: titles of the columns that may be left out, those first that matter least.
        paint: colours a cell."""
    used = [at for at in range(len(rows[0])) if any(row[at] for row in rows[1:])]
    shown = [[columns.in_cell(row[at]) for at in used] for row in rows]
    if room is None or _width(shown) <= room:
        return _lines(shown, paint)
    for title in least if room >= TABLES_FROM else ():
        if title in shown[0]:
            at = shown[0].index(title)
            shown = [[*row[:at], *row[at + 1 :]] for row in shown]
            if _width(shown) <= room:
                return _lines(shown, paint)
    return _blocks([[columns.in_cell(row[at]) for at in used] for row in rows], paint)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(columns.width, column)) for column in zip(*rows, strict=True)]


def _width(rows: Sequence[Sequence[str]]) -> int:
    return len(INDENT) * len(rows[0]) + sum(_widths(rows))


def _lines(rows: Sequence[Sequence[str]], paint: Paint | None) -> str:
    widths = _widths(rows)
    text = ""
    for number, row in enumerate(rows):
        cells = []
        for title, cell, room in zip(rows[0], row, widths, strict=True):
            blanks = " " * (room - columns.width(cell))
            cells.append((paint(number - 1, title, cell) if paint and number and cell else cell) + blanks)
        text += f"{INDENT}{INDENT.join(cells)}".rstrip() + "\n"
    return text


def _blocks(rows: Sequence[Sequence[str]], paint: Paint | None) -> str:
    blocks = []
    for number, row in enumerate(rows[1:]):
        lines = ""
        for title, cell in zip(rows[0], row, strict=True):
            if cell:
                name = f"{title}: " if title else ""
                lines += f"{INDENT}{name}{paint(number, title, cell) if paint else cell}\n"
        blocks.append(lines)
    return "\n".join(blocks)
