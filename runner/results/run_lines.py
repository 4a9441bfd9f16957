"""The events of a run as lines of JSON, as `.jsonl` reports and stores keep them. `runner.results.saved` reads them."""

from __future__ import annotations

from runner.results.events import AttemptEnd, Event, RunEnd, RunError, RunStart, TestEnd, TestStart, Warned
from runner.results.fold import Execution
from runner.results.json_text import json_line
from runner.results.lines import runs_of, whole_text_of
from runner.results.model import Suite, TestResult
from runner.results.places import without_root
from runner.results.report import end_record, start_record
from runner.results.suite_json import has_cases
from scripttest.typing_names import Record

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
