"""The trace of a case: each call of a model and of a tool, with who made it, its time, tokens and cost, and with
`--trace full` what was sent and what came back. Calls of the tested agent, of judges and of simulators are told apart.

    {"totals": {role: {model_calls, tool_calls, duration_ms, input_tokens, output_tokens, cost?,
                      cost_estimated?}},
     "steps": [{kind: "model", role, agent, turn?, connector, vendor, asked?, model?, duration_ms, input_tokens?,
                output_tokens?, cached_tokens?, cost?, cost_estimated?, finish_reason?, error?, before?, messages?,
                answer?, parameters?, response?, span?},
               {kind: "tool", role, agent, turn?, name, server, duration_ms, error?, arguments?, result?, call?,
                span?}],
     "calls"?: [{role, agent, turn?, failed?, chat?, span}],
     "cut"?: true}

`role` is `agent`, `judge` or `simulator`. `messages` are those that an earlier call of the same agent has not sent yet,
of which there were `before`. `calls` are those of agents, in the order in which they began. `span` is `[began, ended,
within?]`: seconds since 1970, and the place in `calls` of the call that it belongs to. `parameters` are numbers and
texts of the request, `response` and `call` the ids that the model gave the answer and the call. All of these are there
with `--otlp`.
Long texts are cut, secrets taken out before that; when a trace is too long, `cut` says so, and its last steps say no
more than a summary does."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.agents.chat import AGENT, AgentCall, ModelStep, ToolStep, span_of
from runner.amounts import cost_in, cost_record
from runner.record.lines import without_content
from scripttest.typing_names import Record

TEXT_LIMIT = 4000
"""Characters of one text that are kept."""
LIMIT = 200_000
"""Characters of a trace from which on steps are a summary."""
STEPS = 2000
"""Steps that are kept."""
ROLES = {AGENT: "agent", "validator": "judge", "simulator": "simulator"}
PARAMETERS = "temperature top_p max_tokens max_completion_tokens frequency_penalty presence_penalty seed".split()
"""Numbers in a request that spans tell."""
DIGITS = 12
"""Digits of a sum of costs."""


def trace_of(
    steps: Sequence[ModelStep | ToolStep],
    calls: Sequence[AgentCall],
    clean: Callable[[str], str],
    *,
    whole: bool,
    spans: bool,
) -> Record:
    """The trace as JSON; `whole`: with what was sent and what came back; `spans`: with `calls`, and `span` in all."""
    maker = _Steps(clean)
    totals: dict[str, Record] = {}
    made: list[Record] = []
    is_cut = False
    for step in steps:
        summary = _summary(step)
        if spans:
            summary |= {**_for_spans(step), "span": step.span}
        _count(totals.setdefault(summary["role"], {"model_calls": 0, "tool_calls": 0, "duration_ms": 0}), step)
        if len(made) == STEPS:
            is_cut = True
            continue
        if whole and not is_cut:
            content = maker.content(step)
            is_cut = maker.size > LIMIT
            summary |= {} if is_cut else content
        made.append(summary)
    called = {"calls": [_call(call) for call in calls[:STEPS]]} if spans else {}
    return {"totals": totals, "steps": made, **called, **({"cut": True} if is_cut else {})}


class _Steps:
    """Makes the content of one step after another."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._sent: dict[tuple[str, str], Sequence[Mapping[str, Any]]] = {}
        self.size = 0

    def content(self, step: ModelStep | ToolStep) -> Record:
        """The content of requests and answers."""
        found = self._of_tool(step) if isinstance(step, ToolStep) else self._of_model(step)
        self.size += len(json.dumps(found, default=str))
        return found

    def _of_tool(self, step: ToolStep) -> Record:
        use = step.use
        outcome = {"result": self._bounded(use.result)} if use.error is None else {"error": self._text(use.error)}
        return {"arguments": self._bounded(use.arguments), **outcome}

    def _of_model(self, step: ModelStep) -> Record:
        earlier = self._sent.get((step.role, step.agent), ())
        before = next(
            (at for at, (one, other) in enumerate(zip(earlier, step.messages, strict=False)) if one != other),
            min(len(earlier), len(step.messages)),
        )
        self._sent[step.role, step.agent] = step.messages
        messages = [self._bounded(without_content(dict(message))) for message in step.messages[before:]]
        record: Record = {**_has(before=before), "messages": messages}
        completion = step.completion
        if completion is None:
            return record
        answer = _has(
            content=self._text(completion.content),
            tool_calls=[
                {"id": call.id, "name": call.name, "arguments": self._text(call.arguments)}
                for call in completion.tool_calls
            ],
            refusal=self._text(completion.refusal or ""),
            reasoning=self._text(completion.reasoning or ""),
        )
        return {**record, "answer": {**answer, "finish_reason": completion.finish_reason}}

    def _bounded(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {str(key): self._bounded(item) for key, item in value.items()}
        return [self._bounded(item) for item in value] if isinstance(value, list | tuple) else value

    def _text(self, text: str) -> str:
        """A text without secrets, and then cut: half a secret would not be known for one."""
        text = self._clean(text)
        return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]}... ({len(text)} characters)"


def _summary(step: ModelStep | ToolStep) -> Record:
    role, turn, took = ROLES.get(step.role, step.role), step.turn or None, round(step.milliseconds)
    is_tool = isinstance(step, ToolStep)
    record: Record = {"kind": "tool" if is_tool else "model", "role": role, "agent": step.agent, "turn": turn}
    if isinstance(step, ToolStep):
        failed = True if step.use.error is not None else None
        record |= {"name": step.use.name, "server": step.use.server, "duration_ms": took, "failed": failed}
        return {name: value for name, value in record.items() if value is not None}
    record |= {"connector": step.connector, "vendor": step.vendor, "asked": step.asked or None}
    completion = step.completion
    if completion is None:
        record |= {"duration_ms": took, "error": step.error}
    else:
        usage, reason = completion.usage, completion.finish_reason
        record |= {"model": completion.model or None, "duration_ms": took, "finish_reason": reason or None}
        if not usage.unknown:
            record |= {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
            record["cached_tokens"] = usage.cached_tokens or None
        record |= cost_record(usage.cost)
    return {name: value for name, value in record.items() if value is not None}


def _has(**members: Any) -> Record:
    return {name: value for name, value in members.items() if value}


def _for_spans(step: ModelStep | ToolStep) -> Record:
    place = {} if step.endpoint is None else {"address": step.endpoint.address, "port": step.endpoint.port}
    if isinstance(step, ToolStep):
        return place | _has(call=step.call)
    asked = {name: step.parameters.get(name) for name in PARAMETERS}
    form = step.parameters.get("response_format")
    asked["response_format"] = form.get("type") if isinstance(form, Mapping) else None
    known = {name: value for name, value in asked.items() if isinstance(value, int | float | str)}
    return place | _has(parameters=known, response=step.completion.id if step.completion is not None else "")


def _call(call: AgentCall) -> Record:
    record = {"role": ROLES.get(call.role, call.role), "agent": call.agent}
    record |= _has(turn=call.turn, failed=call.failed, chat=call.chat)
    return {**record, "span": span_of(call.began, call.ended or time.time(), call.within)}


def _count(total: Record, step: ModelStep | ToolStep) -> None:
    total["duration_ms"] += round(step.milliseconds)
    if isinstance(step, ToolStep):
        total["tool_calls"] += 1
        return
    total["model_calls"] += 1
    if step.completion is None:
        return
    usage = step.completion.usage
    for name in ("input_tokens", "output_tokens"):
        total[name] = total.get(name, 0) + getattr(usage, name)
    if usage.cost is not None:
        total |= cost_record(round((cost_in(total) or 0) + usage.cost, DIGITS))
