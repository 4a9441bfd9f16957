"""The `.ctrf.json` report: the Common Test Report Format (https://ctrf.io), version 0.0.0 of its specification."""

from __future__ import annotations

from datetime import datetime

from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, TestResult
from runner.record.outcomes import log_members, stack_trace
from runner.record.report import Report
from runner.record.result_texts import errors_of, name_of, place_of, placed_failure, remarks_of
from runner.record.summary import BARS
from runner.reporters.document import DocumentReporter
from runner.reporters.json_report import MARKS, json_text
from scripttest import Outcome
from scripttest.typing_names import Record

OF_TEST = (
    "runs input attachments output expected response usage connector score mode metadata warnings not_judged"
    " checks_nothing"
).split()
"""Parts of a result that go to the `extra` of a test."""
OF_TURN = ("turn", "input_source", "input", "attachments", "output", "status")
"""Parts of a turn that go there too."""


class CtrfReporter(DocumentReporter):
    """Writes a document for tools that read CTRF."""

    unused = ("assertions", "transcript", "tools", "sent", "scores", "trials", "trace")

    def render(self, report: Report) -> str:
        """The document."""
        return json_text(ctrf(report), len(report.results))


def ctrf(report: Report) -> Record:
    """The report as a CTRF document."""
    summary, counts = report.summary, report.counts
    start = _milliseconds(report.start.started_at)
    more: Record = {"status": report.end.status}
    more |= {key: texts for key, texts in (("errors", report.errors), ("warnings", report.warnings)) if texts}
    more |= {"result_warnings": counts.warnings} if counts.warnings else {}
    more |= {key: summary[key] for key in (*MARKS, "usage", *BARS, "stopped", "not_run") if key in summary}
    more |= {"snapshots": summary["snapshots"]} if summary.get("snapshots") else {}
    return {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "generatedBy": "yao-test",
        "results": {
            "tool": {"name": "yao-test", "version": report.start.version},
            "summary": {
                "tests": counts.total,
                "passed": counts.passed,
                "failed": counts.bad,
                "skipped": counts.skipped - counts.todo,
                "pending": counts.todo,
                "other": 0,
                "suites": len(report.suites),
                "start": start,
                "stop": start + report.end.milliseconds,
                "extra": more,
            },
            "tests": [_test(suite, result) for suite, results in report.by_suite() for result in results],
            "environment": {"extra": report.start.environment},
        },
    }


def _test(suite: Suite, result: TestResult) -> Record:
    outcome, case, runs = result.outcome, result.case, result.stability
    test: Record = {
        "name": name_of(result) or "(no name)",
        "status": _status(outcome),
        "duration": outcome.milliseconds,
        "suite": [suite.id or "(no name)"],
        "type": AGENT_TEST if suite.has_cases else SCRIPT_TEST,
    }
    place, placed = place_of(suite, result), placed_failure(result)
    errors = errors_of(result)
    more = {
        "message": "\n".join(errors) or outcome.skip_text or "\n".join(remarks_of(result)),
        "trace": stack_trace(placed) if placed is not None else None,
        "rawStatus": outcome.cause,
        "filePath": place.file,
        "line": place.line,
        "tags": list(case.tags) if case is not None else None,
        "flaky": runs is not None and bool(runs.passed and runs.failed),
        "stdout": log_members(result.logs)["logs"],
        "steps": _steps(outcome)
        + [_step(f"Turn {turn.turn}", turn.status) for turn in (case.turns if case is not None else ())],
        "extra": _extra(result),
    }
    return test | {key: value for key, value in more.items() if value}


def _extra(result: TestResult) -> Record:
    line = result.line
    extra = {key: line[key] for key in OF_TEST if line.get(key) is not None}
    turns = [{key: turn[key] for key in OF_TURN if turn.get(key) is not None} for turn in line.get("turns") or []]
    return {**extra, "turns": turns} if turns else extra


def _steps(outcome: Outcome) -> list[Record]:
    return [inner for step in outcome.steps for inner in (_step(step.name, _status(step)), *_steps(step))]


def _step(name: str, status: str) -> Record:
    return {"name": name, "status": status}


def _status(outcome: Outcome) -> str:
    return "pending" if outcome.todo else outcome.status


def _milliseconds(timestamp: str) -> int:
    try:
        return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
    except ValueError:
        return 0
