"""Columns of a terminal: how many a text takes, and cells of tables.

rich knows which characters take two columns, or none; it is loaded for the first text that is not ASCII."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category

from runner.security.terminal import in_line, unsteered


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
