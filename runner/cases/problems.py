"""Collects the problems of a case file while it is read, and reports them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.application.documents import Position
from runner.errors import ConfigurationError
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.application.documents import JsonPath

SHOWN = 20
"""How many problems are shown in full; the others are only counted."""

LINE = "Write: "
"""How a hint begins that is the line to write for words of another tool."""
LONG_HINT = 80
"""A hint with more characters that is no line to write is shown only if there is a single problem."""


class Finding(Value):
    """Something wrong within a case."""

    path: JsonPath
    text: str
    hint: str | None = None
    unknown: bool = False
    """It is a field that does not exist."""
    absent: bool = False
    """It is a file that is not there, which matters when the case runs."""


class Problem(Value):
    """One thing that is wrong, and where."""

    position: Position
    """Without a line when the case is in no file."""
    text: str
    hint: str | None = None

    def __str__(self) -> str:
        is_line = self.hint is not None and self.hint.startswith(LINE)
        return f"{self.text}. {self.hint}" if self.hint and (is_line or len(self.hint) < LONG_HINT) else self.text


class Problems:
    """A bounded list of problems of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        """The file, as the user wrote it, or what else the cases come from."""
        self.count = 0
        self._shown: list[Problem] = []

    @property
    def wanting(self) -> bool:
        """Whether the next one will be shown in full."""
        return self.count < SHOWN

    def add(self, problem: Problem) -> None:
        """Takes one more."""
        if self.wanting:
            self._shown.append(problem)
        self.count += 1

    def lines(self) -> list[str]:
        """Each with its place, from the top of the file downward, and how many more there are."""
        ordered = sorted(self._shown, key=lambda one: (one.position.line, one.position.column))
        lines = [f"{self._place(problem)}: {problem}" for problem in ordered]
        if self.count > SHOWN:
            lines.append(f"and {self.count - SHOWN} more")
        return lines

    def raise_any(self) -> None:
        """Raises ConfigurationError when there are some."""
        if self.count:
            raise ConfigurationError(*self.said())

    def said(self) -> tuple[str, str | None]:
        """Message and hint of the error with all problems, of which there is at least one."""
        if self.count == 1:
            (problem,) = self._shown
            return f"Cannot read cases from {self._place(problem)}: {problem.text}", problem.hint
        listing = "".join(f"\n  {line}" for line in self.lines())
        foreign = sum((problem.hint or "").startswith(LINE) for problem in self._shown) > 1
        hint = "No cases were run" + f"; convert cases of another tool with: yao-test convert {self.name}" * foreign
        return f"Cannot read cases from {self.name}: {self.count} problems{listing}", hint

    def _place(self, problem: Problem) -> str:
        return f"{self.name}:{problem.position}" if problem.position.line else self.name
