"""A call that has no answer when its test ends is pending in the ledger; a model that stays silent is missing."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from agent_files import agent, run_cases
from command import Application, MakeApplication, Record

TESTS = {
    "Http": 'http.Get("URL/rates?day=1");',
    "Model": 'Process("llm.ChatCompletions", "silent", "x");',
    "Stream": 'ctx.llm.Stream("silent", [{ role: "user", content: "x" }]);',
    "Server": 'ctx.mcp.CallTool("silent", "t", {});',
    "Agent": 'Process("agents.asks.Stream", "x");',
    "Hook": 'Process("agents.hooked.Stream", "http");',
    "Sleep": 'Process("utils.time.Sleep", 5000);',
    "AfterOthers": 'Process("text.ExtractJSON", "{}"); http.Get("URL/a");',
    "Ends": 'Process("text.ExtractJSON", "{}");',
}
"""Each in a module of its own, so that several run at once."""
HOOKS = """\
function Create(ctx, messages) {
  const { content } = messages.at(-1);
  if (content === "http") http.Post("URL/x", {});
  if (content === "model") ctx.llm.Stream("silent", [{ role: "user", content: "x" }]);
  if (content === "server") ctx.mcp.CallTool("silent", "t", {});
  if (content === "agent") ctx.agent.Call("asks", [{ role: "user", content: "x" }]);
  if (content === "sleep") Process("utils.time.Sleep", 5000);
}
"""
SAID = ("http", "model", "server", "agent", "sleep")


def script_test(name: str, code: str) -> str:
    return f"export function Test{name}(t, ctx) {{ {code} }}\n"


@pytest.fixture
def silent(app: MakeApplication) -> Iterator[Application]:
    """An application with a server, a model and an address that take connections and never answer."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        options = {"host": url, "model": "m", "key": "k", "retries": 0}
        yield app(
            {
                "/connectors/silent.conn.yao": json.dumps({"type": "openai", "options": options}),
                "/connectors/brief.conn.yao": json.dumps({"type": "openai", "options": {**options, "timeout": 0.3}}),
                "/mcps/silent.mcp.yao": json.dumps({"transport": "http", "url": url}),
                **agent(
                    "hooked",
                    prompts=None,
                    replies=None,
                    hooks=HOOKS.replace("URL", url),
                    cases=[{"id": said, "input": said} for said in SAID],
                ),
                **agent("asks", package={"connector": "silent"}, replies=None, cases=[{"id": "asked", "input": "x"}]),
                **agent("brief", package={"connector": "brief"}, replies=None, cases=[{"id": "brief", "input": "x"}]),
                **{f"{name}_test.ts": script_test(name, code.replace("URL", url)) for name, code in TESTS.items()},
                "brief_test.ts": """
export function TestModel(t) { try { Process("llm.ChatCompletions", "brief", "x"); } catch {} }
export function TestAgent(t) { try { Process("agents.brief.Stream", "x"); } catch {} }
""",
                "brief.ts": "export {}",
            }
        )


def calls(record: Record) -> list[tuple[str, str, int]]:
    """The calls in the ledger, with the address left out."""
    return [(call["call"].split("127")[0], call["answered"], call["count"]) for call in record.get("outside", [])]


def test_calls_under_way_when_a_script_test_times_out_are_pending(silent: Application) -> None:
    inputs = [word for name in TESTS for word in ("-i", f"assistants/demo/src/{name}_test.ts")]
    records = silent.results(*inputs, "--timeout", "3s", "--parallel", "4", "--allow-net=127.0.0.1", code=1)
    assert {name: calls(record) for name, record in records.items()} == {
        "Http.TestHttp": [("GET http://", "pending", 1)],
        "Model.TestModel": [("llm.ChatCompletions silent", "pending", 1)],
        "Stream.TestStream": [("llm.Stream silent", "pending", 1)],
        "Server.TestServer": [("mcp.CallTool silent t", "pending", 1)],
        "Agent.TestAgent": [("agents.asks", "pending", 1)],
        "Hook.TestHook": [("agents.hooked", "pending", 1), ("POST http://", "pending", 1)],
        "Sleep.TestSleep": [("utils.time.Sleep", "pending", 1)],
        "AfterOthers.TestAfterOthers": [("text.ExtractJSON", "served", 1), ("GET http://", "pending", 1)],
        "Ends.TestEnds": [("text.ExtractJSON", "served", 1)],
    }
    [pending] = records["Http.TestHttp"]["outside"]
    assert pending["message"] == "it was not answered before the test ended or cancelled it"


def test_calls_under_way_when_a_case_times_out_are_pending(silent: Application) -> None:
    inputs = ("-i", "assistants/hooked/tests/cases.jsonl", "-i", "assistants/asks/tests/cases.jsonl")
    records = run_cases(silent, *inputs, "--timeout", "2s", "--parallel", "6", "--allow-net=127.0.0.1", code=1)
    hooked = ("agents.hooked", "pending", 1)
    assert {id: calls(record) for id, record in records.items()} == {
        "http": [hooked, ("POST http://", "pending", 1)],
        "model": [hooked, ("llm.Stream silent", "pending", 1)],
        "server": [hooked, ("mcp.CallTool silent t", "pending", 1)],
        "agent": [hooked, ("agents.asks", "pending", 1)],
        "sleep": [hooked, ("utils.time.Sleep", "pending", 1)],
        "asked": [("agents.asks", "pending", 1)],
    }


def test_a_model_that_takes_the_connection_and_stays_silent_is_missing(silent: Application) -> None:
    records = silent.results("-i", "assistants/demo/src/brief_test.ts", code=0)
    assert calls(records["TestModel"]) == [("llm.ChatCompletions brief", "missing", 1)]
    assert calls(records["TestAgent"]) == [("agents.brief", "missing", 1)]
    cases = run_cases(silent, "-i", "assistants/brief/tests/cases.jsonl", code=1)
    assert calls(cases["brief"]) == [("agents.brief", "missing", 1)]
