"""Cells of tables: of files that spreadsheets open, where a text that they would take for a formula has a `'` in front,
and of the terminal, with the columns that a text takes there.

rich knows which characters take two columns, or none; it is loaded for the first text that is not ASCII."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category

from runner.security.terminal import in_line, unsteered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_RISKY = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets take texts that begin with one of these characters for formulas."""


def as_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.lstrip("'").startswith(_RISKY) else value


def from_cell(cell: Any) -> Any:
    """The value that `as_cell` has made a cell of."""
    is_safe = isinstance(cell, str) and cell.startswith("'") and cell.lstrip("'").startswith(_RISKY)
    return cell[1:] if is_safe else cell


def table_text(names: Iterable[str], rows: Iterable[Mapping[str, Any]], between: str = ",") -> str:
    """A table with these columns as text; a row has its cells by the names of the columns, some perhaps not, and may
    have others."""
    import csv
    import io

    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, [*names], delimiter=between, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: as_cell(value) for name, value in row.items()} for row in rows)
    return table.getvalue()


def width(text: str) -> int:
    """How many columns a text takes that has no colours."""
    return len(text) if text.isascii() and text.isprintable() else sum(map(letter_width, text))


@lru_cache(1000)
def letter_width(letter: str) -> int:
    """How many columns a character takes; a tab takes at most 8."""
    if letter.isascii():
        return 8 if letter == "\t" else len(letter) if letter.isprintable() else 0
    from rich.cells import get_character_cell_size

    return 0 if category(letter) == "Cf" else get_character_cell_size(letter)


def in_cell(text: str) -> str:
    """A text without colours as a terminal shows it in one line."""
    return unsteered(in_line(text)).replace("\t", " ")
