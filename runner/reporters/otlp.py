"""`--otlp`: a run as spans, sent to a collector, as OTLP over HTTP (opentelemetry.io/docs/specs/otlp), with the SDK of
OpenTelemetry, which reads `OTEL_*` variables itself.

The run, its suites, their tests and the runs of these are spans, and in these the calls of agents, models and tools,
with the times at which they happened. What was said of answers are events of the calls that gave them.

If a collector is down, slow or refuses spans, there is a warning. Spans are sent during the run, and for a limited time
after it. Headers come from the environment, are sent only to the given address, and are in no output."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.client import IncompleteRead
from typing import Any

import requests
from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers

from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.options.values import collector
from runner.record import events
from runner.record.fold import Execution
from runner.record.model import TestResult
from runner.record.outcomes import Verdict
from runner.reporters import span_attributes as attributes
from runner.reporters.span_attributes import EVENT, Attributes, evaluations_of
from runner.reporters.stream import IncompleteError
from runner.version import VERSION
from scripttest.typing_names import Record

PATH = "/v1/traces"
DEFAULT = "http://localhost:4318"
PROTOCOL = "http/protobuf"
PATIENCE = 5.0
"""Seconds that a collector has after the run."""
SHORT_PATIENCE = 1.0
"""The same after a run that somebody stopped."""
QUEUE = 32_768
"""Spans that wait for the collector, where `OTEL_BSP_MAX_QUEUE_SIZE` says nothing else."""
PREFIX = "OTEL_EXPORTER_OTLP_"
SECOND = 1_000_000_000
"""Nanoseconds."""
_LOGGER = logging.getLogger("opentelemetry")
"""The logger of the SDK, which is turned off: errors are reported once, at the end."""


class OtlpReporter:
    """Makes and sends the spans of a run. Tests whose results are of an earlier run, which this one resumes, have none.
    What cannot be sent is said when it is closed."""

    def __init__(self, endpoint: str, environment: Environment) -> None:
        """`endpoint` is the value of `--otlp`; empty: what the environment says. Raises ConfigurationError."""
        variables = {**environment.variables, **environment.keys}
        self._address = _address(endpoint, variables)
        _check_protocol(variables)
        _LOGGER.setLevel(logging.CRITICAL + 1)
        self._session = _Session()
        headers = variables.get(f"{PREFIX}TRACES_HEADERS") or variables.get(f"{PREFIX}HEADERS", "")
        parsed = parse_env_headers(headers, liberal=True)
        self._sent = _Exporter(endpoint=self._address, headers=parsed, session=self._session)
        self._queue = _Queue(self._sent, max_queue_size=None if variables.get("OTEL_BSP_MAX_QUEUE_SIZE") else QUEUE)
        clean = environment.secrets.text
        self._provider = TracerProvider(resource=_resource(variables, clean), shutdown_on_exit=False)
        self._provider.add_span_processor(self._queue)
        told = {name.lower(): variables.get(name, "") for name in ("TRACEPARENT", "TRACESTATE")}
        whole = {name: text for name, text in told.items() if clean(text) == text}
        self._patience = PATIENCE
        self._tracer = self._provider.get_tracer("yao-test", VERSION)
        self._parent = TraceContextTextMapPropagator().extract(whole)
        """The parent span of the run."""
        self._contents = environment.content_in_spans
        """Whether spans contain messages."""
        self._run: Span | None = None
        self._suites: dict[str, Span] = {}
        self._tests: dict[tuple[str, int, int], Span] = {}
        """Suite, position and run (0: the test itself) → its span."""

    def on_event(self, event: events.Event, so_far: Execution) -> None:
        """Begins and ends spans."""
        if isinstance(event, events.TestEnd):
            self._end_test(event.result, so_far, 0)
        elif isinstance(event, events.TestStart):
            self._begin_test(event)
        elif isinstance(event, events.AttemptEnd):
            self._end_test(event.result, so_far, event.result.run)
        elif isinstance(event, events.SuiteStart):
            suite = so_far.suites[event.suite]
            if suite.id not in self._suites:
                self._suites[suite.id] = self._begin(f"suite {suite.name}", self._run, attributes.of_suite(suite))
        elif isinstance(event, events.SuiteEnd):
            if event.suite in self._suites:
                self._suites.pop(event.suite).end()
        elif isinstance(event, events.RunStart):
            self._run = self._begin("run of yao-test", None, attributes.of_run(event))
        elif isinstance(event, events.RunEnd):
            if self._run is not None:
                self._run.set_attributes(attributes.of_end(event, so_far))
                if event.status in (events.RunStatus.FAILED, events.RunStatus.ERROR):
                    self._run.set_status(Status(StatusCode.ERROR, event.status.value))
            self._patience = SHORT_PATIENCE if event.stopped else PATIENCE
            self._end_all()

    def close(self) -> None:
        """Waits for the collector, for no longer than `PATIENCE`. Raises IncompleteError when it has not taken all
        spans."""
        self._end_all()
        end = threading.Thread(target=self._provider.shutdown, daemon=True)
        end.start()
        end.join(self._patience)
        if not end.is_alive():
            _LOGGER.setLevel(logging.NOTSET)
        lost = self._queue.ended - self._sent.count + self._session.rejected
        if not lost:
            return
        late = f"it did not accept them within {self._patience:g} s after the run"
        why = self._session.problem or (late if end.is_alive() else "no reason given")
        raise IncompleteError(f"{lost} of {self._queue.ended} spans did not reach {self._address}: {why}")

    def _end_all(self) -> None:
        """Ends what is still open, where no end of the run came."""
        for span in (*self._tests.values(), *self._suites.values(), *([] if self._run is None else [self._run])):
            span.end()
        self._run = None
        self._tests.clear()
        self._suites.clear()

    def _begin_test(self, event: events.TestStart) -> None:
        key = (event.suite, event.position, 0)
        if key not in self._tests:
            self._tests[key] = self._begin(f"test {event.name}", self._suites.get(event.suite), {})
        if event.run and (*key[:2], event.run) not in self._tests:
            self._tests[*key[:2], event.run] = self._begin(f"run {event.run} of {event.name}", self._tests[key], {})

    def _end_test(self, result: TestResult, so_far: Execution, run: int) -> None:
        """Ends a test, or a run of it; the calls of a test with several runs are in these."""
        span = self._tests.pop((result.suite, result.position, run), None)
        if span is None:
            return
        span.set_attributes(attributes.of_test(result, so_far.suites[result.suite]))
        if result.verdict not in (Verdict.PASSED, Verdict.SKIPPED):
            span.set_status(Status(StatusCode.ERROR, attributes.why_failed(result, self._contents)))
        if run or not result.attempts:
            trace = result.calls if result.case is None else result.case.trace
            Calls(self._tracer, span, trace, self._contents).add(result)
        span.end()

    def _begin(self, name: str, parent: Span | None, found: attributes.Attributes) -> Span:
        context = self._parent if parent is None else set_span_in_context(parent)
        return self._tracer.start_span(name, context, attributes=found)


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
        self._sent: dict[tuple[str, str], list[attributes.Record]] = {}

    def add(self, result: TestResult) -> None:
        """Makes the spans of all calls, and the events."""
        asked = {self._within(step): step for step in reversed(self._steps) if step["kind"] == "model"}
        for place, call in enumerate(self._calls):
            found = attributes.of_call(call, asked.get(place))
            span = self._begin(f"invoke_agent {call['agent']}", call, found)
            if call.get("failed"):
                span.set_status(StatusCode.ERROR)
            self._agents.append(span)
        for step in self._steps:
            self._add_step(step)
        self._add_evaluations(result)
        for span, call in zip(self._agents, self._calls, strict=True):
            span.end(_at(call["span"][1]))

    def _add_step(self, step: Record) -> None:
        within = self._within(step)
        whole = step if within is None else {**step, "chat": self._calls[within].get("chat")}
        if step["kind"] == "tool":
            found = attributes.of_tool_call(whole) | (attributes.of_tool_contents(step) if self._contents else {})
            span = self._begin(f"execute_tool {step['name']}", step, found)
            failed, error = step.get("failed", False), step.get("error", "") if self._contents else ""
        else:
            found = attributes.of_model_call(whole) | (
                attributes.of_messages(step, self._sent) if self._contents else {}
            )
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
        for turn, found in evaluations_of(result.case, self._contents):
            span, when = answers.get(turn, (self._test, time.time_ns()))
            span.add_event(EVENT, found, when)

    def _begin(self, name: str, record: Record, found: Attributes, kind: SpanKind = SpanKind.INTERNAL) -> Span:
        within = self._within(record)
        parent = self._test if within is None else self._agents[within]
        return self._tracer.start_span(
            name, set_span_in_context(parent), kind, found, start_time=_at(record["span"][0])
        )

    def _within(self, record: Record) -> int | None:
        """The place of the call of an agent that a call belongs to; None: it belongs to none of this trace."""
        return next((place for place in record["span"][2:] if place < len(self._calls)), None)


class _Queue(BatchSpanProcessor):
    """Counts the spans that are to be sent."""

    ended = 0

    def on_end(self, span: ReadableSpan) -> None:
        context = span.context
        self.ended += bool(context and context.trace_flags.sampled)
        super().on_end(span)


class _Exporter(OTLPSpanExporter):
    """Counts the spans that the collector has taken."""

    count = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        self.count += len(spans) if result is SpanExportResult.SUCCESS else 0
        return result


class _Session(requests.Session):
    """Records the answer of a collector that refuses spans, all or some of them, and follows no redirect, because
    headers contain keys."""

    problem = ""
    rejected = 0
    """Spans of batches that it accepted otherwise."""

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        try:
            response = super().request(*arguments, **{**options, "allow_redirects": False})
        except requests.Timeout:
            self.problem = "it did not answer in time"
            raise
        except requests.RequestException as error:
            self.problem = _problem(error)
            raise
        if response.status_code >= 300:
            self.problem = f"it responded with {response.status_code} {response.reason}"
        if response.is_redirect:
            raise requests.RequestException(self.problem)
        if response.ok:
            with suppress(DecodeError):  # what it says beside its status is another format
                said = ExportTraceServiceResponse.FromString(response.content).partial_success
                if said.rejected_spans:
                    self.rejected += said.rejected_spans
                    self.problem = f"it rejected them: {said.error_message or 'no reason given'}"
        return response


def _problem(error: requests.RequestException) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        return "the TLS connection failed, for example because of an untrusted certificate or a server without TLS"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy cannot reach it"
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(one, ConnectionResetError | BrokenPipeError | IncompleteRead) for one in causes):
        return "it closed the connection before responding"
    return "there is no response" if isinstance(error, requests.ConnectionError) else "its response cannot be read"


def _address(endpoint: str, variables: Mapping[str, str]) -> str:
    if endpoint:
        return endpoint if endpoint.endswith(PATH) else endpoint.rstrip("/") + PATH
    name = f"{PREFIX}TRACES_ENDPOINT"
    if variables.get(name):
        return collector(variables[name], name)
    name = f"{PREFIX}ENDPOINT"
    return collector(variables.get(name) or DEFAULT, name).rstrip("/") + PATH


def _check_protocol(variables: Mapping[str, str]) -> None:
    for name in (f"{PREFIX}TRACES_PROTOCOL", f"{PREFIX}PROTOCOL"):
        if variables.get(name, PROTOCOL) not in (PROTOCOL, ""):
            raise ConfigurationError(
                f"Cannot send spans with {name}={variables[name]}: --otlp speaks {PROTOCOL}",
                f"Set {PREFIX}TRACES_PROTOCOL={PROTOCOL}, and use the port for HTTP, usually 4318",
            )
        if variables.get(name):
            return


def _resource(variables: Mapping[str, str], clean: Callable[[str], str]) -> Resource:
    """What says who sends the spans; the SDK reads it from the environment."""
    named = variables.get("OTEL_SERVICE_NAME") or "service.name=" in variables.get("OTEL_RESOURCE_ATTRIBUTES", "")
    said = Resource.create({} if named else {"service.name": "yao-test", "service.version": VERSION})
    cleaned = {key: clean(value) if isinstance(value, str) else value for key, value in said.attributes.items()}
    return Resource(cleaned, said.schema_url)


def _at(seconds: float) -> int:
    return round(seconds * SECOND)
