"""`report.summary`, `.txt`: a few lines of text."""

from __future__ import annotations

from runner.reporters.document import DocumentReporter, Record, Report


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
            f"FAILED {record['suite']} {record['id']}: {' '.join((record.get('error') or 'it failed').split())}"
            for record in report.results
            if record["status"] == "failed"
        ]
        return "\n".join([*lines, *(f"ERROR {error}" for error in report.errors)]) + "\n"
