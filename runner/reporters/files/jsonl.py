"""The `.jsonl` report of seed 004: a `start` line, a `result` line as each test ends, a `summary` line. Each
reaches the system as it ends; see `line_file` for when it reaches the disk.

With `--runs`, each run has a `result` line that says which `run` it is, and a `stability` line with the figures follows
the last one of a test.
"""

from __future__ import annotations

from pathlib import Path

from runner.reporters.files.line_file import LineFile
from runner.results.events import AttemptEnd, Event, RunEnd, RunError, RunStart, TestEnd, TestStart, Warned
from runner.results.fold import Execution
from runner.results.json_text import json_line
from runner.results.model import Suite, TestResult
from runner.results.places import without_root
from runner.results.report import Record, Report, end_record, start_record
from runner.results.result_json import ResultLine, line_of
from runner.results.stability_json import figures
from runner.results.suite_json import has_cases

OF_SOME = ("notes", "flags", "shard", "regraded_from", "runs_per_case", "min_pass_rate")
"""What the start says of some runs."""


class JsonlReporter:
    """Writes results in the order in which tests end."""

    def __init__(self, target: Path | LineFile) -> None:
        """`target`: the open file of the run which this one resumes, else where to write. Raises ConfigurationError
        when another run writes it."""
        self._file = target if isinstance(target, LineFile) else LineFile(target)
        self._goes_on = isinstance(target, LineFile) and not target.is_empty

    @property
    def path(self) -> Path:
        """The file that is written."""
        return self._file.path

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Writes the line of an event."""
        if isinstance(event, TestStart):
            return
        if isinstance(event, (TestEnd, AttemptEnd)):  # a union would be made anew each time
            result = event.result
            if result.attempts:
                self._stability(result, so_far.suites[result.suite])
            else:
                self._result(line_of(result, so_far))
        elif isinstance(event, RunStart):
            if not self._goes_on:
                made_of = {"resume": event.resume} if event.resume else {}
                self._write({**_start_line(start_record(event), event.total_cases), **made_of})
        elif isinstance(event, RunError):
            self._write(_error_line(without_root(event.message, so_far.root), event.hint))
        elif isinstance(event, Warned):
            self._write({"type": "warning", "warning": without_root(event.message, so_far.root)})
        elif isinstance(event, RunEnd):
            self._write({"type": "summary", **end_record(so_far)})

    def write(self, report: Report) -> None:
        """Writes a whole report; one that was read from lines, as these are."""
        if report.text:
            self._file.write(report.text.removesuffix("\n"))
            return
        total = report.summary["total"] if all(has_cases(suite) for suite in report.suites) else None
        self._write(_start_line(report.start, total))
        for warning in report.warnings:
            self._write({"type": "warning", "warning": warning})
        for record in report.results:
            self._write(record)
        for error in report.errors:
            self._write(_error_line(error, report.hints.get(error)))
        self._write({"type": "summary", **report.summary})

    def close(self) -> None:
        """Closes the file. Raises OSError when the disk has not kept all of it."""
        self._file.close()

    def _result(self, line: ResultLine) -> None:
        if self._goes_on and line.result.record is not None:
            return
        text, fingerprint = line.text, line.result.fingerprint
        self._file.write(f'{text[:-1]}, "fingerprint": {json_line(fingerprint)}}}' if fingerprint else text)

    def _stability(self, result: TestResult, suite: Suite) -> None:
        if result.stability is not None:
            head = {"type": "stability", "suite": suite.name, "position": result.position, "id": result.name}
            not_judged = {"not_judged": result.outcome.not_judged} if result.outcome.not_judged else {}
            self._write(
                {**head, "status": result.outcome.status, **figures(result.stability, result.repeat), **not_judged}
            )

    def _write(self, record: Record) -> None:
        self._file.write(json_line(record))


def _error_line(message: str, hint: str | None) -> Record:
    return {"type": "error", "error": message, **({"hint": hint} if hint else {})}


def _start_line(start: Record, total_cases: int | None) -> Record:
    suites = start["suites"]
    more = {key: start[key] for key in OF_SOME if key in start}
    return {
        "type": "start",
        "timestamp": start["timestamp"],
        "agent_id": ",".join(sorted({suite["agent"] for suite in suites})),
        "total_cases": total_cases,
        "scripts": [suite["id"] for suite in suites if not has_cases(suite)],
        "inputs": [suite["label"] for suite in suites if has_cases(suite)],
        "suites": suites,
        "environment": start["environment"],
        "version": start["version"],
        **more,
    }
