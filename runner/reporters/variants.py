"""Variants of one run on the console, compared when the run has ended: a matrix of cases by variants, answers that
differ, and the verdict on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from runner.cells import in_cell, width
from runner.compare.change_report import BeforeAfter
from runner.compare.variants import DiffSegment, MatrixRow, marked, matrix, verdicts_on
from runner.errors import ConfigurationError
from runner.record.events import Event, RunEnd
from runner.record.fold import Execution
from runner.record.report import Report
from runner.reporters.console.change_lines import LEAST, VERDICT_COLORS, overview
from runner.reporters.console.style import DOUBLE, Style
from runner.reporters.console.table import grouped, table
from runner.reporters.console.verdict_lines import sentences
from runner.reporters.document import Collector, taken

ROWS = 50
"""Cases of the matrix."""
ANSWERS = 10
"""Cases of which the answers are shown."""
LENGTH = 400
"""Characters of an answer that are shown."""
_NOT_NEEDED = ("messages", "turns", "tools", "logs", "attachments", "sent", "failures")


class VariantReporter:
    """Writes to the console."""

    def __init__(
        self, write: Callable[[str], object], style: Style, room: int | None = None, detailed: bool = False
    ) -> None:
        """`room` is the width of the terminal; `detailed` shows the statistics behind the verdicts."""
        self._write = write
        self._room = room
        self._detailed = detailed
        self._style = style
        self._collector = Collector(partial(taken, unused=_NOT_NEEDED))

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results; writes at the end of the run."""
        self._collector.add(event, so_far)
        if isinstance(event, RunEnd):
            report = self._collector.report(so_far)
            try:
                self._write(variants_text(report, self._style, self._room, self._detailed))
            except ConfigurationError as error:
                self._write(f"The variants cannot be compared: {error.message}\n")

    def close(self) -> None:
        """Does nothing."""


def matrix_text(rows: Sequence[MatrixRow], names: Sequence[str], room: int | None) -> str:
    """How often each case passes in each variant, suite by suite."""
    shown = ((row.key.suite, (row.key.name, *cells_of(row))) for row in rows[:ROWS])
    text = table(grouped(("Case", *names), shown), room)
    if len(rows) > ROWS:
        text += f"  ... and {len(rows) - ROWS} more, {sum(row.differs for row in rows)} of all differ\n"
    return text


def cells_of(row: MatrixRow) -> list[str]:
    """How often a case passes in each variant."""
    return [f"{rate.passed}/{rate.judged}" if rate.judged else "none" for rate in row.rates]


def variants_text(report: Report, style: Style, room: int | None = None, detailed: bool = False) -> str:
    """What the console says of the variants of a run. Raises ConfigurationError."""
    compared = verdicts_on(report)
    names, verdicts = compared.names, compared.verdicts
    rows = matrix(compared.parts)
    text = f"{DOUBLE}\n  {style.paint('Variants', 'bold')}\n{DOUBLE}\n"
    for verdict, name in zip(verdicts, names[1:], strict=True):
        first, *rest = sentences(verdict, BeforeAfter(a=names[0], b=name), detailed)
        text += style.paint(f"{name}: {first}", VERDICT_COLORS[verdict.verdict]) + "\n"
        text += "".join(f"  {line}\n" for line in rest)
    text += "\n" + matrix_text(rows, names, room) + answers_text(rows, names, style)
    return text + "\n" + table(overview(verdicts, names, "Variant", detailed), room, least=LEAST)


def answers_text(rows: Sequence[MatrixRow], names: Sequence[str], style: Style) -> str:
    """The answers of cases that do not pass as often in each variant, below each other."""
    shown = [row for row in rows if row.differs and len(set(row.answers)) > 1][:ANSWERS]
    return "".join(f"\n  {row.key.name}\n{_answers(row, names, style)}" for row in shown)


def _answers(row: MatrixRow, names: Sequence[str], style: Style) -> str:
    """The answers below each other, the words marked that the first one does not have, or that only it has."""
    text = ""
    shown_names = [in_cell(name) for name in names]
    longest = max(map(width, shown_names))
    for at, (name, answer) in enumerate(zip(shown_names, row.answers, strict=True)):
        both = marked(row.answers[0], row.answers[at or 1])
        pieces = both.b if at else both.a
        shown = _painted(pieces, style, "green" if at else "red") if answer else style.paint("no answer", "dim")
        text += f"    {name}{' ' * (longest - width(name))}  {shown.rstrip()}\n"
    return text


def _painted(pieces: Sequence[DiffSegment], style: Style, color: str) -> str:
    """Pieces in one line; without colours, marked ones are in brackets."""
    text, size = "", 0
    for piece in pieces:
        if size + len(piece.text) > LENGTH:
            return f"{text} ..."
        size += len(piece.text)
        plain = piece.text.replace("\n", " ")
        if piece.differs and plain.strip():
            plain = style.paint(plain, color) if style.colors else f"[{plain}]"
        text += plain
    return text
