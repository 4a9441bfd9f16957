"""Reports that are one JSON value.

`.json`: the `script_test` document of seed 004 for a test module, its "Custom Report" document for a case file; for
several of them, one such document each in `reports`. With `--runs`, the results and the summary also have the keys of
its "Stability Report". `.ctrf.json`: the Common Test Report Format (https://ctrf.io), version 0.0.0."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from runner.record.case_result import json_of
from runner.record.fold import Counts
from runner.record.lines import as_in_seed
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, TestResult
from runner.record.outcomes import log_members, stack_trace
from runner.record.report import Report
from runner.record.result_texts import (
    agents_of,
    connectors_of,
    errors_of,
    name_of,
    place_of,
    placed_failure,
    remarks_of,
)
from runner.record.stability import pass_rate
from runner.record.summary import BARS, certainty_of, counts_record, stability_summary, usage_record
from runner.record.writing import json_line, plain, without_halves
from scripttest import Outcome
from scripttest.typing_names import Record

OF_LINES = ("type", "suite", "position", "script", "fingerprint", "regrade", "assertion_count")
"""Keys that results have as lines of JSONL only."""
INDENTED = 50
"""Results up to which a document is indented throughout."""
LISTS = ("results", "tests")
"""Keys of the lists of results."""
MARKS = ("missing_calls", "not_judged", "todo", "only", "checks_nothing", "checks_nothing_first")
"""Keys of a summary that say what passed without being judged, or without what it called, and what is not finished."""
PLACE = "\0results\0"
"""A placeholder for a list while the rest is made."""


def json_report(report: Report) -> str:
    """The document of seed 004 as text."""
    return json_text(json_document(report), len(report.results))


def json_text(document: Record, results: int) -> str:
    """A document of so many results as text; with many of them, each list of results has one to a line, which takes a
    fraction of the time."""
    try:
        text = _text(document, results)
    except ValueError:
        text = _text(plain(document), results)
    return without_halves(text)


def _text(document: Record, results: int) -> str:
    if results <= INDENTED:
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    lists: list[list[Record]] = []

    def outline(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: take(item) if key in LISTS else outline(item) for key, item in value.items()}
        return [outline(item) for item in value] if isinstance(value, list) else value

    def take(value: Any) -> Any:
        if not isinstance(value, list):
            return outline(value)
        lists.append(value)
        return PLACE

    head, *rest = json.dumps(outline(document), indent=2, ensure_ascii=False).split(json.dumps(PLACE))
    parts = [head]
    for records, text in zip(lists, rest, strict=True):
        parts += ["[\n", ",\n".join(map(json_line, records)), "\n]", text]
    return "".join(parts) + "\n"


def json_document(report: Report) -> Record:
    """The report as one JSON value."""
    parts = [_part(report, suite, results) for suite, results in report.by_suite()]
    errors: Record = {"errors": report.errors} if report.errors else {}
    errors |= {"warnings": report.warnings} if report.warnings else {}
    errors |= {"hints": dict(report.hints)} if report.hints else {}
    if len(parts) == 1:
        (part,) = parts
        part["summary"] |= _counts(report)
        return {**part, **errors}
    return {
        "type": "test_run",
        "summary": {**_counts(report), **_stability(report, report.results)},
        "environment": report.start.environment,
        "reports": parts,
        **errors,
        "metadata": _metadata(report),
    }


def custom_report(report: Report) -> Record:
    """The "Custom Report" document of seed 004 for the whole run, which reporter agents get: `{summary, environment,
    results, errors?, metadata}`; results of several suites say theirs."""
    several = len(report.suites) > 1
    results = [
        {**({"suite": suite.id} if several else {}), **_result(suite, result.line)}
        for suite, of_suite in report.by_suite()
        for result in of_suite
    ]
    of_agents = _agent_summary(report.counts, agents_of(report.suites), connectors_of(report.suites, report.results))
    return {
        "summary": {**_counts(report), **of_agents, **_stability(report, report.results)},
        "environment": report.start.environment,
        "results": results,
        **({"errors": report.errors} if report.errors else {}),
        "metadata": _metadata(report),
    }


def _part(report: Report, suite: Suite, results: list[TestResult]) -> Record:
    counts = report.counts_of(suite, results)
    summary: Record = {**counts_record(counts), "duration_ms": counts.milliseconds, **usage_record(counts)}
    summary |= json_of(certainty_of(counts))
    if suite.has_cases:
        what: Record = {"input": suite.label, **({"file": suite.file} if suite.file else {})}
        if suite.variant:
            what = {"input": suite.id, "suite": json_of(suite)}
        connector = suite.connector or next(
            (case.connector for one in results if (case := one.case) and case.connector), ""
        )
        summary |= _agent_summary(counts, suite.agent, connector)
    else:
        what = {"script": suite.id, "script_path": suite.label}
    summary |= _stability(report, results)
    return {
        "type": AGENT_TEST if suite.has_cases else SCRIPT_TEST,
        **what,
        "summary": summary,
        "environment": report.start.environment,
        "results": [_result(suite, result.line) for result in results],
        "metadata": _metadata(report),
    }


def _result(suite: Suite, record: Record) -> Record:
    """A result without what only lines need; script tests have a name instead of an id."""
    rest = dict(as_in_seed(record))
    for key in OF_LINES:
        rest.pop(key, None)
    return rest if suite.has_cases else {"name": rest.pop("id"), **rest}


def _agent_summary(counts: Counts, agent: str, connector: str) -> Record:
    rate = pass_rate(counts.passed, counts.passed + counts.failed)
    return {"agent_id": agent, "connector": connector, "runs_per_case": 1, "overall_pass_rate": rate}


def _stability(report: Report, results: list[TestResult]) -> Record:
    runs = report.start.runs
    return {} if runs == 1 else {"runs_per_case": runs, **stability_summary(results)}


def _counts(report: Report) -> Record:
    summary = report.summary
    kept = ["total", "passed", "failed", "skipped", "errors", "warnings", *MARKS, "duration_ms", "usage", *BARS]
    kept += ["stopped_early", "rounds", "snapshots", "coverage"]
    kept += ["status", "stopped", "not_run"] if report.end.stopped else []
    kept += ["suites"]
    return {key: summary[key] for key in kept if key in summary}


def _metadata(report: Report) -> Record:
    start, completed = json_of(report.start), report.end.completed_at or None
    about = {"started_at": start["timestamp"], "completed_at": completed, "version": start["version"]}
    some = ("flags", "result_flags", "shard", "regraded_from", "run_id", "run_ids", "min_pass_rate")
    return {**about, **{key: start[key] for key in some if key in start}}


OF_TEST = (
    "runs input attachments output expected response usage connector score mode metadata warnings not_judged"
    " checks_nothing"
).split()
"""Parts of a result that go to the `extra` of a test."""
OF_TURN = ("turn", "input_source", "input", "attachments", "output", "status")
"""Parts of a turn that go there too."""


def ctrf_report(report: Report) -> str:
    """The document for tools that read CTRF, as text."""
    return json_text(_ctrf(report), len(report.results))


def _ctrf(report: Report) -> Record:
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
