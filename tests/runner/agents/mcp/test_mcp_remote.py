"""Real servers over stdio, SSE and streamable HTTP: what works, what breaks, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import resource
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import PATIENCE, eventually
from mcp_application import MARK, SERVERS, marked, program, use, write

from runner.agents.mcp.base import ToolError
from runner.agents.mcp.servers import Servers
from runner.agents.mcp.toolbox import ToolRun, open_toolbox
from runner.assertions.base import ToolUse
from runner.errors import ConfigurationError


class Surroundings:
    """An application with one server `s`, and the services that it talks to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mark = uuid.uuid4().hex
        self._services: list[tuple[subprocess.Popen[bytes], socket.socket]] = []

    def stdio(self, name: str, *arguments: str, **more: Any) -> None:
        write(self.root, {"mcps/s.mcp.yao": {**program(name, *arguments, mark=self.mark), **more}})

    def service(self, transport: str, **more: Any) -> None:
        """Starts the server of `servers/tools.py` behind a socket that listens already."""
        listening = socket.create_server(("127.0.0.1", 0))
        self._start(transport, listening)
        port = listening.getsockname()[1]
        endpoint = "mcp" if transport == "http" else "sse"
        definition = {"transport": transport, "url": f"http://127.0.0.1:{port}", "endpoint": endpoint, **more}
        write(self.root, {"mcps/s.mcp.yao": definition})

    def restart(self, transport: str) -> None:
        """Starts the service again, behind the same socket."""
        process, listening = self._services[-1]
        process.kill()
        process.wait()
        self._start(transport, listening)

    def stop(self) -> None:
        """Ends the service; its address answers no more."""
        process, listening = self._services.pop()
        process.kill()
        process.wait()
        listening.close()

    def start(self, transport: str) -> None:
        if transport == "stdio":
            self.stdio("tools", "stdio")
        else:
            self.service(transport)

    def use(self, action: Any, variables: Any = None) -> Any:
        async def bounded(servers: Servers) -> Any:
            async with asyncio.timeout(PATIENCE):
                return await action(servers)

        return use(self.root, bounded, variables=variables)

    def close(self) -> None:
        for process, listening in self._services:
            process.kill()
            process.wait()
            listening.close()

    def _start(self, transport: str, listening: socket.socket) -> None:
        number = listening.fileno()
        command = [sys.executable, str(SERVERS / "tools.py"), transport, str(number)]
        process = subprocess.Popen(command, pass_fds=[number], stderr=subprocess.DEVNULL)
        self._services = [(old, other) for old, other in self._services if other is not listening]
        self._services.append((process, listening))


@pytest.fixture
def app(tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[Surroundings]:
    """Checks afterwards that no process is left, and that nothing was said outside of errors."""
    surroundings = Surroundings(tmp_path)
    try:
        yield surroundings
        assert marked(surroundings.mark) == []
        assert capfd.readouterr() == ("", "")
        assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    finally:
        surroundings.close()


TRANSPORTS = pytest.mark.parametrize("transport", ["stdio", "http", "sse"])


@TRANSPORTS
def test_tools_resources_and_prompts_of_a_real_server(app: Surroundings, transport: str) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        tools = await server.list_tools()
        return {
            "tools": [tool.name for tool in tools],
            "add": (tools[0].description, sorted(tools[0].schema["properties"])),
            "sum": (await server.call_tool("add", {"a": 2, "b": 3}, None)).value,
            "order": (await server.call_tool("order", {"id": 7}, None)).value,
            "resources": [item["uri"] for item in await server.list_resources()],
            "read": await server.read_resource("orders://7", None),
            "prompts": [item["name"] for item in await server.list_prompts()],
            "prompt": (await server.get_prompt("greet", {"name": "Ann"}))["messages"],
        }

    app.start(transport)
    assert app.use(action) == {
        "tools": ["add", "order", "refuse", "die", "wait_for_file", "environment"],
        "add": ("Adds two numbers.", ["a", "b"]),
        "sum": 5,
        "order": {"id": 7, "paid": True},
        "resources": ["about://shop", "orders://{id}"],
        "read": {"contents": [{"uri": "orders://7", "mimeType": "text/plain", "text": "order 7"}]},
        "prompts": ["greet"],
        "prompt": [{"role": "user", "content": {"type": "text", "text": "Greet Ann"}}],
    }


@TRANSPORTS
def test_a_tool_that_fails_is_told_to_the_model(app: Surroundings, transport: str) -> None:
    async def action(servers: Servers) -> Any:
        box = await open_toolbox(servers, [{"s": ["refuse"]}], "package.yao")
        return [await box.run("s__refuse", '{"reason": "no stock"}', None), await box.run("s__refuse", "{}", None)]

    app.start(transport)
    missing = "Cannot call tool \"refuse\" of MCP server s: validation failed: value: 'reason' is a required property"
    assert app.use(action) == [
        ToolRun(
            use=ToolUse(name="refuse", server="s", arguments={"reason": "no stock"}, result=None, error="no stock"),
            content="Error: no stock",
            retryable=True,
        ),
        ToolRun(
            use=ToolUse(name="refuse", server="s", arguments={}, result=None, error=missing),
            content=f"Error: {missing}",
            retryable=True,
        ),
    ]


@TRANSPORTS
def test_calls_share_a_connection_and_run_at_the_same_time(app: Surroundings, transport: str, tmp_path: Path) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        slow = {"path": str(tmp_path / "go"), "started": str(tmp_path / "started")}
        waiting = asyncio.create_task(server.call_tool("wait_for_file", slow, None))
        quick = await asyncio.gather(*[server.call_tool("add", {"a": n, "b": n}, None) for n in range(8)])
        (tmp_path / "go").touch()
        return [answer.value for answer in quick], (await waiting).value

    app.start(transport)
    assert app.use(action) == ([0, 2, 4, 6, 8, 10, 12, 14], "there")


@TRANSPORTS
def test_a_deadline_ends_a_call_and_the_server_hears_of_it(app: Surroundings, transport: str, tmp_path: Path) -> None:
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
        return (await server.call_tool("add", {"a": 1, "b": 1}, None)).value

    app.start(transport)
    assert app.use(action) == 2


def test_a_server_over_stdio_that_dies_in_a_call_is_explained_and_started_again(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        with pytest.raises(ToolError) as error:
            await server.call_tool("die", {"code": 5}, None)
        return error.value.message, error.value.retryable, (await server.call_tool("add", {"a": 1, "b": 1}, None)).value

    app.stdio("tools", "stdio")
    command = f"{sys.executable} {SERVERS / 'tools.py'} stdio"
    message = f"MCP server s ({command}) failed: it ended with exit code 5; the last lines of its stderr:\n  disk full"
    assert app.use(action) == (message, False, 2)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_service_that_dies_in_a_call_is_explained_and_connected_to_again(app: Surroundings, transport: str) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        with pytest.raises(ToolError) as error:
            await server.call_tool("die", {"code": 5}, None)
        app.restart(transport)
        return error.value.message, (await server.call_tool("add", {"a": 1, "b": 1}, None)).value

    app.service(transport)
    message, value = app.use(action)
    assert re.sub(r":\d+", ":PORT", message) in (
        "MCP server s (http://127.0.0.1:PORT) failed: the connection was closed",
        "MCP server s (http://127.0.0.1:PORT) failed: "
        "lost the connection to 127.0.0.1:PORT: it was closed before the answer was complete",
    )
    assert value == 2


def test_a_service_that_was_restarted_between_calls_is_connected_to_again(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        first = (await server.call_tool("add", {"a": 1, "b": 1}, None)).value
        app.restart("http")
        return first, (await server.call_tool("add", {"a": 2, "b": 2}, None)).value

    app.service("http")
    assert app.use(action) == (2, 4)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_service_that_is_gone_is_named(app: Surroundings, transport: str) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message, error.value.code

    app.service(transport)
    app.stop()
    message, code = app.use(action)
    assert (re.sub(r":\d+", ":PORT", message), code) == (
        "MCP server s (http://127.0.0.1:PORT) failed: cannot connect to 127.0.0.1:PORT: Connection refused",
        502,
    )


def test_a_wrong_path_is_the_status_of_the_answer(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message

    app.service("http", endpoint="nowhere")
    assert re.sub(r":\d+", ":PORT", app.use(action)) == (
        "MCP server s (http://127.0.0.1:PORT) failed: it answered HTTP 404 Not Found: Not Found"
    )


def test_a_service_is_given_the_token_and_messages_do_not_have_it(app: Surroundings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        definition = {
            "transport": "http",
            "url": f"http://127.0.0.1:{port}/mcp?key=$ENV",
            "authorization_token": "$ENV.SHOP_TOKEN",
        }
        write(app.root, {"mcps/s.mcp.yao": definition})

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

        message, headers = app.use(action, {"SHOP_TOKEN": "s3cret"})
    assert message == (
        f"MCP server s (http://127.0.0.1:{port}/mcp) failed: it answered HTTP 401 Unauthorized: not you!"
    )
    assert [header.strip() for header in headers] == ["authorization: bearer s3cret"]


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        pytest.param({"command": "no-such-command", "arguments": ["$ENV.KEY"]}, "MCP server s (no-such-command $ENV.KEY) failed: there is no such command: no-such-command", id="no such command"),
        pytest.param({"command": "/etc"}, "MCP server s (/etc) failed: [Errno 13] Permission denied: '/etc'", id="not executable"),
        pytest.param({"command": "sh", "arguments": ["-c", "echo $KEY; exit 4"], "env": {"KEY": "$ENV.KEY"}}, "MCP server s (sh -c echo $KEY; exit 4) failed: it ended with exit code 4; the last lines of its stderr:\n  (on stdout, which is for the protocol: value)", id="prose instead of a protocol"),
        pytest.param({"command": "sh", "arguments": ["-c", "kill -9 $$"]}, "MCP server s (sh -c kill -9 $$) failed: it ended by signal 9", id="killed"),
        pytest.param({"command": "true"}, "MCP server s (true) failed: the connection was closed", id="ends at once"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_start_says_why(app: Surroundings, definition: Any, message: str) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message

    write(app.root, {"mcps/s.mcp.yao": {"transport": "stdio", **definition}})
    assert app.use(action, {"KEY": "value", "PATH": "/usr/bin:/bin"}) == message


def test_what_a_server_started_is_ended_when_it_has_left(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        assert marked(app.mark) == []
        return error.value.message.partition(" failed: ")[2]

    app.stdio("rude", "leaves")
    assert app.use(action) == "it ended with exit code 3; the last lines of its stderr:\n  no licence"


@pytest.mark.parametrize("behaviour", ["mute", "deaf"])
def test_a_timeout_bounds_a_server(app: Surroundings, behaviour: str) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        return error.value.message.partition(" did not ")[2], error.value.code, error.value.retryable

    app.stdio("rude", behaviour, timeout="500ms")
    assert app.use(action) == ("answer within 0.5 s", 504, False)


def test_a_server_that_does_not_want_to_end_is_killed(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        return (await servers.server("s").call_tool("one", {}, None)).value

    app.stdio("rude", "stubborn")
    assert app.use(action) == {}


@pytest.mark.parametrize("seconds", [0, 0.5])
def test_an_interrupted_run_leaves_no_process(app: Surroundings, seconds: float) -> None:
    async def main() -> None:
        servers = Servers(app.root, {}, lambda *_: None)  # type: ignore[arg-type,return-value]
        server = servers.server("s")  # loads the SDK
        asyncio.get_running_loop().call_later(seconds, asyncio.current_task().cancel)  # type: ignore[union-attr]
        try:
            await server.list_tools()
        finally:
            await servers.close()

    app.stdio("rude", "mute")
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


@pytest.mark.parametrize("code", [-32000, -32001, -32050, 32600, 1])
def test_an_error_of_the_server_is_one_of_the_call_and_ends_no_connection(app: Surroundings, code: int) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        said = []
        for _ in range(2):
            with pytest.raises(ToolError) as error:
                await server.call_tool("one", {}, None)
            said.append((error.value.message.partition(" failed: ")[2], error.value.code))
        return said

    app.stdio("rude", "refusing", "tools/call", str(code), "the quota is used up, says")
    first, second = app.use(action)
    assert re.fullmatch(r"the quota is used up, says \d+", first[0])
    assert first == second
    assert first[1] == 502


def test_a_server_that_calls_its_error_a_closed_connection_is_believed_to_live(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        box = await open_toolbox(servers, ["s"], "package.yao")
        return [(await box.run("s__one", "{}", None)).content for _ in range(2)]

    app.stdio("rude", "refusing", "tools/call", "-32000", "Connection closed")
    first, second = app.use(action)
    assert re.search(r"failed: Connection closed \d+$", first)
    assert first == second


def test_a_server_that_refuses_the_greeting_says_why(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message

    app.stdio("rude", "refusing", "initialize", "-32000", "no licence on")
    assert re.search(r" failed: no licence on \d+$", app.use(action))


def test_a_flood_is_bounded_by_the_time_of_the_call_and_leaves_nothing(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        return error.value.message.partition(" did not ")[2], grown < 50_000

    app.stdio("rude", "flooding", timeout="1s")
    assert app.use(action) == ("answer within 1 s", True)


def test_a_line_without_end_ends_the_server(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        return error.value.message.partition(" failed: ")[2]

    app.stdio("rude", "endless")
    assert app.use(action) == "it wrote a line of more than 16 MB"


def test_questions_that_nobody_knows_are_refused_and_wrong_answers_passed_over(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        return (await servers.server("s").call_tool("one", {"code": "17"}, None)).value

    app.stdio("rude", "asking")
    assert app.use(action) == {"code": "17"}


ANSWERS = {
    "prose": (b"200 OK", b"text/html", b"<p>Welcome</p>", "it answered text/html that is not of the protocol: <p>Welcome</p>"),
    "broken JSON": (b"200 OK", b"application/json", b'{"id": 1', 'it answered application/json that is not of the protocol: {"id": 1'),
    "no type": (b"200 OK", b"", b"", "it answered no content-type that is not of the protocol: "),
    "events that break off": (b"200 OK", b"text/event-stream", b"event: message\ndata: {", "the server ended its answer too early"),
    "a failure": (b"500 Oh", b"text/plain", b"no\n disk", "it answered HTTP 500 Oh: no disk"),
    "a bad gateway": (b"502 Bad Gateway", b"text/html", b"", "it answered HTTP 502 Bad Gateway"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_a_service_that_answers_something_else_fails_the_call_at_once(app: Surroundings, name: str) -> None:
    status, kind, content, message = ANSWERS[name]

    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 %s\r\ncontent-length: %d\r\nconnection: close\r\n" % (status, len(content))
        writer.write(head + (b"content-type: %s\r\n" % kind if kind else b"") + b"\r\n" + content)
        await writer.drain()
        writer.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        write(app.root, {"mcps/s.mcp.yao": {"transport": "http", "url": url}})

        async def action(servers: Servers) -> Any:
            async with await asyncio.start_server(lie, sock=listening):
                with pytest.raises(ToolError) as error:
                    await servers.server("s").list_tools()
            return error.value.message

        assert app.use(action) == f"MCP server s ({url}) failed: {message}"


GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "plain", "version": "1"}}


def test_answers_in_one_piece_belong_to_a_session_as_well_and_a_failing_call_ends_no_other(app: Surroundings) -> None:
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
            write(app.root, {"mcps/s.mcp.yao": {"transport": "http", "url": url}})
            server = servers.server("s")
            prompts, tools = await asyncio.gather(server.list_prompts(), server.list_tools(), return_exceptions=True)
            await server.close()
        return prompts, str(tools).partition(" failed: ")[2], sessions[0], set(sessions[1:])

    assert app.use(action) == ([], "it answered HTTP 500 Oh: no disk", False, {True})


def test_services_are_reached_through_the_proxy_of_the_application(app: Surroundings) -> None:
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

    write(app.root, {"mcps/s.mcp.yao": {"transport": "http", "url": "http://tools.example.com/mcp"}})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = f"http://127.0.0.1:{listening.getsockname()[1]}"
        message = app.use(action, {"HTTP_PROXY": proxy})
    assert message == "MCP server s (http://tools.example.com/mcp) failed: it answered HTTP 503 Busy"
    assert seen[0] == "POST http://tools.example.com/mcp HTTP/1.1"


def test_prose_and_unknown_notifications_are_passed_over(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        # Two pages of tools; no resources and prompts; a pattern that only JavaScript knows.
        return (
            [tool.name for tool in await server.list_tools()],
            await server.list_resources(),
            await server.list_prompts(),
            (await server.call_tool("two", {"code": "07"}, None)).value,
        )

    app.stdio("rude", "noisy")
    assert app.use(action) == (["one", "two"], [], [], {"code": "07"})


def test_a_server_is_given_little_of_the_environment(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        return [(await server.call_tool("environment", {"name": name}, None)).value for name in ("HOME", "KEY", "OWN")]

    app.stdio("tools", "stdio", env={MARK: app.mark, "OWN": "$ENV.KEY"})
    assert app.use(action, {"HOME": "/home/x", "KEY": "value"}) == ["/home/x", "", "value"]


def test_an_unknown_tool_of_a_real_server_is_named_with_the_closest(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("ad", {}, None)
        return error.value.message, error.value.hint, error.value.code

    app.stdio("tools", "stdio")
    assert app.use(action) == (
        'Cannot call tool "ad" of MCP server s: there is no such tool',
        'Did you mean "add"?',
        404,
    )


def test_without_the_sdk_the_package_to_install_is_named(app: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def action(servers: Servers) -> Any:
        return servers.server("s")

    app.stdio("tools", "stdio")
    for name in [
        name for name in sys.modules if name.startswith(("runner.agents.mcp.client", "runner.agents.mcp.remote"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigurationError) as error:
        app.use(action)
    assert (error.value.message, error.value.hint) == (
        f"Cannot use MCP server s ({app.root}/mcps/s.mcp.yao): transport stdio needs the package mcp",
        "Install it with: pip install 'yao-test[mcp]'",
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
def test_nothing_is_written_to_stderr(app: Surroundings, ending: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    app.service("http", endpoint="nowhere")
    (app.root / "mcps/s.mcp.yao").rename(app.root / "mcps/wrong.mcp.yao")
    programs = {"noisy": ("rude", "noisy"), "mute": ("rude", "mute"), "tools": ("tools", "stdio")}
    definitions = {id: program(*arguments, mark=app.mark) for id, arguments in programs.items()}
    definitions["gone"] = {"transport": "sse", "url": f"http://127.0.0.1:{port}"}
    definitions["missing"] = {"transport": "stdio", "command": "no-such-command"}
    write(app.root, {f"mcps/{id}.mcp.yao": definition for id, definition in definitions.items()})
    command = [sys.executable, "-W", "error", "-c", BROKEN, str(app.root), ending]
    result = subprocess.run(command, cwd=SERVERS.parents[3], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout.split("\n"), result.stderr) == (
        0,
        ["noisy 400", "tools 502", "gone 502", "missing 502", "wrong 502", ""],
        "",
    )
    eventually(lambda: marked(app.mark) == [], "the guards end what is left")


def test_schemas_of_a_server_hold_nothing_up(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        others = asyncio.create_task(turn())
        server = servers.server("s")
        answers = [(await server.call_tool(name, {"a": 1}, None)).value for name in ("take", "give", "match")]
        others.cancel()
        return answers, turns > 50

    app.stdio("rude", "hostile")
    assert app.use(action) == (["said"] * 3, True)


def test_an_answer_that_is_not_as_its_schema_says_is_an_error(app: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        said = []
        for name in ("wrong", "nothing"):
            with pytest.raises(ToolError) as caught:
                await servers.server("s").call_tool(name, {}, None)
            said.append((caught.value.code, caught.value.message.partition("outputSchema says: ")[2]))
        return said

    app.stdio("rude", "careless")
    wrong = f"validation failed: said: '{'a' * 60}!' is not of type 'integer'"
    assert app.use(action) == [(502, wrong), (502, "there is no structuredContent")]
