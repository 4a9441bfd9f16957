"""`report.summary`, `.txt`: a few lines of text."""

from __future__ import annotations

from runner.reporters.document import DocumentReporter, Record, Report
from runner.reporters.markdown_parts import LINE_LIMIT, cut, visible


class SummaryReporter(DocumentReporter):
    """Writes counts, the failed tests, and what broke outside them."""

    def keep(self, record: Record) -> Record | None:
        """Failed tests only."""
        kept = ("suite", "position", "id", "status", "error")
        return {key: record.get(key) for key in kept} if record["status"] == "failed" else None

    def render(self, report: Report) -> str:
        """The lines."""
        summary = report.summary
        interrupted = "interrupted: " if summary["status"] == "interrupted" else ""
        lines = [
            f"{interrupted}{summary['passed']} passed, {summary['failed']} failed, {summary['skipped']} skipped"
            f"{', ' + str(summary['errors']) + ' errors' if summary.get('errors') else ''}"
            f" in {summary['duration_ms'] / 1000:.2f}s"
        ]
        lines += [
            f"FAILED {_line(record['suite'])} {_line(record['id'])}: {_line(record.get('error') or 'it failed')}"
            for record in report.results
            if record["status"] == "failed"
        ]
        return "\n".join([*lines, *(f"ERROR {_line(error)}" for error in report.errors)]) + "\n"


def _line(text: str) -> str:
    """A text in one line, of which a long one is cut and control characters are escapes."""
    return visible(cut(" ".join(text.split()), LINE_LIMIT))
