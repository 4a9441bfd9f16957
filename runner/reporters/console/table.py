"""Tables of the console: as wide as the terminal at most, without a broken word. Where a row has no room, the columns
that matter least are left out; below 80 columns, rows become blocks of `name: value`. A last column without a title
has sentences, which continue in lines of their own; a table without any title is a list, and stays one."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from textwrap import indent

from runner.cells import in_cell, width
from runner.environment import Environment
from runner.reporters.console.terminal import fitted, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TABLES_FROM = 80
"""Columns from which on a table may lose columns to stay a table."""
SENTENCE = 24
"""Columns that sentences need to continue in their column."""
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


def on_terminal(environment: Environment) -> Environment:
    """The environment with streams whose whole lines fit into the terminal, where they are one."""
    if not environment.terminal:
        return environment
    streams = (environment.stdout, environment.stderr)
    out, err = (_Fitted(one, environment) if one.isatty() else one for one in streams)
    return environment.replace(stdout=out, stderr=err)


class _Fitted:
    def __init__(self, stream: Any, environment: Environment) -> None:
        self._stream = stream
        self._environment = environment

    def write(self, text: str) -> int:
        """Writes a text; what does not end a line, such as a prompt, is left as it is."""
        lines, end, rest = text.rpartition("\n")
        if end:  # secrets go before a line is broken, which would tear them apart
            lines = fitted(self._environment.secrets.text(lines), columns_of(self._environment) or TABLES_FROM)
        self._stream.write(f"{lines}{end}{rest}")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def table(
    rows: Sequence[Sequence[str]], room: int | None = None, *, least: Collection[str] = (), paint: Paint | None = None
) -> str:
    """A table with a line for each row, of which the first has the titles; empty columns are left out.

    Args:
        rows: cells without colours; one with a single cell is the heading of those that follow. In a last column
            without a title, a cell may have several lines.
        room: how many columns there are; None: as many as it takes.
        least: titles of the columns that may be left out, those first that matter least.
        paint: colours a cell."""
    used = [at for at in range(len(rows[0])) if any(row[at] for row in rows[1:] if len(row) > 1)]
    whole = [_cells(row, used) for row in rows]
    shown = whole
    if room is None or _width(shown) <= room:
        return _lines(shown, paint)
    for title in least if room >= TABLES_FROM else ():
        if title in shown[0]:
            at = shown[0].index(title)
            shown = [row if len(row) == 1 else [*row[:at], *row[at + 1 :]] for row in shown]
            if _width(shown) <= room:
                return _lines(shown, paint)
    left = room - _width([row[:-1] for row in shown]) - len(INDENT)
    if not shown[0][-1] and left >= SENTENCE and (room >= TABLES_FROM or not any(shown[0])):
        return _lines([row if len(row) == 1 else [*row[:-1], _wrapped(row[-1], left)] for row in shown], paint)
    return _blocks(whole, paint)


def listed(rows: Sequence[Sequence[str]], room: int | None = None, paint: Paint | None = None) -> str:
    """A table without titles; empty without rows."""
    return table([[""] * len(rows[0]), *rows], room, paint=paint) if rows else ""


def grouped(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> list[Sequence[str]]:
    """The rows of a table, each with the name of its group: where there are several groups, below headings."""
    found = list(rows)
    several = len({name for name, _ in found}) > 1
    shown: list[Sequence[str]] = [head]
    last = None
    for name, row in found:
        shown += [(name,), row] if several and name != last else [row]
        last = name
    return shown


def _cells(row: Sequence[str], used: Sequence[int]) -> list[str]:
    *cells, last = [row[at] for at in (used if len(row) > 1 else (0,))]
    lines = last.split("\n") if cells else [last]
    return [*map(in_cell, cells), "\n".join(map(in_cell, lines))]


def _wrapped(cell: str, room: int) -> str:
    return "\n".join(wrapped(line, room, 0) for line in cell.split("\n"))


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    full = (row for row in rows if len(row) == len(rows[0]))
    return [max(map(width, "\n".join(column).split("\n"))) for column in zip(*full, strict=True)]


def _width(rows: Sequence[Sequence[str]]) -> int:
    return len(INDENT) * len(rows[0]) + sum(_widths(rows))


def _lines(rows: Sequence[Sequence[str]], paint: Paint | None) -> str:
    widths = _widths(rows)
    below = "\n" + " " * (len(INDENT) * len(widths) + sum(widths[:-1]))
    text, number = "", -2
    for row in rows:
        if len(row) < len(widths):
            text += f"{row[0]}\n"
            continue
        number += 1
        cells = []
        for title, cell, room in zip(rows[0], row, widths, strict=True):
            blanks = " " * (room - width(cell))
            cells.append((paint(number, title, cell) if paint and number >= 0 and cell else cell) + blanks)
        line = f"{INDENT}{INDENT.join(cells)}".rstrip()
        text += line.replace("\n", below) + "\n" if line else ""
    return text


def _blocks(rows: Sequence[Sequence[str]], paint: Paint | None) -> str:
    blocks, number = [], -1
    for row in rows[1:]:
        if len(row) < len(rows[0]):
            blocks.append(f"{row[0]}\n")
            continue
        number, lines = number + 1, ""
        for title, cell in zip(rows[0], row, strict=True):
            if cell:
                name = f"{title}: " if title else ""
                lines += f"{name}{paint(number, title, cell) if paint else cell}\n"
        blocks.append(indent(lines, INDENT))
    return "\n".join(blocks)
