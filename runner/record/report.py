"""The report of a whole run as one value, of which all documents are made, and which makes its events again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from runner.record.events import (
    AttemptEnd,
    Event,
    RunEnd,
    RunError,
    RunStart,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    TestStart,
    Warned,
)
from runner.record.fold import Counts, Execution, counted
from runner.record.lines import below, result_of, runs_of, stored_text
from runner.record.model import Suite, TestResult
from runner.record.summary import Certainty, certainty_of, counts_record, usage_record
from runner.record.writing import json_line, without_root
from runner.shapes.codec import json_of
from scripttest.typing_names import Record
from scripttest.values import Value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self


class PartialSuite(Value):
    """A suite that has other tests than results, or did not end, or whose tests were never known."""

    id: str
    selected: int | None = None
    """How many of its tests should run; None: that was never known."""
    total: int | None = None
    ended: bool = True
    __members__ = "id started selected total ended"
    __writers__ = {"started": lambda suite: False if suite.selected is None else ...}  # noqa: RUF012

    @property
    def started(self) -> bool:
        """Whether its tests were known."""
        return self.selected is not None


class Report(Value):
    """A run and its results, these in the order of the suites and their tests."""

    start: RunStart
    """Its suites are as reports have them."""
    results: list[TestResult]
    errors: list[str]
    warnings: list[str]
    end: RunEnd
    partial: tuple[PartialSuite, ...] = ()
    """What is known of suites without all their results."""
    root: str = ""
    """The folder from which places are named; no format writes it."""
    hints: Mapping[str, str] = {}
    """Error → what to do about it, where something is known."""
    damage: Sequence[str] = ()
    """Those of the warnings that are about the file which the report was read from."""
    clean: Callable[[str], str] = str
    """Takes secrets out of what is read, or asked for, while the report is written; all else is clean."""
    text: str = ""
    """The whole JSONL file that it was read from; empty where it was no such file, or a damaged one."""
    known_counts: Counts | None = None
    """The counts, where not all results are here, or they are known; None: they are those of the results."""
    suite_counts: Mapping[str, Counts] = {}

    def replace(self, **changes: Any) -> Self:
        """The same report with other values of some fields; other results are counted anew."""
        counts: Record = {"known_counts": None, "suite_counts": {}} if "results" in changes else {}
        return type(self)(**{**fields_of(self), **counts, **changes})

    @property
    def counts(self) -> Counts:
        """What the results add up to."""
        if self.known_counts is None and "_counts" not in self.__dict__:
            self.__dict__["_counts"] = counted(self.results, self.start.suites)
        found: Counts = self.known_counts or self.__dict__["_counts"]
        return found

    def counts_of(self, suite: Suite, results: list[TestResult]) -> Counts:
        """The counts of a suite with these results."""
        return self.suite_counts.get(suite.id) or counted(results)

    @property
    def certainty(self) -> Certainty:
        """Rates and scores, and how sure they are."""
        if "_certainty" not in self.__dict__:
            self.__dict__["_certainty"] = certainty_of(self.counts)
        found: Certainty = self.__dict__["_certainty"]
        return found

    @property
    def summary(self) -> Record:
        """The end of the run as JSON, see `summary_record`."""
        return summary_record(self.end, self.counts, self.certainty, self.partial)

    @property
    def lines(self) -> list[Record]:
        """The lines of the results."""
        return [result.line for result in self.results]

    @property
    def suites(self) -> tuple[Suite, ...]:
        """The sources of the tests, in their order."""
        return self.start.suites

    @property
    def result_flags(self) -> tuple[str, ...]:
        """The flags that change results, wherever they were set, as words of a command line."""
        return self.start.result_flags or self.start.flags

    def by_suite(self) -> list[tuple[Suite, list[TestResult]]]:
        """Each suite with its results, also those that have none."""
        found: dict[str, list[TestResult]] = {suite.id: [] for suite in self.suites}
        for result in self.results:
            found[result.suite].append(result)
        return [(suite, found[suite.id]) for suite in self.suites]


def summary_record(
    end: RunEnd, counts: Counts, certainty: Certainty | None = None, partial: Sequence[PartialSuite] = ()
) -> Record:
    """`{total, passed, failed, skipped, errors?, warnings?, duration_ms, snapshots?, rounds?, coverage?, usage?, ...,
    status, stopped?, not_run?, suites?, completed_at}`, as `counts_record` and `certainty_of` say. A run that was
    stopped has the reason, `stopped`, and how many tests did not run; `rounds`, `{made, planned}`, is of variants that
    were run until they could be told apart.

    `suites` is `[{id, selected, total, ended?}]` for suites that have other tests than results, or did not end
    (`ended: false`), and `[{id, started: false}]` for those whose tests were never known."""
    record: Record = {**counts_record(counts), "duration_ms": end.milliseconds}
    if end.snapshots is not None:
        record["snapshots"] = json_of(end.snapshots)
    if end.looks.planned > 1:
        record["rounds"] = json_of(end.looks)
    if end.coverage is not None:
        from runner.record.coverage import coverage_record

        record["coverage"] = coverage_record(end.coverage)
    record |= {**usage_record(counts), **json_of(certainty or certainty_of(counts)), "status": end.status}
    if end.stopped:
        record |= {"stopped": end.stopped, "not_run": end.not_run}
    if partial:
        record["suites"] = list(map(json_of, partial))
    return {**record, "completed_at": end.completed_at or None}


def end_record(run: Execution) -> Record:
    """The same of a run that has ended."""
    assert run.end is not None
    return summary_record(run.end, run.counts, partial=partial_suites(run))


def partial_suites(run: Execution) -> tuple[PartialSuite, ...]:
    """The suites of a run without all their results."""
    found: list[PartialSuite] = []
    for suite in run.suites.values():
        number, listed, has_ended = run.counts_by_suite[suite.id].total, run.listed.get(suite.id), suite.id in run.ended
        if listed is None:
            found.append(PartialSuite(id=suite.name))
        elif not has_ended or (listed.selected, listed.total) != (number, number):
            sizes = {"selected": listed.selected, "total": listed.total}
            found.append(PartialSuite(id=suite.name, **sizes, ended=has_ended))
    return tuple(found)


def in_order(suites: Sequence[Suite], results: list[Any]) -> list[Any]:
    """Results, or what is made of each, in the order of the suites and of the tests in them."""
    places = {suite.id: place for place, suite in enumerate(suites)}
    return sorted(results, key=lambda result: (places[result.suite], result.position))


_OF_SOME = "notes flags result_flags shard regraded_from runs_per_case min_pass_rate run_id run_ids".split()
"""What the start line has about some runs."""


def line_of_event(event: Event, so_far: Execution, resumes: bool = False) -> str | None:
    """The line for an event, which `so_far` includes; None for events without a line. `resumes`: the report has the
    lines of the resumed run already."""
    if isinstance(event, TestStart):
        return None
    if isinstance(event, (TestEnd, AttemptEnd)):  # a union would be made again each time
        result = event.result
        if result.attempts:
            return _stability(result, so_far.suites[result.suite])
        return None if resumes and result.is_resumed else stored_text(result, so_far.suites[result.suite])
    record: Record | None = None
    if isinstance(event, RunStart) and not resumes:
        record = {**start_line(event.in_report), **({"resume": event.resume} if event.resume else {})}
    elif isinstance(event, RunError):
        record = error_line(without_root(event.message, so_far.root), event.hint)
    elif isinstance(event, Warned):
        record = {"type": "warning", "warning": without_root(event.message, so_far.root)}
    elif isinstance(event, RunEnd):
        record = {"type": "summary", **end_record(so_far)}
    return None if record is None else json_line(record)


def start_line(start: RunStart) -> Record:
    """The first line, of `Report.start`."""
    record = json_of(start)
    return {
        "type": "start",
        "timestamp": start.started_at,
        "agent_id": ",".join(sorted({suite.agent for suite in start.suites})),
        "total_cases": start.total_cases,
        "scripts": [suite.id for suite in start.suites if not suite.has_cases],
        "inputs": [suite.label for suite in start.suites if suite.has_cases],
        "suites": record["suites"],
        "environment": start.environment,
        "version": start.version,
        **{key: record[key] for key in _OF_SOME if key in record},
    }


def error_line(message: str, hint: str | None) -> Record:
    """The line of an error."""
    return {"type": "error", "error": message, **({"hint": hint} if hint else {})}


def _stability(result: TestResult, suite: Suite) -> str | None:
    if result.stability is None:
        return None
    head = {"type": "stability", "suite": suite.name, "position": result.position, "id": result.name}
    tail = {"not_judged": result.outcome.not_judged} if result.outcome.not_judged else {}
    return json_line({**head, "status": result.status, **runs_of(result.stability, repeat=result.repeat), **tail})


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
            placed = {"outcome": below(report.root, result.outcome)} if report.root else {}
            yield TestEnd(result=result_of({**result.line, "position": position}, suite=suite.id, **placed))
        if known.ended:
            yield SuiteEnd(suite=suite.id)
    yield from (RunError(message=text, hint=report.hints.get(text)) for text in report.errors)
    yield report.end
