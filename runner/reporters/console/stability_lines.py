"""How stable tests are, on the console: a line for each test, and a table at the end of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from runner.columns import aligned
from runner.reporters.console.style import SINGLE, Style, count, in_milliseconds
from runner.results.model import Stability, TestResult
from runner.results.stability import CLASSES, pass_rate

STABLE_ROWS = 30
"""Stable tests that the table shows; of a long run it shows those that are not."""
ROWS = 200
"""Tests that the table shows."""
NAME_WIDTH = 30
COLORS = {"stable": "green", "mostly stable": "yellow"}
"""Class → colour; others are red."""
HEAD = ("Test", "Passed", "Rate", "95% interval", "Same output", "Class", "Mean", "Deviation")
CLASS = 5
"""FilePlace of the class among them."""


class StabilityLines:
    """Collects the figures of tests."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._rows: list[tuple[str, Stability]] = []
        self._stable_rows = 0
        self._classes: Counter[str] = Counter()
        self._passed = self._judged = self._most = 0
        self._at_one: list[float] = []
        self._at_all: list[float] = []
        self._hat_all: list[float] = []

    def add(self, name: str, stability: Stability) -> None:
        """Takes the figures of a test into the table."""
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
            self._rows.append((name, stability))

    def line(self, result: TestResult) -> str:
        """The runs of one test: a sign for each, and their verdict."""
        marks = "".join(self._style.mark(attempt.status) for attempt in result.attempts)
        found = result.stability
        if found is None:
            return f"Runs: {marks}\n"
        if result.repeat is not None:
            errors = f", {found.errors} broke or did not decide" if found.errors else ""
            return f"Runs: {marks} {result.repeat.sentence}{errors}\n"
        rate = f"{found.passed} of {found.judged} passed ({_percent(found.pass_rate)})"
        errors = f", {found.errors} broke" if found.errors else ""
        if unjudged := sum(not attempt.judged for attempt in result.attempts):
            errors += f", {unjudged} not judged"
        return f"Runs: {marks} {rate}{errors}, {self._class(found.classification)}\n"

    def table(self, runs: int) -> str:
        """The figures of all tests; empty when there are none."""
        if not self._judged:
            return ""
        cells = [_cells(name, stability) for name, stability in self._rows]
        head, *rows = aligned([HEAD, *cells])
        title = f" ({count(runs, 'run')} of each test)" if runs > 1 else ""
        lines = [SINGLE, f"  Stability{title}", SINGLE]
        lines.append(self._style.paint(_row(head), "dim"))
        for row in rows:
            name = row[CLASS].rstrip()
            lines.append(_row([*row[:CLASS], row[CLASS].replace(name, self._class(name)), *row[CLASS + 1 :]]))
        tests = sum(self._classes.values())
        if tests > len(cells):
            lines.append(f"  ... and {tests - len(cells)} more, {self._classes['stable']} of all are stable")
        classes = ", ".join(f"{self._classes[name]} {name}" for _, name in CLASSES if self._classes[name])
        rate = _percent(pass_rate(self._passed, self._judged))
        lines += [
            "",
            f"  {self._passed} of {self._judged} runs passed ({rate}): {classes}",
        ]
        if self._at_one:
            lines.append(
                f"  pass@1 {fmean(self._at_one):.2f}, pass@{self._most} {fmean(self._at_all):.2f}, "
                f"pass^{self._most} {fmean(self._hat_all):.2f}"
            )
        return "\n".join(lines) + "\n"

    def _class(self, name: str) -> str:
        return self._style.paint(name, COLORS.get(name, "red"))


def _cells(name: str, found: Stability) -> tuple[str, ...]:
    low, high = found.confidence_interval
    return (
        name if len(name) <= NAME_WIDTH else f"...{name[3 - NAME_WIDTH :]}",
        f"{found.passed}/{found.judged}",
        _percent(found.pass_rate),
        f"{low:g}-{high:g}%",
        f"{found.consistency:.2f}",
        found.classification,
        in_milliseconds(found.avg_duration_ms),
        in_milliseconds(found.std_deviation_ms),
    )


def _row(cells: Sequence[str]) -> str:
    return f"  {'  '.join(cells)}".rstrip()


def _percent(rate: float) -> str:
    return f"{rate:g}%"
