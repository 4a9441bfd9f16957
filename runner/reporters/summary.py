"""`report.summary`, `.txt`: a few lines of text."""

from __future__ import annotations

from runner.amounts import cost_in, dollars
from runner.record.events import RunStatus
from runner.record.report import Report
from runner.record.result_texts import counts_text, cut, tokens_of, warnings_of
from runner.record.suites import has_cases
from runner.record.summary import in_lines, judges_text, part_rows, rate_text, remarks, snapshots_in
from runner.record.verdict import Verdict
from runner.reporters.document import DocumentReporter
from runner.reporters.markdown_pieces import LINE_LIMIT, visible
from scripttest import Status
from scripttest.typing_names import Record

WORDS = {Verdict.FAILED: "FAILED", Verdict.BROKEN: "ERROR", Verdict.INCONCLUSIVE: "INCONCLUSIVE"}
"""What the line of a result begins with."""


class SummaryReporter(DocumentReporter):
    """Writes counts, tests that failed or broke, warnings, and what broke outside of tests."""

    def keep(self, record: Record) -> Record | None:
        """Failed tests, and those with warnings."""
        kept = ("suite", "position", "id", "status", "cause", "error", "warnings")
        is_kept = record["status"] == Status.FAILED or record.get("warnings")
        return {key: record.get(key) for key in kept} if is_kept else None

    def render(self, report: Report) -> str:
        """The lines."""
        summary = report.summary
        interrupted = "interrupted: " if summary["status"] == RunStatus.INTERRUPTED else ""
        lines = [f"{interrupted}{counts_text(summary)} in {summary['duration_ms'] / 1000:.2f}s{_more(summary)}"]
        lines += _rates(report)
        lines += [
            f"{WORDS[result.verdict]} {_line(result.suite)} {_line(result.name)}: "
            f"{_line(result.line.get('error') or 'it failed')}"
            for result in report.results
            if result.status == Status.FAILED
        ]
        lines += [
            f"WARNING {_line(record['suite'])} {_line(record['id'])}: {_line(message)}"
            for record in report.lines
            for message, _ in warnings_of(record)
        ]
        lines += [_line(said) for said in remarks(summary)]
        if (counts := snapshots_in(summary)) is not None:
            lines += map(visible, in_lines(counts))
        return "\n".join([*lines, *(f"ERROR {_line(error)}" for error in report.errors)]) + "\n"


def _rates(report: Report) -> list[str]:
    """The intervals of the figures: of all cases, if there are no script tests, then of each part."""
    summary = report.summary
    said = [("Pass rate", rate_text(summary)), ("Mean score", rate_text(summary, "mean_score"))]
    said.append(("Judges' noise", judges_text(summary)))
    lines = [f"{title}: {text}" for title, text in said if text and all(map(has_cases, report.suites))]
    return lines + [
        f"{row.group.kind} {_line(row.group.name)}: "
        f"{', '.join(filter(None, (row.rate, row.score and f'score {row.score}'))) or row.cases}"
        for row in part_rows(summary)
    ]


def _more(summary: Record) -> str:
    usage = summary.get("usage") or {}
    text = f", {tokens_of(usage)} tokens" if usage else ""
    text += f", {dollars(cost_in(usage))}" if usage.get("cost") is not None else ""
    return text + (
        f"; stopped: {_line(summary['stopped'])}, {summary['not_run']} not run" if "stopped" in summary else ""
    )


def _line(text: str) -> str:
    """A text in one line, of which a long one is cut and control characters are escapes."""
    return visible(cut(" ".join(text.split()), LINE_LIMIT))
