"""A saved report as the events that it was made from, so that the console shows it again. What records leave out, such
as code frames, is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runner.assertions.base import AssertionResult, ToolUse
from runner.assertions.differences import COMPARED, comparable, difference
from runner.reporters.console.values import text_of
from runner.reporters.files.document import Record, Report
from runner.results.events import (
    CaseResult,
    CheckpointResult,
    CriterionResult,
    Event,
    RunEnd,
    RunError,
    RunStart,
    ScoreResult,
    Suite,
    SuiteEnd,
    SuiteStart,
    TestEnd,
    TestResult,
    TrialResult,
    TurnResult,
    Warned,
)
from runner.results.facts import name_of
from runner.results.snapshot_lines import snapshots_in
from runner.results.stability import Attempt, Stability, stability_of
from scripttest import Failure, Location, Outcome, ResultWarning, StackFrame

if TYPE_CHECKING:
    from scripttest import Cause

_FRAME = re.compile(r"at (.*) \((.*):(\d+):(\d+)\)")
_PLACE = re.compile(r"(.+):(\d+):(\d+)")
_PHASE = re.compile(r" \(in [^()]*\)$")
_LEVEL = re.compile(r"\[(trace|debug|warn|error)\] ")


def events_of(report: Report) -> Iterator[Event]:
    """The events of a run that was saved, suite after suite."""
    start, summary = report.start, report.summary
    suites = {suite["id"]: _suite(suite, results) for suite, results in report.by_suite()}
    yield RunStart(
        start["timestamp"],
        start["version"],
        tuple(suites.values()),
        start["environment"],
        runs=start.get("runs_per_case", 1),
        min_pass_rate=start.get("min_pass_rate", 100),
        flags=tuple(start.get("flags", ())),
    )
    yield from map(Warned, report.warnings)
    for record, results in report.by_suite():
        suite = suites[record["id"]]
        yield SuiteStart(suite.id, len(results), len(results))
        for position, result in enumerate(results):
            yield TestEnd(result_of(suite, position, result))
        yield SuiteEnd(suite.id)
    yield from map(RunError, report.errors)
    ended = str(summary.get("completed_at") or "")
    stopped, left = summary.get("stopped"), summary.get("not_run", 0)
    yield RunEnd(summary["status"], summary["duration_ms"] / 1000, ended, stopped, left, snapshots_in(summary))


def _suite(suite: Record, results: list[Record]) -> Suite:
    is_message = suite["kind"] == "agent_test" and suite["label"].startswith('"')
    several_turns = any(record.get("mode") for record in results)
    return Suite(
        f"message {suite['label']}" if is_message else suite["id"],
        suite["kind"],
        suite["label"],
        suite["file"],
        suite["agent"],
        suite["connector"],
        several_turns,
    )


def result_of(suite: Suite, position: int, record: Record) -> TestResult:
    """A result from its record."""
    levels = ((_LEVEL.match(line), line) for line in record.get("logs") or [])
    logs = tuple((found[1], line[found.end() :]) if found else ("info", line) for found, line in levels)
    if suite.kind == "script_test":
        outcome = _outcome({**record, "name": name_of(record)})._replace(warnings=_warnings(record))
        return TestResult(suite.id, outcome.name, position, outcome, logs, None, 0, *_stability(record))
    failures = tuple(_case_failures(record)) if record["status"] == "failed" else ()
    name = name_of(record)
    outcome = Outcome(
        name,
        record["status"],
        record["duration_ms"],
        failures,
        skip_reason=record.get("skip_reason"),
        warnings=_warnings(record),
        not_judged=record.get("not_judged", 0),
    )
    return TestResult(suite.id, name, position, outcome, logs, _case(record), 0, *_stability(record))


def _warnings(record: Record) -> tuple[ResultWarning, ...]:
    return tuple(
        ResultWarning(str(item.get("kind") or ""), item["message"], _at(item.get("location")))
        for item in record.get("warnings") or ()
    )


def _at(location: Any) -> tuple[StackFrame, ...]:
    """The one frame that a place is, as `file:line:column`."""
    found = _PLACE.fullmatch(str(location or ""))
    return (StackFrame("", Location(found[1], int(found[2]), int(found[3]))),) if found else ()


def _stability(record: Record) -> tuple[tuple[Attempt, ...], Stability | None]:
    """The runs of a test, and what they have in common."""
    runs = record.get("runs")
    if not runs:
        return (), None
    attempts = tuple(
        Attempt(
            run["run"],
            run["status"],
            run["duration_ms"],
            "",
            run.get("output"),
            run.get("error"),
            run.get("score"),
            run.get("tokens", 0),
            run.get("cost"),
            not_judged=run.get("not_judged", 0),
            judged=run.get("judged", True),
        )
        for run in runs["attempts"]
    )
    stability = stability_of(attempts)
    return attempts, stability and stability._replace(consistency=runs["consistency"])


def _outcome(record: Record) -> Outcome:
    """A test or a subtest."""
    steps = tuple(_outcome(step) for step in record.get("steps") or [])
    failures = tuple(_failures(record)) if record["status"] == "failed" else ()
    return Outcome(
        record["name"],
        record["status"],
        record.get("duration_ms", 0),
        failures,
        skip_reason=record.get("skip_reason"),
        steps=steps,
        not_judged=record.get("not_judged", 0),
    )


def _failures(record: Record) -> Iterator[Failure]:
    """What made a script test fail; the values that were compared belong to the first failed check."""
    assertion = record.get("assertion")
    decisive = record.get("error") or "it failed"
    cause = record.get("cause", "error")
    for error in record.get("errors") or [decisive]:
        frames = _frames(record) if error == decisive else ()
        is_check = error.startswith("assertion failed: ")
        message = error.removeprefix("assertion failed: ")
        if not is_check:
            phase = "subtest" if re.fullmatch(r"subtest .* failed", error) else None
            own: Cause = "assertion" if cause == "timeout" and error != decisive else cause
            yield Failure(own, message, phase=phase, frames=frames)
        elif assertion is None:
            yield Failure("assertion", message, type="assertion", frames=frames)
        else:
            texts = (_shown(assertion.get("expected")), _shown(assertion.get("actual")))
            yield Failure("assertion", message, assertion.get("type"), None, None, None, *texts, frames=frames)
            assertion = None


def _case_failures(record: Record) -> Iterator[Failure]:
    failed = {result.message or f"{result.type} does not hold": result for result in _all_assertions(record)}
    errors = [record.get("error"), *(record.get("assertion_errors") or [])]
    frames = _frames(record)
    for error in dict.fromkeys(error for error in errors if error):
        message = error.removeprefix("assertion failed: ")
        check = failed.get(message) or failed.get(_PHASE.sub("", message))
        if check is not None:
            values = comparable(check.expected, check.actual) if check.type in COMPARED else None
            expected, actual = map(text_of, values or (check.expected, check.actual))
            diff = difference(check.expected, check.actual) if values else None
            compared = (None, None, None, expected, actual, diff)
            yield Failure("assertion", message, check.type, *compared, frames=frames)
        else:
            type = "assertion" if message != error else None
            yield Failure("assertion" if type else record.get("cause", "error"), message, type, frames=frames)
        frames = ()


def _all_assertions(record: Record) -> list[AssertionResult]:
    parts = [record, *(record.get("turns") or [])]
    found = [result for part in parts for result in _assertions(part.get("assertions"))]
    found += _assertions(record.get("final_assertions"))
    return [result for result in found if not result.passed]


def _frames(record: Record) -> tuple[StackFrame, ...]:
    found = (_FRAME.fullmatch(line) for line in (record.get("stack_trace") or "").splitlines())
    return tuple(StackFrame(frame[1], Location(frame[2], int(frame[3]), int(frame[4]))) for frame in found if frame)


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _case(record: Record) -> CaseResult:
    usage = record.get("usage") or {}
    final = record.get("final_assertions")
    return CaseResult(
        record.get("name"),
        record.get("input"),
        record.get("output"),
        record.get("response") or "",
        record.get("expected"),
        record.get("messages_count", 0),
        _assertions(record.get("assertions")),
        tuple(_tool(tool) for tool in record.get("tools") or []),
        record.get("connector") or "",
        record.get("model_calls", 0),
        usage.get("input_tokens", 0),
        usage.get("output_tokens", 0),
        usage.get("cost"),
        line=record.get("line", 0),
        mode=record.get("mode") or "standard",
        simulator=record.get("simulator"),
        turns=tuple(_turn(turn) for turn in record.get("turns") or []),
        checkpoints=tuple(_checkpoint(item) for item in record.get("checkpoints") or []),
        final_assertions=None if final is None else _assertions(final),
        score=record.get("score"),
        scores=tuple(_score(score) for score in record.get("scores") or []),
        threshold=record.get("threshold"),
        trials=tuple(_trial(trial) for trial in record.get("trials") or []),
        checks_nothing=bool(record.get("checks_nothing")),
    )


def _assertions(items: list[Record] | None) -> tuple[AssertionResult, ...]:
    return tuple(
        AssertionResult(
            item["type"],
            item["passed"],
            item.get("expected"),
            item.get("actual"),
            item.get("message") or "",
            bool(item.get("error")),
            item.get("score"),
            _assertions(item.get("details")),
            path=item.get("path"),
            name=item.get("name"),
            judged=item.get("judged", True),
        )
        for item in items or []
    )


def _tool(item: Record) -> ToolUse:
    arguments = item.get("arguments", item.get("args"))
    return ToolUse(item["name"], item.get("server") or "", arguments, item.get("result"), item.get("error"))


def _turn(item: Record) -> TurnResult:
    return TurnResult(
        item["turn"],
        item.get("input"),
        item.get("input_source") or "",
        item["status"],
        item.get("output"),
        item.get("response") or (item["output"] if isinstance(item.get("output"), str) else ""),
        bool(item.get("awaiting_input")),
        item.get("awaiting_reason") or "",
        item.get("input_hint"),
        _assertions(item.get("assertions")),
        tuple(_tool(tool) for tool in item.get("tool_calls") or []),
        item.get("duration_ms", 0),
        item.get("error"),
        item.get("skip_reason"),
        item.get("note"),
    )


def _checkpoint(item: Record) -> CheckpointResult:
    return CheckpointResult(
        item["id"],
        item.get("description"),
        item.get("required", True),
        item.get("reached_at_turn"),
        item.get("message") or "",
        item.get("judged", True),
    )


def _score(item: Record) -> ScoreResult:
    criteria = tuple(
        CriterionResult(
            part["text"],
            part["passed"],
            part.get("score"),
            part.get("weight", 1),
            bool(part.get("required")),
            part.get("reason") or "",
            bool(part.get("error")),
            part.get("id"),
            judged=part.get("judged", True),
        )
        for part in item.get("assertions") or []
    )
    return ScoreResult(item["name"], item["type"], item["score"], item["verdict"], criteria)


def _trial(item: Record) -> TrialResult:
    return TrialResult(item["trial"], item.get("score"), item["status"], item.get("duration_ms", 0), item.get("error"))
