"""`Position`: a place in a text."""

from __future__ import annotations

from scripttest.values import Value


class Position(Value):
    """A place in a text."""

    line: int
    """From 1; 0 when there is no text."""
    column: int
    """From 1."""

    def __str__(self) -> str:
        """As it stands behind the name of a file."""
        return f"{self.line}:{self.column}"
