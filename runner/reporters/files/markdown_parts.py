"""Pieces of GitHub-flavoured Markdown made from any text: nothing in the text is taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from runner.results.value_texts import as_text, cut
from runner.security.terminal import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VALUE_LIMIT = 4000
"""Characters of a value that are shown."""
LINE_LIMIT = 1000
"""Characters of a line of a value that are shown."""
CELL_LIMIT = 300
"""Characters of a value in a table that are shown."""

_MARKUP = re.compile(r"[\\`*\[|~$]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def visible(text: str) -> str:
    """Control characters other than tab and line feed, and what turns the direction of writing, as escapes."""
    return spelled(text.replace("\r\n", "\n"))


def inline(text: str, limit: int = CELL_LIMIT) -> str:
    """Text within a line, a heading or a cell of a table."""
    line = visible(" ".join(cut(text, limit).split()))
    return _MARKUP.sub(r"\\\g<0>", line).translate(_ENTITIES)


def code(text: str) -> str:
    """A short text in the typeface of code, outside of tables."""
    line = visible(" ".join(cut(text, CELL_LIMIT).split()))
    ticks = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}" if line else ""


def block(value: Any, language: str = "") -> str:
    """A value over as many lines as it needs; `language` is that of a text."""
    text = visible(cut(as_text(value, indent=2), VALUE_LIMIT))
    text = "\n".join(cut(line, LINE_LIMIT) for line in text.split("\n"))
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    language = language or ("text" if isinstance(value, str) else "json")
    return f"{fence}{language}\n{text}\n{fence}\n\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown; the columns are aligned if the cells are short."""
    lines = [list(heads), *map(list, rows)]
    widths = [min(max(3, *(len(line[column]) for line in lines)), 40) for column in range(len(heads))]
    lines.insert(1, ["-" * width for width in widths])
    text = "".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |\n" for line in lines
    )
    return text + "\n"


def details(title: str, content: str) -> str:
    """Content that a click opens."""
    return f"<details>\n<summary>{title.translate(_ENTITIES)}</summary>\n\n{content}</details>\n\n"


def duration(milliseconds: float) -> str:
    """A duration as seed 004 writes it: 234ms, 12.3s, 2m5s."""
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds:.0f}ms"
    return f"{seconds:.1f}s" if seconds < 60 else f"{int(seconds // 60)}m{int(seconds % 60)}s"
