"""What a host, a tool server, a script or a file may send, and what happens past it. The table is in
`docs/reliability.md`."""

from __future__ import annotations

import gzip
import json
import os
import sys

import pytest
from agent_files import agent, case_file, errors, server
from command import Application, MakeApplication
from faults import with_model
from model_server import Behaviour, Exchange, ModelServer, body


def asking(app: MakeApplication, host: ModelServer) -> Application:
    files = agent(package={"connector": "local"}, cases=[{"id": "a", "input": "x"}])
    return app({**files, **with_model(host, retries=0)})


async def streams_without_end(exchange: Exchange) -> None:
    event = {"choices": [{"index": 0, "delta": {"content": "y" * 1_000_000}, "finish_reason": None}]}
    await exchange.start_stream()
    while True:
        await exchange.chunk(b"data: " + json.dumps(event).encode() + b"\n\n")


async def writes_a_line_without_end(exchange: Exchange) -> None:
    await exchange.start_stream()
    await exchange.chunk(b"data: ")
    while True:
        await exchange.chunk(b"y" * 1_000_000)


async def sends_headers_without_end(exchange: Exchange) -> None:
    await exchange.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        await exchange.write(b"".join(b"x-%d: %s\r\n" % (number, b"y" * 1000) for number in range(100)))


async def sends_a_body_without_end(exchange: Exchange) -> None:
    await exchange.head(200, {"content-type": "application/json", "transfer-encoding": "chunked"})
    while True:
        await exchange.chunk(b"[" * 1_000_000)


async def sends_what_unpacks_to_much(exchange: Exchange) -> None:
    packed = gzip.compress(b" " * (200 << 20))
    head = {"content-type": "application/json", "content-encoding": "gzip", "content-length": str(len(packed))}
    await exchange.head(200, head)
    await exchange.write(packed)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (streams_without_end, "is larger than 64 MB"),
        (writes_a_line_without_end, "is larger than 64 MB"),
        (sends_a_body_without_end, "is larger than 64 MB"),
        (sends_headers_without_end, "sent an invalid HTTP response"),
        (sends_what_unpacks_to_much, "is larger than 64 MB"),
        (body(200, "[" * 200_000 + "]" * 200_000), "returned invalid JSON"),
    ],
    ids=["stream", "line", "body", "headers", "packed", "nested"],
)
def test_what_a_model_host_sends_is_bounded(app: MakeApplication, behaviour: Behaviour, said: str) -> None:
    with ModelServer(behaviour) as host:
        here = asking(app, host)

        assert said in str(errors(here)["a"])


PAGES = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
    if message["method"] == "tools/list":
        cursor = int((message.get("params") or {}).get("cursor", 0))
        result = {"tools": [{"name": f"t{cursor}", "inputSchema": {"type": "object"}}], "nextCursor": str(cursor + 1)}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_a_list_of_tools_without_end_is_an_error(app: MakeApplication) -> None:
    files = agent(package={"mcp": {"servers": ["pages"]}}, cases=[{"id": "a", "input": "x"}])
    here = app({**files, "/pages.py": PAGES})
    command = {"transport": "stdio", "command": sys.executable, "arguments": [str(here.root / "pages.py")]}
    here.write({"/mcps/pages.mcp.yao": json.dumps(command)})

    assert "answers list_tools with more than 1000 pages" in str(errors(here)["a"])


def bomb(head: str, indent: str) -> str:
    """YAML of some hundred characters that expands to 10 000 000 000 values."""
    lines = [f"{indent}a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"]
    for number in range(1, 10):
        lines.append(f"{indent}a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n")
    return head + "".join(lines)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("/assistants/demo/tests/cases.yaml", bomb("- id: a\n  input: x\n  metadata:\n", "    ")),
        ("/assistants/demo/prompts.yml", bomb("- role: system\n  content: x\n  more:\n", "    ")),
        ("/assistants/demo/tests/cases.yaml", "- id: a\n  input: x\n  metadata: &m { a: *m }\n"),
    ],
    ids=["cases", "prompts", "itself"],
)
def test_aliases_of_yaml_are_counted(app: MakeApplication, name: str, content: str) -> None:
    here = app({**agent(), "/assistants/demo/tests/cases.yaml": "- { id: a, input: x }\n", name: content})

    run = here.run("-i", "assistants/demo/tests/cases.yaml")

    assert run.code == (2 if "cases" in name else 1), run
    said = "an alias refers to a value that contains it" if "*m" in content else "its aliases expand to too many values"
    assert said in run.stdout + run.stderr


def test_an_attachment_that_is_too_large_is_refused_unread(app: MakeApplication) -> None:
    case = {"id": "a", "input": "x", "attachments": [{"type": "file", "source": "file://big.bin"}]}
    here = app(agent(cases=[case]))
    with (here.root / "assistants/demo/tests/big.bin").open("wb") as file:
        file.truncate(3 << 30)

    run = here.run("-i", case_file())

    assert run.code == 2
    assert 'cannot read "file://big.bin": it is larger than 64 MB' in run.stderr


@pytest.mark.parametrize("name", [".env", "assistants/demo/tests/cases.jsonl", "assistants/demo/prompts.yml"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(app: MakeApplication, name: str) -> None:
    here = app(agent(cases=[{"id": "a", "input": "x"}]))
    (here.root / name).unlink(missing_ok=True)
    os.mkfifo(here.root / name)

    assert here.run("-i", case_file()).code in (0, 1, 2, 3)


def test_what_a_store_may_keep_is_bounded(app: MakeApplication) -> None:
    hooks = """\
function Create(ctx, messages) {
  const text = "x".repeat(6e6);
  for (let i = 0; i < 5; i++) ctx.memory.chat.Set("k" + i, text);
  return { messages };
}
"""
    here = app(agent(hooks=hooks, cases=[{"id": "a", "input": "x"}]))

    assert "the limit of a store is 16000000" in str(errors(here)["a"])


def test_lines_of_hooks_are_bounded(app: MakeApplication) -> None:
    hooks = """\
function Create(ctx, messages) {
  for (let i = 0; i < 200; i++) console.log("x".repeat(64000));
  return { messages };
}
"""
    here = app(agent(hooks=hooks, cases=[{"id": "a", "input": "x"}]))

    record = here.report("-i", case_file())["results"][0]

    assert sum(map(len, record["logs"])) < 2_100_000
    assert sum("output truncated" in line for line in record["logs"]) == 1


def test_a_tool_whose_result_is_too_large_fails_its_call(app: MakeApplication) -> None:
    replies = """\
- when: { tool.name: big }
  reply: "done"
- reply: { tool_calls: [{ name: big, arguments: {} }] }
"""
    tool = "function Big() { return { text: 'x'.repeat(300e6) }; }"
    here = app(
        {
            **agent(package={"mcp": {"servers": ["big"]}}, replies=replies, cases=[{"id": "a", "input": "x"}]),
            "/scripts/tools.ts": tool,
            **server("big", {"big": "scripts.tools.Big"}),
        }
    )

    record = here.report("-i", case_file())["results"][0]

    assert "out of memory" in json.dumps(record)
