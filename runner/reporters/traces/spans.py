"""The event stream as spans: the run, its suites, their tests and the runs of these, and in these the calls of agents,
models and tools, with the times at which they happened. What was said of answers are events of the calls that gave
them."""

from __future__ import annotations

import time

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from runner.reporters.traces import attributes
from runner.reporters.traces.attributes import EVENT, evaluations_of
from runner.results.events import AttemptEnd, RunEnd, RunStart, RunStatus, SuiteEnd, SuiteStart, TestEnd, TestStart
from runner.results.verdict import Verdict, verdict_on
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.reporters.traces.attributes import Attributes
    from runner.results.events import Event
    from runner.results.fold import Execution
    from runner.results.model import Suite, TestResult
SECOND = 1_000_000_000
"""Nanoseconds."""


class Spans:
    """Makes the spans of a run. Tests whose results are of an earlier run, which this one resumes, have none."""

    def __init__(self, tracer: Tracer, parent: Context, contents: bool) -> None:
        """`parent` is the parent span of the run; with `contents`, spans contain messages."""
        self._tracer = tracer
        self._parent = parent
        self._contents = contents
        self._run: Span | None = None
        self._suites: dict[str, Span] = {}
        self._tests: dict[tuple[str, int, int], Span] = {}
        """Suite, position and run (0: the test itself) → its span."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Begins and ends spans."""
        if isinstance(event, TestEnd):
            self._end_test(event.result, so_far)
        elif isinstance(event, TestStart):
            self._begin_test(event)
        elif isinstance(event, AttemptEnd):
            self._end_attempt(event.result, so_far)
        elif isinstance(event, SuiteStart):
            self._begin_suite(so_far.suites[event.suite])
        elif isinstance(event, SuiteEnd):
            self._end(self._suites.pop(event.suite, None))
        elif isinstance(event, RunStart):
            self._run = self._tracer.start_span(
                "run of yao-test", self._parent, attributes=attributes.of_run(event), start_time=_now()
            )
        elif isinstance(event, RunEnd):
            self._end_run(event, so_far)

    def close(self) -> None:
        """Ends what is still open, where no end of the run came."""
        for span in (*self._tests.values(), *self._suites.values(), self._run):
            self._end(span)
        self._run = None
        self._tests.clear()
        self._suites.clear()

    def _begin_suite(self, suite: Suite) -> None:
        if suite.id not in self._suites:
            found = attributes.of_suite(suite)
            self._suites[suite.id] = self._begin(f"suite {suite.name}", self._run, found)

    def _begin_test(self, event: TestStart) -> None:
        key = (event.suite, event.position, 0)
        if key not in self._tests:
            self._tests[key] = self._begin(f"test {event.name}", self._suites.get(event.suite), {})
        if event.run and (*key[:2], event.run) not in self._tests:
            self._tests[*key[:2], event.run] = self._begin(f"run {event.run} of {event.name}", self._tests[key], {})

    def _end_attempt(self, result: TestResult, so_far: Execution) -> None:
        span = self._tests.pop((result.suite, result.position, result.run), None)
        if span is not None:
            self._finish(span, result, so_far.suites[result.suite])

    def _end_test(self, result: TestResult, so_far: Execution) -> None:
        span = self._tests.pop((result.suite, result.position, 0), None)
        if span is not None:
            self._finish(span, result, so_far.suites[result.suite], of_runs=bool(result.attempts))

    def _finish(self, span: Span, result: TestResult, suite: Suite, of_runs: bool = False) -> None:
        """Ends a test; the calls of one with several runs are in these."""
        for name, value in attributes.of_test(result, suite).items():
            span.set_attribute(name, value)
        if verdict_on(result) not in (Verdict.PASSED, Verdict.SKIPPED):
            span.set_status(Status(StatusCode.ERROR, attributes.why_failed(result, self._contents)))
        if not of_runs:
            trace = result.calls if result.case is None else result.case.trace
            Calls(self._tracer, span, trace, self._contents).add(result)
        self._end(span)

    def _end_run(self, event: RunEnd, so_far: Execution) -> None:
        if self._run is not None:
            for name, value in attributes.of_end(event, so_far).items():
                self._run.set_attribute(name, value)
            if event.status in (RunStatus.FAILED, RunStatus.ERROR):
                self._run.set_status(Status(StatusCode.ERROR, event.status.value))
        self.close()

    def _begin(self, name: str, parent: Span | None, found: attributes.Attributes) -> Span:
        context = self._parent if parent is None else set_span_in_context(parent)
        return self._tracer.start_span(name, context, attributes=found, start_time=_now())

    @staticmethod
    def _end(span: Span | None) -> None:
        if span is not None:
            span.end(_now())


def _now() -> int:
    return time.time_ns()


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
