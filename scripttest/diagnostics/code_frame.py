"""Code frames: the lines of a source around a place."""

from __future__ import annotations

from scripttest.errors import Location
from scripttest.files import anywhere, read_file


def code_frame(location: Location, around: int = 2) -> str:
    """The lines around a place with a marker under it; empty when the file cannot be read."""
    lines = lines_of(location.file)
    if not 1 <= location.line <= len(lines):
        return ""
    first = max(1, location.line - around)
    last = min(len(lines), location.line + around)
    width = len(str(last))
    out = []
    for number in range(first, last + 1):
        text = lines[number - 1].rstrip("\r")[:200]
        here = number == location.line
        out.append(f"{'>' if here else ' '} {number:>{width}} | {text}".rstrip())
        if here and location.column:
            indent = "".join("\t" if c == "\t" else " " for c in text[: location.column - 1])
            out.append(f"  {' ' * width} | {indent}{'^' * max(1, min(location.length, len(text) - len(indent)))}")
    return "\n".join(out)


def lines_of(file: str) -> list[str]:
    """The lines of a source; none when it cannot be read."""
    try:
        return read_file(file, anywhere).decode("utf-8-sig", "replace").split("\n")
    except OSError:
        return []
