"""The lines of source around the places where tests failed, or have warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from runner.security.files import read_bytes, read_named
from runner.security.walk import CODE
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

AROUND = 3
"""Lines before and after the one that failed."""
SUFFIXES = CODE
"""What may be read: a saved report that somebody sends must not make a page show any other file of this machine."""
LARGEST = 2_000_000
"""Bytes of a file that is still read."""
WIDEST = 300
"""Characters of a line that are shown."""


class Frames:
    """Reads each file once."""

    def __init__(self, root: str, clean: Callable[[str], str]) -> None:
        """`root` is the folder from which places are named, and below which they are; empty when it is not known.
        `clean` takes secrets out of a text."""
        self._root = Path(root) if root else None
        self._clean = clean
        self._files: dict[str, list[str]] = {}

    def of(self, record: Record) -> dict[str, Record]:
        """Location → `{file, line, column, first, lines}`, for a result and its steps; lines count from 1."""
        found = {}
        for location in _locations(record):
            file, _, rest = location.rpartition(":")[0].rpartition(":")
            column = location.rpartition(":")[2]
            if not (rest.isdigit() and column.isdigit()):
                continue
            lines = self._lines(file)
            line = int(rest)
            if not 0 < line <= len(lines):
                continue
            first = max(1, line - AROUND)
            shown = [text[:WIDEST] for text in lines[first - 1 : line + AROUND]]
            found[location] = {"file": file, "line": line, "column": int(column), "first": first, "lines": shown}
        return found

    def lines(self, file: str) -> list[str]:
        """The lines of a source, cut where they are wide; none where it cannot be read."""
        return [text[:WIDEST] for text in self._lines(file)]

    def _lines(self, file: str) -> list[str]:
        if file not in self._files:
            self._files[file] = self._clean(_read((self._root or Path()) / file, self._root)).splitlines()
        return self._files[file]


def _locations(record: Record) -> Iterator[str]:
    if location := record.get("location"):
        yield location
    for warning in record.get("warnings") or ():
        yield from _locations(warning)
    for step in record.get("steps", ()):
        yield from _locations(step)


def _read(path: Path, root: Path | None) -> str:
    try:
        if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        content = read_bytes(path) if root is None else read_named(path, root)
        return content.decode(errors="replace")
    except OSError:
        return ""
