"""A client of `yao-test mcp`: the official one, over standard input and output of a forked command."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import Any, NamedTuple

import anyio
from command import PATIENCE, Application
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from mcp.types import CallToolResult, JSONRPCMessage

Talk = Callable[[ClientSession], Awaitable[Any]]
LONGEST = 1 << 24
"""Bytes of a message."""


class Session(NamedTuple):
    """A session, and the process ID of its server."""

    client: ClientSession
    pid: int


@asynccontextmanager
async def session(app: Application, *flags: str) -> AsyncIterator[Session]:
    """A session with a server of its own."""
    theirs, ours = os.pipe()
    process = app.start("mcp", *flags, stdin=theirs, stderr=asyncio.subprocess.DEVNULL)
    os.close(theirs)
    heard_at, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said, said_at = anyio.create_memory_object_stream[SessionMessage](0)
    lines = asyncio.StreamReader(LONGEST)
    protocol = asyncio.StreamReaderProtocol(lines)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, process.stdout)

    async def hear() -> None:
        async with heard_at:
            while line := await lines.readline():
                await heard_at.send(SessionMessage(JSONRPCMessage.model_validate_json(line)))

    async def say() -> None:
        async for one in said_at:
            text = one.message.model_dump_json(by_alias=True, exclude_none=True)
            await asyncio.to_thread(os.write, ours, text.encode() + b"\n")

    with closing(transport):
        async with anyio.create_task_group() as work, heard, said, said_at:
            work.start_soon(hear)
            work.start_soon(say)
            try:
                async with ClientSession(heard, said) as client:
                    await client.initialize()
                    yield Session(client=client, pid=process.pid)
            finally:
                os.close(ours)
                await asyncio.to_thread(process.wait, PATIENCE)
                work.cancel_scope.cancel()


def talk(app: Application, say: Talk, *flags: str) -> Any:
    """What comes of a talk with a server."""

    async def whole() -> Any:
        async with asyncio.timeout(PATIENCE), session(app, *flags) as one:
            return await say(one.client)

    return asyncio.run(whole())


def text_of(result: CallToolResult) -> str:
    """The text of an answer."""
    (part,) = result.content
    assert part.type == "text"
    return part.text
