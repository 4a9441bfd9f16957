"""Tables of the console: as wide as the terminal at most, without a broken word. Where a row has no room, the columns
that matter least are left out; below 80 columns, rows become blocks of `name: value`. A last column without a title
has sentences, which continue in lines of their own; a table without any title is a list, and stays one.

Those at the end of a run: rates, stability, coverage and the slowest tests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from textwrap import indent

from runner.amounts import mean
from runner.cells import in_cell, width
from runner.environment import Environment
from runner.reporters.console.style import CASE_RATE, SINGLE, Style, count, in_milliseconds
from runner.reporters.console.terminal import fitted, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.record.coverage import CoverageReport
    from runner.record.fold import Counts
    from runner.record.model import TestResult
    from runner.record.stability import RunStatistics
    from runner.record.summary import GroupRow

TABLES_FROM = 80
"""Columns from which on a table may lose columns to stay a table."""
SENTENCE = 24
"""Columns that sentences need to continue in their column."""
INDENT = "  "
Paint = Callable[[int, str, str], str]
"""The number of a row (from 0), the title of a column and the cell → the cell in colours."""


def columns_of(environment: Environment) -> int | None:
    """How wide the output is: the variable `COLUMNS`, or the width of the terminal; None: as wide as it likes."""
    said = environment.variables.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    if not environment.terminal:
        return None
    try:
        return os.get_terminal_size(environment.stdout.fileno()).columns or TABLES_FROM
    except OSError:
        return TABLES_FROM


def on_terminal(environment: Environment) -> Environment:
    """The environment with streams whose whole lines fit into the terminal, where they are one."""
    if not environment.terminal:
        return environment
    streams = (environment.stdout, environment.stderr)
    out, err = (_Fitted(one, environment) if one.isatty() else one for one in streams)
    return environment.replace(stdout=out, stderr=err)


class _Fitted:
    def __init__(self, stream: Any, environment: Environment) -> None:
        self._stream = stream
        self._environment = environment

    def write(self, text: str) -> int:
        """Writes a text; what does not end a line, such as a prompt, is left as it is."""
        lines, end, rest = text.rpartition("\n")
        if end:  # secrets go before a line is broken, which would tear them apart
            lines = fitted(self._environment.secrets.text(lines), columns_of(self._environment) or TABLES_FROM)
        self._stream.write(f"{lines}{end}{rest}")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def table(
    rows: Sequence[Sequence[str]], room: int | None = None, *, least: Collection[str] = (), paint: Paint | None = None
) -> str:
    """A table with a line for each row, of which the first has the titles; empty columns are left out.

    Args:
        rows: cells without colours; one with a single cell is the heading of those that follow. In a last column
            without a title, a cell may have several lines.
        room: how many columns there are; None: as many as it takes.
        least: titles of the columns that may be left out, those first that matter least.
        paint: colours a cell."""
    used = [at for at in range(len(rows[0])) if any(row[at] for row in rows[1:] if len(row) > 1)]
    whole = [_cells(row, used) for row in rows]
    shown = whole
    if room is None or _width(shown) <= room:
        return _lines(shown, paint)
    for title in least if room >= TABLES_FROM else ():
        if title in shown[0]:
            at = shown[0].index(title)
            shown = [row if len(row) == 1 else [*row[:at], *row[at + 1 :]] for row in shown]
            if _width(shown) <= room:
                return _lines(shown, paint)
    left = room - _width([row[:-1] for row in shown]) - len(INDENT)
    if not shown[0][-1] and left >= SENTENCE and (room >= TABLES_FROM or not any(shown[0])):
        return _lines([row if len(row) == 1 else [*row[:-1], _wrapped(row[-1], left)] for row in shown], paint)
    return _blocks(whole, paint)


def listed(rows: Sequence[Sequence[str]], room: int | None = None) -> str:
    """A table without titles; empty without rows."""
    return table([[""] * len(rows[0]), *rows], room) if rows else ""


def grouped(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> list[Sequence[str]]:
    """The rows of a table, each with the name of its group: where there are several groups, below headings."""
    found = list(rows)
    several = len({name for name, _ in found}) > 1
    shown: list[Sequence[str]] = [head]
    last = None
    for name, row in found:
        shown += [(name,), row] if several and name != last else [row]
        last = name
    return shown


def _cells(row: Sequence[str], used: Sequence[int]) -> list[str]:
    *cells, last = [row[at] for at in (used if len(row) > 1 else (0,))]
    lines = last.split("\n") if cells else [last]
    return [*map(in_cell, cells), "\n".join(map(in_cell, lines))]


def _wrapped(cell: str, room: int) -> str:
    return "\n".join(wrapped(line, room, 0) for line in cell.split("\n"))


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    full = (row for row in rows if len(row) == len(rows[0]))
    return [max(map(width, "\n".join(column).split("\n"))) for column in zip(*full, strict=True)]


def _width(rows: Sequence[Sequence[str]]) -> int:
    return len(INDENT) * len(rows[0]) + sum(_widths(rows))


def _lines(rows: Sequence[Sequence[str]], paint: Paint | None) -> str:
    widths = _widths(rows)
    below = "\n" + " " * (len(INDENT) * len(widths) + sum(widths[:-1]))
    text, number = "", -2
    for row in rows:
        if len(row) < len(widths):
            text += f"{row[0]}\n"
            continue
        number += 1
        cells = []
        for title, cell, room in zip(rows[0], row, widths, strict=True):
            blanks = " " * (room - width(cell))
            cells.append((paint(number, title, cell) if paint and number >= 0 and cell else cell) + blanks)
        line = f"{INDENT}{INDENT.join(cells)}".rstrip()
        text += line.replace("\n", below) + "\n" if line else ""
    return text


def _blocks(rows: Sequence[Sequence[str]], paint: Paint | None) -> str:
    blocks, number = [], -1
    for row in rows[1:]:
        if len(row) < len(rows[0]):
            blocks.append(f"{row[0]}\n")
            continue
        number, lines = number + 1, ""
        for title, cell in zip(rows[0], row, strict=True):
            if cell:
                name = f"{title}: " if title else ""
                lines += f"{name}{paint(number, title, cell) if paint else cell}\n"
        blocks.append(indent(lines, INDENT))
    return "\n".join(blocks)


PART_ROWS = 20
"""Parts of a kind in the table of rates."""
PART_WIDTH = 60
"""Characters of a criterion."""
RATES = ("Part", "Cases", CASE_RATE, "Mean score")
STABLE_ROWS = 30
"""Stable tests that the table shows; of a long run it shows those that are not."""
ROWS = 200
"""Tests that the table of stability shows."""
COLORS = {"stable": "green", "mostly stable": "yellow"}
"""Class → colour; others are red."""
STABILITY = ("Test", "Passed", "Run pass rate", "95% interval", "Consistency", "Class", "Mean duration", "Deviation")
DETAILS = ("Deviation", "95% interval", "Consistency")
"""Columns that only -v shows."""
LEAST = (*DETAILS, "Mean duration", "Run pass rate")
"""Columns that matter least."""
COVERAGE = ("% Stmts", "% Branch", "% Funcs", "% Lines")
LACKING = 30
"""Characters of the lines that did not run."""
GOOD, FAIR = 80.0, 50.0
"""Percentages of coverage from which on a figure is green, and yellow."""


def rate_lines(counts: Counts, detailed: bool) -> list[str]:
    """The pass rate and the mean score of all cases, each where there is one; with their intervals if `detailed`."""
    from runner.record.summary import certainty_of, judges_text, rate_text, score_text

    known = certainty_of(counts)
    said = [(CASE_RATE, rate_text(known, detailed)), ("Mean score", score_text(known, detailed))]
    said.append(("Judge noise", judges_text(known) if detailed else ""))
    return [f"  {title}: {text}" for title, text in said if text]


def rate_table(counts: Counts, room: int | None, detailed: bool) -> str:
    """A row for each suite, tag, criterion and checkpoint; empty where there are none. `room` is the width of the
    terminal."""
    from runner.record.summary import certainty_of, part_rows

    found = part_rows(certainty_of(counts), PART_ROWS, detailed)
    if not found:
        return ""
    rows = [(_part_name(row), row.cases, row.rate, row.score) for row in found]
    title = f"  Rates{' (with 95% intervals)' if detailed else ''}"
    return "\n".join([SINGLE, title, SINGLE, ""]) + table([RATES, *rows], room, least=("Cases",))


class StabilityLines:
    """Collects how stable tests are: a line for each test, and a table at the end of the run."""

    def __init__(self, style: Style, detailed: bool = False) -> None:
        """`detailed`: with all columns."""
        self._style = style
        self._detailed = detailed
        self._rows: list[tuple[str, str, RunStatistics]] = []
        self._stable_rows = 0
        self._classes: Counter[str] = Counter()
        self._passed = self._judged = self._most = 0
        self._at_one: list[float] = []
        self._at_all: list[float] = []
        self._hat_all: list[float] = []

    def add(self, suite: str, name: str, stability: RunStatistics) -> None:
        """Takes the figures of a test of a suite into the table."""
        self._classes[stability.classification] += 1
        self._passed += stability.passed
        self._judged += stability.judged
        if stability.pass_at_k:
            self._most = max(self._most, stability.judged)
            self._at_one.append(stability.pass_at_k[1])
            self._at_all.append(stability.pass_at_k[stability.judged])
            self._hat_all.append(stability.pass_hat_k[stability.judged])
        if stability.stable:
            self._stable_rows += 1
        if len(self._rows) < ROWS and (not stability.stable or self._stable_rows <= STABLE_ROWS):
            self._rows.append((suite, name, stability))

    def line(self, result: TestResult) -> str:
        """The runs of one test: a sign for each, and their verdict."""
        marks = "".join(self._style.mark(attempt.status) for attempt in result.attempts)
        found = result.stability
        if found is None:
            return f"Runs: {marks}\n"
        if result.repeat is not None:
            errors = f", {found.errors} with an error or no verdict" if found.errors else ""
            return f"Runs: {marks} {result.repeat.sentence}{errors}\n"
        rate = f"{found.passed} of {found.judged} passed ({found.pass_rate:g}%)"
        errors = f", {count(found.errors, 'error')}" if found.errors else ""
        if unjudged := sum(not attempt.judged for attempt in result.attempts):
            errors += f", {unjudged} not judged"
        return f"Runs: {marks} {rate}{errors}, {self._class(found.classification)}\n"

    def table(self, runs: int, room: int | None) -> str:
        """The figures of all tests; empty when there are none. `room` is the width of the terminal."""
        if not self._judged:
            return ""
        from runner.record.stability import CLASSES, pass_rate

        shown = [at for at, title in enumerate(STABILITY) if self._detailed or title not in DETAILS]
        rows = ((suite, _stability_cells(name, found)) for suite, name, found in self._rows)
        title = f" ({count(runs, 'run')} of each test)" if runs > 1 else ""
        text = f"{SINGLE}\n  Stability{title}\n{SINGLE}\n"
        text += table(
            grouped([STABILITY[at] for at in shown], ((suite, [row[at] for at in shown]) for suite, row in rows)),
            room,
            least=LEAST,
            paint=lambda _, title, cell: self._class(cell) if title == "Class" else cell,
        )
        lines = []
        tests = sum(self._classes.values())
        if tests > len(self._rows):
            lines.append(f"  ... and {tests - len(self._rows)} more, {self._classes['stable']} of all are stable")
        classes = ", ".join(f"{self._classes[name]} {name}" for _, name in CLASSES if self._classes[name])
        rate = pass_rate(self._passed, self._judged)
        lines += ["", f"  {self._passed} of {self._judged} runs passed ({rate:g}%): {classes}"]
        if self._at_one:
            one, most, all = map(mean, (self._at_one, self._at_all, self._hat_all))
            lines.append(f"  pass@1 {one:.2f}, pass@{self._most} {most:.2f}, pass^{self._most} {all:.2f}")
        return text + "\n".join(lines) + "\n"

    def _class(self, name: str) -> str:
        return self._style.paint(name, COLORS.get(name, "red"))


def slowest_tests(took: Sequence[tuple[float, str]], limit: int, style: Style, room: int | None) -> str:
    """`--durations`: the lines of the slowest tests, of which `took` has milliseconds and names, the slowest first; of
    two equals the first. Empty when nothing ran."""
    found = sorted(took, key=itemgetter(0), reverse=True)[:limit]
    if not found:
        return ""
    title = "Slowest test" if len(found) == 1 else f"Slowest {len(found)} tests"
    rows = [(in_milliseconds(milliseconds), name) for milliseconds, name in found]
    return f"{style.paint(title, 'bold')}\n{listed(rows, room)}"


def coverage_table(coverage: CoverageReport, style: Style, room: int | None) -> str:
    """A row for all files together, then one for each, with the lines that never ran; `room` is the width of the
    terminal."""
    from runner.record.coverage import METRICS, figures, totals, uncovered

    rows: list[tuple[str, ...]] = [("File", *COVERAGE, "Uncovered")]
    found = [("All files", totals(coverage.files.values()), "")]
    found += [(path, figures(file), uncovered(file)) for path, file in coverage.files.items()]
    for name, numbers, lines in found:
        shown = lines if len(lines) <= LACKING else lines[:LACKING].rpartition(",")[0] + ",…"
        rows.append((name, *(f"{numbers[metric].percent:.2f}" for metric in METRICS), shown))

    def paint(_: int, title: str, cell: str) -> str:
        if title not in COVERAGE:
            return cell
        percent = float(cell)
        return style.paint(cell, "green" if percent >= GOOD else "yellow" if percent >= FAIR else "red")

    return f"{style.paint('Coverage', 'bold')}\n{table(rows, room, least=COVERAGE[:3], paint=paint)}"


def _part_name(row: GroupRow) -> str:
    line = " ".join(row.name.split())
    if row.kind != "suite" and len(line) > PART_WIDTH:  # a sentence, of which whole words are left out
        line = f"{line[:PART_WIDTH].rpartition(' ')[0] or line[:PART_WIDTH]} …"
    return f"{row.kind} {line}"


def _stability_cells(name: str, found: RunStatistics) -> tuple[str, ...]:
    low, high = found.confidence_interval
    return (
        name,
        f"{found.passed}/{found.judged}",
        f"{found.pass_rate:g}%",
        f"{low:g}-{high:g}%",
        f"{found.consistency:.2f}",
        found.classification,
        in_milliseconds(found.avg_duration_ms),
        in_milliseconds(found.std_deviation_ms),
    )
