"""Figures as text, and Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is left-aligned, the others as they come."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def duration(seconds: float) -> str:
    """Three figures: `8.31 ms`, `112 ms`, `3.24 s`."""
    if seconds < 1:
        milliseconds = seconds * 1000
        return f"{milliseconds:.3g} ms" if milliseconds < 100 else f"{milliseconds:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"


def megabytes(size: int | None) -> str:
    """Of 1 000 000 bytes; a dash for None."""
    return "-" if size is None else f"{size / 1e6:.1f} MB"


def verdict(value: float, most: float) -> str:
    """PASS or MISS."""
    return "PASS" if value <= most else "**MISS**"
