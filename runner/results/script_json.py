"""Converts results of script tests to JSON records, as seed 004 defines them ("Script Test Report Format")."""

from __future__ import annotations

import re

from runner.results.failure_json import Named, failure_record, failures_of, warning_record, warnings_of
from runner.results.failure_texts import error_text, place, stack_trace
from runner.results.model import TestResult
from scripttest import Failure, LogLine, Outcome, Status
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_LEVEL = r"\[(trace|debug|warn|error)\] "


def result_record(result: TestResult) -> Record:
    """`{name, status, duration_ms, error?, assertion?, stack_trace?, location?, skip_reason?, not_judged?, steps?,
    warnings?, logs}`; the optional keys are there when they have something to say."""
    record = _outcome_record(result.outcome)
    if result.outcome.warnings:
        record["warnings"] = warning_records(result.outcome)
    if result.earlier_errors:
        record |= passes_record(result)
    record.update(logs_record(result))
    return record


def passes_record(result: TestResult) -> Record:
    """`{pass, earlier_errors}` of a test that broke in earlier passes."""
    return {"pass": len(result.earlier_errors) + 1, "earlier_errors": list(result.earlier_errors)}


def logs_record(result: TestResult) -> Record:
    """`{logs, log_levels?}`: captured lines, with their level at the head where it is not `info`; the level of each
    where that does not go without saying."""
    if not result.logs:
        return {"logs": []}
    lines = [line.text if line.level == "info" else f"[{line.level}] {line.text}" for line in result.logs]
    plain = all(line.level == "info" and not line.text.startswith("[") for line in result.logs)
    return {"logs": lines} if plain else {"logs": lines, "log_levels": [line.level for line in result.logs]}


def _outcome_record(outcome: Outcome) -> Record:
    record: Record = {
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


def assertion_record(failure: Failure) -> Record:
    """`{type, expected, actual, message}`."""
    return {"type": failure.type, "expected": failure.expected, "actual": failure.actual, "message": failure.message}


def warning_records(outcome: Outcome) -> list[Record]:
    """A record for each warning; see `warning_record`."""
    return [warning_record(warning) for warning in outcome.warnings]


def outcome_of(record: Record, named: Named) -> Outcome:
    """The outcome of a test or a subtest from its record."""
    failures = failures_of(record, named)
    if failures is None:
        from runner.results.older_reports import script_failures

        failures = tuple(script_failures(record, named))
    return Outcome(
        name=record["name"],
        status=Status(record["status"]),
        milliseconds=record.get("duration_ms", 0),
        failures=failures,
        assertions=record.get("assertion_count", 0),
        skip_reason=record.get("skip_reason"),
        steps=tuple(outcome_of(step, named) for step in record.get("steps") or ()),
        warnings=warnings_of(record, named),
        not_judged=record.get("not_judged", 0),
    )


def logs_of(record: Record) -> tuple[LogLine, ...]:
    """Lines with their levels, which are only at the heads of the lines where no level is given."""
    lines = record.get("logs") or []
    levels = record.get("log_levels")
    if levels:
        return tuple(_with_level(level, line) for level, line in zip(levels, lines, strict=True))
    found = ((re.match(_LEVEL, line), line) for line in lines)
    return tuple(_with_level(level[1] if level else "info", line) for level, line in found)


def _with_level(level: str, line: str) -> LogLine:
    """A line of a report, which begins with its level if that is not `info`."""
    return LogLine(level=level, text=line if level == "info" else line.removeprefix(f"[{level}] "))
