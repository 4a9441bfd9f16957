"""A saved report as the events that it was made from, so that the console shows it again."""

from __future__ import annotations

from collections.abc import Iterator

from runner.record.coverage import coverage_in
from runner.record.events import (
    Event,
    RunEnd,
    RunError,
    RunStart,
    RunStatus,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    Warned,
    looks_in,
)
from runner.record.lines import result_of
from runner.record.outcomes import outcome_in
from runner.record.report import Report
from runner.record.suites import suite_of
from runner.record.summary import snapshots_in

TYPE_CHECKING = False


def events_of(report: Report) -> Iterator[Event]:
    """The events of a run that was saved, suite after suite."""
    start, summary = report.start, report.summary
    suites = {
        suite["id"]: suite_of(
            suite, several_turns=any(result.case is not None and result.case.in_turns for result in results)
        )
        for suite, results in report.by_suite()
    }
    yield RunStart(
        started_at=start["timestamp"],
        version=start["version"],
        suites=tuple(suites.values()),
        environment=start["environment"],
        runs=start.get("runs_per_case", 1),
        min_pass_rate=start.get("min_pass_rate", 100),
        flags=tuple(start.get("flags", ())),
        shard=start.get("shard"),
        regraded_from=start.get("regraded_from"),
        result_flags=tuple(start.get("result_flags", ())),
        run_id=start.get("run_id"),
        run_ids=tuple(start.get("run_ids", ())),
    )
    yield from (Warned(message=text) for text in report.warnings if text not in report.damage)
    lists = {listed["id"]: listed for listed in summary.get("suites") or ()}
    for record, results in report.by_suite():
        suite = suites[record["id"]]
        listed = lists.get(record["id"], {})
        if listed.get("started", True):
            selected = listed.get("selected", len(results))
            yield SuiteStart(suite=suite.id, selected=selected, total=listed.get("total", selected))
        for position, result in enumerate(results):
            known = {"outcome": outcome_in(result.line, report.root)} if report.root else {}
            yield TestEnd(result=result_of({**result.line, "position": position}, suite=suite.id, **known))
        if listed.get("ended", True):
            yield SuiteEnd(suite=suite.id)
    yield from (RunError(message=text, hint=report.hints.get(text)) for text in report.errors)
    ended = str(summary.get("completed_at") or "")
    stopped, left = summary.get("stopped"), summary.get("not_run", 0)
    yield RunEnd(
        status=RunStatus(summary["status"]),
        seconds=summary["duration_ms"] / 1000,
        completed_at=ended,
        stopped=stopped,
        not_run=left,
        looks=looks_in(summary),
        snapshots=snapshots_in(summary),
        coverage=coverage_in(summary),
    )


if TYPE_CHECKING:
    pass
