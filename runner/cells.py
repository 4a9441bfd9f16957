"""Cells of tables that spreadsheets open: a text that they would take for a formula has a `'` in front."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
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
