"""The `.jsonl` report of seed 004: a `start` line, a `result` line as each test ends, a `summary` line. Flushed by
line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner.events import Event, RunEnd, RunError, RunStart, TestEnd
from runner.execution import Execution
from runner.reporters.case_records import case_record
from runner.reporters.records import result_record, summary_record


class JsonlReporter:
    """Writes results in the order in which tests end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", errors="replace", buffering=1)

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Writes the line of an event."""
        if isinstance(event, TestEnd):
            result = event.result
            if result.case is not None:
                self._write({"type": "result", "suite": so_far.suites[result.suite].label, **case_record(result)})
                return
            record = result_record(result)
            self._write({"type": "result", "id": record.pop("name"), "script": result.suite, **record})
        elif isinstance(event, RunStart):
            agents = sorted({suite.agent for suite in event.suites})
            self._write(
                {
                    "type": "start",
                    "timestamp": event.started_at,
                    "agent_id": ",".join(agents),
                    "total_cases": event.total_cases,
                    "scripts": [suite.id for suite in event.suites if suite.kind == "script_test"],
                    "inputs": [suite.label for suite in event.suites if suite.kind == "agent_test"],
                    "environment": event.environment,
                    "version": event.version,
                }
            )
        elif isinstance(event, RunError):
            self._write({"type": "error", "error": event.message})
        elif isinstance(event, RunEnd):
            self._write(
                {"type": "summary", **summary_record(so_far.counts, event.seconds * 1000), "status": event.status}
            )

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
