"""Results as the JSON records of seed 004 ("Script Test Report Format")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.events import CaseResult, RunEnd, RunStart, TestResult
from runner.execution import Counts
from scripttest import Failure, Outcome, StackFrame

if TYPE_CHECKING:
    from runner.assertions.base import AssertionResult


def result_record(result: TestResult) -> dict[str, Any]:
    """`{name, status, duration_ms, error?, assertion?, stack_trace?, location?, skip_reason?, steps?, logs}`; the
    optional keys are there when they have something to say."""
    record = _outcome_record(result.outcome)
    record["logs"] = _lines(result)
    return record


def case_record(result: TestResult) -> dict[str, Any]:
    """`{id, name?, status, input, output, expected, duration_ms, error, response, messages_count, assertions, ...}` of
    a case; the further keys are there when they have something to say."""
    outcome, case = result.outcome, result.case
    assert case is not None
    record: dict[str, Any] = {
        "id": outcome.name,
        "name": case.title,
        "status": outcome.status,
        "input": case.input,
        "output": case.output,
        "expected": case.expected,
        "duration_ms": round(outcome.milliseconds),
        "error": error_text(outcome.failures[0]) if outcome.failures else None,
        "response": case.response,
        "messages_count": case.messages,
        "assertions": [_assertion_result(assertion) for assertion in case.assertions],
    }
    if outcome.failures:
        record["cause"] = outcome.failures[0].cause
        errors = [error_text(failure) for failure in outcome.failures if failure.type]
        if errors:
            record["assertion_errors"] = errors
        framed = next((failure for failure in outcome.failures if failure.frames), None)
        if framed is not None:
            record["location"] = place(framed)
            record["stack_trace"] = "\n".join(f"at {_frame(frame)}" for frame in framed.frames)
    more = {
        "skip_reason": outcome.skip_reason,
        "tools": [tool._asdict() for tool in case.tools],
        "connector": case.connector,
        "model_calls": case.model_calls,
        "usage": _usage(case),
        "sent": list(case.sent),
        "line": case.line,
        "tags": list(case.tags),
        "metadata": case.metadata,
        "logs": _lines(result),
    }
    record |= {key: value for key, value in more.items() if value}
    if record["name"] is None:
        del record["name"]
    return record


def _usage(case: CaseResult) -> dict[str, Any]:
    if not case.model_calls:
        return {}
    usage: dict[str, Any] = {"input_tokens": case.input_tokens, "output_tokens": case.output_tokens}
    return usage if case.cost is None else {**usage, "cost": case.cost}


def _assertion_result(result: AssertionResult) -> dict[str, Any]:
    """`{type, value, passed, expected, actual, message, error?, score?, details?}`; `value` is `expected`, as the
    design documents print it."""
    record: dict[str, Any] = {
        "type": result.type,
        "value": result.expected,
        "passed": result.passed,
        "expected": result.expected,
        "actual": result.actual,
        "message": result.message,
    }
    if result.error:
        record["error"] = True
    if result.score is not None:
        record["score"] = result.score
    if result.details:
        record["details"] = [_assertion_result(part) for part in result.details]
    return record


def _lines(result: TestResult) -> list[str]:
    return [text if level == "info" else f"[{level}] {text}" for level, text in result.logs]


def _outcome_record(outcome: Outcome) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": outcome.name,
        "status": outcome.status,
        "duration_ms": round(outcome.milliseconds),
    }
    if outcome.failures:
        first = outcome.failures[0]
        record["error"] = error_text(first)
        record["cause"] = first.cause
        assertion = next((failure for failure in outcome.failures if failure.type), None)
        if assertion is not None:
            record["assertion"] = assertion_record(assertion)
        if first.frames:
            record["location"] = place(first)
            record["stack_trace"] = "\n".join(f"at {_frame(frame)}" for frame in first.frames)
        if len(outcome.failures) > 1:
            record["errors"] = [error_text(failure) for failure in outcome.failures]
    if outcome.skip_reason is not None:
        record["skip_reason"] = outcome.skip_reason
    if outcome.steps:
        record["steps"] = [_outcome_record(step) for step in outcome.steps]
    return record


def _frame(frame: StackFrame) -> str:
    file, line, column, _ = frame.location
    return f"{frame.function or '<anonymous>'} ({file}:{line}:{column})"


def assertion_record(failure: Failure) -> dict[str, Any]:
    """`{type, expected, actual, message}`."""
    return {"type": failure.type, "expected": failure.expected, "actual": failure.actual, "message": failure.message}


def error_text(failure: Failure) -> str:
    """One line that says what failed: `assertion failed: ...` for a check, else the message."""
    where = f" (in {failure.phase})" if failure.phase and failure.phase not in ("deadlock", "load", "subtest") else ""
    prefix = "assertion failed: " if failure.type else ""
    return f"{prefix}{failure.message}{where}"


def place(failure: Failure) -> str | None:
    """`file:line:column` with an absolute path."""
    location = failure.location
    return f"{location.file}:{location.line}:{location.column}" if location else None


def summary_record(counts: Counts, milliseconds: float) -> dict[str, int]:
    """`{total, passed, failed, skipped, duration_ms}`."""
    return {
        "total": counts.total,
        "passed": counts.passed,
        "failed": counts.failed,
        "skipped": counts.skipped,
        "duration_ms": round(milliseconds),
    }


def metadata_record(start: RunStart, end: RunEnd | None) -> dict[str, Any]:
    """`{started_at, completed_at, version}`."""
    completed = end.completed_at if end else None
    return {"started_at": start.started_at, "completed_at": completed, "version": start.version}
