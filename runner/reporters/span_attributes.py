"""The attributes of spans: those of the semantic conventions for generative AI and for tests
(opentelemetry.io/docs/specs/semconv/gen-ai, .../registry/attributes/test), and `yao_test.*` where there is none; and
events `gen_ai.evaluation.result` for what was said of answers. All values come from results, which no longer contain
secrets.

Contents, such as messages to and from models, are in `gen_ai.input.messages`, `gen_ai.output.messages` and
`gen_ai.tool.call.*`, and in the texts of failed assertions and evaluations, only if contents are requested."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.amounts import cost_record
from runner.record.case_result import CaseResult, ScoreVerdict
from runner.record.events import RunEnd, RunStart
from runner.record.fold import Execution
from runner.record.model import Suite, TestResult
from runner.record.outcomes import Verdict
from scripttest import Cause

Attributes = dict[str, str | bool | int | float | Sequence[str]]
Record = Mapping[str, Any]

DESCRIPTION_LIMIT = 1000
"""Characters of why a span failed."""
_TEST_STATUS = {Verdict.PASSED: "pass", Verdict.FAILED: "fail"}
"""The conventions have no word for others."""
_SUITE_STATUS = {"passed": "success", "failed": "failure", "error": "failure", "interrupted": "aborted"}
_PARAMETERS = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
}
"""Parameter of a request → attribute."""
_FORMS = {"json_object": "json", "json_schema": "json", "text": "text"}
"""`response_format` → `gen_ai.output.type`."""
_COST = {"yao_test.cost_usd": "cost", "yao_test.cost_estimated": "cost_estimated"}
"""Attribute → field of a record of a cost."""
_OPTIONAL = {
    "yao_test.role": "role",
    "gen_ai.request.model": "asked",
    "gen_ai.response.id": "response",
    "gen_ai.response.model": "model",
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cached_tokens",
    "gen_ai.tool.call.id": "call",
    "gen_ai.conversation.id": "chat",
    "server.address": "address",
    "server.port": "port",
    "yao_test.turn": "turn",
    **_COST,
}
"""Attribute → field of a step of a trace, or of a call of an agent, which may lack it."""
EVENT = "gen_ai.evaluation.result"


def of_run(start: RunStart) -> Attributes:
    """What is known of a run when it begins."""
    found: Attributes = {"yao_test.version": start.version, "yao_test.runs": start.runs}
    return found | ({"yao_test.shard": start.shard} if start.shard else {})


def of_end(end: RunEnd, run: Execution) -> Attributes:
    """How a run has ended."""
    counts = run.counts
    figures = {name: getattr(counts, name) for name in ("passed", "failed", "skipped", "errors")}
    found: Attributes = {f"yao_test.tests.{name}": count for name, count in figures.items()}
    found |= {"test.suite.run.status": _SUITE_STATUS[end.status.value], "yao_test.not_run": end.not_run}
    return found | ({"yao_test.stopped": end.stopped} if end.stopped else {})


def of_suite(suite: Suite) -> Attributes:
    """What a suite is."""
    found: Attributes = {"test.suite.name": suite.name, "gen_ai.agent.id": suite.agent}
    return found | ({"yao_test.variant": suite.variant} if suite.variant else {})


def of_test(result: TestResult, suite: Suite) -> Attributes:
    """The result of a test, or of one run of it."""
    verdict, cause, case = result.verdict, result.outcome.cause, result.case
    found = {**of_suite(suite), "test.case.name": result.name, "yao_test.verdict": verdict.value}
    if verdict in _TEST_STATUS:
        found["test.case.result.status"] = _TEST_STATUS[verdict]
    if cause is not None:
        found |= {"yao_test.cause": cause.value, "error.type": cause.value}
    if result.run:
        found["yao_test.run"] = result.run
    if case is not None:
        found["yao_test.mode"] = case.mode
        found |= {"yao_test.tags": list(case.tags)} if case.tags else {}
        found |= {"yao_test.score": case.score} if case.score is not None else {}
        cost = cost_record(case.cost)
        found |= {attribute: cost[field] for attribute, field in _COST.items() if field in cost}
    return found


def why_failed(result: TestResult, contents: bool) -> str:
    """Why a test failed, as text. What an agent said, which failed assertions quote, is not told without
    `contents`."""
    failure = result.outcome.decisive
    if failure is None:
        return ""
    kind = f"{failure.cause.value}: {failure.type}" if failure.type else failure.cause.value
    is_quoted = result.case is not None or result.calls is not None
    if is_quoted and failure.cause == Cause.ASSERTION and not contents:
        return kind
    return f"{kind}: {failure.message}"[:DESCRIPTION_LIMIT]


def of_call(call: Record, asked: Record | None) -> Attributes:
    """A call of an agent. `asked` is its first call of a model; None: it called none."""
    name = str(call["agent"])
    found: Attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.id": name,
        "gen_ai.agent.name": name,
        **_optional(call),
    }
    if asked is not None:
        found["gen_ai.provider.name"] = asked["vendor"]
        found |= {"gen_ai.request.model": asked["asked"]} if "asked" in asked else {}
    return found | ({"error.type": "agent"} if call.get("failed") else {})


def of_model_call(step: Record) -> Attributes:
    """A call of a model."""
    found: Attributes = {
        "gen_ai.operation.name": "embeddings" if step["role"] == "embedding" else "chat",
        "gen_ai.provider.name": step["vendor"],
        "yao_test.connector": step["connector"],
        **_optional(step),
    }
    asked: Record = step.get("parameters", {})
    found |= {attribute: asked[name] for name, attribute in _PARAMETERS.items() if name in asked}
    if asked.get("response_format") in _FORMS:
        found["gen_ai.output.type"] = _FORMS[asked["response_format"]]
    if step.get("finish_reason"):
        found["gen_ai.response.finish_reasons"] = [step["finish_reason"]]
    return found | ({"error.type": "model"} if "error" in step else {})


def of_tool_call(step: Record) -> Attributes:
    """A call of a tool."""
    found: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step["name"],
        "gen_ai.tool.type": "extension" if step["server"] else "function",
        **_optional(step),
    }
    found |= {"yao_test.server": step["server"]} if step["server"] else {}
    return found | ({"error.type": "tool"} if step.get("failed") else {})


def of_tool_contents(step: Record) -> Attributes:
    """What a tool was given, and what it gave; nothing of a trace that does not have them."""
    return {f"gen_ai.tool.call.{name}": _json(step[name]) for name in ("arguments", "result") if name in step}


def of_messages(step: Record, sent: dict[tuple[str, str], list[Record]]) -> Attributes:
    """What was said to a model and by it; nothing of a trace that does not have it. `sent` is what earlier calls of the
    same trace have sent, by role and agent, which is not repeated in later ones."""
    if "messages" not in step:
        return {}
    who = (step["role"], step["agent"])
    said = sent[who] = [*sent.get(who, [])[: step.get("before", 0)], *step["messages"]]
    found: Attributes = {"gen_ai.input.messages": _json([_message(message) for message in said])}
    if (answer := step.get("answer")) is not None:
        reason = answer.get("finish_reason", "stop")
        whole = {**_message({"role": "assistant", **answer}), "finish_reason": reason}
        found["gen_ai.output.messages"] = _json([whole])
    return found


def _message(message: Record) -> dict[str, Any]:
    return {"role": message.get("role", "user"), "parts": list(_parts(message))}


def _parts(message: Record) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    if message.get("role") == "tool":
        yield {"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content}
        return
    if message.get("reasoning"):
        yield {"type": "reasoning", "content": message["reasoning"]}
    for part in content if isinstance(content, list) else [content] if content else []:
        yield _part(part)
    if message.get("refusal"):
        yield {"type": "text", "content": message["refusal"]}
    for call in message.get("tool_calls") or ():
        asked = call.get("function", call)
        identity = {"id": call["id"]} if "id" in call else {}
        yield {"type": "tool_call", **identity, "name": asked.get("name"), "arguments": _parsed(asked.get("arguments"))}


def _part(part: Any) -> dict[str, Any]:
    """A part of OpenAI's form: a text, a picture with an address, or anything else as `generic`."""
    if isinstance(part, str):
        return {"type": "text", "content": part}
    if "text" in part:
        return {"type": "text", "content": part["text"]}
    picture = part.get("image_url")
    address = picture.get("url") if isinstance(picture, Mapping) else picture
    if isinstance(address, str) and address.startswith(("http://", "https://")):
        return {"type": "uri", "modality": "image", "uri": address}
    return {**part, "type": "generic", "generic_type": part.get("type", "")}


def _parsed(arguments: Any) -> Any:
    """The arguments of a call, which models write as JSON; as they are where they are none."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments


def _optional(record: Record) -> Attributes:
    return {name: record[field] for name, field in _OPTIONAL.items() if record.get(field) is not None}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def evaluations_of(case: CaseResult, contents: bool) -> Iterator[tuple[int, Attributes]]:
    """The events of a case, in the order of its report, each with the turn that it is about; 0: the only answer, or the
    whole case."""

    def evaluation(
        turn: int, name: str, passed: bool | None, score: float | None = None, why: str = "", error: bool = False
    ) -> tuple[int, Attributes]:
        found: Attributes = {"gen_ai.evaluation.name": name}
        if passed is not None:
            found["gen_ai.evaluation.score.label"] = "pass" if passed else "fail"
        if score is not None:
            found["gen_ai.evaluation.score.value"] = float(score)
        if why and contents:
            found["gen_ai.evaluation.explanation"] = why[:DESCRIPTION_LIMIT]
        return turn, found | ({"error.type": "evaluation"} if error else {})

    asserted = [(turn.turn, one) for turn in case.turns for one in turn.assertions]
    asserted += [(0, one) for one in (*case.assertions, *(case.final_assertions or ()))]
    for about, one in asserted:
        yield evaluation(about, one.type, one.passed if one.judged else None, one.score, one.message, one.error)
    for checkpoint in case.checkpoints or ():
        is_reached = checkpoint.reached_at_turn is not None
        passed = is_reached if checkpoint.judged and not checkpoint.inconclusive else None
        yield evaluation(0, checkpoint.id, passed, why=checkpoint.message)
    for score in case.scores:
        for criterion in score.assertions:
            passed = criterion.passed if criterion.judged and not criterion.inconclusive else None
            name = criterion.id or score.type
            yield evaluation(0, name, passed, criterion.score, criterion.reason, criterion.error)
        passed = {ScoreVerdict.PASS: True, ScoreVerdict.FAIL: False}.get(score.verdict)
        yield evaluation(0, score.name, passed, score.score)
