"""The calls of agents, models and tools in a test as spans within its span, with the times at which they happened, and
what was said of answers as events of the calls that gave them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from runner.reporters.traces import attributes
from runner.reporters.traces.evaluations import EVENT, evaluations_of
from scripttest.typing_names import Record

if TYPE_CHECKING:
    from runner.reporters.traces.attributes import Attributes
    from runner.results.model import TestResult

SECOND = 1_000_000_000
"""Nanoseconds."""


class Calls:
    """The calls of one test, or of one run of it."""

    def __init__(self, tracer: Tracer, test: Span, trace: Record | None, contents: bool) -> None:
        """`trace` as in `runner.modes.tracing`; None: there is none."""
        self._tracer = tracer
        self._test = test
        self._calls: list[Record] = trace["calls"] if trace else []
        self._steps: list[Record] = trace["steps"] if trace else []
        self._contents = contents
        self._agents: list[Span] = []
        """The spans of `_calls`."""

    def add(self, result: TestResult) -> None:
        """Makes the spans of all calls, and the events."""
        asked = {self._within(step): step for step in reversed(self._steps) if step["kind"] == "model"}
        for place, call in enumerate(self._calls):
            found = attributes.of_call(call, asked.get(place))
            span = self._begin(f"invoke_agent {call['agent']}", call, found)
            if call.get("failed"):
                span.set_status(StatusCode.ERROR)
            self._agents.append(span)
        said = attributes.Said()
        for step in self._steps:
            self._add_step(step, said)
        self._add_evaluations(result)
        for span, call in zip(self._agents, self._calls, strict=True):
            span.end(_at(call["span"][1]))

    def _add_step(self, step: Record, said: attributes.Said) -> None:
        within = self._within(step)
        whole = step if within is None else {**step, "chat": self._calls[within].get("chat")}
        if step["kind"] == "tool":
            found = attributes.of_tool_call(whole) | (attributes.of_tool_contents(step) if self._contents else {})
            span = self._begin(f"execute_tool {step['name']}", step, found)
            failed, error = step.get("failed", False), step.get("error", "") if self._contents else ""
        else:
            found = attributes.of_model_call(whole) | (said.attributes(step) if self._contents else {})
            name = f"chat {step.get('asked') or step['connector']}"
            span = self._begin(name, step, found, SpanKind.CLIENT)
            failed, error = "error" in step, step.get("error", "")
        if failed:
            span.set_status(Status(StatusCode.ERROR, error[: attributes.DESCRIPTION_LIMIT]))
        span.end(_at(step["span"][1]))

    def _add_evaluations(self, result: TestResult) -> None:
        if result.case is None:
            return
        answers = {
            call.get("turn", 0): (span, _at(call["span"][1]))
            for span, call in zip(self._agents, self._calls, strict=True)
            if call["role"] == "agent" and self._within(call) is None
        }
        for one in evaluations_of(result.case, self._contents):
            span, when = answers.get(one.turn, (self._test, time.time_ns()))
            span.add_event(EVENT, one.attributes, when)

    def _begin(self, name: str, record: Record, found: Attributes, kind: SpanKind = SpanKind.INTERNAL) -> Span:
        within = self._within(record)
        parent = self._test if within is None else self._agents[within]
        return self._tracer.start_span(
            name, set_span_in_context(parent), kind, found, start_time=_at(record["span"][0])
        )

    def _within(self, record: Record) -> int | None:
        """The place of the call of an agent that a call belongs to; None: it belongs to none of this trace."""
        return next((place for place in record["span"][2:] if place < len(self._calls)), None)


def _at(seconds: float) -> int:
    """Nanoseconds since 1970."""
    return round(seconds * SECOND)
