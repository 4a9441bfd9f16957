"""Real MCP servers that answer what they should not: errors, floods, prose, wrong answers, large schemas."""

from __future__ import annotations

import asyncio
import json
import re
import resource
import socket
import subprocess
import sys
from typing import Any

import pytest
from command import eventually
from mcp_application import MARK, SERVERS, marked, program, write
from mcp_surroundings import Surroundings

from runner.agents.mcp.base import ToolError
from runner.agents.mcp.servers import Servers
from runner.agents.mcp.toolbox import open_toolbox
from runner.errors import ConfigurationError


@pytest.mark.parametrize("code", [-32000, -32001, -32050, 32600, 1])
def test_an_error_of_the_server_is_one_of_the_call_and_ends_no_connection(here: Surroundings, code: int) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        said = []
        for _ in range(2):
            with pytest.raises(ToolError) as error:
                await server.call_tool("one", {}, None)
            said.append((error.value.message.partition(" failed: ")[2], error.value.code))
        return said

    here.stdio("rude", "refusing", "tools/call", str(code), "the quota is used up, says")
    first, second = here.use(action)
    assert re.fullmatch(r"the quota is used up, says \d+", first[0])
    assert first == second
    assert first[1] == 502


def test_a_server_that_calls_its_error_a_closed_connection_is_believed_to_live(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        box = await open_toolbox(servers, ["s"], "package.yao")
        return [(await box.run("s__one", "{}", None)).content for _ in range(2)]

    here.stdio("rude", "refusing", "tools/call", "-32000", "Connection closed")
    first, second = here.use(action)
    assert re.search(r"failed: Connection closed \d+$", first)
    assert first == second


def test_a_server_that_refuses_the_greeting_says_why(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message

    here.stdio("rude", "refusing", "initialize", "-32000", "no licence on")
    assert re.search(r" failed: no licence on \d+$", here.use(action))


def test_a_flood_is_bounded_by_the_time_of_the_call_and_leaves_nothing(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        return error.value.message.partition(" did not ")[2], grown < 50_000

    here.stdio("rude", "flooding", timeout="1s")
    assert here.use(action) == ("answer within 1 s", True)


def test_a_line_without_end_ends_the_server(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        return error.value.message.partition(" failed: ")[2]

    here.stdio("rude", "endless")
    assert here.use(action) == "it wrote a line of more than 16 MB"


def test_questions_that_nobody_knows_are_refused_and_wrong_answers_passed_over(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        return (await servers.server("s").call_tool("one", {"code": "17"}, None)).value

    here.stdio("rude", "asking")
    assert here.use(action) == {"code": "17"}


ANSWERS = {
    "prose": (b"200 OK", b"text/html", b"<p>Welcome</p>", "it answered text/html that is not of the protocol: <p>Welcome</p>"),
    "broken JSON": (b"200 OK", b"application/json", b'{"id": 1', 'it answered application/json that is not of the protocol: {"id": 1'),
    "no result": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "result": null}', 'it answered application/json that is not of the protocol: {"jsonrpc": "2.0", "id": 0, "result": null}'),
    "no error": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "error": {"code": "x"}}', 'it answered application/json that is not of the protocol: {"jsonrpc": "2.0", "id": 0, "error": {"code": "x"}}'),
    "another request": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 7, "result": {}}', 'it answered application/json that is not of the protocol: {"jsonrpc": "2.0", "id": 7, "result": {}}'),
    "half a letter": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "result": {"a": "\\ud800"}}', 'it answered application/json that is not of the protocol: {"jsonrpc": "2.0", "id": 0, "result": {"a": "\\ud800"}}'),
    "a redirect to nowhere": (b"307 Temporary Redirect", b"", b"", "it answered HTTP 307 Temporary Redirect"),
    "no type": (b"200 OK", b"", b"", "it answered no content-type that is not of the protocol: "),
    **{
        f"{name} as an event": (b"200 OK", b"text/event-stream", b"data: " + reply + b"\n\n", f"it answered text/event-stream that is not of the protocol: {reply.decode()}")
        for name, reply in {
            "no result": b'{"jsonrpc": "2.0", "id": 0, "result": null}',
            "another request": b'{"jsonrpc": "2.0", "id": 7, "result": {}}',
            "no request": b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
            "half a letter": b'{"jsonrpc": "2.0", "id": 0, "result": {"a": "\\ud800"}}',
        }.items()
    },
    "a greeting without a version": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "result": {}}', "its answer is not as it should be: protocolVersion is missing"),
    "events that break off": (b"200 OK", b"text/event-stream", b"event: message\ndata: {", "the server ended its answer too early"),
    "a failure": (b"500 Oh", b"text/plain", b"no\n disk", "it answered HTTP 500 Oh: no disk"),
    "a bad gateway": (b"502 Bad Gateway", b"text/html", b"", "it answered HTTP 502 Bad Gateway"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_a_service_that_answers_something_else_fails_the_call_at_once(here: Surroundings, name: str) -> None:
    status, kind, content, message = ANSWERS[name]

    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 %s\r\ncontent-length: %d\r\nconnection: close\r\n" % (status, len(content))
        writer.write(head + (b"content-type: %s\r\n" % kind if kind else b"") + b"\r\n" + content)
        await writer.drain()
        writer.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        write(here.root, {"mcps/s.mcp.yao": {"transport": "http", "url": url}})

        async def action(servers: Servers) -> Any:
            async with await asyncio.start_server(lie, sock=listening):
                with pytest.raises(ToolError) as error:
                    await servers.server("s").list_tools()
            return error.value.message

        assert here.use(action) == f"MCP server s ({url}) failed: {message}"


REPLIES = {
    "no result": '{"jsonrpc": "2.0", "id": ID, "result": null}',
    "half a letter": '{"jsonrpc": "2.0", "id": ID, "result": {"tools": [], "a": "\\ud800"}}',
    "neither result nor error": '{"jsonrpc": "2.0", "id": ID}',
    "an error without words": '{"jsonrpc": "2.0", "id": ID, "error": {"code": 1}}',
}


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("method", ["initialize", "tools/list"])
def test_a_program_that_answers_something_else_fails_the_call_at_once(
    here: Surroundings, method: str, name: str
) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").list_tools()
        return error.value.message.partition(" failed: ")[2]

    here.stdio("rude", "wrong", method, REPLIES[name])
    reply = REPLIES[name].replace("ID", "0" if method == "initialize" else "1")
    assert here.use(action) == f"it answered what is not of the protocol: {reply}"


ODD = {
    "no list": ("tools/list", '{"tools": 5}', "tools is 5"),
    "no tools": ("tools/list", '{"tools": [{"name": "one", "inputSchema": {}}, {"name": "two"}]}', "tools.1.inputSchema is missing"),
    "nothing": ("tools/list", "{}", "tools is missing"),
    "no data": ("tools/call", '{"content": [{"type": "image", "mimeType": "image/png"}]}', "content.0.data is missing"),
    "no text": ("tools/call", '{"content": [{"type": "text", "text": null}]}', "content.0.text is null"),
    "no kind": ("tools/call", '{"content": [{"type": "smell"}]}', 'content.0.type is "smell"'),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_about_an_answer_is_said_with_its_place(here: Surroundings, name: str) -> None:
    method, result, odd = ODD[name]

    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        return error.value.message.partition(" failed: ")[2]

    here.stdio("rude", "wrong", method, f'{{"jsonrpc": "2.0", "id": ID, "result": {result}}}')
    assert here.use(action) == f"its answer is not as it should be: {odd}"


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
                return [tool.name for tool in await servers.server("s").list_tools()]

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
            [tool.name for tool in await server.list_tools()],
            await server.list_resources(),
            await server.list_prompts(),
            (await server.call_tool("two", {"code": "07"}, None)).value,
        )

    here.stdio("rude", "noisy")
    assert here.use(action) == (["one", "two"], [], [], {"code": "07"})


def test_a_server_is_given_little_of_the_environment(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        server = servers.server("s")
        return [(await server.call_tool("environment", {"name": name}, None)).value for name in ("HOME", "KEY", "OWN")]

    here.stdio("tools", "stdio", env={MARK: here.mark, "OWN": "$ENV.KEY"})
    assert here.use(action, {"HOME": "/home/x", "KEY": "value"}) == ["/home/x", "", "value"]


def test_an_unknown_tool_of_a_real_server_is_named_with_the_closest(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("ad", {}, None)
        return error.value.message, error.value.hint, error.value.code

    here.stdio("tools", "stdio")
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
    programs = {"noisy": ("rude", "noisy"), "mute": ("rude", "mute"), "tools": ("tools", "stdio")}
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


def test_schemas_of_a_server_hold_nothing_up(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        others = asyncio.create_task(turn())
        server = servers.server("s")
        answers = [(await server.call_tool(name, {"a": 1}, None)).value for name in ("take", "give")]
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
            said.append((caught.value.code, caught.value.message.partition("outputSchema says: ")[2]))
        return said

    here.stdio("rude", "careless")
    wrong = f"validation failed: said: '{'a' * 60}!' is not of type 'integer'"
    assert here.use(action) == [(502, wrong), (502, "there is no structuredContent")]
