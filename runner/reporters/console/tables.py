"""Tables at the end of a run on the console: rates, stability, coverage and the slowest tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter

from runner.amounts import mean
from runner.record.fold import Counts
from runner.record.model import TestResult
from runner.record.stability import CLASSES, RunStatistics, pass_rate
from runner.record.summary import GroupRow, certainty_of, judges_text, part_rows, rate_text, score_text
from runner.reporters.console.style import CASE_RATE, SINGLE, Style, count, in_milliseconds
from runner.reporters.console.table import grouped, listed, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.record.coverage import CoverageReport

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
    known = certainty_of(counts)
    said = [(CASE_RATE, rate_text(known, detailed)), ("Mean score", score_text(known, detailed))]
    said.append(("Judge noise", judges_text(known) if detailed else ""))
    return [f"  {title}: {text}" for title, text in said if text]


def rate_table(counts: Counts, room: int | None, detailed: bool) -> str:
    """A row for each suite, tag, criterion and checkpoint; empty where there are none. `room` is the width of the
    terminal."""
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
    found = nlargest(limit, took, key=itemgetter(0))
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
