"""The `.json` report: the `script_test` document of seed 004; for several modules, one such document each in
`reports`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from runner.events import Event, RunEnd, TestEnd
from runner.execution import Execution
from runner.reporters.records import metadata_record, result_record, summary_record


class JsonReporter:
    """Keeps every result and writes the document once, at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._results: dict[str, dict[int, dict[str, Any]]] = {}

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Collects results; writes at the end of the run."""
        if isinstance(event, TestEnd):
            result = event.result
            self._results.setdefault(result.suite, {})[result.position] = result_record(result)
        elif isinstance(event, RunEnd):
            text = json.dumps(self.document(so_far), indent=2, ensure_ascii=False)
            write_whole(self._path, text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") + "\n")

    def close(self) -> None:
        """Nothing is left to do."""

    def document(self, run: Execution) -> dict[str, Any]:
        """The report as a JSON value."""
        assert run.start is not None
        start, end = run.start, run.end
        milliseconds = end.seconds * 1000 if end else 0
        reports = [
            {
                "type": suite.kind,
                "script": suite.id,
                "script_path": suite.label,
                "summary": summary_record(run.of_suite[suite.id], run.of_suite[suite.id].milliseconds),
                "environment": start.environment,
                "results": [record for _, record in sorted(self._results.get(suite.id, {}).items())],
                "metadata": metadata_record(start, end),
            }
            for suite in start.suites
        ]
        errors = {"errors": [problem.message for problem in run.errors]} if run.errors else {}
        if len(reports) == 1:
            return {**reports[0], **errors}
        return {
            "type": "test_run",
            "summary": summary_record(run.counts, milliseconds),
            "environment": start.environment,
            "reports": reports,
            **errors,
            "metadata": metadata_record(start, end),
        }


def write_whole(path: Path, text: str) -> None:
    """Writes a file so that a reader never sees half of it. Raises OSError."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(text, "utf-8")
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
