"""What changed from one run to another, and between the variants of one run, in words: the same on the console, in
Markdown and on the HTML page; and as lists and tables for the console."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from runner.cells import in_cell, width
from runner.compare.change_report import BeforeAfter, ChangeReport
from runner.compare.comparison import KINDS, Comparison, ResultChange
from runner.compare.variants import DiffSegment, MatrixRow, marked, matrix, verdicts_on
from runner.errors import ConfigurationError
from runner.parts import described
from runner.record.outcomes import shown
from runner.record.report import Report
from runner.record.votes import SCORE
from runner.reporters.console import verdict_lines
from runner.reporters.console.style import DOUBLE, Style, count, in_milliseconds
from runner.reporters.console.table import grouped, table
from runner.reporters.document import Collector
from runner.security.terminal import in_line

ERROR_LIMIT = 500
"""Characters of an error that are shown."""
COLORS = {"bad": "red", "warning": "yellow", "good": "green", "neutral": "cyan", "quiet": "dim"}
"""Tone of a kind of change → its colour."""
VERDICT_COLORS = {"regressed": "red", "improved": "green", "unchanged": "green", "cannot tell": "yellow"}
LEAST = ("Tokens", "Cost", "Duration", "Difference")
"""Columns of the overview that matter least."""
_FIGURES: dict[str, tuple[str, str, Callable[[float], str]]] = {
    "lower_scores": ("score", "score {} → {}", "{:.3g}".format),
    "more_tokens": ("tokens", "{} → {} tokens", verdict_lines.MEASURES["tokens"][1]),
    "higher_costs": ("cost", "{} → {}", verdict_lines.MEASURES["cost"][1]),
}
"""Kind of change → the figure that changed, how both sides of it are told, and how one is written."""
WITH_ERROR = ("new_failures", "dropped", "flaky", "errors")
"""Kinds of change that say the error."""


def verdict_line(found: Comparison) -> str:
    """A summary of the lists, which may be noise: `2 results look worse, 1 error`."""
    errors, worse = len(found.of("errors")), len(found.regressions)
    if found.all_broke:
        return f"No verdict: {count(errors, 'result')} ended with an error"
    said = f"{count(worse, 'result')} {'looks' if worse == 1 else 'look'} worse" if worse else "Nothing looks worse"
    if errors:
        return f"{said}, {count(errors, 'error')}"
    return said if any(change.kinds for change in found.changes) else "No changes"


def fact_of(kind: str, change: ResultChange) -> str:
    """What changed in the sense of a kind: `passed → failed`, `100ms → 900ms, 9.0 times as long`; empty where the kind
    says all."""
    was, now = change.before, change.after
    if was is None:
        return shown(now.status) if now is not None and kind == "added" else f"new → {shown(now.status) if now else ''}"
    if now is None:
        return shown(was.status)
    if kind in ("slower", "faster"):
        factor = f", {now.milliseconds / was.milliseconds:.1f} times as long" if was.milliseconds else ""
        text = f"{in_milliseconds(was.milliseconds)} → {in_milliseconds(now.milliseconds)}"
        return text + factor if kind == "slower" else text
    if kind == "dropped":
        return f"{runs_of(change)} runs passed" + (", looks worse" if change.regression else "")
    if kind in _FIGURES:
        field, form, written = _FIGURES[kind]
        figures = (getattr(side, field) for side in (was, now))
        return form.format(*("none" if figure is None else written(figure) for figure in figures))
    if kind in ("still_failing", "changed"):
        return ""
    runs = f" ({runs_of(change)} runs passed)" if change.is_repeated else ""
    return f"{shown(was.status)} → {shown(now.status)}{runs}"


def changed_parts(found: Comparison) -> str:
    """What the results of the two runs were made of that is not the same: `prompts of refunds, connector (a → b) (12
    results)`; empty when there is nothing, or it is not known."""
    numbers = dict.fromkeys(found.parts.values())
    groups = ([part for part, count in found.parts.items() if count == number] for number in numbers)
    return "; ".join(
        f"{described(group)} ({count(number, 'result')})" for number, group in zip(numbers, groups, strict=True)
    )


def runs_of(change: ResultChange) -> str:
    """How many of its runs passed: `9 of 10 → 8 of 10`."""
    sides = [side for side in (change.before, change.after) if side is not None]
    return " → ".join(f"{side.passed} of {side.judged}" for side in sides)


def error_of(change: ResultChange) -> str:
    """Why a result does not pass now, in one line; empty when it passes."""
    return " ".join((change.error or "").split())[:ERROR_LIMIT]


def changes_text(found: Comparison, style: Style) -> str:
    """The changes for the console, and which parts of the application have changed."""
    text = ""
    for kind in KINDS:
        if changes := found.of(kind.key):
            text += style.paint(f"{kind.title} ({len(changes)})\n", COLORS[kind.tone])
            text += "".join(_lines_of(kind.key, change) for change in changes) + "\n"
    parts = changed_parts(found)
    return f"{text}{verdict_line(found)}\n" + (f"Changed since the baseline: {parts}\n" if parts else "")


def verdicts_text(
    verdicts: Sequence[ChangeReport],
    names: Sequence[str],
    style: Style,
    room: int | None = None,
    detailed: bool = False,
) -> str:
    """The verdicts for the console: what each means, the cases that got worse, and a row for each figure.

    Args:
        verdicts: of all reports except the first.
        names: names of all reports.
        style: with colours or without.
        room: columns of the terminal.
        detailed: with intervals, and what the runs could have shown."""
    text = ""
    for verdict, name in zip(verdicts, names[1:], strict=True):
        said = verdict_lines.sentences(verdict, detailed=detailed)
        told = [*said, f"A: {names[0]}, B: {name}"]
        text += _told(told, verdict, style, name if len(verdicts) > 1 else "") + "\n"
        if cases := verdict_lines.case_rows(verdict, detailed):
            text += table([verdict_lines.CASE_HEAD, *cases], room, least=("p",)) + "\n"
        rows = [verdict_lines.HEAD, *verdict_lines.measure_rows(verdict, detailed)]
        text += table(rows, room, least=("Difference",)) + "\n"
    return text


def _told(said: Sequence[str], verdict: ChangeReport, style: Style, name: str) -> str:
    """A verdict in sentences, the first with the name of what it is about, if there are several."""
    first, *rest = said
    head = style.paint(f"{name}: {first}" if name else first, VERDICT_COLORS[verdict.verdict])
    return "".join(f"{line}\n" for line in (head, *(f"  {line}" for line in rest)))


def _lines_of(kind: str, change: ResultChange) -> str:
    fact = fact_of(kind, change)
    text = f"  {in_line(f'{change.suite} › {change.id}')}{': ' if fact else ''}{fact}\n"
    if kind in WITH_ERROR and (error := error_of(change)):
        text += f"    {error}\n"
    if change.parts:
        text += f"    changed: {described(change.parts)}\n"
    if kind == "changed":
        text += "".join(f"    {line}\n" for line in change.diff)
    return text


def overview(
    verdicts: Sequence[ChangeReport], names: Sequence[str], title: str = "Report", detailed: bool = True
) -> list[verdict_lines.Row]:
    """A head, the first report, then the others with their verdicts. Columns without any value are left out.

    Args:
        verdicts: of all reports except the first.
        names: names of all reports.
        title: what is compared.
        detailed: with intervals."""
    first = verdicts[0]
    took = (verdict_lines.MEASURES[name][0] for name in verdict_lines.RESOURCES)
    head = (title, verdict_lines.measure_name(first.measure), "Score", *took, "Difference", "Verdict")
    rows = [head, (names[0], *_cells(first, detailed).a, "", "")]
    for found, name in zip(verdicts, names[1:], strict=True):
        rows.append(
            (name, *_cells(found, detailed).b, verdict_lines.difference_of(found.change, detailed), str(found.verdict))
        )
    known = [at for at in range(len(head)) if any(row[at] for row in rows[1:])]
    return [tuple(row[at] for at in known) for row in rows]


def _cells(found: ChangeReport, detailed: bool) -> BeforeAfter[list[str]]:
    """The measure, the score and what it took, of both sides of a comparison."""
    rated = partial(verdict_lines.rate_of, detailed=detailed)
    empty = BeforeAfter(a="", b="")
    scores = [part.rates.each(rated) for part in found.parts if part.kind == SCORE]
    took = {beside.name: beside.means.each(verdict_lines.MEASURES[beside.name][1]) for beside in found.beside}
    known = (took.get(name, empty) for name in verdict_lines.RESOURCES)
    columns = [found.rates.each(rated), *(scores or [empty]), *known]
    return BeforeAfter(a=[column.a for column in columns], b=[column.b for column in columns])


ROWS = 50
"""Cases of the matrix."""
ANSWERS = 10
"""Cases of which the answers are shown."""
LENGTH = 400
"""Characters of an answer that are shown."""


class VariantReporter(Collector):
    """Writes to the console what differs between the variants of a run."""

    unused = ("messages", "turns", "tools", "logs", "attachments", "sent", "failures")

    def __init__(self, write: Callable[[str], object], style: Style, room: int | None, detailed: bool) -> None:
        """`room` is the width of the terminal; `detailed` shows the statistics behind the verdicts."""
        super().__init__()
        self._write = write
        self._room = room
        self._detailed = detailed
        self._style = style

    def write(self, report: Report) -> None:
        """Writes the verdicts on the variants, or why they cannot be compared."""
        try:
            compared = verdicts_on(report)
        except ConfigurationError as error:
            self._write(f"The variants cannot be compared: {error.message}\n")
            return
        names, verdicts, style = compared.names, compared.verdicts, self._style
        rows = matrix(compared.parts)
        text = f"{DOUBLE}\n  {style.paint('Variants', 'bold')}\n{DOUBLE}\n"
        for verdict, name in zip(verdicts, names[1:], strict=True):
            said = verdict_lines.sentences(verdict, BeforeAfter(a=names[0], b=name), self._detailed)
            text += _told(said, verdict, style, name)
        text += "\n" + matrix_text(rows, names, self._room) + answers_text(rows, names, style)
        overall = overview(verdicts, names, "Variant", self._detailed)
        self._write(f"{text}\n{table(overall, self._room, least=LEAST)}")


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
