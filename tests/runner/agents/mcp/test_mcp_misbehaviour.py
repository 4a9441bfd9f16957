"""Real MCP servers that answer what they should not: errors, floods, prose, wrong answers, large schemas."""

from __future__ import annotations

import asyncio
import re
import resource
import socket
from typing import Any

import pytest
from mcp_application import write
from mcp_surroundings import Surroundings
from odd_answers import ANSWERS

from runner.agents.mcp.base import ToolError, value_of
from runner.agents.mcp.servers import Servers
from runner.agents.mcp.toolbox import open_toolbox


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
        return [(await box.run("s__one", "{}", None)).use.error for _ in range(2)]

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

    here.stdio("rude", "flooding", timeout="400ms")
    assert here.use(action) == ("answer within 0.4 s", True)


def test_a_line_without_end_ends_the_server(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        with pytest.raises(ToolError) as error:
            await servers.server("s").call_tool("one", {}, None)
        return error.value.message.partition(" failed: ")[2]

    here.stdio("rude", "endless")
    assert here.use(action) == "it wrote a line of more than 16 MB"


def test_questions_that_nobody_knows_are_refused_and_wrong_answers_passed_over(here: Surroundings) -> None:
    async def action(servers: Servers) -> Any:
        return value_of(await servers.server("s").call_tool("one", {"code": "17"}, None))

    here.stdio("rude", "asking")
    assert here.use(action) == {"code": "17"}


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
    assert here.use(action) == f"its response does not follow the protocol: {reply}"


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
    assert here.use(action) == f"its response is invalid: {odd}"
