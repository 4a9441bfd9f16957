"""`--durations N`: the tests that took longest."""

from __future__ import annotations

from heapq import nlargest

from runner.reporters.console.style import Style, in_milliseconds
from runner.results.model import Suite, TestResult
from runner.security.terminal import in_line


class Slowest:
    """Keeps the slowest of the results of a run."""

    def __init__(self, limit: int, style: Style) -> None:
        self._limit = limit
        self._style = style
        self._kept: list[tuple[float, int, str]] = []
        """Milliseconds, how many came after it (so that the first of two equals stays first), and the name."""
        self._seen = 0

    def add(self, suite: Suite, result: TestResult) -> None:
        """Takes the result of a test, which took what all its runs took."""
        took = sum(run.duration_ms for run in result.attempts) or result.outcome.milliseconds
        self._seen -= 1
        self._kept = nlargest(self._limit, [*self._kept, (took, self._seen, in_line(f"{suite.name} › {result.name}"))])

    def text(self) -> str:
        """Their lines, the slowest first; empty when nothing ran."""
        if not self._kept:
            return ""
        times = [in_milliseconds(took) for took, _, _ in self._kept]
        width = max(map(len, times))
        lines = [f"  {time:>{width}}  {name}" for time, (_, _, name) in zip(times, self._kept, strict=True)]
        title = "Slowest test" if len(lines) == 1 else f"Slowest {len(lines)} tests"
        return "\n".join([self._style.paint(title, "bold"), *lines]) + "\n"
