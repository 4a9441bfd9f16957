"""`--otlp`: where spans are sent, and what becomes of a run whose collector takes nothing."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import suppress
from threading import Thread

import pytest
from command import Application, MakeApplication
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from span_collector import collecting
from table_tests import each
from traced_app import KEY, sending

HEADER = "key-0f-the-collector"


@pytest.mark.parametrize("how", ["nobody", "refuses", "slow", "elsewhere"])
def test_a_collector_that_takes_nothing_costs_a_warning_and_no_result(
    application: Application, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("runner.reporters.otlp.PATIENCE", 0.5)
    headers = {"OTEL_EXPORTER_OTLP_HEADERS": f"x-key={HEADER}"}
    report = application.home / f"{how}.json"
    arguments = ("-i", "scripts.demo.twice", "--run", "TestGood", "-o", str(report))
    with collecting() as other, collecting() as collector:
        if how == "refuses":
            collector.status = 401
        if how == "elsewhere":
            collector.status, collector.location = 307, f"{other.url}/v1/traces"
        if how == "slow":
            collector.let_go.clear()
        if how == "nobody":
            collector.url = "http://127.0.0.1:9"
        run = sending(application, collector, *arguments, **headers)
        assert other.headers == []
    why = {
        "nobody": "there is no response",
        "refuses": "it responded with 401 Unauthorized",
        "slow": "it did not accept them within 0.5 s after the run",
        "elsewhere": "it responded with 307 Temporary Redirect",
    }[how]

    assert run.code == 0, run
    assert f"Warning: 3 of 3 spans did not reach {collector.url}/v1/traces: {why}" in run.stdout
    assert run.stderr == ""
    assert json.loads(report.read_text())["summary"]["passed"] == 1
    assert HEADER not in run.stdout + report.read_text()


@pytest.mark.parametrize(
    ("answer", "warning"),
    [
        (
            ExportTraceServiceResponse(
                partial_success=ExportTracePartialSuccess(rejected_spans=2, error_message="too long")
            ).SerializeToString(),
            "Warning: 2 of 3 spans did not reach {}/v1/traces: it rejected them: too long",
        ),
        (b"\xff thanks", ""),
    ],
    ids=["some", "another format"],
)
def test_a_collector_that_rejects_some_spans_says_so(application: Application, answer: bytes, warning: str) -> None:
    with collecting() as collector:
        collector.answer = answer
        run = sending(application, collector, "-i", "scripts.demo.twice", "--run", "TestGood")
    assert run.code == 0, run
    assert ("Warning" in run.stdout) == bool(warning)
    assert warning.format(collector.url) in run.stdout


BROKEN_OFF = {
    "at once": (b"", "http", "it closed the connection before responding"),
    "in its answer": (
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc", "http", "it closed the connection before responding",
    ),
    "without TLS": (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "https", "the TLS connection failed"),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "scheme", "why"), BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_a_collector_that_breaks_off_is_there(
    application: Application, answer: bytes, scheme: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.reporters.otlp.PATIENCE", 2)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    connection.recv(1 << 20)
                    connection.sendall(answer)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        address = f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"
        run = application.run("-i", "scripts.demo.twice", "--run", "TestGood", "--otlp", address)
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert run.code == 0, run
    assert f"Warning: 3 of 3 spans did not reach {address}/v1/traces: {why}" in " ".join(run.stdout.split())


def test_json_output_has_the_warning(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.reporters.otlp.PATIENCE", 0.1)
    run = application.run("-i", "scripts.demo.twice", "--run", "TestGood", "--json", "--otlp", "http://127.0.0.1:9")
    document = json.loads(run.stdout)
    assert document["status"] == "passed"
    assert [warning[:28] for warning in document["warnings"]] == ["3 of 3 spans did not reach h"]


def test_headers_reach_the_collector_and_nothing_else(application: Application) -> None:
    with collecting() as collector:
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{HEADER}",
        }
        env = {**application.environment, **variables}
        said = f"say {HEADER} and Bearer {HEADER}"
        run = application.run("-i", said, "-n", "demo", "--otlp", env=env)
    assert collector.headers[0]["authorization"] == f"Bearer {HEADER}"
    assert HEADER not in run.stdout + run.stderr + repr(collector.spans)
    assert run.code == 0, run


def test_secrets_in_variables_of_the_sdk_are_not_sent(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {
        "OTEL_SERVICE_NAME": f"of {KEY}",
        "OTEL_RESOURCE_ATTRIBUTES": f"team=agents,token={KEY}",
        "TRACEPARENT": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "TRACESTATE": f"own={KEY}",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with collecting() as collector:
        sending(application, collector, "-i", "scripts.demo.twice", "--run", "TestGood", **variables)
    whole = collector.named("run of yao-test")
    assert (whole.resource["service.name"], whole.resource["team"]) == ("of ***MY_TOKEN***", "agents")
    assert whole.trace == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert all(KEY.encode() not in body for body in collector.bodies)


def test_variables_of_the_sdk_hold(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with collecting() as collector:
        variables = {
            "OTEL_SERVICE_NAME": "nightly",
            "OTEL_RESOURCE_ATTRIBUTES": "team=agents",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{collector.url}/own/path",
            "TRACEPARENT": f"00-{trace}-{parent}-01",
        }
        for name, value in variables.items():  # the SDK looks for its own in the process
            monkeypatch.setenv(name, value)
        arguments = ("-i", "scripts.demo.twice", "--run", "TestGood", "--otlp")
        run = application.run(*arguments, env={**application.environment, **variables})
        assert run.code == 0, run
        assert collector.paths == ["/own/path"]
        whole = collector.named("run of yao-test")
        assert (whole.resource["service.name"], whole.resource["team"]) == ("nightly", "agents")
        assert (whole.trace, whole.parent) == (trace, parent)
        assert collector.headers[0]["content-encoding"] == "gzip"

        monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
        run = application.run(*arguments, env={**application.environment, **variables})
        assert (run.code, "spans" in run.stdout) == (0, False)
        assert len(collector.paths) == 1


@each(
    ("arguments", "variables", "message"),
    [
        (["--otlp", "localhost:4318"], {}, 'Cannot use --otlp "localhost:4318": it must be the URL of a collector'),
        (
            ["--otlp", "http://user:word@here"],
            {},
            "Cannot use --otlp: the URL appears in logs, so it must not contain a key",
        ),
        (
            ["--otlp", "http://here?api_key=a-long-word"],
            {},
            "Cannot use --otlp: the URL appears in logs, so it must not contain a key",
        ),
        (["--otlp", "http://he\nre"], {}, "it must be the URL of a collector"),
        (["--otlp", "http://here#there"], {}, "it must be the URL of a collector"),
        (
            ["--otlp"],
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "here"},
            'Cannot use OTEL_EXPORTER_OTLP_ENDPOINT "here": it must be the URL of a collector',
        ),
        (
            ["--otlp"],
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "Cannot send spans with OTEL_EXPORTER_OTLP_PROTOCOL=grpc: --otlp speaks http/protobuf",
        ),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_runs(
    application: Application, arguments: list[str], variables: dict[str, str], message: str
) -> None:
    env = {**application.environment, **variables}
    run = application.run("-i", "scripts.demo.twice", *arguments, env=env)
    assert (run.code, run.stdout) == (2, "")
    assert message in run.stderr


def test_without_the_extra_the_message_says_how_to_get_it(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "runner.reporters.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    run = application.run("-i", "scripts.demo.twice", "--otlp")
    assert run.code == 2
    assert "pip install 'opentelemetry-sdk>=1.30,<2'" in run.stderr


def test_a_configuration_file_cannot_say_where_spans_go(app: MakeApplication) -> None:
    made = app({"a_test.ts": "export function TestA(t) {}", "/yao-test.toml": 'otlp = "http://evil.example"\n'})
    run = made.run("-i", "scripts.demo.a")
    assert run.code == 2
    assert "otlp cannot be set here: it weakens security, so it can only be set on the command line" in run.stderr
