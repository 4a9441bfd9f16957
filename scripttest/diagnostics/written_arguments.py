"""What stands in the source as the argument of a call, to name its value."""

from __future__ import annotations

import re
from functools import lru_cache

from scripttest.results import Location

_LONGEST = 80
_TEXT = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`"""


def first_argument(at: Location, method: str) -> str:
    """The first argument of the call of a method at a place, in one line; empty where it cannot be read, or is long."""
    lines = _lines(at.file)[at.line - 1 : at.line + 20]
    if not lines:
        return ""
    calls = [found.end() for found in re.finditer(rf"\.\s*{method}\s*\(", lines[0])]
    start = next((end for end in calls if end >= at.column), calls[-1] if calls else None)
    if start is None:
        return ""
    rest, depth = "\n".join([lines[0][start:], *lines[1:]]), 0
    for found in re.finditer(rf"{_TEXT}|[()\[\]{{}},]", rest):
        sign = found[0]
        if depth == 0 and sign in (",", ")"):
            text = " ".join(rest[: found.start()].split())
            return text if len(text) <= _LONGEST else ""
        depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
    return ""


@lru_cache(8)
def _lines(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            return source.read().split("\n")
    except OSError:
        return []
