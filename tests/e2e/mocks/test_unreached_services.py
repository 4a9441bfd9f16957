"""MCP servers, models and judges that are defined and not reached are missing calls, with the mock that fits."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from agent_files import agent, lines, run_cases
from command import Application, MakeApplication, Record

TESTS = """
const tried = (work) => { try { return JSON.stringify(work()); } catch (error) { return error.message; } };
const agents = ["tooled", "down", "unnamed", "keyless", "roleless", "listed"];
const servers = ["refused", "silent", "absent", "dies", "unset"];
export function TestServers(t, ctx) {
  for (const id of servers) t.log(tried(() => new MCP(id).CallTool("t", {})));
  t.mock.process("mcp.CallTool", { content: [] });
  for (const id of servers) t.assert.Equal(new MCP(id).CallTool("t", {}), { content: [] });
  t.log(tried(() => ctx.mcp.ListTools("dies")));
}
export function TestAgents(t) { for (const id of agents) t.log(tried(() => Process(`agents.${id}.Stream`, "x"))); }
export function TestModel(t) { for (const id of ["down", "keyless", "$ENV.NOT_SET"]) t.log(tried(() => Process("llm.ChatCompletions", id, "x"))); }
export function TestDelegate(t) { t.log(tried(() => Process("agents.hands_on.Stream", "x"))); }
export function TestJudge(t) { t.assert.Agent("x", "down", { criteria: "y" }); }
"""
HOOKS = 'function Next(ctx) { try { ctx.mcp.CallTool("refused", "t", {}); } catch (error) { return { data: error.message }; } }'
DELEGATES = 'function Create(ctx, messages) { return { delegate: { agent_id: "down", messages } }; }'
BROKEN = ("judge", "server", "model", "key", "delegated")
TESTED = ("demo", "tooled", "down", "keyless", "hands_on")
KEYLESS = {"id": "key", "turns": [{"input": "x"}, {"input": "y"}]}
JUDGED = {"type": "agent", "use": "agents:down", "value": "y"}


@pytest.fixture
def unreached(app: MakeApplication) -> Iterator[Application]:
    """An application with servers and a connector on an address that refuses, and a server on one that is silent."""
    with socket.socket() as listening, socket.socket() as closed:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        closed.bind(("127.0.0.1", 0))  # and does not listen
        nobody, silent = (f"http://127.0.0.1:{one.getsockname()[1]}" for one in (closed, listening))
        servers = {
            "refused": {"transport": "http", "url": nobody},
            "silent": {"transport": "http", "url": silent, "timeout": "300ms"},
            "absent": {"transport": "stdio", "command": "no-such-program"},
            "dies": {"transport": "stdio", "command": "false"},
            "unset": {"transport": "http", "url": "$ENV.NOT_SET_ANYWHERE"},
        }
        down = {"type": "openai", "options": {"host": nobody, "model": "m", "key": "k", "retries": 0}}
        keyless = {"type": "openai", "options": {"host": nobody, "model": "m", "key": "$ENV.NOT_SET_ANYWHERE"}}
        yield app(
            {
                **{f"/mcps/{id}.mcp.yao": json.dumps(definition) for id, definition in servers.items()},
                "/connectors/down.conn.yao": json.dumps(down),
                "/connectors/keyless.conn.yao": json.dumps(keyless),
                **agent(
                    hooks=HOOKS, cases=[{"id": "tool", "input": "x"}, {"id": "judge", "input": "x", "assert": JUDGED}]
                ),
                **agent("tooled", package={"mcp": {"servers": ["absent"]}}),
                **agent("down", package={"connector": "down"}, replies=None),
                **agent("unnamed", package={"connector": "nowhere"}, replies=None),
                **agent("keyless", package={"connector": "keyless"}, replies=None),
                **agent("roleless", package={"connector": ""}, replies=None),
                **agent("listed") | {"/assistants/listed/package.yao": "[]"},
                **agent("hands_on", prompts=None, hooks=DELEGATES),
                "/assistants/keyless/tests/cases.jsonl": lines(KEYLESS),
                "/assistants/hands_on/tests/cases.jsonl": lines({"id": "delegated", "input": "x"}),
                "/assistants/tooled/tests/cases.jsonl": lines({"id": "server", "input": "x"}),
                "/assistants/down/tests/cases.jsonl": lines({"id": "model", "input": "x"}),
                "world_test.ts": TESTS,
                "world.ts": "export {}",
            }
        )


def missing(record: Record) -> dict[str, str]:
    """Call → its entry in the ledger. All calls of the record are missing, or mocked."""
    outside = record.get("outside", [])
    assert {one["answered"] for one in outside} <= {"missing", "mocked"}
    return {one["call"]: one["message"] for one in outside if one["answered"] == "missing"}


def test_script_tests_are_told_what_was_not_reached(unreached: Application) -> None:
    records = unreached.results("-i", "assistants/demo/src/world_test.ts", code=1)
    servers = missing(records["TestServers"])
    for id, why in (
        ("refused", "Connection refused"),
        ("silent", "did not answer within 0.3 s"),
        ("absent", "command not found: no-such-program"),
        ("dies", "it ended with exit code 1"),
        ("unset", "NOT_SET_ANYWHERE is not set"),
    ):
        told = servers.pop(f"mcp.CallTool {id} t")
        assert why in told
        assert told.endswith('. Or mock it with t.mock.process("mcp.CallTool", ...)')
    assert list(servers) == ["mcp.ListTools dies"]
    agents = missing(records["TestAgents"])
    assert {call: told.rpartition("Or ")[2] for call, told in agents.items()} == {
        f"agents.{id}": f'mock it with t.mock.agent("{id}", ...)'
        for id in ("tooled", "down", "unnamed", "keyless", "roleless", "listed")
    }
    models = missing(records["TestModel"])
    assert list(models) == [f"llm.ChatCompletions {id}" for id in ("down", "keyless", "$ENV.NOT_SET")]
    assert all('t.mock.process("llm.ChatCompletions", ...)' in told for told in models.values())
    delegated = records["TestDelegate"]["outside"]
    assert [(one["call"], one["answered"]) for one in delegated] == [
        ("agents.down", "missing"),
        ("agents.hands_on", "served"),
    ]
    assert 't.mock.agent("down", ...)' in missing(records["TestJudge"])["agents.down"]
    strict = unreached.results("-i", "assistants/demo/src/world_test.ts", "--strict", code=1)
    assert {record["status"] for record in strict.values()} == {"failed"}


def test_cases_are_told_what_was_not_reached(unreached: Application) -> None:
    inputs = [flag for id in TESTED for flag in ("-i", f"assistants/{id}/tests/cases.jsonl")]
    records = run_cases(unreached, *inputs, code=1)
    told = {id: missing(record) for id, record in records.items()}
    assert {id: list(calls) for id, calls in told.items()} == {
        "tool": ["mcp.CallTool refused t"],
        "judge": ["mcp.CallTool refused t", "agents.down"],
        "server": ["mcp.ListTools absent"],
        "model": ["agents.down"],
        "key": ["agents.keyless"],
        "delegated": ["agents.down"],
    }
    assert "mock" not in told["model"]["agents.down"], "nothing stands for the agent that is tested"
    assert not any("warnings" in records[id] for id in ("model", "key")), "their failures say all"
    assert records["tool"]["output"].endswith('. Or mock it with mocks: {"process": {"mcp.CallTool": ...}}')
    assert 'mocks: {"agent": {"down": ...}}' in told["judge"]["agents.down"]
    assert "Check options.host in connectors/down.conn.yao" in told["judge"]["agents.down"]
    assert [records[id]["failures"][0]["cause"] for id in BROKEN] == ["infrastructure"] * 5


def test_a_query_of_a_table_that_is_not_there_is_a_missing_call_also_where_it_is_caught(app: MakeApplication) -> None:
    test = (
        "const asked = () => { try { return new Query().Get({ select: ['id'], from: 'nowhere' }); } catch { return []; } };\n"
        "export function TestCaught(t) { t.assert.Equal(asked(), []); }\n"
        "export function TestMocked(t) { t.mock.process('query.default.Get', [{ id: 7 }]); t.assert.Equal(asked(), [{ id: 7 }]); }\n"
    )
    results = app({"q_test.ts": test}).results("-i", "scripts.demo.q", code=0)
    assert [(call["call"], call["answered"]) for call in results["TestCaught"]["outside"]] == [
        ("query.default.Get", "missing")
    ]
    assert results["TestCaught"]["warnings"][0]["message"].endswith(
        "Query: no such table: nowhere. Add a model file with this table, or mock the query with "
        't.mock.process("query.default.Get", ...)'
    )
    assert [call["answered"] for call in results["TestMocked"]["outside"]] == ["mocked"]
