"""The `.jsonl` report of seed 004: a `start` line, a `result` line as each test ends, a `summary` line. Each line is
passed to the system at once; `runner.record.line_file` says when it is on the disk.

With `--runs`, each run has a `result` line with the number of the `run`. After the last run of a test, a `stability`
line has the figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runner.record.events import Event, TestEnd
from runner.record.fold import Execution
from runner.record.line_file import LineFile
from runner.record.lines import is_long, stored_pieces
from runner.record.report import Report, error_line, line_of_event, start_line
from runner.record.texts import json_line
from scripttest.typing_names import Record


class JsonlReporter:
    """Writes results in the order in which tests end."""

    def __init__(self, target: Path | LineFile) -> None:
        """`target`: the open file of the run which this one resumes, else where to write. Raises ConfigurationError
        when another run writes it."""
        self.line_file = target if isinstance(target, LineFile) else LineFile(target)
        """What it writes to."""
        self._resumes = isinstance(target, LineFile) and not target.is_empty

    @property
    def path(self) -> Path:
        """The file that is written."""
        return self.line_file.path

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Writes the line of an event."""
        line: str | Iterator[str] | None
        if isinstance(event, TestEnd) and is_long(event.result) and not (event.result.attempts or self._resumes):
            line = stored_pieces(event.result, so_far.suites[event.result.suite])
        else:
            line = line_of_event(event, so_far, self._resumes)
        if line is not None:
            self.line_file.write(line)

    def write(self, report: Report) -> None:
        """Writes a whole report; one that was read from lines, as these are."""
        if report.text:
            self.line_file.write(report.text.removesuffix("\n"))
            return
        total = report.counts.total if all(suite.has_cases for suite in report.suites) else None
        self._write(start_line(report.start.replace(total_cases=total)))
        for warning in report.warnings:
            self._write({"type": "warning", "warning": warning})
        for record in report.lines:
            self._write(record)
        for error in report.errors:
            self._write(error_line(error, report.hints.get(error)))
        self._write({"type": "summary", **report.summary})

    def close(self) -> None:
        """Closes the file. Raises OSError when the disk has not kept all of it."""
        self.line_file.close()

    def _write(self, record: Record) -> None:
        self.line_file.write(json_line(record))
