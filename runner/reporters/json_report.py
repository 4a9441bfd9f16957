"""The `.json` report: the `script_test` document of seed 004 for a test module, its "Custom Report" document for a case
file; for several of them, one such document each in `reports`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from runner.events import Event, RunEnd, Suite, TestEnd
from runner.execution import Execution
from runner.reporters.case_records import case_record
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
            record = result_record(result) if result.case is None else case_record(result)
            self._results.setdefault(result.suite, {})[result.position] = record
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
        reports = [self._part(suite, run) for suite in start.suites]
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

    def _part(self, suite: Suite, run: Execution) -> dict[str, Any]:
        """The document of one suite."""
        assert run.start is not None
        counts = run.of_suite[suite.id]
        results = [record for _, record in sorted(self._results.get(suite.id, {}).items())]
        summary: dict[str, Any] = dict(summary_record(counts, counts.milliseconds))
        if suite.kind == "agent_test":
            judged = counts.passed + counts.failed
            summary |= {
                "agent_id": suite.agent,
                "connector": suite.connector or next((r["connector"] for r in results if r.get("connector")), ""),
                "runs_per_case": 1,
                "overall_pass_rate": round(100 * counts.passed / judged, 1) if judged else 0,
            }
            what = {"input": suite.label}
        else:
            what = {"script": suite.id, "script_path": suite.label}
        return {
            "type": suite.kind,
            **what,
            "summary": summary,
            "environment": run.start.environment,
            "results": results,
            "metadata": metadata_record(run.start, run.end),
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
