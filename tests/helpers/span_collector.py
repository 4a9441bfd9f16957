"""A collector of OpenTelemetry spans: a real HTTP server, which decodes what it is sent."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class SentSpan(NamedTuple):
    """One span as it was sent."""

    id: str
    parent: str
    """Id of its parent; empty without one."""
    trace: str
    name: str
    kind: int
    began: int
    ended: int
    """Nanoseconds since 1970."""
    status: int
    """0 unset, 1 ok, 2 error."""
    why: str
    attributes: Mapping[str, Any]
    events: list[tuple[str, Mapping[str, Any]]]
    """Name and attributes of each."""
    resource: Mapping[str, Any]


class Collector:
    """What was sent to it, and what it answers."""

    def __init__(self) -> None:
        self.spans: list[SentSpan] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        """The bodies that it took, unpacked."""
        self.status = 200
        self.answer = b""
        """The body of its answers."""
        self.location = ""
        """Where it sends those who ask, with a status of 3xx."""
        self.let_go = Event()
        """Set: it answers."""
        self.let_go.set()
        self.url = ""

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        """Keeps a request."""
        self.paths.append(path)
        self.headers.append({name.lower(): value for name, value in headers.items()})
        if self.status != 200:
            return
        content = gzip.decompress(body) if self.headers[-1].get("content-encoding") == "gzip" else body
        self.bodies.append(content)
        for of_resource in ExportTraceServiceRequest.FromString(content).resource_spans:
            resource = _values(of_resource.resource.attributes)
            for of_scope in of_resource.scope_spans:
                self.spans += [_span(span, resource) for span in of_scope.spans]

    def named(self, name: str) -> SentSpan:
        """The one span of this name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def path_of(self, span: SentSpan) -> list[str]:
        """The names of a span and of those around it, the outermost first."""
        parents = [other for other in self.spans if other.id == span.parent]
        return [*(self.path_of(parents[0]) if parents else []), span.name]


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that answers until the block ends."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.let_go.wait()
            collector.take(self.path, dict(self.headers.items()), body)
            self.send_response(collector.status)
            if collector.location:
                self.send_header("Location", collector.location)
            self.send_header("Content-Length", str(len(collector.answer)))
            self.end_headers()
            self.wfile.write(collector.answer)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """The client has closed the connection."""

    with Server(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield collector
        finally:
            collector.let_go.set()
            server.shutdown()
            thread.join()


def _span(span: Any, resource: Mapping[str, Any]) -> SentSpan:
    return SentSpan(
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        trace=span.trace_id.hex(),
        name=span.name,
        kind=span.kind,
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        status=span.status.code,
        why=span.status.message,
        attributes=_values(span.attributes),
        events=[(event.name, _values(event.attributes)) for event in span.events],
        resource=resource,
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {attribute.key: _value(attribute.value) for attribute in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)
