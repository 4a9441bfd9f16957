"""What the recorder of a realm tells while a test runs once more, as lines in the order of time.

A line is one statement that ran, with what it read, assigned and so on. Of the turns of a loop, and of the calls of one
function by one statement, the first and the last stay, and those in which something else happened than in all before:
other statements, other answers of conditions, or values of other kinds. Only the last lines are kept.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MOST_LINES = 1500
"""At most this many lines are kept."""
MOST_KINDS = 6
"""At most this many turns of a loop are kept besides the first and the last."""
CALLS = 10**9
"""Calls of one realm have numbers of their own."""
MOST_FRAMES = 100_000
"""Of at most this many calls is known where they belong."""


class _Line:
    __slots__ = ("depth", "loop", "parts", "site", "turn", "within")

    def __init__(self, site: int, frame: _Frame) -> None:
        self.site, self.depth, self.within = site, frame.depth, frame.site
        self.parts: list[tuple[str, int, str]] = []
        self.turn = 0
        self.loop: _Loop | None = None


class _Loop:
    __slots__ = ("is_whole", "kept", "kinds", "middle", "start", "turns")

    def __init__(self, is_whole: bool) -> None:
        self.is_whole = is_whole
        """Whether its first turns are told."""
        self.turns = self.kept = self.start = 0
        self.kinds: set[int] = set()
        self.middle: range | None = None
        """The lines of the last turn that has ended, if it does not stay."""


class _Frame:
    __slots__ = ("calls", "depth", "is_whole", "line", "loops", "parent", "site", "statement")

    def __init__(self, site: int, depth: int, parent: int, is_whole: bool = True) -> None:
        self.site, self.depth, self.parent, self.is_whole = site, depth, parent, is_whole
        self.line, self.statement = -1, -1
        self.loops: dict[int, _Loop] = {}
        self.calls: dict[int, _Loop] = {}
        """Function → its calls by the statement that runs."""


class Story:
    """The story of one test."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forgets what was told."""
        self._count = 0
        """How much has happened until the first failure."""
        self._lines: dict[int, _Line] = {}
        """By number, in the order of time."""
        self._next = 0
        self._cut = 0
        self._frames: dict[int, _Frame] = {0: _Frame(0, 0, 0)}
        self._realms = 0
        self._current = 0

    def loaded(self) -> None:
        """The scripts are loaded: what runs now is not called by their top level."""
        top = self._frames[0] = _Frame(0, 0, 0)
        top.depth = -1
        self._current = 0

    def told(self, head: str, text: str) -> str:
        """Takes in what the recorder tells, see `bindings/src/realm/story.ts`: operation, site and number of the call,
        apart by blanks. For `b`, a realm begins, it returns the number before that of its first call."""
        op, site, number = head.split(" ")
        if op == "b":
            self._realms += 1
            return str(self._realms * CALLS)
        if op == "e":
            self._count = int(number)
            return ""
        if op == "f":
            self._called(int(site), int(number), text)
            return ""
        place, frame = int(site), self._frame(int(number))
        self._current = int(number)
        if op == "s":
            self._statement(place, frame)
        elif op == "q":
            self._current = frame.parent
        elif op == "l":
            loop = frame.loops.get(place)
            if loop is None:
                loop = frame.loops[place] = _Loop(frame.is_whole)
            self._turn(loop)
            self._add(place, frame, loop)
            self._lines[frame.line].parts.append((op, place, text))
        elif op != "c" or text:
            if op == "k":
                self._add(place, frame)
            self._of(frame, place).parts.append((op, place, text))
            if op == "t":
                self._current = frame.parent
        return ""

    def lines(self) -> str:
        """JSON: `{count, cut, lines}`, how much has happened, how many lines are cut at the front, and for each line
        `[site, depth, function, turn, turns, parts]`."""
        for frame in self._frames.values():
            for loop in (*frame.loops.values(), *frame.calls.values()):
                if loop.start < self._next - 2:  # else the last turn has hardly begun
                    self._drop(loop)
        found: list[Any] = []
        for line in self._lines.values():
            turns = line.loop.turns if line.loop is not None and line.loop.is_whole else 0
            found.append([line.site, line.depth, line.within, line.turn if turns > 1 else 0, turns, line.parts])
        return json.dumps({"count": self._count, "cut": self._cut, "lines": found})

    def _frame(self, number: int) -> _Frame:
        frame = self._frames.get(number)
        if frame is None:
            frame = self._frames[number] = _Frame(0, 0, 0, is_whole=False)
        return frame

    def _called(self, site: int, number: int, text: str) -> None:
        caller = self._frame(self._current)
        self._frames[number] = _Frame(site, caller.depth + 1, self._current)
        if len(self._frames) > MOST_FRAMES:
            for old in list(self._frames)[1 : MOST_FRAMES // 2]:
                del self._frames[old]
        loop = caller.calls.get(site)
        if loop is None:
            loop = caller.calls[site] = _Loop(caller.is_whole)
        self._turn(loop)
        line = self._of(caller, site)
        if line.loop is None:
            line.turn, line.loop = loop.turns, loop
        line.parts.append(("f", site, text))
        self._current = number

    def _statement(self, site: int, frame: _Frame) -> None:
        for inner in [place for place in frame.loops if place > site]:
            self._drop(frame.loops.pop(inner))
        for loop in frame.calls.values():
            self._drop(loop)
        frame.calls.clear()
        self._add(site, frame)
        frame.statement = site

    def _of(self, frame: _Frame, site: int) -> _Line:
        """The line of the statement that runs in a call; a new one where others came after it."""
        if frame.line != self._next - 1 or frame.line not in self._lines:
            self._add(frame.statement if frame.statement >= 0 else site, frame)
        return self._lines[frame.line]

    def _add(self, site: int, frame: _Frame, loop: _Loop | None = None) -> None:
        line = self._lines[self._next] = _Line(site, frame)
        if loop is not None:
            line.turn, line.loop = loop.turns, loop
        frame.line = self._next
        self._next += 1
        if len(self._lines) > MOST_LINES:
            del self._lines[next(iter(self._lines))]
            self._cut += 1

    def _turn(self, loop: _Loop) -> None:
        """A turn begins, and the one before it has ended."""
        if loop.turns:
            self._drop(loop)
            turn = range(loop.start, self._next)
            kind = hash(frozenset(self._kinds(turn)))
            if kind in loop.kinds or (loop.turns > 1 and loop.kept == MOST_KINDS):
                loop.middle = turn
            else:
                loop.kept += loop.turns > 1
                loop.kinds.add(kind)
        loop.turns += 1
        loop.start = self._next

    def _kinds(self, turn: range) -> Iterator[Any]:
        """What happened in a turn, without the values."""
        for number in turn:
            if (line := self._lines.get(number)) is not None:
                yield line.site
                for op, site, text in line.parts:
                    yield op, site, *map(_kind, text.split("\n"))

    def _drop(self, loop: _Loop) -> None:
        for number in loop.middle or ():
            self._lines.pop(number, None)
        loop.middle = None


def _kind(text: str) -> str:
    """What kind of a value is printed: of numbers all the same, of constants each."""
    first = text[1:2]
    if text[1:] in ("true", "false", "null", "undefined", "NaN", "0", '""', "[]", "{}"):
        return text
    return "0" if first.isdigit() or first == "-" else first
