"""`--otlp`: sends the spans of a run to a collector, as OTLP over HTTP (opentelemetry.io/docs/specs/otlp), with the SDK
of OpenTelemetry, which reads `OTEL_*` variables itself.

If a collector is down, slow or refuses spans, there is a warning. Spans are sent during the run, and for a limited time
after it. Headers come from the environment, are sent only to the given address, and are in no output.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from http.client import IncompleteRead
from typing import TYPE_CHECKING, Any

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers

from runner.errors import ConfigurationError
from runner.options.readers import collector
from runner.reporters.stream import IncompleteError
from runner.reporters.traces.spans import Spans
from runner.results.events import Event, RunEnd
from runner.version import VERSION

if TYPE_CHECKING:
    from runner.environment import Environment
    from runner.results.fold import Execution

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
_LOGGER = logging.getLogger("opentelemetry")
"""The logger of the SDK, which is turned off: errors are reported once, at the end."""


class OtlpReporter:
    """Sends spans. What cannot be sent is said when it is closed."""

    def __init__(self, endpoint: str, environment: Environment) -> None:
        """`endpoint` is the value of `--otlp`; empty: what the environment says. Raises ConfigurationError."""
        variables = {**environment.variables, **environment.keys}
        self._address = _address(endpoint, variables)
        _check_protocol(variables)
        _LOGGER.setLevel(logging.CRITICAL + 1)
        self._session = _Session()
        self._sent = _Sent(
            OTLPSpanExporter(
                endpoint=self._address,
                headers=_headers(variables),
                session=self._session,
            )
        )
        self._queue = _Queue(self._sent, max_queue_size=None if variables.get("OTEL_BSP_MAX_QUEUE_SIZE") else QUEUE)
        clean = environment.secrets.text
        self._provider = TracerProvider(resource=_resource(variables, clean), shutdown_on_exit=False)
        self._provider.add_span_processor(self._queue)
        told = {name.lower(): variables.get(name, "") for name in ("TRACEPARENT", "TRACESTATE")}
        whole = {name: text for name, text in told.items() if clean(text) == text}
        parent = TraceContextTextMapPropagator().extract(whole)
        tracer = self._provider.get_tracer("yao-test", VERSION)
        self._spans = Spans(tracer, parent, environment.content_in_spans)
        self._patience = PATIENCE

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Makes spans; blocks for none of them."""
        self._spans.on_event(event, so_far)
        if isinstance(event, RunEnd) and event.stopped:
            self._patience = SHORT_PATIENCE

    def close(self) -> None:
        """Waits for the collector, for no longer than `PATIENCE`. Raises IncompleteError when it has not taken all
        spans."""
        self._spans.close()
        end = threading.Thread(target=self._provider.shutdown, daemon=True)
        end.start()
        end.join(self._patience)
        if not end.is_alive():
            _LOGGER.setLevel(logging.NOTSET)
        lost = self._queue.ended - self._sent.count
        if not lost:
            return
        late = f"it did not take them within {self._patience:g} s after the run"
        why = self._session.problem or (late if end.is_alive() else "it does not say why")
        raise IncompleteError(f"{lost} of {self._queue.ended} spans did not reach {self._address}: {why}")


class _Queue(BatchSpanProcessor):
    """Counts the spans that are to be sent."""

    ended = 0

    def on_end(self, span: ReadableSpan) -> None:
        context = span.context
        self.ended += bool(context and context.trace_flags.sampled)
        super().on_end(span)


class _Sent(SpanExporter):
    """Counts the spans that the collector has taken."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self.count = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        self.count += len(spans) if result is SpanExportResult.SUCCESS else 0
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _Session(requests.Session):
    """Records the answer of a collector that refuses spans, and follows no redirect, because headers contain keys."""

    problem = ""

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
            self.problem = f"it answers {response.status_code} {response.reason}"
        if response.is_redirect:
            raise requests.RequestException(self.problem)
        return response


def _problem(error: requests.RequestException) -> str:
    """Why a collector has given no answer."""
    if isinstance(error, requests.exceptions.SSLError):
        return "there is no secure connection to it, such as with a certificate that nobody trusts, or without TLS"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not reach it"
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(one, ConnectionResetError | BrokenPipeError | IncompleteRead) for one in causes):
        return "it closed the connection before it had answered"
    return "nobody answers there" if isinstance(error, requests.ConnectionError) else "its answer cannot be read"


def _address(endpoint: str, variables: Mapping[str, str]) -> str:
    """Where spans go. Raises ConfigurationError."""
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
                f"Set {PREFIX}TRACES_PROTOCOL={PROTOCOL}, and name the port for HTTP, mostly 4318",
            )
        if variables.get(name):
            return


def _headers(variables: Mapping[str, str]) -> Mapping[str, str]:
    text = variables.get(f"{PREFIX}TRACES_HEADERS") or variables.get(f"{PREFIX}HEADERS", "")
    return parse_env_headers(text, liberal=True)


def _resource(variables: Mapping[str, str], clean: Callable[[str], str]) -> Resource:
    """What says who sends the spans; the SDK reads it from the environment."""
    named = variables.get("OTEL_SERVICE_NAME") or "service.name=" in variables.get("OTEL_RESOURCE_ATTRIBUTES", "")
    said = Resource.create({} if named else {"service.name": "yao-test", "service.version": VERSION})
    attributes = {key: clean(value) if isinstance(value, str) else value for key, value in said.attributes.items()}
    return Resource(attributes, said.schema_url)
