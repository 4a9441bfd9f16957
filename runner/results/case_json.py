"""Converts results of cases to JSON records, as seed 004 defines them, and back. `turn_json` converts their turns."""

from __future__ import annotations

from runner.amounts import cost_in, cost_record
from runner.results.case_result import CaseResult, TrialsNoise
from runner.results.failure_json import Named, failure_record, failures_of, warnings_of
from runner.results.failure_texts import error_text, place, stack_trace
from runner.results.model import TestResult
from runner.results.script_json import logs_record, passes_record, warning_records
from runner.results.turn_json import (
    assertion_records,
    assertions_of,
    checkpoint_of,
    checkpoint_record,
    score_of,
    score_record,
    tool_of,
    trial_of,
    trial_record,
    turn_of,
    turn_record,
)
from scripttest import Cause, Outcome, Status
from scripttest.typing_names import Record
from scripttest.values import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


def case_record(result: TestResult, suite: str | None = None) -> Record:
    """`{id, name?, status, input, output, expected, duration_ms, error, response, messages_count, ...}` of a case.
    Further keys exist if they have a value. With the name of a `suite`, it is the `result` line, which begins with
    `{type, suite, position, ...}`.

    | case | its own keys |
    | --- | --- |
    | of one answer | `assertions` |
    | in turns | `turns`, `final_assertions`, `total_turns` |
    | with checkpoints | the same and `checkpoints` |
    | whose turns have scores | the same and `test_id`, `score`, `execution_status`, `scores`, `trials` |

    The `output` of a case whose turns have scores has all its messages.
    """
    outcome, case = result.outcome, result.case
    assert case is not None
    decisive = outcome.decisive
    record: Record = {
        "type": "result",
        "suite": suite,
        "position": result.position,
        "id": outcome.name,
        "name": case.title,
        "status": outcome.status,
        "input": case.input,
        "output": case.output,
        "expected": case.expected,
        "duration_ms": round(outcome.milliseconds),
        "error": error_text(decisive) if decisive else None,
        "response": case.response,
        "messages_count": case.messages,
    }
    if case.finish_reason:
        record["finish_reason"] = case.finish_reason
    if suite is None:
        del record["type"], record["suite"], record["position"]
    if case.title is None:
        del record["name"]
    if not case.in_turns:
        record["assertions"] = assertion_records(case.assertions)
        if case.scores:
            record |= {"score": case.score, "threshold": case.threshold}
            record["scores"] = [score_record(score) for score in case.scores]
    else:
        record |= _in_turns(case, outcome)
    if outcome.not_judged:
        record["not_judged"] = outcome.not_judged
    if case.checks_nothing and outcome.status == Status.PASSED:
        record["checks_nothing"] = True
    if decisive:
        record["cause"] = decisive.cause
        errors = [error_text(failure) for failure in outcome.failures if failure.type]
        if errors:
            record["assertion_errors"] = errors
        framed = next((failure for failure in outcome.failures if failure.frames), None)
        if framed is not None:
            record["location"] = place(framed)
            record["stack_trace"] = stack_trace(framed)
        record["failures"] = [failure_record(failure) for failure in outcome.failures]
    if outcome.assertions:
        record["assertion_count"] = outcome.assertions
    if outcome.skip_reason:
        record["skip_reason"] = outcome.skip_reason
        if is_cut_short(record) or result.cut_short:  # also what only reads as if it were
            record["cut_short"] = result.cut_short
    if outcome.warnings:
        record["warnings"] = warning_records(outcome)
    if result.earlier_errors:
        record |= passes_record(result)
    if case.tools:
        record["tools"] = [fields_of(tool) for tool in case.tools]
    if case.connector:
        record["connector"] = case.connector
    if case.model_calls:
        record["model_calls"] = case.model_calls
    if case.input_tokens or case.output_tokens or case.cost is not None:
        tokens = {"input_tokens": case.input_tokens, "output_tokens": case.output_tokens}
        record["usage"] = {**tokens, **cost_record(case.cost)}
    if case.sent:
        record["sent"] = list(case.sent)
    if case.attachments:
        record["attachments"] = list(case.attachments)
    if case.line:
        record["line"] = case.line
    if case.tags:
        record["tags"] = list(case.tags)
    if case.metadata:
        record["metadata"] = case.metadata
    if result.logs:
        record |= logs_record(result)
    if case.trace:
        record["trace"] = case.trace
    return record


def _in_turns(case: CaseResult, outcome: Outcome) -> Record:
    """The fields that only cases of several turns have."""
    record: Record = {"mode": case.mode}
    if case.simulator is not None:
        record["simulator"] = case.simulator
    record["turns"] = [turn_record(turn) for turn in case.turns]
    if case.checkpoints is not None:
        record["checkpoints"] = [checkpoint_record(checkpoint) for checkpoint in case.checkpoints]
    if case.final_assertions is not None:
        record["final_assertions"] = assertion_records(case.final_assertions)
    record["total_turns"] = sum(turn.status != Status.SKIPPED and turn.input is not None for turn in case.turns)
    if case.scores_turns:
        broken = any(failure.cause != Cause.ASSERTION for failure in outcome.failures)
        record |= {
            "test_id": outcome.name,
            "score": case.score,
            "execution_status": "error" if broken else "skipped" if outcome.status == Status.SKIPPED else "ok",
            "scores": [score_record(score) for score in case.scores],
            "output": list(case.transcript),
        }
        if case.output != (case.response or None):
            record["final_output"] = case.output
        if case.threshold is not None:
            record["threshold"] = case.threshold
        if case.trials:
            record["trials"] = [trial_record(trial) for trial in case.trials]
        if case.trials_noise:
            record["trials_noise"] = {key: round(value, 6) for key, value in fields_of(case.trials_noise).items()}
    return record


def case_of(record: Record) -> CaseResult:
    """The result of a case from its record: the answers of the agent and how they were judged."""
    usage = record.get("usage") or {}
    final = record.get("final_assertions")
    scores_turns = "test_id" in record
    checkpoints = record.get("checkpoints")
    return CaseResult(
        title=record.get("name"),
        input=record.get("input"),
        output=record.get("final_output", record.get("response") or None) if scores_turns else record.get("output"),
        response=record.get("response") or "",
        finish_reason=record.get("finish_reason") or "",
        expected=record.get("expected"),
        messages=record.get("messages_count", 0),
        assertions=assertions_of(record.get("assertions")),
        tools=tuple(tool_of(tool) for tool in record.get("tools") or []),
        connector=record.get("connector") or "",
        model_calls=record.get("model_calls", 0),
        input_tokens=usage.get("input_tokens", 0),
        output_tokens=usage.get("output_tokens", 0),
        cost=cost_in(usage),
        sent=tuple(record.get("sent") or ()),
        line=record.get("line", 0),
        tags=tuple(record.get("tags") or ()),
        metadata=record.get("metadata"),
        mode=record.get("mode") or "standard",
        in_turns="mode" in record,
        scores_turns=scores_turns,
        simulator=record.get("simulator"),
        turns=tuple(turn_of(turn) for turn in record.get("turns") or []),
        checkpoints=None if checkpoints is None else tuple(map(checkpoint_of, checkpoints)),
        final_assertions=None if final is None else assertions_of(final),
        score=record.get("score"),
        scores=tuple(score_of(score) for score in record.get("scores") or []),
        threshold=record.get("threshold"),
        trials=tuple(trial_of(trial) for trial in record.get("trials") or []),
        trials_noise=TrialsNoise(**noise) if (noise := record.get("trials_noise")) else None,
        checks_nothing=bool(record.get("checks_nothing")),
        transcript=tuple(record.get("output") or ()) if scores_turns else (),
        attachments=tuple(record.get("attachments") or ()),
        trace=record.get("trace"),
    )


def outcome_of_case(record: Record, named: Named) -> Outcome:
    """The outcome of a case from its record."""
    failures = failures_of(record, named)
    if failures is None:
        from runner.results.older_reports import case_failures

        failures = tuple(case_failures(record, named))
    return Outcome(
        name=str(record["id"]),
        status=Status(record["status"]),
        milliseconds=record["duration_ms"],
        failures=failures,
        assertions=record.get("assertion_count", 0),
        skip_reason=record.get("skip_reason"),
        warnings=warnings_of(record, named),
        not_judged=record.get("not_judged", 0),
    )


def is_cut_short(record: Record) -> bool:
    """Whether the run of a record ended before its case did."""
    return bool(record.get("cut_short"))
