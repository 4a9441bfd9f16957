"""The report of a whole run as one value. All documents (JSON, Markdown, HTML, JUnit ...) are made from it, at the end
of a run or from a saved file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from runner.record.events import AttemptEnd, Event, RunEnd, RunError, RunStart, TestEnd, TestStart, Warned, looks_record
from runner.record.fold import Execution
from runner.record.lines import runs_of, whole_text_of
from runner.record.model import Suite, TestResult
from runner.record.suites import has_cases, suite_record
from runner.record.summary import certainty_of, summary_record, usage_record
from runner.record.texts import json_line, without_root
from scripttest.typing_names import Protocol, Record, TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Report(Value):
    """A run and its results, these in the order of the suites and their tests; all else as JSON values.

    | field | shape |
    | --- | --- |
    | `start` | `{timestamp, version, environment: {user_id, team_id, locale}, suites: [suite, ...], shard?, ...}` |
    | `errors`, `warnings` | texts |
    | `summary` | `{total, passed, failed, skipped, errors?, warnings?, duration_ms, usage?, status, ...}`;
    `usage` is `{input_tokens, output_tokens, cost?}` |

    The summary of a run that was stopped also has `stopped`, the reason, and `not_run`, the number of tests that did
    not run. It has `snapshots`, `{written?, updated?, removed?, obsolete?}`, numbers and the names of obsolete ones;
    and `rounds`, `{made, planned}`, for variants that were run until they could be told apart. `coverage` is as in
    `runner.record.coverage`.
    """

    start: Record
    results: list[TestResult]
    errors: list[str]
    warnings: list[str]
    summary: Record
    root: str = ""
    """The folder from which places are named; no format writes it."""
    hints: Mapping[str, str] = {}
    """Error → what to do about it, where something is known."""
    damage: Sequence[str] = ()
    """Those of the warnings that are about the file which the report was read from."""
    origin: Mapping[str, Any] = {}
    """`resume` of the start line of the JSONL file that it was read from; no document has it."""
    clean: Callable[[str], str] = str
    """Takes secrets out of what is read, or asked for, while the report is written; all else is clean."""
    text: str = ""
    """The whole JSONL file that it was read from; empty where it was no such file, or a damaged one."""

    @property
    def lines(self) -> list[Record]:
        """The lines of the results."""
        return [result.line for result in self.results]

    @property
    def suites(self) -> list[Record]:
        """The sources of the tests, in their order."""
        found: list[Record] = self.start["suites"]
        return found

    @property
    def run_ids(self) -> list[str]:
        """The ids of the runs whose answers it has; none for a report that names none."""
        own = self.start.get("run_id")
        found: list[str] = self.start.get("run_ids") or ([own] if own else [])
        return found

    @property
    def result_flags(self) -> list[str]:
        """The flags that change results, wherever they were set, as words of a command line."""
        found: list[str] = self.start.get("result_flags") or self.start.get("flags") or []
        return found

    def by_suite(self) -> list[tuple[Record, list[TestResult]]]:
        """Each suite with its results, also those that have none."""
        found: dict[str, list[TestResult]] = {suite["id"]: [] for suite in self.suites}
        for result in self.results:
            found[result.suite].append(result)
        return [(suite, found[suite["id"]]) for suite in self.suites]


def start_record(start: RunStart) -> Record:
    """`Report.start`."""
    record: Record = {
        "timestamp": start.started_at,
        "version": start.version,
        "environment": start.environment,
        "suites": [suite_record(suite) for suite in start.suites],
    }
    if start.flags:
        record["flags"] = list(start.flags)
    if start.shard is not None:
        record["shard"] = start.shard
    if start.notes:
        record["notes"] = list(start.notes)
    if start.regraded_from is not None:
        record["regraded_from"] = start.regraded_from
    if start.result_flags:
        record["result_flags"] = list(start.result_flags)
    if start.run_id is not None:
        record["run_id"] = start.run_id
    if start.run_ids:
        record["run_ids"] = list(start.run_ids)
    if start.runs == 1:
        return record
    return {**record, "runs_per_case": start.runs, "min_pass_rate": start.min_pass_rate}


def end_record(run: Execution) -> Record:
    """`Report.summary`."""
    end = run.end
    assert end is not None
    summary: Record = summary_record(run.counts, end.seconds * 1000)
    stopped = {"stopped": end.stopped, "not_run": end.not_run} if end.stopped else {}
    if end.snapshots is not None:
        from runner.record.summary import snapshot_record

        summary["snapshots"] = snapshot_record(end.snapshots)
    if (rounds := looks_record(end.looks)) is not None:
        summary["rounds"] = rounds
    if end.coverage is not None:
        from runner.record.coverage import coverage_record

        summary["coverage"] = coverage_record(end.coverage)
    usage = usage_record(run.counts)
    lists = {"suites": found} if (found := _lists(run)) else {}
    return {
        **summary,
        **usage,
        **certainty_of(run.counts),
        "status": end.status,
        **stopped,
        **lists,
        "completed_at": end.completed_at,
    }


def _lists(run: Execution) -> list[Record]:
    """`[{id, selected, total, ended?}]` for suites that have other tests than results, or did not end (`ended: false`),
    and `[{id, started: false}]` for those whose tests were never known."""
    found: list[Record] = []
    for suite in run.suites.values():
        ended, listed = run.counts_by_suite[suite.id].total, run.listed.get(suite.id)
        if listed is None:
            found.append({"id": suite.name, "started": False})
        elif (listed.selected, listed.total) != (ended, ended) or suite.id not in run.ended:
            record = {"id": suite.name, "selected": listed.selected, "total": listed.total}
            found.append(record if suite.id in run.ended else {**record, "ended": False})
    return found


def in_order(suites: list[Record], results: list[Placed]) -> list[Placed]:
    """Results in the order of the suites and of the tests in them."""
    places = {suite["id"]: place for place, suite in enumerate(suites)}
    return sorted(results, key=lambda result: (places[result.suite], result.position))


class HasPlace(Protocol):
    """What belongs to a test."""

    @property
    def suite(self) -> str:
        """The name of its suite."""

    @property
    def position(self) -> int:
        """Its position in the suite, from 0."""


Placed = TypeVar("Placed", bound=HasPlace)


OF_SOME = (
    *("notes", "flags", "result_flags", "shard", "regraded_from", "runs_per_case", "min_pass_rate"),
    *("run_id", "run_ids"),
)
"""What the start line has about some runs."""


def line_of_event(event: Event, so_far: Execution, goes_on: bool = False) -> str | None:
    """The line for an event; None for events without a line. `so_far` includes the event. `goes_on`: the report is
    continued, and has the lines of the resumed run already."""
    if isinstance(event, TestStart):
        return None
    if isinstance(event, (TestEnd, AttemptEnd)):  # a union would be made again each time
        result = event.result
        if result.attempts:
            return _stability(result, so_far.suites[result.suite])
        return None if goes_on and result.is_resumed else whole_text_of(result, so_far.suites[result.suite])
    if isinstance(event, RunStart):
        if goes_on:
            return None
        resumed = {"resume": event.resume} if event.resume else {}
        return json_line({**start_line(start_record(event), event.total_cases), **resumed})
    if isinstance(event, RunError):
        return json_line(error_line(without_root(event.message, so_far.root), event.hint))
    if isinstance(event, Warned):
        return json_line({"type": "warning", "warning": without_root(event.message, so_far.root)})
    if isinstance(event, RunEnd):
        return json_line({"type": "summary", **end_record(so_far)})
    return None


def start_line(start: Record, total_cases: int | None) -> Record:
    """The first line, of `Report.start`."""
    suites = start["suites"]
    more = {key: start[key] for key in OF_SOME if key in start}
    return {
        "type": "start",
        "timestamp": start["timestamp"],
        "agent_id": ",".join(sorted({suite["agent"] for suite in suites})),
        "total_cases": total_cases,
        "scripts": [suite["id"] for suite in suites if not has_cases(suite)],
        "inputs": [suite["label"] for suite in suites if has_cases(suite)],
        "suites": suites,
        "environment": start["environment"],
        "version": start["version"],
        **more,
    }


def error_line(message: str, hint: str | None) -> Record:
    """The line of an error."""
    return {"type": "error", "error": message, **({"hint": hint} if hint else {})}


def _stability(result: TestResult, suite: Suite) -> str | None:
    if result.stability is None:
        return None
    head = {"type": "stability", "suite": suite.name, "position": result.position, "id": result.name}
    not_judged = {"not_judged": result.outcome.not_judged} if result.outcome.not_judged else {}
    return json_line(
        {**head, "status": result.outcome.status, **runs_of(result.stability, repeat=result.repeat), **not_judged}
    )
