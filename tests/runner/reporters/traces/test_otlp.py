"""`--otlp`: what a collector gets of a run, and what becomes of a run whose collector takes nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_files import agent, case_file, server
from command import Application, MakeApplication, Run
from faults import with_model
from model_server import ModelServer
from span_collector import Collector, collecting

ROOT = Path(__file__).parents[4]
EVALUATION = "gen_ai.evaluation.result"
KEY = "s3cr3t-value-of-a-token"
HEADER = "key-0f-the-collector"
SECRET_ANSWER = "Nobody outside should read this"
REPLIES = f"""\
- when: {{ tool.name: find }}
  reply: It is here.
- when: {{ input: find }}
  reply: {{ tool_calls: [{{ name: find, arguments: {{ id: 7 }} }}] }}
- when: {{ input: down }}
  reply: {{ error: {{ status: 400, message: the prompt is too long }} }}
- when: {{ input: flaky, turn: 1 }}
  reply: {SECRET_ANSWER}
- reply: {SECRET_ANSWER}
"""
JUDGE = "- reply: { json: { passed: true, reason: so, score: 1 } }\n"
SIMULATED = "- reply: { json: { input: find it, goal_achieved: true } }\n"
JUDGED = {"type": "agent", "use": "agents:judge", "value": "Anything"}
CASES = [
    {"id": "plain", "input": "find it", "tags": ["smoke"], "assert": JUDGED},
    {"id": "talk", "input": "Hello", "simulator": {"use": "agents:guest", "goal": "Find it"}, "max_turns": 2},
    {"id": "wrong", "input": KEY, "assert": {"type": "contains", "value": "a price"}},
    {"id": "down", "input": "down"},
]
TESTS = """\
import { twice } from "./twice";
export function TestGood(t: testing.T) { t.assert.Equal(twice(2), 4); }
export function TestBad(t: testing.T) { t.assert.Equal(twice(2), 5); }
export function TestNone(t: testing.T) { t.skip("not today"); }
"""
ASKING = f"""\
export function TestAsks(t: testing.T) {{
  const said = Process("agents.demo.Stream", [{{ role: "user", content: "find {KEY}" }}]).content;
  t.assert.Agent(said, "agents:judge", {{ criteria: "Anything about {KEY}" }});
  t.mock.agent("guest", "mocked");
  Process("agents.guest.Stream", "find");
  t.assert.Equal(said, "{KEY}");
}}
export function TestBreaks(t: testing.T) {{ t.assert.Error(Process("agents.demo.Stream", "down")); }}
"""
PUBLISHED = {
    "invoke_agent": (
        {"gen_ai.agent.name", "gen_ai.conversation.id", "gen_ai.provider.name"},
        {"gen_ai.agent.id", "gen_ai.request.model"},
    ),
    "chat": (
        {"gen_ai.provider.name", "gen_ai.conversation.id"},
        {
            *(f"gen_ai.request.{name}" for name in ("model", "temperature", "seed", "max_tokens")),
            *(f"gen_ai.response.{name}" for name in ("id", "model", "finish_reasons")),
            *(f"gen_ai.usage.{name}" for name in ("input_tokens", "output_tokens", "cache_read.input_tokens")),
            *("gen_ai.output.type", "gen_ai.input.messages", "gen_ai.output.messages"),
        },
    ),
    "execute_tool": (
        {"gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.type"},
        {"gen_ai.conversation.id", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"},
    ),
}
"""Operation → attributes that its spans have here, and others that they may have, by the conventions for generative AI
(opentelemetry.io/docs/specs/semconv/gen-ai, version 1.41, and 0.1 of their own repository)."""
CONTENTS = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}


@pytest.fixture(scope="module")
def application(shared_app: MakeApplication) -> Application:
    package = {"mcp": {"servers": ["shop"]}, "options": {"temperature": 0.5, "seed": 7, "max_tokens": 99}}
    files = agent(package=package, replies=REPLIES, cases=CASES)
    files |= server("shop", {"find": "scripts.shop.find"})
    files |= {"/scripts/shop.ts": f"export function find(asked: any) {{ return {{ id: asked.id, key: '{KEY}' }}; }}\n"}
    files |= agent("guest", replies=SIMULATED) | agent("judge", replies=JUDGE)
    files |= {
        "twice.ts": "export const twice = (n: number) => 2 * n;\n",
        "twice_test.ts": TESTS,
        "asking_test.ts": ASKING,
    }
    return shared_app({**files, "/.env": f"MY_TOKEN={KEY}\n"})


@pytest.fixture(scope="module")
def sent(application: Application) -> Iterator[Collector]:
    """What a collector has after a run of everything."""
    with collecting() as collector:
        run = sending(application, collector, "-i", case_file(), "-i", "scripts.demo.twice")
        assert run.code == 1, run
        assert "spans" not in run.stdout + run.stderr
        yield collector


def sending(application: Application, collector: Collector, *arguments: str, **variables: str) -> Run:
    environment = {**application.environment, **variables}
    return application.run(*arguments, "--otlp", collector.url, env=environment)


def test_spans_are_nested_as_things_happened(sent: Collector) -> None:
    paths = [sent.path_of(span) for span in sent.spans]
    (suite,) = [span.name for span in sent.spans if span.name.startswith("suite ") and "cases" in span.name]

    case = ["run of yao-test", suite, "test plain"]
    inner = [path[3:] for path in paths if path[:3] == case]
    assert sorted(inner) == sorted(
        [
            [],
            ["invoke_agent demo"],
            ["invoke_agent demo", "chat scripted"],
            ["invoke_agent demo", "execute_tool find"],
            ["invoke_agent demo", "chat scripted"],
            ["invoke_agent judge"],
            ["invoke_agent judge", "chat scripted"],
        ]
    )
    assert sent.paths[0] == "/v1/traces"
    assert len({span.trace for span in sent.spans}) == 1
    by_id = {span.id: span for span in sent.spans}
    for span in sent.spans:
        parent = by_id.get(span.parent, span)
        assert parent.began <= span.began + 1000 and span.ended <= parent.ended + 1000, (span, parent)
        assert span.began <= span.ended
    assert sent.spans[0].resource["service.name"] == "yao-test"


def test_calls_have_the_attributes_of_the_conventions(sent: Collector) -> None:
    tool = sent.named("execute_tool find")
    chat = next(span for span in sent.spans if sent.path_of(span)[2:] == ["test plain", "invoke_agent demo", span.name])

    assert chat.kind == 3
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.response.model": "scripted",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "yao_test.role": "agent",
    }.items() <= chat.attributes.items()
    assert chat.attributes["gen_ai.usage.input_tokens"] > 0
    assert {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find",
        "yao_test.server": "shop",
    }.items() <= tool.attributes.items()
    agent_span = next(span for span in sent.spans if span.name == "invoke_agent judge")
    assert agent_span.attributes["yao_test.role"] == "judge"
    assert agent_span.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert next(s for s in sent.spans if s.name == "invoke_agent guest").attributes["yao_test.role"] == "simulator"


def test_all_names_are_those_of_the_conventions(sent: Collector) -> None:
    seen = set()
    for span in sent.spans:
        operation = span.attributes.get("gen_ai.operation.name")
        required, allowed = PUBLISHED.get(operation, (set(), {"gen_ai.agent.id"}))
        names = {name for name in span.attributes if name.startswith("gen_ai.")} - {"gen_ai.operation.name"}
        assert required <= names <= required | allowed, span
        if operation is not None:
            seen.add(operation)
            assert span.name.split()[0] == operation
            assert span.kind == (3 if operation == "chat" else 1)
            assert (span.status == 2) == ("error.type" in span.attributes)
        assert all(name.startswith(("gen_ai.", "yao_test.", "test.", "error.type")) for name in span.attributes)
    assert seen == set(PUBLISHED)


def test_a_request_and_its_conversation_are_told(sent: Collector) -> None:
    calls = [span for span in sent.spans if sent.path_of(span)[2:4] == ["test plain", "invoke_agent demo"]]
    conversations = {span.attributes["gen_ai.conversation.id"] for span in calls}
    assert conversations == {"agent-test-plain"}
    for chat in (span.attributes for span in calls if span.name == "chat scripted"):
        assert chat["gen_ai.request.temperature"] == 0.5
        assert (chat["gen_ai.request.seed"], chat["gen_ai.request.max_tokens"]) == (7, 99)
    judge = next(span for span in sent.spans if sent.path_of(span)[2:] == ["test plain", "invoke_agent judge"])
    assert judge.attributes["gen_ai.conversation.id"] == "agent-test-plain-validator"


def test_a_call_over_http_says_where_it_went(app: MakeApplication) -> None:
    with ModelServer() as model, collecting() as collector:
        host = model.url.replace("://", f"://ann:{KEY}@")
        files = agent(package={"connector": "local"}, cases=[{"id": "a", "input": "x"}])
        run = sending(app({**files, **with_model(model, host=host)}), collector, "-i", case_file())
        assert run.code == 0, run
    place = {name: value for name, value in collector.named("chat m").attributes.items() if name.startswith("server.")}
    assert place == {"server.address": "127.0.0.1", "server.port": int(model.url.rpartition(":")[2])}
    assert KEY not in repr(collector.spans)


def test_what_is_said_of_an_answer_is_an_event_of_its_call(sent: Collector) -> None:
    about = {
        (sent.path_of(span)[2], span.name): [attributes for name, attributes in span.events if name == EVALUATION]
        for span in sent.spans
        if span.events
    }
    assert about == {
        ("test plain", "invoke_agent demo"): [
            {
                "gen_ai.evaluation.name": "agent",
                "gen_ai.evaluation.score.label": "pass",
                "gen_ai.evaluation.score.value": 1.0,
            }
        ],
        ("test wrong", "invoke_agent demo"): [
            {"gen_ai.evaluation.name": "contains", "gen_ai.evaluation.score.label": "fail"}
        ],
    }


def test_failures_are_the_status_of_spans_with_their_cause(sent: Collector) -> None:
    wrong, down, bad = (sent.named(f"test {name}") for name in ("wrong", "down", "TestBad"))

    assert (wrong.status, wrong.why) == (2, "assertion: contains")
    assert (wrong.attributes["yao_test.cause"], wrong.attributes["test.case.result.status"]) == ("assertion", "fail")
    assert down.status == 2 and "the prompt is too long" in down.why
    (model,) = [span for span in sent.spans if sent.path_of(span)[-3:-1] == ["test down", "invoke_agent demo"]]
    assert (model.status, model.attributes["error.type"]) == (2, "model") and "the prompt is too long" in model.why
    assert bad.status == 2 and bad.why.startswith("assertion: Equal: ")
    good, none = sent.named("test TestGood"), sent.named("test TestNone")
    assert (good.status, good.attributes["test.case.result.status"]) == (0, "pass")
    assert (none.status, none.attributes["yao_test.verdict"]) == (0, "skipped")
    assert sent.named("test plain").attributes["yao_test.tags"] == ["smoke"]
    whole = sent.named("run of yao-test")
    assert (whole.status, whole.attributes["test.suite.run.status"]) == (2, "failure")
    counted = {name: whole.attributes[f"yao_test.tests.{name}"] for name in ("passed", "failed", "skipped")}
    assert counted == {"passed": 3, "failed": 3, "skipped": 1}


def test_nothing_that_was_said_is_sent(sent: Collector) -> None:
    everything = repr(sent.spans)
    assert SECRET_ANSWER not in everything
    assert KEY not in everything
    assert "Be brief" not in everything


def test_a_full_trace_in_reports_is_none_in_spans(application: Application) -> None:
    with collecting() as collector:
        run = ("-i", case_file(), "--run", "plain|wrong", "--trace", "full", "-o", "full.json")
        sending(application, collector, *run)
    assert "Be brief" in (application.root / "full.json").read_text("utf-8")
    assert not [
        name for span in collector.spans for name in span.attributes if "messages" in name or "tool.call.a" in name
    ]
    for said in (SECRET_ANSWER, "Be brief", "It is here"):
        assert said not in repr(collector.spans)


def test_contents_are_sent_on_request_without_secrets(application: Application) -> None:
    with collecting() as collector:
        sending(application, collector, "-i", case_file(), "--run", "plain|wrong", **CONTENTS)

    tool = collector.named("execute_tool find").attributes
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"id": 7}
    assert json.loads(tool["gen_ai.tool.call.result"]) == {"id": 7, "key": "***MY_TOKEN***"}
    chats = [span.attributes for span in collector.spans if collector.path_of(span)[-2:-1] == ["invoke_agent demo"]]
    chats = [chat for chat in chats if chat["gen_ai.operation.name"] == "chat"]
    first, second = chats[:2]
    system, user = json.loads(first["gen_ai.input.messages"])
    assert system == {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]}
    assert user == {"role": "user", "parts": [{"type": "text", "content": "find it"}]}
    (answer,) = json.loads(first["gen_ai.output.messages"])
    assert answer["finish_reason"] == "tool_calls"
    (asked,) = answer["parts"]
    assert (asked["type"], asked["name"], asked["arguments"]) == ("tool_call", "shop__find", {"id": 7})
    *before, called, given = json.loads(second["gen_ai.input.messages"])
    assert [message["role"] for message in (*before, called, given)] == ["system", "user", "assistant", "tool"]
    assert called["parts"] == [asked]
    assert given["parts"][0]["type"] == "tool_call_response"
    assert given["parts"][0]["id"] == asked["id"] == tool["gen_ai.tool.call.id"]
    (verdict,) = next(
        span.events for span in collector.spans if collector.path_of(span)[-2:] == ["test wrong", "invoke_agent demo"]
    )
    assert "a price" in verdict[1]["gen_ai.evaluation.explanation"]
    assert KEY not in repr(collector.spans)
    assert "a price" in collector.named("test wrong").why


def test_what_script_tests_ask_of_agents_is_in_their_spans(application: Application) -> None:
    run = ("-i", "scripts.demo.asking", "-q")
    with collecting() as collector:
        assert sending(application, collector, *run).code == 1
    calls = [collector.path_of(span)[2:] for span in sorted(collector.spans, key=lambda span: span.began)]
    asked = ["test TestAsks", "invoke_agent demo"]
    assert sorted(path for path in calls if path[:1] == asked[:1]) == sorted(
        [
            asked[:1],
            asked,
            [*asked, "chat scripted"],
            [*asked, "execute_tool find"],
            [*asked, "chat scripted"],
            ["test TestAsks", "invoke_agent judge"],
            ["test TestAsks", "invoke_agent judge", "chat scripted"],
        ]
    )
    assert collector.named("invoke_agent judge").attributes["yao_test.role"] == "judge"
    assert collector.named("test TestAsks").why == "assertion: Equal"
    (broken,) = [
        span for span in collector.spans if collector.path_of(span)[2:-1] == ["test TestBreaks", "invoke_agent demo"]
    ]
    assert (broken.status, broken.attributes["error.type"]) == (2, "model")
    for secret in (KEY, "It is here", "Anything about", "Be brief"):
        assert secret not in repr(collector.spans)

    with collecting() as collector:
        sending(application, collector, *run, "--runs", "2", **CONTENTS)
    assert KEY not in repr(collector.spans)
    asked = ["run 2 of TestAsks", "invoke_agent demo", "chat scripted"]
    first = next(span for span in collector.spans if collector.path_of(span)[3:] == asked)
    assert json.loads(first.attributes["gen_ai.input.messages"])[1] == {
        "role": "user",
        "parts": [{"type": "text", "content": "find ***MY_TOKEN***"}],
    }

    with collecting() as collector:
        sending(application, collector, *run, "--trace", "off")
    assert not [span for span in collector.spans if "gen_ai.operation.name" in span.attributes]


def test_each_run_of_a_test_is_a_span_within_it(application: Application) -> None:
    with collecting() as collector:
        sending(application, collector, "-i", case_file(), "--run", "plain", "--runs", "2")

    for run in (1, 2):
        span = collector.named(f"run {run} of plain")
        assert collector.path_of(span)[-2] == "test plain"
        assert span.attributes["yao_test.run"] == run
    calls = [collector.path_of(span)[-2] for span in collector.spans if span.name == "invoke_agent demo"]
    assert sorted(calls) == ["run 1 of plain", "run 2 of plain"]


def test_what_an_earlier_run_has_done_is_not_sent_again(application: Application) -> None:
    path = application.home / "part.jsonl"
    application.run("-i", case_file(), "--max-failures", "1", "-o", str(path))
    with collecting() as collector:
        sending(application, collector, "--resume", str(path))
    tests = {span.name for span in collector.spans if span.name.startswith("test ")}
    assert tests == {"test down"}


@pytest.mark.parametrize("how", ["nobody", "refuses", "slow", "elsewhere"])
def test_a_collector_that_takes_nothing_costs_a_warning_and_no_result(
    application: Application, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("runner.reporters.traces.otlp.PATIENCE", 0.5)
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
        "nobody": "nobody answers there",
        "refuses": "it answers 401 Unauthorized",
        "slow": "it did not take them within 0.5 s after the run",
        "elsewhere": "it answers 307 Temporary Redirect",
    }[how]

    assert run.code == 0, run
    assert f"Warning: 3 of 3 spans did not reach {collector.url}/v1/traces: {why}" in run.stdout
    assert run.stderr == ""
    assert json.loads(report.read_text())["summary"]["passed"] == 1
    assert HEADER not in run.stdout + report.read_text()


def test_json_output_has_the_warning(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.reporters.traces.otlp.PATIENCE", 0.1)
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


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        (["--otlp", "localhost:4318"], {}, 'Cannot use --otlp "localhost:4318": it must be the address of a collector'),
        (
            ["--otlp", "http://user:word@here"],
            {},
            "Cannot use --otlp: the address appears in logs, so it must not hold a key",
        ),
        (
            ["--otlp"],
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "here"},
            'Cannot use OTEL_EXPORTER_OTLP_ENDPOINT "here": it must be the address of a collector',
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
    monkeypatch.delitem(sys.modules, "runner.reporters.traces.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    run = application.run("-i", "scripts.demo.twice", "--otlp")
    assert run.code == 2
    assert "pip install 'yao-test[otlp]'" in run.stderr


def test_a_configuration_file_cannot_say_where_spans_go(app: MakeApplication) -> None:
    made = app({"a_test.ts": "export function TestA(t) {}", "/yao-test.toml": 'otlp = "http://evil.example"\n'})
    run = made.run("-i", "scripts.demo.a")
    assert run.code == 2
    assert "otlp cannot be set here: it weakens security, so it can only be given on the command line" in run.stderr


def test_the_page_shows_the_spans_of_a_case(app: MakeApplication) -> None:
    made = app({})
    page = (ROOT / "docs/traces.md").read_text("utf-8")
    with collecting() as collector:
        tests = "assistants/expense/tests/conversations.yaml"
        run = made.run("-a", str(ROOT), "-i", str(ROOT / tests), "--run", "^taxi-simulated$", "--otlp", collector.url)
        assert run.code == 0, run
    found: list[str] = []

    def add(parent: str, indent: int) -> None:
        for span in sorted((one for one in collector.spans if one.parent == parent), key=lambda one: one.began):
            found.append(f"{'  ' * indent}{span.name.replace(f'{ROOT}/', '')}")
            add(span.id, indent + 1)

    add("", 0)
    assert "```text\n" + "\n".join(found) + "\n```" in page
