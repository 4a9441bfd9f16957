"""A client of `yao-test mcp`: the official one, over standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from command import COMMAND, PATIENCE, Application
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult

Talk = Callable[[ClientSession], Awaitable[Any]]


@asynccontextmanager
async def session(app: Application, *flags: str, **variables: str) -> AsyncIterator[ClientSession]:
    """A session with a server of its own."""
    program, *words = COMMAND
    server = StdioServerParameters(
        command=program, args=[*words, "mcp", *flags], cwd=app.root, env={**app.environment, **variables}
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


def talk(app: Application, say: Talk, *flags: str, **variables: str) -> Any:
    """What comes of a talk with a server."""

    async def whole() -> Any:
        async with asyncio.timeout(PATIENCE), session(app, *flags, **variables) as client:
            return await say(client)

    return asyncio.run(whole())


def text_of(result: CallToolResult) -> str:
    """The text of an answer."""
    (part,) = result.content
    assert part.type == "text"
    return part.text
