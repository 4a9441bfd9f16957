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
from runner.results.verdict import verdict_in
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
        started_at=start["timestamp"],
        version=start["version"],
        suites=tuple(suites.values()),
        environment=start["environment"],
        runs=start.get("runs_per_case", 1),
        min_pass_rate=start.get("min_pass_rate", 100),
        flags=tuple(start.get("flags", ())),
    )
    yield from (Warned(message=text) for text in report.warnings)
    for record, results in report.by_suite():
        suite = suites[record["id"]]
        yield SuiteStart(suite=suite.id, selected=len(results), total=len(results))
        for position, result in enumerate(results):
            yield TestEnd(result=result_of(suite, position, result))
        yield SuiteEnd(suite=suite.id)
    yield from (RunError(message=text) for text in report.errors)
    ended = str(summary.get("completed_at") or "")
    stopped, left = summary.get("stopped"), summary.get("not_run", 0)
    yield RunEnd(
        status=summary["status"],
        seconds=summary["duration_ms"] / 1000,
        completed_at=ended,
        stopped=stopped,
        not_run=left,
        snapshots=snapshots_in(summary),
    )


def _suite(suite: Record, results: list[Record]) -> Suite:
    is_message = suite["kind"] == "agent_test" and suite["label"].startswith('"')
    several_turns = any(record.get("mode") for record in results)
    return Suite(
        id=f"message {suite['label']}" if is_message else suite["id"],
        kind=suite["kind"],
        label=suite["label"],
        file=suite["file"],
        agent=suite["agent"],
        connector=suite["connector"],
        multi_turn=several_turns,
    )


def result_of(suite: Suite, position: int, record: Record) -> TestResult:
    """A result from its record."""
    levels = ((_LEVEL.match(line), line) for line in record.get("logs") or [])
    logs = tuple((found[1], line[found.end() :]) if found else ("info", line) for found, line in levels)
    if suite.kind == "script_test":
        outcome = _outcome({**record, "name": name_of(record)}).replace(warnings=_warnings(record))
        case = None
    else:
        failures = tuple(_case_failures(record)) if record["status"] == "failed" else ()
        case = _case(record)
        outcome = Outcome(
            name=name_of(record),
            status=record["status"],
            milliseconds=record["duration_ms"],
            failures=failures,
            skip_reason=record.get("skip_reason"),
            warnings=_warnings(record),
            not_judged=record.get("not_judged", 0),
        )
    attempts, stability = _stability(record)
    return TestResult(
        suite=suite.id,
        name=outcome.name,
        position=position,
        outcome=outcome,
        logs=logs,
        case=case,
        attempts=attempts,
        stability=stability,
    )


def _warnings(record: Record) -> tuple[ResultWarning, ...]:
    return tuple(
        ResultWarning(kind=str(item.get("kind") or ""), message=item["message"], frames=_at(item.get("location")))
        for item in record.get("warnings") or ()
    )


def _at(location: Any) -> tuple[StackFrame, ...]:
    """The one frame that a place is, as `file:line:column`."""
    found = _PLACE.fullmatch(str(location or ""))
    return (
        (StackFrame(function="", location=Location(file=found[1], line=int(found[2]), column=int(found[3]))),)
        if found
        else ()
    )


def _stability(record: Record) -> tuple[tuple[Attempt, ...], Stability | None]:
    """The runs of a test, and what they have in common."""
    runs = record.get("runs")
    if not runs:
        return (), None
    attempts = tuple(
        Attempt(
            run=run["run"],
            verdict=verdict_in(run),
            duration_ms=run["duration_ms"],
            answer="",
            output=run.get("output"),
            error=run.get("error"),
            score=run.get("score"),
            tokens=run.get("tokens", 0),
            cost=run.get("cost"),
            not_judged=run.get("not_judged", 0),
            judged=run.get("judged", True),
        )
        for run in runs["attempts"]
    )
    stability = stability_of(attempts)
    return attempts, stability and stability.replace(consistency=runs["consistency"])


def _outcome(record: Record) -> Outcome:
    """A test or a subtest."""
    steps = tuple(_outcome(step) for step in record.get("steps") or [])
    failures = tuple(_failures(record)) if record["status"] == "failed" else ()
    return Outcome(
        name=record["name"],
        status=record["status"],
        milliseconds=record.get("duration_ms", 0),
        failures=failures,
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
            yield Failure(cause=own, message=message, phase=phase, frames=frames)
        elif assertion is None:
            yield Failure(cause="assertion", message=message, type="assertion", frames=frames)
        else:
            yield Failure(
                cause="assertion",
                message=message,
                type=assertion.get("type"),
                expected_text=_shown(assertion.get("expected")),
                actual_text=_shown(assertion.get("actual")),
                frames=frames,
            )
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
            yield Failure(
                cause="assertion",
                message=message,
                type=check.type,
                expected_text=expected,
                actual_text=actual,
                diff=diff,
                frames=frames,
            )
        else:
            type = "assertion" if message != error else None
            yield Failure(
                cause="assertion" if type else record.get("cause", "error"), message=message, type=type, frames=frames
            )
        frames = ()


def _all_assertions(record: Record) -> list[AssertionResult]:
    parts = [record, *(record.get("turns") or [])]
    found = [result for part in parts for result in _assertions(part.get("assertions"))]
    found += _assertions(record.get("final_assertions"))
    return [result for result in found if not result.passed]


def _frames(record: Record) -> tuple[StackFrame, ...]:
    found = (_FRAME.fullmatch(line) for line in (record.get("stack_trace") or "").splitlines())
    return tuple(
        StackFrame(function=frame[1], location=Location(file=frame[2], line=int(frame[3]), column=int(frame[4])))
        for frame in found
        if frame
    )


def _shown(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _case(record: Record) -> CaseResult:
    usage = record.get("usage") or {}
    final = record.get("final_assertions")
    return CaseResult(
        title=record.get("name"),
        input=record.get("input"),
        output=record.get("output"),
        response=record.get("response") or "",
        expected=record.get("expected"),
        messages=record.get("messages_count", 0),
        assertions=_assertions(record.get("assertions")),
        tools=tuple(_tool(tool) for tool in record.get("tools") or []),
        connector=record.get("connector") or "",
        model_calls=record.get("model_calls", 0),
        input_tokens=usage.get("input_tokens", 0),
        output_tokens=usage.get("output_tokens", 0),
        cost=usage.get("cost"),
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
            type=item["type"],
            passed=item["passed"],
            expected=item.get("expected"),
            actual=item.get("actual"),
            message=item.get("message") or "",
            error=bool(item.get("error")),
            score=item.get("score"),
            details=_assertions(item.get("details")),
            path=item.get("path"),
            name=item.get("name"),
            judged=item.get("judged", True),
        )
        for item in items or []
    )


def _tool(item: Record) -> ToolUse:
    arguments = item.get("arguments", item.get("args"))
    return ToolUse(
        name=item["name"],
        server=item.get("server") or "",
        arguments=arguments,
        result=item.get("result"),
        error=item.get("error"),
    )


def _turn(item: Record) -> TurnResult:
    return TurnResult(
        turn=item["turn"],
        input=item.get("input"),
        source=item.get("input_source") or "",
        status=item["status"],
        output=item.get("output"),
        response=item.get("response") or (item["output"] if isinstance(item.get("output"), str) else ""),
        awaiting_input=bool(item.get("awaiting_input")),
        awaiting_reason=item.get("awaiting_reason") or "",
        input_hint=item.get("input_hint"),
        assertions=_assertions(item.get("assertions")),
        tools=tuple(_tool(tool) for tool in item.get("tool_calls") or []),
        milliseconds=item.get("duration_ms", 0),
        error=item.get("error"),
        skip_reason=item.get("skip_reason"),
        note=item.get("note"),
    )


def _checkpoint(item: Record) -> CheckpointResult:
    return CheckpointResult(
        id=item["id"],
        description=item.get("description"),
        required=item.get("required", True),
        reached_at_turn=item.get("reached_at_turn"),
        message=item.get("message") or "",
        judged=item.get("judged", True),
    )


def _score(item: Record) -> ScoreResult:
    criteria = tuple(
        CriterionResult(
            text=part["text"],
            passed=part["passed"],
            score=part.get("score"),
            weight=part.get("weight", 1),
            required=bool(part.get("required")),
            reason=part.get("reason") or "",
            error=bool(part.get("error")),
            id=part.get("id"),
            judged=part.get("judged", True),
        )
        for part in item.get("assertions") or []
    )
    return ScoreResult(
        name=item["name"], type=item["type"], score=item["score"], verdict=item["verdict"], assertions=criteria
    )


def _trial(item: Record) -> TrialResult:
    return TrialResult(
        trial=item["trial"],
        score=item.get("score"),
        status=item["status"],
        milliseconds=item.get("duration_ms", 0),
        error=item.get("error"),
    )
