"""Real servers over stdio, SSE and streamable HTTP: what works, what ends, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_application import SERVERS, marked, write
from mcp_surroundings import Surroundings

from runner.agents.mcp.base import ToolError, value_of
from runner.agents.mcp.remote import Connection, ConnectionLostError, Ending
from runner.agents.mcp.servers import Servers
from runner.agents.mcp.toolbox import ToolRun, open_toolbox
from runner.assertions.base import ToolUse

TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http", "sse"])


@TRANSPORTS
def test_what_a_real_server_has_and_how_its_failures_are_told(here: Surroundings, transport: str) -> None:
    """With tools, resources and prompts. Only a server over HTTP has an endpoint; a tool that fails is told to the model."""

    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        tools = await server.list_tools()
        box = await open_toolbox(servers, [{"s": ["refuse"]}], "package.yao")
        return {
            "endpoints": [at.address if at else None for at in map(servers.endpoint, ("s", "other"))],
            "tools": [tool["name"] for tool in tools],
            "add": (tools[0]["description"], sorted(tools[0]["inputSchema"]["properties"])),
            "sum": value_of(await server.call_tool("add", {"a": 2, "b": 3}, None)),
            "order": value_of(await server.call_tool("order", {"id": 7}, None)),
            "resources": [item["uri"] for item in await server.list_resources()],
            "read": await server.read_resource("orders://7", None),
            "prompts": [item["name"] for item in await server.list_prompts()],
            "prompt": (await server.get_prompt("greet", {"name": "Ann"}))["messages"],
            "refused": [await box.run("s__refuse", text, None) for text in ('{"reason": "no stock"}', "{}")],
        }

    here.start(transport)
    missing = "Cannot call tool \"refuse\" of MCP server s: validation failed: value: 'reason' is a required property"
    assert here.use(action) == {
        "endpoints": [None if transport == "stdio" else "127.0.0.1", None],
        "tools": ["add", "order", "refuse", "die", "wait_for_file", "environment"],
        "add": ("Adds two numbers.", ["a", "b"]),
        "sum": 5,
        "order": {"id": 7, "paid": True},
        "resources": ["about://shop", "orders://{id}"],
        "read": {"contents": [{"uri": "orders://7", "mimeType": "text/plain", "text": "order 7"}]},
        "prompts": ["greet"],
        "prompt": [{"role": "user", "content": {"type": "text", "text": "Greet Ann"}}],
        "refused": [
            ToolRun(
                use=ToolUse(name="refuse", server="s", arguments=arguments, result=None, error=error),
                retryable=True,
            )
            for arguments, error in (({"reason": "no stock"}, "no stock"), ({}, missing))
        ],
    }


@TRANSPORTS
def test_calls_share_a_connection_and_run_at_the_same_time(here: Surroundings, transport: str, tmp_path: Path) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        slow = {"path": str(tmp_path / "go"), "started": str(tmp_path / "started")}
        waiting = asyncio.create_task(server.call_tool("wait_for_file", slow, None))
        quick = await asyncio.gather(*[server.call_tool("add", {"a": n, "b": n}, None) for n in range(8)])
        (tmp_path / "go").touch()
        return [value_of(answer) for answer in quick], value_of(await waiting)

    here.start(transport)
    assert here.use(action) == ([0, 2, 4, 6, 8, 10, 12, 14], "there")


@TRANSPORTS
def test_a_deadline_ends_a_call_and_the_server_hears_of_it(here: Surroundings, transport: str, tmp_path: Path) -> None:
    started = tmp_path / "started"

    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        call = server.call_tool("wait_for_file", {"path": str(tmp_path / "never"), "started": str(started)}, None)
        task = asyncio.create_task(call)
        while not started.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while started.exists():  # the server removes it when it is told
            await asyncio.sleep(0.01)
        return value_of(await server.call_tool("add", {"a": 1, "b": 1}, None))

    here.start(transport)
    assert here.use(action) == 2


def test_a_server_over_stdio_that_dies_in_a_call_is_explained_and_started_again(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        with pytest.raises(ToolError) as error:
            await server.call_tool("die", {"code": 5}, None)
        return (
            error.value.message,
            error.value.retryable,
            value_of(await server.call_tool("add", {"a": 1, "b": 1}, None)),
        )

    here.stdio("plain")
    command = f"{sys.executable} {SERVERS / 'plain.py'}"
    message = f"MCP server s ({command}) failed: it ended with exit code 5; the last lines of its stderr:\n  disk full"
    assert here.use(action) == (message, False, 2)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_service_that_dies_in_a_call_is_explained_and_connected_to_again(here: Surroundings, transport: str) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        with pytest.raises(ToolError) as error:
            await server.call_tool("die", {"code": 5}, None)
        here.restart()
        return error.value.message, value_of(await server.call_tool("add", {"a": 1, "b": 1}, None))

    here.service(transport)
    message, value = here.use(action)
    assert re.sub(r":\d+", ":PORT", message) in (
        "MCP server s (http://127.0.0.1:PORT) failed: the connection was closed",
        "MCP server s (http://127.0.0.1:PORT) failed: "
        "lost the connection to 127.0.0.1:PORT: it was closed before the response was complete",
    )
    assert value == 2


def test_a_service_that_was_restarted_between_calls_is_connected_to_again(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        first = value_of(await server.call_tool("add", {"a": 1, "b": 1}, None))
        here.restart()
        return first, value_of(await server.call_tool("add", {"a": 2, "b": 2}, None))

    here.service("http")
    assert here.use(action) == (2, 4)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_service_that_is_gone_is_named(here: Surroundings, transport: str) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message, error.value.code

    here.service(transport)
    here.close()
    message, code = here.use(action)
    assert (re.sub(r":\d+", ":PORT", message), code) == (
        "MCP server s (http://127.0.0.1:PORT) failed: cannot connect to 127.0.0.1:PORT: Connection refused",
        502,
    )


def test_a_wrong_path_is_the_status_of_the_answer(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message

    here.start("http", endpoint="nowhere")
    assert re.sub(r":\d+", ":PORT", here.use(action)) == (
        "MCP server s (http://127.0.0.1:PORT) failed: it answered HTTP 404 Not Found: Not Found"
    )


def test_a_service_is_given_the_token_and_messages_do_not_have_it(here: Surroundings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        definition = {
            "transport": "http",
            "url": f"http://127.0.0.1:{port}/mcp?key=$ENV",
            "authorization_token": "$ENV.SHOP_TOKEN",
        }
        write(here.root, {"mcps/s.mcp.yao": definition})

        async def action(servers: Servers) -> Any:
            seen = []

            async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                seen.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
                writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 8\r\n\r\nnot you!")
                await writer.drain()
                writer.close()

            async with await asyncio.start_server(refuse, sock=listening):
                with pytest.raises(ToolError) as error:
                    await servers.server("s").list_tools()
            return error.value.message, re.findall("authorization: .*", seen[0])

        message, headers = here.use(action, {"SHOP_TOKEN": "s3cret"})
    assert message == (
        f"MCP server s (http://127.0.0.1:{port}/mcp) failed: it answered HTTP 401 Unauthorized: not you!"
    )
    assert [header.strip() for header in headers] == ["authorization: bearer s3cret"]


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        pytest.param({"command": "no-such-command", "arguments": ["$ENV.KEY"]}, "MCP server s (no-such-command $ENV.KEY) failed: command not found: no-such-command", id="no such command"),
        pytest.param({"command": "/etc"}, "MCP server s (/etc) failed: [Errno 13] Permission denied: '/etc'", id="not executable"),
        pytest.param({"command": "sh", "arguments": ["-c", "echo $KEY; exit 4"], "env": {"KEY": "$ENV.KEY"}}, "MCP server s (sh -c echo $KEY; exit 4) failed: it ended with exit code 4; the last lines of its stderr:\n  (on stdout, which is for the protocol: value)", id="prose instead of a protocol"),
        pytest.param({"command": "sh", "arguments": ["-c", "kill -9 $$"]}, "MCP server s (sh -c kill -9 $$) failed: it ended by signal 9", id="killed"),
        pytest.param({"command": "true"}, "MCP server s (true) failed: the connection was closed", id="ends at once"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_start_says_why(here: Surroundings, definition: Any, message: str) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message

    write(here.root, {"mcps/s.mcp.yao": {"transport": "stdio", **definition}})
    assert here.use(action, {"KEY": "value", "PATH": "/usr/bin:/bin"}) == message


def test_a_pipe_that_breaks_while_something_is_sent_is_a_closed_connection() -> None:
    async def fail() -> None:
        raise anyio.BrokenResourceError

    @asynccontextmanager
    async def open(ending: Ending) -> AsyncIterator[Any]:
        sent, received = anyio.create_memory_object_stream[Any]()
        async with received, anyio.create_task_group() as group:
            group.start_soon(fail)
            yield received.clone(), sent

    async def reason() -> str:
        connection = Connection(open, 5)
        with pytest.raises(ConnectionLostError) as error:
            await connection.ask("list_tools")
        await connection.close()
        return str(error.value)

    assert asyncio.run(reason()) == "the connection was closed"


def test_what_a_server_started_is_ended_when_it_has_left(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        assert marked(here.mark) == []
        return error.value.message.partition(" failed: ")[2]

    here.stdio("rude", "leaves")
    assert here.use(action) == "it ended with exit code 3; the last lines of its stderr:\n  no licence"


@pytest.mark.parametrize("behaviour", ["mute", "deaf"])
def test_a_timeout_bounds_a_server(here: Surroundings, behaviour: str) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        return error.value.message.partition(" did not ")[2], error.value.code, error.value.retryable

    here.stdio("rude", behaviour, timeout="500ms")
    assert here.use(action) == ("answer within 0.5 s", 504, False)


def test_a_server_that_does_not_want_to_end_is_killed(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        return value_of(await servers.server("s").call_tool("one", {}, None))

    here.stdio("rude", "stubborn")
    assert here.use(action) == {}


@pytest.mark.parametrize("seconds", [0, 0.5])
def test_an_interrupted_run_leaves_no_process(here: Surroundings, seconds: float) -> None:
    async def main() -> None:
        servers = Servers(here.root, {}, lambda *_: None)  # type: ignore[arg-type,return-value]
        server = servers.server("s")  # loads the SDK
        asyncio.get_running_loop().call_later(seconds, asyncio.current_task().cancel)  # type: ignore[union-attr]
        try:
            await server.list_tools()
        finally:
            await servers.close()

    here.stdio("rude", "mute")
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
