"""Results as the JSON records of seed 004 ("Script Test Report Format")."""

from __future__ import annotations

from typing import Any

from runner.results.events import TestResult
from runner.results.failure_records import failure_record, warning_record
from runner.results.fold import Counts
from scripttest import Failure, Outcome, ResultWarning, StackFrame

COST_DIGITS = 12
"""Digits of a sum of costs, in US dollars: what the order of adding changes comes behind them."""


def result_record(result: TestResult) -> dict[str, Any]:
    """`{name, status, duration_ms, error?, assertion?, stack_trace?, location?, skip_reason?, not_judged?, steps?,
    warnings?, logs}`; the optional keys are there when they have something to say."""
    record = _outcome_record(result.outcome)
    if result.outcome.warnings:
        record["warnings"] = warning_records(result.outcome)
    record.update(logs_record(result))
    return record


def logs_record(result: TestResult) -> dict[str, Any]:
    """`{logs, log_levels?}`: captured lines, with their level at the head where it is not `info`; the level of each
    where that does not go without saying."""
    if not result.logs:
        return {"logs": []}
    lines = [text if level == "info" else f"[{level}] {text}" for level, text in result.logs]
    plain = all(level == "info" and not text.startswith("[") for level, text in result.logs)
    return {"logs": lines} if plain else {"logs": lines, "log_levels": [level for level, _ in result.logs]}


def _outcome_record(outcome: Outcome) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": outcome.name,
        "status": outcome.status,
        "duration_ms": round(outcome.milliseconds),
    }
    decisive = outcome.decisive
    if decisive is not None:
        record["error"] = error_text(decisive)
        record["cause"] = decisive.cause
        assertion = next((failure for failure in outcome.failures if failure.type), None)
        if assertion is not None:
            record["assertion"] = assertion_record(assertion)
        if decisive.frames:
            record["location"] = place(decisive)
            record["stack_trace"] = stack_trace(decisive)
        if len(outcome.failures) > 1:
            record["errors"] = [error_text(failure) for failure in outcome.failures]
        record["failures"] = [failure_record(failure) for failure in outcome.failures]
    if outcome.assertions:
        record["assertion_count"] = outcome.assertions
    if outcome.skip_reason is not None:
        record["skip_reason"] = outcome.skip_reason
    if outcome.not_judged:
        record["not_judged"] = outcome.not_judged
    if outcome.steps:
        record["steps"] = [_outcome_record(step) for step in outcome.steps]
    return record


def stack_trace(failure: Failure) -> str:
    """A line for each frame, `at function (file:line:column)`, and, indented, what an error says beside its message."""
    return "\n".join([*(f"at {_frame(frame)}" for frame in failure.frames), *filter(None, [failure.details])])


def _frame(frame: StackFrame) -> str:
    at = frame.location
    return f"{frame.function or '<anonymous>'} ({at.file}:{at.line}:{at.column})"


def assertion_record(failure: Failure) -> dict[str, Any]:
    """`{type, expected, actual, message}`."""
    return {"type": failure.type, "expected": failure.expected, "actual": failure.actual, "message": failure.message}


def warning_records(outcome: Outcome) -> list[dict[str, Any]]:
    """A record for each warning; see `warning_record`."""
    return [warning_record(warning) for warning in outcome.warnings]


def error_text(failure: Failure) -> str:
    """One line that says what failed: `assertion failed: ...` for a check, else the message."""
    where = ""
    if failure.phase and failure.phase not in ("deadlock", "load", "subtest"):
        where = f" ({failure.phase})" if failure.phase.startswith("after ") else f" (in {failure.phase})"
    prefix = "assertion failed: " if failure.type else ""
    return f"{prefix}{failure.message}{where}"


def place(of: Failure | ResultWarning) -> str | None:
    """`file:line:column` with an absolute path."""
    location = of.location
    return f"{location.file}:{location.line}:{location.column}" if location else None


def summary_record(counts: Counts, milliseconds: float) -> dict[str, Any]:
    """`{total, passed, failed, skipped, errors?, warnings?, not_judged?, checks_nothing?, checks_nothing_first?,
    duration_ms}`; `errors` counts results of which the cause is `infrastructure`, which are in none of the others, and
    `warnings` those that results have. `not_judged` counts criteria, `checks_nothing` cases, the first of which
    `checks_nothing_first` names."""
    return {**counts_record(counts), "duration_ms": round(milliseconds)}


def counts_record(counts: Counts) -> dict[str, Any]:
    """The same without the time."""
    record: dict[str, Any] = {name: getattr(counts, name) for name in ("total", "passed", "failed", "skipped")}
    record |= {name: number for name in ("errors", "warnings", "not_judged") if (number := getattr(counts, name))}
    if counts.checks_nothing:
        record |= {"checks_nothing": counts.checks_nothing, "checks_nothing_first": counts.checks_nothing_first}
    return record


def remarks(summary: dict[str, Any]) -> list[str]:
    """What a summary has to say beside its counts: criteria that were not judged, and cases that check nothing."""
    said = []
    if number := summary.get("not_judged"):
        said.append(unjudged(number))
    if number := summary.get("checks_nothing"):
        first = summary["checks_nothing_first"]
        more = f" and {number - len(first)} more" if number > len(first) else ""
        said.append(f"{number} {'case checks' if number == 1 else 'cases check'} nothing: {', '.join(first)}{more}")
    return said


def unjudged(number: int) -> str:
    """`2 criteria were not judged`."""
    return f"{number} {'criterion was' if number == 1 else 'criteria were'} not judged"


def usage_record(counts: Counts) -> dict[str, Any]:
    """`{usage: {input_tokens, output_tokens, cost?}}` where models took something; `cost` is in US dollars."""
    if not (counts.tokens or counts.cost):
        return {}
    usage: dict[str, Any] = {"input_tokens": counts.input_tokens, "output_tokens": counts.output_tokens}
    return {"usage": usage if counts.cost is None else {**usage, "cost": round(counts.cost, COST_DIGITS)}}
