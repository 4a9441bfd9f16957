"""The `.md` report of seed 004: tables, and a section for each result, failures first. It is never longer than what
GitHub takes as the summary of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner.amounts import cost_in, dollars
from runner.record.events import RunStatus
from runner.record.model import TestResult
from runner.record.report import Report
from runner.record.result_texts import agents_of, connectors_of
from runner.record.stability import pass_rate
from runner.record.suites import AGENT_TEST, SCRIPT_TEST, has_cases, shown_name
from runner.record.summary import counts_of, in_words, judges_text, part_rows, rate_text, remarks, savings, snapshots_in
from runner.record.texts import utf8
from runner.record.verdict import Verdict, verdict_in
from runner.reporters.document import DocumentReporter
from runner.reporters.markdown_pieces import LINE_LIMIT, MARKS, block, body, duration, heading, inline, table
from scripttest import Status
from scripttest.typing_names import Record

LIMIT = 1_000_000
"""Bytes of a document; GitHub takes 1 MiB."""
RESERVE = 500
"""Bytes that are reserved for the note about results that are left out."""
WHOLE = 0.8
"""Share of the document from which on results have no details."""
ORDER = (MARKS["failed"], MARKS["broken"], MARKS["passed"], MARKS["skipped"])
"""Signs of suites, in the order in which these are listed."""
RATES = ("Pass Rate", "Mean Score")
PART_ROWS = 20
"""Tags, criteria and checkpoints that are listed, of each."""
ROWS = 200
"""Suites, errors and warnings that are listed."""
_SETTINGS = (("User", "user_id"), ("Team", "team_id"), ("Locale", "locale"))


class MarkdownReporter(DocumentReporter):
    """Writes a document for people."""

    def render(self, report: Report) -> str:
        """The document."""
        return markdown(report)


def markdown(report: Report, limit: int = LIMIT) -> str:
    """The document, in at most `limit` bytes of UTF-8: when it becomes long, the last results have no details, and then
    results are left out, which is said. Failures come first."""
    parts = [_head(report, limit // 4), "## Results\n\n"]
    size = sum(map(_size, parts))
    suites = {suite["id"]: suite for suite in report.suites}
    left_out = Counter[str]()
    for record in sorted(report.lines, key=lambda record: record["status"] != Status.FAILED):
        text = title = heading(record)
        if size < limit * WHOLE:
            text += body(record, suites[record["suite"]], len(suites) > 1)
        if left_out or size + _size(text) > limit - RESERVE:
            text = title
        if left_out or size + _size(text) > limit - RESERVE:
            left_out[verdict_in(record).counted] += 1
            continue
        parts.append(text)
        size += _size(text)
    if left_out:
        words = list(dict.fromkeys(verdict.counted for verdict in Verdict))
        counts = ", ".join(f"{left_out[word]} {word}" for word in words if left_out[word])
        parts.append(f"Left out, because the report would be too long: {counts}. A .json report has all of them.\n")
    return "".join(parts)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(utf8(text))


def _head(report: Report, limit: int) -> str:
    """Everything above the results, in about `limit` bytes at the most."""
    text = f"# {_title(report)}\n\n## Summary\n\n"
    text += table(("Metric", "Value"), _metrics(report))
    text += "".join(f"{inline(said, LINE_LIMIT)}\n\n" for said in remarks(report.summary))
    text += f"{inline(saved)}\n\n" if (saved := savings(report.summary)) else ""
    text += _parts(report)
    who = report.start["environment"]
    rows = [(title, inline(who.get(key, ""))) for title, key in _SETTINGS if who.get(key)]
    text += f"## Environment\n\n{table(('Setting', 'Value'), rows)}" if rows else ""
    for title, said in (("Errors", report.errors), ("Warnings", report.warnings)):
        if said:
            text += f"## {title}\n\n"
            for message in said[:ROWS]:
                text += block(message) if _size(text) < limit else ""
            text += f"{len(said)} in all.\n\n" if len(said) > ROWS or _size(text) >= limit else ""
    if len(report.suites) > 1:
        broke = bool(report.summary.get("errors"))
        rows_of_suites = (row for row in part_rows(report.summary) if row.group.kind == "suite")
        rates = {row.group.name: (row.rate, row.score) for row in rows_of_suites}
        heads = [head for at, head in enumerate(RATES) if any(row[at] for row in rates.values())]
        found = (
            _suite_row(suite, results, broke, rates.get(suite["id"], ("", ""))[: len(heads)])
            for suite, results in report.by_suite()
        )
        suites = sorted(found, key=lambda row: ORDER.index(row[0]))
        counted = ("Passed", "Failed", "Skipped", *(("Errors",) if broke else ()))
        text += "## Suites\n\n" + table(("", "Suite", *counted, *heads, "Duration"), suites[:ROWS])
        text += f"... and {len(suites) - ROWS} more\n\n" if len(suites) > ROWS else ""
    return text


def _parts(report: Report) -> str:
    rows = [row for row in part_rows(report.summary, PART_ROWS) if row.group.kind != "suite"]
    if not rows:
        return ""
    cells = [(f"{row.group.kind} {inline(row.group.name)}", row.cases, row.rate, row.score) for row in rows]
    heads = ("Part", "Cases", *RATES)
    used = [at for at in range(len(heads)) if any(row[at] for row in cells)]
    return "## Rates\n\n" + table([heads[at] for at in used], [[row[at] for at in used] for row in cells])


def _title(report: Report) -> str:
    kinds = {suite["kind"] for suite in report.suites}
    if kinds == {AGENT_TEST}:
        return "Agent Test Report"
    return "Script Test Report" if kinds == {SCRIPT_TEST} else "Test Report"


def _metrics(report: Report) -> list[tuple[str, str]]:
    counts = report.summary
    judged = counts["passed"] + counts["failed"]
    agents = agents_of(report.suites)
    rows = [("Agents" if ", " in agents else "Agent", inline(agents))] if agents else []
    if [suite["kind"] for suite in report.suites] == [SCRIPT_TEST]:
        rows.append(("Script", inline(report.suites[0]["id"])))
    connectors = connectors_of(report.suites, report.lines)
    rows += [("Connector", inline(connectors))] if connectors else []
    rows += [("Total", str(counts["total"])), ("Passed", str(counts["passed"])), ("Failed", str(counts["failed"]))]
    rows += [("Skipped", str(counts["skipped"]))] if counts["skipped"] else []
    rows += [("Errors", str(counts["errors"]))] if counts.get("errors") else []
    rows += [("Warnings", str(counts["warnings"]))] if counts.get("warnings") else []
    rows += [("Missing calls", str(counts["missing_calls"]))] if counts.get("missing_calls") else []
    rows += [("Not judged", str(counts["not_judged"]))] if counts.get("not_judged") else []
    rows += [("Check nothing", str(counts["checks_nothing"]))] if counts.get("checks_nothing") else []
    rows += [
        ("Pass Rate", _rate(report, judged)),
        *((("Mean Score", said),) if (said := rate_text(counts, "mean_score")) else ()),
        *((("Judges' Noise", said),) if (said := judges_text(counts)) else ()),
        ("Duration", duration(counts["duration_ms"])),
    ]
    if usage := counts.get("usage"):
        rows.append(("Tokens", f"{usage['input_tokens']} in, {usage['output_tokens']} out"))
        rows += [("Cost", inline(dollars(cost_in(usage))))] if usage.get("cost") is not None else []
    if "stopped" in counts:
        rows += [("Stopped", inline(counts["stopped"])), ("Not Run", str(counts["not_run"]))]
    if (snapshots := snapshots_in(counts)) is not None:
        rows.append(("Snapshots", inline(in_words(snapshots))))
        rows += [("Obsolete", inline(name)) for name in snapshots.obsolete[:ROWS]]
    if counts["status"] in (RunStatus.ERROR, RunStatus.INTERRUPTED):
        rows.append(("Status", counts["status"]))
    if len(report.suites) == 1 and has_cases(report.suites[0]):
        rows.append(("Input", inline(report.suites[0]["label"])))
    return rows


def _rate(report: Report, judged: int) -> str:
    """The pass rate of cases with its interval; with script tests among them, without an interval."""
    of_cases = rate_text(report.summary) if all(map(has_cases, report.suites)) else ""
    rate = f"{pass_rate(report.summary['passed'], judged)}%" if judged else "none, as nothing was judged"
    return of_cases or rate


def _suite_row(suite: Record, results: list[TestResult], broke: bool, rates: Sequence[str]) -> tuple[str, ...]:
    """A suite in the table; `broke`: with its errors, as some suite has some; `rates`: its pass rate and mean score."""
    counts = counts_of(results)
    errors = counts.get("errors", 0)
    verdict = "failed" if counts["failed"] else "broken" if errors else "passed" if counts["passed"] else "skipped"
    time = sum(result.line["duration_ms"] for result in results)
    numbers = [counts["passed"], counts["failed"], counts["skipped"], *([errors] if broke else [])]
    return (MARKS[verdict], inline(shown_name(suite)), *map(str, numbers), *rates, duration(time))
