"""The `.json` report: the `script_test` document of seed 004 for a test module, its "Custom Report" document for a case
file; for several of them, one such document each in `reports`. With `--runs`, the results and the summary also have the
keys of its "Stability Report"."""

from __future__ import annotations

import json

from runner.record.case_result import json_of
from runner.record.fold import Counts
from runner.record.lines import as_in_seed
from runner.record.model import AGENT_TEST, SCRIPT_TEST, Suite, TestResult
from runner.record.report import Report
from runner.record.result_texts import agents_of, connectors_of
from runner.record.stability import pass_rate
from runner.record.summary import BARS, certainty_of, counts_record, stability_summary, usage_record
from runner.record.texts import json_line, plain, without_halves
from runner.reporters.document import DocumentReporter
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


class JsonReporter(DocumentReporter):
    """Keeps every result and writes the document once, at the end."""

    def render(self, report: Report) -> str:
        """The document as text."""
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
    kept += ["snapshots", "coverage"]
    kept += ["status", "stopped", "not_run"] if report.end.stopped else []
    kept += ["suites"]
    return {key: summary[key] for key in kept if key in summary}


def _metadata(report: Report) -> Record:
    start, completed = json_of(report.start), report.end.completed_at or None
    about = {"started_at": start["timestamp"], "completed_at": completed, "version": start["version"]}
    some = ("flags", "result_flags", "shard", "regraded_from", "run_id", "run_ids", "min_pass_rate")
    return {**about, **{key: start[key] for key in some if key in start}}
