"""Places in original sources: source maps (version 3, https://tc39.es/ecma426/), decoded only as far as needed, and
code frames."""

from __future__ import annotations

import json
from bisect import bisect_right

from scripttest.files import anywhere, read_file
from scripttest.results import Location

_DIGITS = {
    letter: value for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}


class SourceMap:
    """One map; positions go in and out counted from 1."""

    def __init__(self, text: bytes) -> None:
        document = json.loads(text)
        self._sources: list[str] = document["sources"]
        self._pending: list[str] = document["mappings"].split(";")
        self._lines: list[list[tuple[int, int, int, int]]] = []
        self._state = [0, 0, 0]

    def find(self, line: int, column: int) -> Location | None:
        """The original of a generated position: of the last segment that starts at or before it on its line. Its file
        is as written in the map."""
        while len(self._lines) < line:
            if len(self._lines) >= len(self._pending):
                return None
            self._decode()
        segments = self._lines[line - 1]
        at = bisect_right(segments, column - 1, key=lambda segment: segment[0]) - 1
        if not segments:
            return None
        _, source, original_line, original_column = segments[max(at, 0)]
        return Location(file=self._sources[source], line=original_line + 1, column=original_column + 1)

    def _decode(self) -> None:
        segments: list[tuple[int, int, int, int]] = []
        generated = 0
        state = self._state
        for text in self._pending[len(self._lines)].split(","):
            numbers = _vlq(text)
            if not numbers:
                continue
            generated += numbers[0]
            if len(numbers) >= 4:
                for field in range(3):
                    state[field] += numbers[field + 1]
                segments.append((generated, state[0], state[1], state[2]))
        self._lines.append(segments)


def _vlq(text: str) -> list[int]:
    numbers = []
    value = shift = 0
    for letter in text:
        digit = _DIGITS[letter]
        value |= (digit & 31) << shift
        if digit & 32:
            shift += 5
        else:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return numbers


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
