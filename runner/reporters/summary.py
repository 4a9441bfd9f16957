"""`report.summary`: a few lines of text."""

from __future__ import annotations

from pathlib import Path

from runner.events import Event, RunEnd, TestEnd
from runner.execution import Execution
from runner.reporters.json_report import write_whole
from runner.reporters.records import error_text


class SummaryReporter:
    """Writes counts and the failed tests, at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed: list[str] = []

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects failures; writes at the end of the run."""
        if isinstance(event, TestEnd) and event.result.outcome.failures:
            result = event.result
            self._failed.append(f"FAILED {result.suite} {result.name}: {error_text(result.outcome.failures[0])}")
        elif isinstance(event, RunEnd):
            counts = so_far.counts
            line = f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped in {event.seconds:.2f}s"
            write_whole(self._path, "\n".join([line, *self._failed]) + "\n")

    def close(self) -> None:
        """Nothing is left to do."""
