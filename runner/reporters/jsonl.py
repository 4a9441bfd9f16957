"""The `.jsonl` report of seed 004: a `start` line, a `result` line as each test ends, a `summary` line. Flushed by
line."""

from __future__ import annotations

import json
from pathlib import Path

from runner.events import Event, RunEnd, RunError, RunStart, TestEnd, Warned
from runner.execution import Execution
from runner.reporters.document import Record, Report, end_record, result_line, suite_record


class JsonlReporter:
    """Writes results in the order in which tests end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", errors="replace", buffering=1)

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Writes the line of an event."""
        if isinstance(event, TestEnd):
            self._write(result_line(event.result, so_far.suites[event.result.suite]))
        elif isinstance(event, RunStart):
            suites = [suite_record(suite) for suite in event.suites]
            self._write(_start_line(event.started_at, event.version, event.environment, suites, event.total_cases))
        elif isinstance(event, RunError):
            self._write({"type": "error", "error": event.message})
        elif isinstance(event, Warned):
            self._write({"type": "warning", "warning": event.message})
        elif isinstance(event, RunEnd):
            self._write({"type": "summary", **end_record(so_far)})

    def write(self, report: Report) -> None:
        """Writes a whole report."""
        start = report.start
        total = report.summary["total"] if all(suite["kind"] == "agent_test" for suite in report.suites) else None
        self._write(_start_line(start["timestamp"], start["version"], start["environment"], report.suites, total))
        for warning in report.warnings:
            self._write({"type": "warning", "warning": warning})
        for record in report.results:
            self._write(record)
        for error in report.errors:
            self._write({"type": "error", "error": error})
        self._write({"type": "summary", **report.summary})

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _write(self, record: Record) -> None:
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _start_line(
    timestamp: str, version: str, environment: Record, suites: list[Record], total_cases: int | None
) -> Record:
    return {
        "type": "start",
        "timestamp": timestamp,
        "agent_id": ",".join(sorted({suite["agent"] for suite in suites})),
        "total_cases": total_cases,
        "scripts": [suite["id"] for suite in suites if suite["kind"] == "script_test"],
        "inputs": [suite["label"] for suite in suites if suite["kind"] == "agent_test"],
        "suites": suites,
        "environment": environment,
        "version": version,
    }
