"""Expressions that are evaluated after a line of a script: `src/watched.ts` puts them into its file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from scripttest.compile.compiler import Loaded
from scripttest.syntax.coverage import LOADERS, loaded
from scripttest.syntax.parser import UnreadableError, parser
from scripttest.values import Value


class Watch(Value):
    """An expression after a line."""

    line: int
    """From 1."""
    expression: str
    name: str
    """What the printed value is named by."""


class WatchProblem(Value):
    """Why a file cannot have its watches."""

    number: int
    """Which of them is wrong, from 0."""
    text: str = ""
    """What is wrong with its expression; empty: its line has no code."""
    nearest: int = 0
    """The nearest line that has some; 0: none has."""


class Watching:
    """Puts watches into the files of a run."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[bytes, list[Watch], Loaded]] = {}
        """Path → the text, its watches, and both together."""

    def add(self, path: str, source: bytes, watches: Sequence[Watch]) -> WatchProblem | None:
        """Puts watches into a file; returns what is wrong with them. Blocks for some milliseconds. Raises
        UnreadableError for a text that is no script, or an expression that cannot be read."""
        suffix = os.path.splitext(path)[1]
        if suffix not in LOADERS:
            raise UnreadableError("it is not a script")
        given = [[one.line, one.expression, one.name] for one in watches]
        found = parser().ask("watched", source.decode("utf-8-sig", "replace"), suffix, given)
        if "number" in found:
            number, text, nearest = found["number"], found.get("problem", ""), found.get("nearest", 0)
            return WatchProblem(number=number, text=text, nearest=nearest)
        self._made[path] = source, [*watches], loaded(path, found)
        return None

    @property
    def names(self) -> set[str]:
        """The names of all watches."""
        return {one.name for _, watches, _ in self._made.values() for one in watches}

    def of(self, path: str) -> list[list[object]]:
        """The watches of a file, as the parser takes them."""
        _, watches, _ = self._made.get(path, (b"", (), None))
        return [[one.line, one.expression, one.name] for one in watches]

    def instrument(self, path: str, source: bytes) -> Loaded | None:
        """The text of a file with its watches; None when it stays as it is. In a file that was saved since, they are
        put in anew, as far as they fit."""
        known = self._made.get(path)
        if known is None or (known[0] != source and self.add(path, source, known[1]) is not None):
            return None
        return self._made[path][2]
