"""MCP services over HTTP, through proxies, and servers that are odd in their surroundings."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
from typing import Any

import pytest
from command import eventually
from mcp_application import MARK, SERVERS, marked, program, write
from mcp_surroundings import Surroundings

from runner.agents.mcp.base import ToolError, value_of
from runner.agents.mcp.servers import Servers
from runner.errors import ConfigurationError

GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "plain", "version": "1"}}


def test_a_redirect_on_the_same_host_is_followed(here: Surroundings) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        request = json.loads(await reader.readexactly(int(length[1]))) if length else {}
        status, answer = b"202 Accepted", b""
        if not head.startswith("post /mcp/ "):
            status = b"307 Temporary Redirect\r\nlocation: /mcp/"
        elif "id" in request:
            result = {"tools": [{"name": "add", "inputSchema": {}}]} if request["method"] == "tools/list" else GREETING
            status, answer = b"200 OK", json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        writer.write(b"HTTP/1.1 %s\r\ncontent-type: application/json\r\nconnection: close\r\n" % status)
        writer.write(b"content-length: %d\r\n\r\n%s" % (len(answer), answer))
        await writer.drain()
        writer.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        write(here.root, {"mcps/s.mcp.yao": {"transport": "http", "url": url}})

        async def action(servers: Servers) -> Any:
            async with await asyncio.start_server(serve, sock=listening):
                return [tool["name"] for tool in await servers.server("s").list_tools()]

        assert here.use(action) == ["add"]


def test_answers_in_one_piece_belong_to_a_session_as_well_and_a_failing_call_ends_no_other(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        waiting = asyncio.Event()
        sessions: list[bool] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = re.search(r"content-length: (\d+)", head)
            request = json.loads(await reader.readexactly(int(length[1]))) if length else {}
            status, answer = b"200 OK", b""
            if request.get("method") == "initialize":
                answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": GREETING}).encode()
            elif request.get("method") == "prompts/list":
                waiting.set()
                await asyncio.sleep(0.2)
                answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"prompts": []}}).encode()
            elif "id" in request:
                await waiting.wait()
                status, answer = b"500 Oh", b"no disk"
            else:
                status = b"202 Accepted" if request else b"405 Method Not Allowed"
            sessions.append("mcp-session-id: abc" in head)
            kind = b"content-type: application/json\r\nmcp-session-id: abc\r\nconnection: close\r\n"
            writer.write(b"HTTP/1.1 %s\r\n%scontent-length: %d\r\n\r\n%s" % (status, kind, len(answer), answer))
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
            url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            write(here.root, {"mcps/s.mcp.yao": {"transport": "http", "url": url}})
            server = servers.server("s")
            prompts, tools = await asyncio.gather(server.list_prompts(), server.list_tools(), return_exceptions=True)
            await server.close()
        return prompts, str(tools).partition(" failed: ")[2], sessions[0], set(sessions[1:])

    assert here.use(action) == ([], "it answered HTTP 500 Oh: no disk", False, {True})


def test_services_are_reached_through_the_proxy_of_the_application(here: Surroundings) -> None:
    seen: list[str] = []

    async def action(servers: Servers) -> Any:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append((await reader.readline()).decode().strip())
            writer.write(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(refuse, sock=listening):
            with pytest.raises(ToolError) as error:
                await servers.server("s").list_tools()
        return error.value.message

    write(here.root, {"mcps/s.mcp.yao": {"transport": "http", "url": "http://tools.example.com/mcp"}})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = f"http://127.0.0.1:{listening.getsockname()[1]}"
        message = here.use(action, {"HTTP_PROXY": proxy})
    assert message == "MCP server s (http://tools.example.com/mcp) failed: it answered HTTP 503 Busy"
    assert seen[0] == "POST http://tools.example.com/mcp HTTP/1.1"


def test_prose_and_unknown_notifications_are_passed_over(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        # Two pages of tools; no resources and prompts; a pattern that only JavaScript knows.
        return (
            [tool["name"] for tool in await server.list_tools()],
            await server.list_resources(),
            await server.list_prompts(),
            value_of(await server.call_tool("two", {"code": "07"}, None)),
        )

    here.stdio("rude", "noisy")
    assert here.use(action) == (["one", "two"], [], [], {"code": "07"})


def test_a_server_is_given_little_of_the_environment(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        return [
            value_of(await server.call_tool("environment", {"name": name}, None)) for name in ("HOME", "KEY", "OWN")
        ]

    here.stdio("plain", env={MARK: here.mark, "OWN": "$ENV.KEY"})
    assert here.use(action, {"HOME": "/home/x", "KEY": "value"}) == ["/home/x", "", "value"]


def test_an_unknown_tool_of_a_real_server_is_named_with_the_closest(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("ad", {}, None)
        return error.value.message, error.value.hint, error.value.code

    here.start("http")
    assert here.use(action) == (
        'Cannot call tool "ad" of MCP server s: there is no such tool',
        'Did you mean "add"?',
        404,
    )


def test_without_the_sdk_the_package_to_install_is_named(here: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def action(servers: Servers) -> Any:
        return servers.server("s")

    here.stdio("tools", "stdio")
    for name in [
        name for name in sys.modules if name.startswith(("runner.agents.mcp.client", "runner.agents.mcp.remote"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigurationError) as error:
        here.use(action)
    assert (error.value.message, error.value.hint) == (
        f"Cannot use MCP server s ({here.root}/mcps/s.mcp.yao): transport stdio needs the package mcp",
        "Install it with: pip install 'mcp>=1.24,<2'",
    )


BROKEN = """
import asyncio, os, sys
from pathlib import Path
from runner.agents.mcp.base import ToolError
from runner.agents.mcp.servers import Servers

async def main():
    servers = Servers(Path(sys.argv[1]), {"PATH": "/usr/bin:/bin"}, None)
    for id, tool, arguments in [
        ("noisy", "one", {}), ("noisy", "one", {"code": 1}), ("tools", "die", {"code": 2}), ("tools", "refuse", {"reason": "no"}),
        ("gone", "x", {}), ("missing", "x", {}), ("wrong", "x", {}),
    ]:
        try:
            await servers.server(id).call_tool(tool, arguments, None)
        except ToolError as error:
            print(id, error.code)
    waiting = asyncio.create_task(servers.server("mute").list_tools())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    if sys.argv[2] == "die":
        sys.stdout.flush()
        os._exit(0)
    await servers.close()

asyncio.run(main())
"""


@pytest.mark.parametrize("ending", ["close", "die"])
def test_nothing_is_written_to_stderr(here: Surroundings, ending: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    here.start("http", endpoint="nowhere")
    (here.root / "mcps/s.mcp.yao").rename(here.root / "mcps/wrong.mcp.yao")
    programs = {"noisy": ("rude", "noisy"), "mute": ("rude", "mute"), "tools": ("plain",)}
    definitions = {id: program(*arguments, mark=here.mark) for id, arguments in programs.items()}
    definitions["gone"] = {"transport": "sse", "url": f"http://127.0.0.1:{port}"}
    definitions["missing"] = {"transport": "stdio", "command": "no-such-command"}
    write(here.root, {f"mcps/{id}.mcp.yao": definition for id, definition in definitions.items()})
    command = [sys.executable, "-W", "error", "-c", BROKEN, str(here.root), ending]
    result = subprocess.run(command, cwd=SERVERS.parents[3], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout.split("\n"), result.stderr) == (
        0,
        ["noisy 400", "tools 502", "gone 502", "missing 502", "wrong 502", ""],
        "",
    )
    eventually(lambda: marked(here.mark) == [], "the guards end what is left")


def test_schemas_of_a_server_hold_nothing_up(here: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindings.processes.schemas.MAX_STEPS", 100_000)  # a third of what is allowed

    async def action(servers: Servers) -> Any:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        others = asyncio.create_task(turn())
        server = servers.server("s")
        answers = [value_of(await server.call_tool(name, {"a": 1}, None)) for name in ("take", "give")]
        with pytest.raises(ToolError, match=r'does not match "\^\(a\|aa\)\+\$"'):
            await server.call_tool("match", {"a": 1}, None)
        others.cancel()
        return answers, turns > 50

    here.stdio("rude", "hostile")
    assert here.use(action) == (["said"] * 2, True)


def test_an_answer_that_is_not_as_its_schema_says_is_an_error(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        said = []
        for name in ("wrong", "nothing"):
            with pytest.raises(ToolError) as caught:
                await servers.server("s").call_tool(name, {}, None)
            said.append((caught.value.code, caught.value.message.partition("outputSchema: ")[2]))
        return said

    here.stdio("rude", "careless")
    wrong = f"validation failed: said: '{'a' * 60}!' is not of type 'integer'"
    assert here.use(action) == [(502, wrong), (502, "there is no structuredContent")]
