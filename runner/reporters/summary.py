"""`report.summary`, `.txt`: a few lines of text."""

from __future__ import annotations

from runner.amounts import dollars
from runner.record.events import RunStatus
from runner.record.model import Suite, TestResult
from runner.record.outcomes import Verdict, error_text
from runner.record.report import Report
from runner.record.result_texts import counts_text, cut, warnings_of
from runner.record.summary import cost_of, in_lines, judges_text, part_rows, rate_text, remarks, score_text
from runner.reporters.document import DocumentReporter, taken
from runner.reporters.markdown_pieces import LINE_LIMIT, visible
from scripttest import Status

WORDS = {Verdict.FAILED: "FAILED", Verdict.BROKEN: "ERROR", Verdict.INCONCLUSIVE: "INCONCLUSIVE"}
"""What the line of a result begins with."""
_UNUSED = ("output", "transcript", "turns", "tools", "sent", "trace", "logs", "attempts", "runs", "regrade")
"""Large members of a result, of which it says nothing."""


class SummaryReporter(DocumentReporter):
    """Writes counts, tests that failed or broke, warnings, and what broke outside of tests."""

    def take(self, result: TestResult, suite: Suite) -> TestResult | None:
        """Failed tests, and those with warnings."""
        is_kept = result.status == Status.FAILED or result.outcome.warnings
        return taken(result, suite, _UNUSED) if is_kept else None

    def render(self, report: Report) -> str:
        """The lines."""
        counts, end = report.counts, report.end
        interrupted = "interrupted: " if end.status == RunStatus.INTERRUPTED else ""
        lines = [f"{interrupted}{counts_text(counts)} in {end.milliseconds / 1000:.2f}s{_more(report)}"]
        lines += _rates(report)
        for result in report.results:
            if result.status == Status.FAILED:
                error = error_text(result.outcome.decisive) if result.outcome.decisive else "it failed"
                lines.append(f"{WORDS[result.verdict]} {_line(result.suite)} {_line(result.name)}: {_line(error)}")
        lines += [
            f"WARNING {_line(result.suite)} {_line(result.name)}: {_line(message)}"
            for result in report.results
            for message, _ in warnings_of(result)
        ]
        lines += [_line(said) for said in remarks(counts)]
        if end.snapshots is not None:
            lines += map(visible, in_lines(end.snapshots))
        return "\n".join([*lines, *(f"ERROR {_line(error)}" for error in report.errors)]) + "\n"


def _rates(report: Report) -> list[str]:
    """The intervals of the figures: of all cases, if there are no script tests, then of each part."""
    known = report.certainty
    said = {"Case pass rate": rate_text(known), "Mean score": score_text(known), "Judge noise": judges_text(known)}
    of_cases = all(suite.has_cases for suite in report.suites)
    lines = [f"{title}: {text}" for title, text in said.items() if text and of_cases]
    return lines + [
        f"{row.kind} {_line(row.name)}: "
        f"{', '.join(filter(None, (row.rate, row.score and f'score {row.score}'))) or row.cases}"
        for row in part_rows(known)
    ]


def _more(report: Report) -> str:
    counts, end = report.counts, report.end
    text = f", {counts.tokens} tokens" if counts.tokens or counts.cost else ""
    text += f", {dollars(cost)}" if text and (cost := cost_of(counts)) is not None else ""
    return text + (f"; stopped: {_line(end.stopped)}, {end.not_run} not run" if end.stopped else "")


def _line(text: str) -> str:
    """A text in one line, of which a long one is cut and control characters are escapes."""
    return visible(cut(" ".join(text.split()), LINE_LIMIT))
