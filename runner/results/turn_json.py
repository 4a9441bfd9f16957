"""Converts the parts of a case to JSON records and back: turns (seed 000), checkpoints (001), scores and trials (003),
assertions, and calls of tools."""

from __future__ import annotations

from runner.amounts import cost_in, cost_record
from runner.assertions.base import AssertionResult, Judged, ToolUse, Vote
from runner.results.case_result import (
    CheckpointResult,
    CriterionResult,
    ScoreResult,
    ScoreVerdict,
    TrialResult,
    TurnResult,
    TurnUsage,
)
from runner.results.criteria import objects_in
from scripttest import Status
from scripttest.typing_names import Record
from scripttest.values import fields_of, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def turn_record(turn: TurnResult) -> Record:
    """`{turn, input, input_source, status, output, response?, tool_calls?, finish_reason?, awaiting_input,
    awaiting_reason?, attachments?, input_hint?, assertions?, assertion_errors?, error?, skip_reason?, note?, question?,
    no_next_turn?, usage?, duration_ms}`."""
    record: Record = {
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
    if turn.finish_reason:
        record["finish_reason"] = turn.finish_reason
    record["awaiting_input"] = turn.awaiting_input
    more = {
        "awaiting_reason": turn.awaiting_reason,
        "attachments": list(turn.attachments),
        "input_hint": turn.input_hint,
        "assertions": assertion_records(turn.assertions),
        "assertion_errors": [result.message for result in turn.assertions if not result.passed],
        "error": turn.error,
        "skip_reason": turn.skip_reason,
        "question": turn.question,
        "no_next_turn": turn.no_next_turn,
        "note": turn.note,
        "usage": usage_record(turn.usage),
    }
    record |= {key: value for key, value in more.items() if value}
    record["duration_ms"] = round(turn.milliseconds)
    return record


def turn_of(item: Record) -> TurnResult:
    """A turn from its record."""
    output = item.get("output")
    response = item.get("response", output if isinstance(output, str) else "")
    unanswered = output == "" and bool(item.get("error") or item.get("skip_reason"))
    return TurnResult(
        turn=item["turn"],
        input=item.get("input"),
        source=item.get("input_source") or "",
        status=Status(item["status"]),
        output=None if unanswered or ("response" in item and response == output) else output,
        response=response,
        finish_reason=item.get("finish_reason") or "",
        awaiting_input=bool(item.get("awaiting_input")),
        awaiting_reason=item.get("awaiting_reason") or "",
        input_hint=item.get("input_hint"),
        assertions=assertions_of(item.get("assertions")),
        tools=tuple(tool_of(tool) for tool in item.get("tool_calls") or []),
        milliseconds=item.get("duration_ms", 0),
        error=item.get("error"),
        skip_reason=item.get("skip_reason"),
        note=item.get("note"),
        question=item.get("question"),
        no_next_turn=bool(item.get("no_next_turn")),
        attachments=tuple(item.get("attachments") or ()),
        usage=usage_in(item.get("usage")),
    )


def usage_record(usage: TurnUsage | None) -> Record | None:
    """`{input_tokens, output_tokens, cost?}`; None where it is not known."""
    if usage is None:
        return None
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, **cost_record(usage.cost)}


def usage_in(item: Any) -> TurnUsage | None:
    """The same, read."""
    if not isinstance(item, dict):
        return None
    return TurnUsage(
        input_tokens=item.get("input_tokens", 0), output_tokens=item.get("output_tokens", 0), cost=cost_in(item)
    )


def _tool_call(tool: ToolUse) -> Record:
    """`{name, args, server, result}` or `{name, args, server, error}`."""
    outcome = {"result": tool.result} if tool.error is None else {"error": tool.error}
    return {"name": tool.name, "args": tool.arguments, "server": tool.server, **outcome}


def tool_of(item: Record) -> ToolUse:
    """A call of a tool from its record."""
    arguments = item.get("arguments", item.get("args"))
    return ToolUse(
        name=item["name"],
        server=item.get("server") or "",
        arguments=arguments,
        result=item.get("result"),
        error=item.get("error"),
    )


def checkpoint_record(checkpoint: CheckpointResult) -> Record:
    """`{id, reached_at_turn, passed, required, judged?, description?, message?, not_judged?, inconclusive?,
    assertions?}`."""
    record: Record = {
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
        "inconclusive": checkpoint.inconclusive,
        "assertions": assertion_records(checkpoint.assertions),
    }
    return record | {key: value for key, value in more.items() if value}


def checkpoint_of(item: Record) -> CheckpointResult:
    """A checkpoint from its record."""
    return CheckpointResult(
        id=item["id"],
        description=item.get("description"),
        required=item.get("required", True),
        reached_at_turn=item.get("reached_at_turn"),
        message=item.get("message") or "",
        judged=item.get("judged", True),
        not_judged=item.get("not_judged", 0),
        inconclusive=bool(item.get("inconclusive")),
        assertions=assertions_of(item.get("assertions")),
    )


def graded_turn(name: str) -> int:
    """The turn that a score of this name grades; 0: the whole, or the one answer there is."""
    turn, _, number = name.partition("-")
    return int(number) if turn == "turn" and number.isdecimal() else 0


def score_record(score: ScoreResult) -> Record:
    """`{name, type, score, verdict, assertions}`."""
    return {**fields_of(score), "assertions": [_criterion(criterion) for criterion in score.assertions]}


def score_of(item: Record) -> ScoreResult:
    """A score from its record."""
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
            **_votes_in(part),
        )
        for part in item.get("assertions") or []
    )
    verdict = ScoreVerdict(item["verdict"])
    return ScoreResult(name=item["name"], type=item["type"], score=item["score"], verdict=verdict, assertions=criteria)


def _criterion(criterion: CriterionResult) -> Record:
    """`{text, passed, score, weight, required?, reason?, error?, id?, infrastructure?}`; one that was not judged has
    `judged: false` and no score."""
    kept = ("text", "passed", "weight")
    record = {key: value for key, value in fields_of(criterion).items() if key in kept or value or key == "score"}
    record.pop("not_judged", None)
    if criterion.not_judged != int(not criterion.judged):
        record["not_judged"] = criterion.not_judged
    record = {key: value for key, value in record.items() if key not in names_of(Judged)} | _votes_of(criterion)
    if criterion.judged:
        del record["judged"]
    else:
        record["judged"] = False
        del record["score"]
    return record


def trial_record(trial: TrialResult) -> Record:
    """`{trial, score, status, duration_ms, error?}`."""
    record = {
        "trial": trial.trial,
        "score": trial.score,
        "status": trial.status,
        "duration_ms": round(trial.milliseconds),
    }
    return record if trial.error is None else {**record, "error": trial.error}


def trial_of(item: Record) -> TrialResult:
    """A trial from its record."""
    return TrialResult(
        trial=item["trial"],
        score=item.get("score"),
        status=Status(item["status"]),
        milliseconds=item.get("duration_ms", 0),
        error=item.get("error"),
    )


def _votes_of(result: AssertionResult | CriterionResult) -> Record:
    """`{judge?, judge_connector?, options?, votes?: [{passed, score?, reason, judge, connector?}], agreement?,
    inconclusive?}`."""
    said = {"judge": result.judge, "judge_connector": result.judge_connector, "options": result.options}
    record: Record = {key: value for key, value in said.items() if value}
    if result.votes:
        record["votes"] = [
            {key: value for key, value in fields_of(vote).items() if key == "passed" or value is not None}
            for vote in result.votes
        ]
    if result.agreement is not None:
        record["agreement"] = round(result.agreement, 4)
    return {**record, "inconclusive": True} if result.inconclusive else record


def _votes_in(item: Record) -> Record:
    """The same as fields."""
    votes = tuple(
        Vote(
            passed=vote.get("passed"),
            score=vote.get("score"),
            reason=str(vote.get("reason") or ""),
            judge=str(vote.get("judge") or ""),
            connector=_text_in(vote, "connector"),
        )
        for vote in objects_in(item.get("votes"))
    )
    agreement, options = item.get("agreement"), item.get("options")
    return {
        "votes": votes,
        "agreement": agreement if isinstance(agreement, int | float) else None,
        "inconclusive": bool(item.get("inconclusive")),
        "judge": _text_in(item, "judge"),
        "judge_connector": _text_in(item, "judge_connector"),
        "options": options if isinstance(options, dict) else None,
    }


def _text_in(item: Record, key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) else None


def assertion_records(results: tuple[AssertionResult, ...]) -> list[Record]:
    """A record for each assertion; see `_assertion`."""
    return [_assertion(result) for result in results]


def assertions_of(items: list[Record] | None) -> tuple[AssertionResult, ...]:
    """Assertions from their records."""
    return tuple(
        AssertionResult(
            type=item["type"],
            passed=item["passed"],
            expected=item.get("expected"),
            actual=item.get("actual"),
            message=item.get("message") or "",
            error=bool(item.get("error")),
            score=item.get("score"),
            details=assertions_of(item.get("details")),
            path=item.get("path"),
            name=item.get("name"),
            infrastructure=bool(item.get("infrastructure")),
            judged=item.get("judged", True),
            **_votes_in(item),
        )
        for item in items or []
    )


def _assertion(result: AssertionResult) -> Record:
    """`{type, path?, name?, value, passed, expected, actual, message, error?, judged?, score?, details?}`; `value` is
    `expected`, as the design documents print it, and `judged` is there when it is false."""
    record: Record = {
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
    record |= _votes_of(result)
    if result.details:
        record["details"] = assertion_records(result.details)
    return record
