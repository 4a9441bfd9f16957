"""The `.ctrf.json` report: the Common Test Report Format (https://ctrf.io), version 0.0.0 of its specification."""

from __future__ import annotations

from datetime import datetime

from runner.record.report import Report
from runner.record.result_texts import errors_of, name_of, place_of, remarks_of
from runner.record.summary import BARS
from runner.reporters.document import DocumentReporter
from runner.reporters.json_report import MARKS, json_text
from scripttest.typing_names import Record

OF_TEST = (
    "runs",
    "input",
    "attachments",
    "output",
    "expected",
    "response",
    "usage",
    "connector",
    "score",
    "mode",
    "metadata",
    "warnings",
    "not_judged",
    "checks_nothing",
)
"""Parts of a result that go to the `extra` of a test."""
OF_TURN = ("turn", "input_source", "input", "attachments", "output", "status")
"""Parts of a turn that go there too."""
UNUSED = ("assertions", "transcript", "tools", "sent", "scores", "trials", "trace")


class CtrfReporter(DocumentReporter):
    """Writes a document for tools that read CTRF."""

    def keep(self, record: Record) -> Record | None:
        """What the format has a place for."""
        return {key: value for key, value in record.items() if key not in UNUSED}

    def render(self, report: Report) -> str:
        """The document."""
        return json_text(ctrf(report), len(report.lines))


def ctrf(report: Report) -> Record:
    """The report as a CTRF document."""
    summary = report.summary
    start = _milliseconds(report.start["timestamp"])
    more: Record = {"status": summary["status"]}
    more |= {key: texts for key, texts in (("errors", report.errors), ("warnings", report.warnings)) if texts}
    more |= {"result_warnings": summary["warnings"]} if summary.get("warnings") else {}
    more |= {key: summary[key] for key in (*MARKS, "usage", *BARS, "stopped", "not_run") if key in summary}
    more |= {"snapshots": summary["snapshots"]} if summary.get("snapshots") else {}
    tool = {"name": "yao-test", "version": report.start["version"]}
    return {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "generatedBy": "yao-test",
        "results": {
            "tool": tool,
            "summary": {
                "tests": summary["total"],
                "passed": summary["passed"],
                "failed": summary["failed"] + summary.get("errors", 0),
                "skipped": summary["skipped"],
                "pending": 0,
                "other": 0,
                "suites": len(report.suites),
                "start": start,
                "stop": start + summary["duration_ms"],
                "extra": more,
            },
            "tests": [_test(suite, result.line) for suite, results in report.by_suite() for result in results],
            "environment": {"extra": report.start["environment"]},
        },
    }


def _test(suite: Record, record: Record) -> Record:
    test: Record = {
        "name": name_of(record) or "(no name)",
        "status": record["status"],
        "duration": record["duration_ms"],
        "suite": [suite["id"] or "(no name)"],
        "type": suite["kind"],
    }
    runs = record.get("runs") or {}
    place = place_of(suite, record)
    errors = errors_of(record)
    more = {
        "message": "\n".join(errors) or record.get("skip_reason") or "\n".join(remarks_of(record)),
        "trace": record.get("stack_trace"),
        "rawStatus": record.get("cause"),
        "filePath": place.file,
        "line": place.line,
        "tags": [str(tag) for tag in record.get("tags") or []],
        "flaky": bool(runs.get("passed") and runs.get("failed")),
        "stdout": record.get("logs"),
        "steps": _steps(record),
        "extra": _extra(record),
    }
    return test | {key: value for key, value in more.items() if value}


def _extra(record: Record) -> Record:
    extra = {key: record[key] for key in OF_TEST if record.get(key) is not None}
    turns = [{key: turn[key] for key in OF_TURN if turn.get(key) is not None} for turn in record.get("turns") or []]
    return {**extra, "turns": turns} if turns else extra


def _steps(record: Record) -> list[Record]:
    steps = [
        inner
        for step in record.get("steps") or []
        for inner in ({"name": step["name"], "status": step["status"]}, *_steps(step))
    ]
    turns = record.get("turns") or []
    return steps + [{"name": f"Turn {turn['turn']}", "status": turn["status"]} for turn in turns]


def _milliseconds(timestamp: str) -> int:
    """Milliseconds since 1970 of an RFC 3339 time; 0 when there is none."""
    try:
        return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except ValueError:
        return 0
