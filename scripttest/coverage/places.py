"""Where bytes of a compiled text are in the original, and the source map of that text with
counters."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence

from scripttest.coverage.hints import Hint
from scripttest.coverage.insertions import Insertion
from scripttest.coverage.points import LeftOut, Span
from scripttest.diagnostics.sourcemap import SourceMap
from scripttest.values import Value

_KEYWORD = re.compile(rb"(?:if|for|while|do|switch|try|return|throw|break|continue|debugger)\b")
_WORDS = re.compile(r"[\w\s(*@]*")
"""What may be between a hint and the first position in the map."""
_NEAR = 200
"""Letters after a place of the map in which a keyword is looked for that is not in the map."""
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

Place = dict[str, int]
"""`{line, column}` as Istanbul counts: from 1, and from 0."""


class _Origin(Value):
    line: int
    """From 1."""
    column: int
    byte: int
    """Of the compiled text."""


class Places:
    """The places of one file."""

    def __init__(self, code: bytes, source_map: str, original: str) -> None:
        self._code = code
        self._is_ascii = code.isascii()
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", code))]
        self._segments = SourceMap(source_map.encode()).lines()
        self._lines = original.split("\n")

    def original(self, byte: int) -> str:
        """The rest of the line in the original."""
        origin = self._original(byte)
        return self._lines[origin.line - 1][origin.column :]

    def range(self, span: Span) -> dict[str, Place]:
        """`{start, end}` in the original; the end is as far as both texts agree after the last place that is known."""
        start = self._start(span.start)
        origin = self._original(max(span.end - 1, span.start))
        rest = "\n".join(self._lines[origin.line - 1 :])
        at = self._agree(self._code[origin.byte : span.end].decode(), rest, origin.column)
        end = (origin.line + rest.count("\n", 0, at), at - rest.rfind("\n", 0, at) - 1)
        last = max(end, start)
        return {"start": {"line": start[0], "column": start[1]}, "end": {"line": last[0], "column": last[1]}}

    def left_out(self, hint: Hint) -> LeftOut | None:
        """What was made of the original for which there is a hint; None where nothing was, such as of a type."""
        at = hint.at
        original = "\n".join(self._lines)
        line = original.count("\n", 0, at)
        column = len(original[original.rfind("\n", 0, at) + 1 : at].encode("utf-16-le")) // 2
        found = [
            (place[1], place[2], row, generated)
            for row, segments in enumerate(self._segments)
            for generated, *place in segments
            if (place[1], place[2]) >= (line, column)
        ]
        if not found:
            return None
        to_line, to_column, row, generated = min(found)
        between = "\n".join(self._lines[line : to_line + 1])
        last = between.rfind("\n") + 1
        words = between[column : last + to_column]
        byte = self._byte(row, generated)
        byte += len(self._code[byte:]) - len(self._code[byte:].lstrip())  # the indentation has the place, too
        return LeftOut(byte=byte, words=words, kind=hint.kind) if _WORDS.fullmatch(words) else None

    def shifted(self, insertions: Sequence[Insertion], source: str) -> str:
        """The source map of the text with insertions, none of which breaks a line."""
        lines = []
        state = [0, 0, 0]
        pending = list(reversed(insertions))
        for number, segments in enumerate(self._segments):
            start = self._starts[min(number, len(self._starts) - 1)]
            end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._code) + 1
            columns, sizes = [], [0]
            while pending and pending[-1].at < end:
                insertion = pending.pop()
                columns.append(self._units(start, insertion.at))
                sizes.append(sizes[-1] + len(insertion.text))
            texts, before = [], 0
            for generated, *place in segments:
                column = generated + sizes[bisect_right(columns, generated)]
                numbers = [column - before, *(new - old for new, old in zip(place, state, strict=True))]
                texts.append("".join(map(_vlq, numbers)))
                before, state = column, place
            lines.append(",".join(texts))
        return json.dumps({"version": 3, "sources": [source], "names": [], "mappings": ";".join(lines)})

    def _start(self, byte: int) -> tuple[int, int]:
        """Line and column of what begins at a byte; the map does not have every keyword."""
        origin = self._original(byte)
        line, column = origin.line, origin.column
        if keyword := _KEYWORD.match(self._code, byte):
            rest = "\n".join(self._lines[line - 1 : line + 4])
            found = re.compile(rf"\b{keyword[0].decode()}\b").search(rest, column, column + _NEAR)
            if found:
                at = found.start()
                return line + rest.count("\n", 0, at), at - rest.rfind("\n", 0, at) - 1
        return line, column

    def _agree(self, code: str, original: str, at: int) -> int:
        """Where the original, from a place on, begins to differ from the code."""
        end = at
        for letter in code:
            if letter.isspace():
                continue
            while at < len(original) and original[at].isspace():
                at += 1
            if original[at : at + 1] != letter and {original[at : at + 1], letter} - set("\"'`"):
                break
            at += 1
            end = at
        return end

    def _original(self, byte: int) -> _Origin:
        """The last place of the map up to a byte."""
        row = bisect_right(self._starts, byte) - 1
        column = self._units(self._starts[row], byte)
        while row >= 0:
            segments = self._segments[row] if row < len(self._segments) else []
            at = bisect_right(segments, column, key=lambda segment: segment[0]) - 1
            if at >= 0:
                generated, _, line, original = segments[at]
                return _Origin(line=line + 1, column=original, byte=self._byte(row, generated))
            row, column = row - 1, 1 << 30
        return _Origin(line=1, column=0, byte=0)

    def _byte(self, row: int, column: int) -> int:
        start = self._starts[row]
        if self._is_ascii:
            return start + column
        end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._code)
        units = self._code[start:end].decode().encode("utf-16-le")
        return start + len(units[: 2 * column].decode("utf-16-le").encode())

    def _units(self, start: int, byte: int) -> int:
        """Units of UTF-16 between two bytes, as source maps count columns."""
        return byte - start if self._is_ascii else len(self._code[start:byte].decode().encode("utf-16-le")) // 2


def _vlq(number: int) -> str:
    value, text = (-number << 1) | 1 if number < 0 else number << 1, ""
    while True:
        value, digit = value >> 5, value & 31
        if not value:
            return text + _DIGITS[digit]
        text += _DIGITS[digit | 32]
