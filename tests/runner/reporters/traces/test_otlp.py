"""`--otlp`: what a collector gets of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication
from faults import with_model
from model_server import ModelServer, body
from span_collector import Collector, collecting
from traced_app import KEY, SECRET_ANSWER, sending

ROOT = Path(__file__).parents[4]
EVALUATION = "gen_ai.evaluation.result"
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
def sent(application: Application) -> Iterator[Collector]:
    """What a collector has after a run of everything."""
    with collecting() as collector:
        run = sending(application, collector, "-i", case_file(), "-i", "scripts.demo.twice")
        assert run.code == 1, run
        assert "spans" not in run.stdout + run.stderr
        yield collector


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


def test_a_cost_that_is_estimated_says_so(app: MakeApplication) -> None:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 10000, "output_tokens": 10}
    said = {"type": "message", "content": [{"type": "text", "text": "Hi"}], "usage": usage}
    with ModelServer(body(200, said)) as model, collecting() as collector:
        price = {"input": 10, "output": 100}
        files = agent(package={"connector": "local"}, cases=[{"id": "a", "input": "x"}])
        files |= with_model(model, "anthropic", streaming=False, price=price)
        run = sending(app(files), collector, "-i", case_file())
        assert run.code == 0, run
    for name in ("chat m", "test a"):
        attributes = collector.named(name).attributes
        assert (attributes["yao_test.cost_usd"], attributes["yao_test.cost_estimated"]) == (0.12603, True)


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
