"""The result that a line of a report holds: what `result_record` and `case_record` wrote, read again."""

from __future__ import annotations

import os
import re
from typing import Any

from runner.assertions.base import AssertionResult, ToolUse
from runner.results.events import (
    CaseResult,
    CheckpointResult,
    CriterionResult,
    ScoreResult,
    Suite,
    TestResult,
    TrialResult,
    TurnResult,
)
from runner.results.failure_records import Named, failure_of, warning_of
from runner.results.stability import Attempt, Stability, stability_of
from runner.results.verdict import verdict_in
from scripttest import Failure, Outcome, ResultWarning
from scripttest.values import names_of

Record = dict[str, Any]

_LEVEL = re.compile(r"\[(trace|debug|warn|error)\] ")


def result_of(suite: Suite, position: int, record: Record, root: str = "") -> TestResult:
    """The result of a record; `root` is the folder from which the record names files."""

    def named(file: str) -> str:
        return os.path.join(root, file) if root and file else file

    failures = _failures_of(record, suite.kind == "script_test", named)
    if suite.kind == "script_test":
        outcome = _outcome({**record, "name": str(record["id"])}, failures, named)
        case = None
    else:
        case = _case(record)
        outcome = Outcome(
            name=str(record["id"]),
            status=record["status"],
            milliseconds=record["duration_ms"],
            failures=failures,
            assertions=record.get("assertion_count", 0),
            skip_reason=record.get("skip_reason"),
            not_judged=record.get("not_judged", 0),
        )
    attempts, stability = _stability(record)
    return TestResult(
        suite=suite.id,
        name=outcome.name,
        position=position,
        outcome=outcome.replace(warnings=_warnings(record, named)),
        logs=_logs(record),
        case=case,
        run=record.get("run", 0),
        attempts=attempts,
        stability=stability,
    )


def _failures_of(record: Record, is_script: bool, named: Named) -> tuple[Failure, ...]:
    if record["status"] != "failed":
        return ()
    if isinstance(record.get("failures"), list):
        return tuple(failure_of(failure, named) for failure in record["failures"])
    from runner.results import older_reports as older

    if is_script:
        return tuple(older.script_failures(record, named))
    return tuple(older.case_failures(record, _failed_checks(record), named))


def _logs(record: Record) -> tuple[tuple[str, str], ...]:
    """Lines with their levels; in reports of earlier versions these are only at the heads of the lines."""
    lines = record.get("logs") or []
    levels = record.get("log_levels")
    if levels:
        return tuple((level, _without_level(level, line)) for level, line in zip(levels, lines, strict=True))
    found = ((_LEVEL.match(line), line) for line in lines)
    return tuple((level[1], line[level.end() :]) if level else ("info", line) for level, line in found)


def _without_level(level: str, line: str) -> str:
    return line if level == "info" else line.removeprefix(f"[{level}] ")


def _warnings(record: Record, named: Named) -> tuple[ResultWarning, ...]:
    return tuple(warning_of(item, named) for item in record.get("warnings") or ())


def _stability(record: Record) -> tuple[tuple[Attempt, ...], Stability | None]:
    """The runs of a test, and what they have in common."""
    runs = record.get("runs") or record
    if "attempts" not in runs:
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
    return attempts, _figures(runs) or stability_of(attempts)


def _figures(runs: Record) -> Stability | None:
    """The figures of a test, if all are there."""
    known = {**runs, "judged": runs.get("count")}
    fields: Record = {name: known.get(name) for name in names_of(Stability)}
    if any(fields[name] is None for name in fields if name not in ("errors", "avg_tokens", "avg_cost")):
        return None
    fields["confidence_interval"] = tuple(known["confidence_interval"])
    for name in ("pass_at_k", "pass_hat_k"):
        fields[name] = {int(k): value for k, value in known[name].items()}
    return Stability(**fields)


def _outcome(record: Record, failures: tuple[Failure, ...], named: Named) -> Outcome:
    """A test or a subtest."""
    steps = (
        _outcome(step, _failures_of(step, is_script=True, named=named), named) for step in record.get("steps") or []
    )
    return Outcome(
        name=record["name"],
        status=record["status"],
        milliseconds=record.get("duration_ms", 0),
        failures=failures,
        assertions=record.get("assertion_count", 0),
        skip_reason=record.get("skip_reason"),
        steps=tuple(steps),
        not_judged=record.get("not_judged", 0),
    )


def _failed_checks(record: Record) -> list[AssertionResult]:
    parts = [record, *(record.get("turns") or [])]
    found = [result for part in parts for result in _assertions(part.get("assertions"))]
    found += _assertions(record.get("final_assertions"))
    return [result for result in found if not result.passed]


def _case(record: Record) -> CaseResult:
    usage = record.get("usage") or {}
    final = record.get("final_assertions")
    is_conversation = record.get("mode") == "conversation"
    return CaseResult(
        title=record.get("name"),
        input=record.get("input"),
        output=record.get("final_output", record.get("response") or None) if is_conversation else record.get("output"),
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
        sent=tuple(record.get("sent") or ()),
        line=record.get("line", 0),
        tags=tuple(record.get("tags") or ()),
        metadata=record.get("metadata"),
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
        transcript=tuple(record.get("output") or ()) if is_conversation else (),
        attachments=tuple(record.get("attachments") or ()),
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
            infrastructure=bool(item.get("infrastructure")),
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
    output = item.get("output")
    response = item.get("response", output if isinstance(output, str) else "")
    return TurnResult(
        turn=item["turn"],
        input=item.get("input"),
        source=item.get("input_source") or "",
        status=item["status"],
        output=None if output == "" or ("response" in item and response == output) else output,
        response=response,
        awaiting_input=bool(item.get("awaiting_input")),
        awaiting_reason=item.get("awaiting_reason") or "",
        input_hint=item.get("input_hint"),
        assertions=_assertions(item.get("assertions")),
        tools=tuple(_tool(tool) for tool in item.get("tool_calls") or []),
        milliseconds=item.get("duration_ms", 0),
        error=item.get("error"),
        skip_reason=item.get("skip_reason"),
        note=item.get("note"),
        question=item.get("question"),
        attachments=tuple(item.get("attachments") or ()),
    )


def _checkpoint(item: Record) -> CheckpointResult:
    return CheckpointResult(
        id=item["id"],
        description=item.get("description"),
        required=item.get("required", True),
        reached_at_turn=item.get("reached_at_turn"),
        message=item.get("message") or "",
        judged=item.get("judged", True),
        not_judged=item.get("not_judged", 0),
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
            infrastructure=bool(part.get("infrastructure")),
            judged=part.get("judged", True),
            not_judged=part.get("not_judged", 0 if part.get("judged", True) else 1),
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
