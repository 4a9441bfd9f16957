"""Results of cases as JSON records: seed 004 for a single call, 000 for turns, 001 for checkpoints, 003 for scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.results.events import (
    CaseResult,
    CheckpointResult,
    CriterionResult,
    ScoreResult,
    TestResult,
    TrialResult,
    TurnResult,
)
from runner.results.failure_records import failure_record
from runner.results.script_records import error_text, logs_record, place, stack_trace, warning_records
from scripttest import Outcome
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.assertions.base import AssertionResult, ToolUse


def case_record(result: TestResult, suite: str | None = None) -> dict[str, Any]:
    """`{id, name?, status, input, output, expected, duration_ms, error, response, messages_count, ...}` of a case; the
    further keys are there when they have something to say. With the name of a `suite`: its `result` line, which begins
    with `{type, suite, position, ...}`.

    | mode | its own keys |
    | --- | --- |
    | standard | `assertions` |
    | multi_turn | `turns`, `final_assertions`, `total_turns` |
    | dynamic | `turns`, `checkpoints`, `total_turns` |
    | conversation | `turns`, `total_turns`, `test_id`, `score`, `execution_status`, `scores`, `trials` |

    The `output` of a conversation is everything that was said, as messages.
    """
    outcome, case = result.outcome, result.case
    assert case is not None
    decisive = outcome.decisive
    record: dict[str, Any] = {
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
    if suite is None:
        del record["type"], record["suite"], record["position"]
    if case.title is None:
        del record["name"]
    if case.mode == "standard":
        record["assertions"] = _assertions(case.assertions)
    else:
        record |= _in_turns(case, outcome)
    if outcome.not_judged:
        record["not_judged"] = outcome.not_judged
    if case.checks_nothing and outcome.status == "passed":
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
    if outcome.warnings:
        record["warnings"] = warning_records(outcome)
    if case.tools:
        record["tools"] = [fields_of(tool) for tool in case.tools]
    if case.connector:
        record["connector"] = case.connector
    if case.model_calls:
        record["model_calls"] = case.model_calls
    if case.input_tokens or case.output_tokens or case.cost is not None:
        cost = {} if case.cost is None else {"cost": case.cost}
        record["usage"] = {"input_tokens": case.input_tokens, "output_tokens": case.output_tokens, **cost}
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
    return record


def _in_turns(case: CaseResult, outcome: Outcome) -> dict[str, Any]:
    """What only cases of several turns have."""
    record: dict[str, Any] = {"mode": case.mode}
    if case.simulator is not None:
        record["simulator"] = case.simulator
    record["turns"] = [_turn(turn) for turn in case.turns]
    if case.mode == "dynamic":
        record["checkpoints"] = [_checkpoint(checkpoint) for checkpoint in case.checkpoints]
    if case.final_assertions is not None:
        record["final_assertions"] = _assertions(case.final_assertions)
    record["total_turns"] = sum(turn.status != "skipped" and turn.input is not None for turn in case.turns)
    if case.mode == "conversation":
        broken = any(failure.cause != "assertion" for failure in outcome.failures)
        record |= {
            "test_id": outcome.name,
            "score": case.score,
            "execution_status": "error" if broken else "skipped" if outcome.status == "skipped" else "ok",
            "scores": [_score(score) for score in case.scores],
            "output": list(case.transcript),
        }
        if case.output != (case.response or None):
            record["final_output"] = case.output
        if case.threshold is not None:
            record["threshold"] = case.threshold
        if case.trials:
            record["trials"] = [_trial(trial) for trial in case.trials]
    return record


def _turn(turn: TurnResult) -> dict[str, Any]:
    """`{turn, input, input_source, status, output, response?, tool_calls?, awaiting_input, awaiting_reason?,
    attachments?, input_hint?, assertions?, assertion_errors?, error?, skip_reason?, note?, question?, duration_ms}`."""
    record: dict[str, Any] = {
        "turn": turn.turn,
        "input": turn.input,
        "input_source": turn.source,
        "status": turn.status,
        "output": turn.response if turn.output is None else turn.output,
    }
    said = turn.output if isinstance(turn.output, str) else ""
    if turn.response != said:
        record["response"] = turn.response
    if turn.tools:
        record["tool_calls"] = [_tool_call(tool) for tool in turn.tools]
    record["awaiting_input"] = turn.awaiting_input
    more = {
        "awaiting_reason": turn.awaiting_reason,
        "attachments": list(turn.attachments),
        "input_hint": turn.input_hint,
        "assertions": _assertions(turn.assertions),
        "assertion_errors": [result.message for result in turn.assertions if not result.passed],
        "error": turn.error,
        "skip_reason": turn.skip_reason,
        "question": turn.question,
        "note": turn.note,
    }
    record |= {key: value for key, value in more.items() if value}
    record["duration_ms"] = round(turn.milliseconds)
    return record


def _tool_call(tool: ToolUse) -> dict[str, Any]:
    """`{name, args, server, result}` or `{name, args, server, error}`."""
    outcome = {"result": tool.result} if tool.error is None else {"error": tool.error}
    return {"name": tool.name, "args": tool.arguments, "server": tool.server, **outcome}


def _checkpoint(checkpoint: CheckpointResult) -> dict[str, Any]:
    """`{id, reached_at_turn, passed, required, judged?, description?, message?}`."""
    record: dict[str, Any] = {
        "id": checkpoint.id,
        "reached_at_turn": checkpoint.reached_at_turn,
        "passed": checkpoint.reached_at_turn is not None,
        "required": checkpoint.required,
    }
    if not checkpoint.judged:
        record["judged"] = False
    more = {
        "description": checkpoint.description,
        "message": checkpoint.message,
        "not_judged": checkpoint.not_judged,
    }
    return record | {key: value for key, value in more.items() if value}


def _score(score: ScoreResult) -> dict[str, Any]:
    """`{name, type, score, verdict, assertions}`."""
    return {**fields_of(score), "assertions": [_criterion(criterion) for criterion in score.assertions]}


def _trial(trial: TrialResult) -> dict[str, Any]:
    """`{trial, score, status, duration_ms, error?}`."""
    record = {
        "trial": trial.trial,
        "score": trial.score,
        "status": trial.status,
        "duration_ms": round(trial.milliseconds),
    }
    return record if trial.error is None else {**record, "error": trial.error}


def _criterion(criterion: CriterionResult) -> dict[str, Any]:
    """`{text, passed, score, weight, required?, reason?, error?, id?, infrastructure?}`; one that was not judged has
    `judged: false` and no score."""
    kept = ("text", "passed", "weight")
    record = {key: value for key, value in fields_of(criterion).items() if key in kept or value or key == "score"}
    record.pop("not_judged", None)
    if criterion.not_judged != int(not criterion.judged):
        record["not_judged"] = criterion.not_judged
    if criterion.judged:
        del record["judged"]
    else:
        record["judged"] = False
        del record["score"]
    return record


def _assertions(results: tuple[AssertionResult, ...]) -> list[dict[str, Any]]:
    return [_assertion(result) for result in results]


def _assertion(result: AssertionResult) -> dict[str, Any]:
    """`{type, path?, name?, value, passed, expected, actual, message, error?, judged?, score?, details?}`; `value` is
    `expected`, as the design documents print it, and `judged` is there when it is false."""
    record: dict[str, Any] = {
        "type": result.type,
        "path": result.path,
        "name": result.name,
        "value": result.expected,
        "passed": result.passed,
        "expected": result.expected,
        "actual": result.actual,
        "message": result.message,
    }
    if result.path is None:
        del record["path"]
    if result.name is None:
        del record["name"]
    if result.error:
        record["error"] = True
    if result.infrastructure:
        record["infrastructure"] = True
    if not result.judged:
        record["judged"] = False
    if result.score is not None:
        record["score"] = result.score
    if result.details:
        record["details"] = _assertions(result.details)
    return record
