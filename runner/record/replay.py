"""A saved report as the events that it was made from, so that the console shows it again."""

from __future__ import annotations

from collections.abc import Iterator

from runner.record.events import Event, RunError, SuiteEnd, SuiteStart, TestEnd, Warned
from runner.record.lines import result_of
from runner.record.outcomes import outcome_in
from runner.record.report import PartialSuite, Report


def events_of(report: Report) -> Iterator[Event]:
    """The events of a run that was saved, suite after suite."""
    by_suite = [
        (suite.replace(multi_turn=suite.multi_turn or any(one.case and one.case.in_turns for one in results)), results)
        for suite, results in report.by_suite()
    ]
    yield report.start.replace(suites=tuple(suite for suite, _ in by_suite))
    yield from (Warned(message=text) for text in report.warnings if text not in report.damage)
    partial = {suite.id: suite for suite in report.partial}
    for suite, results in by_suite:
        known = partial.get(suite.id) or PartialSuite(id=suite.id, selected=len(results), total=len(results))
        if known.selected is not None:
            yield SuiteStart(suite=suite.id, selected=known.selected, total=known.total or 0)
        for position, result in enumerate(results):
            placed = {"outcome": outcome_in(result.line, report.root)} if report.root else {}
            yield TestEnd(result=result_of({**result.line, "position": position}, suite=suite.id, **placed))
        if known.ended:
            yield SuiteEnd(suite=suite.id)
    yield from (RunError(message=text, hint=report.hints.get(text)) for text in report.errors)
    yield report.end
