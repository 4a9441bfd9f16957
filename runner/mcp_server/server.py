"""The server: requests of the Model Context Protocol, over standard input and output or over HTTP on this machine."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import anyio
import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server

from runner.errors import ConfigurationError, RunnerError, sentences
from runner.mcp_server.actions import Actions
from runner.mcp_server.answers import Answers, nearest, shown
from runner.mcp_server.running import Call
from runner.mcp_server.tools import BY_NAME, INSTRUCTIONS, TOOLS
from runner.version import VERSION

LAST_CALLS = 1.0
"""Seconds that calls have when the input has ended: so long clients wait for the end of a server."""


def server_of(actions: Actions, clean: Any, asks_models: bool) -> Server[Any, Any]:
    """The server; `clean` takes secrets out of a text."""
    server: Server[Any, Any] = Server("yao-test", VERSION, INSTRUCTIONS)
    answers = Answers()

    @server.list_tools()  # type: ignore[no-untyped-call,untyped-decorator]
    async def list_tools() -> list[types.Tool]:
        return [
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                inputSchema=tool.input_schema,
                outputSchema=tool.output_schema,
                annotations=types.ToolAnnotations(
                    readOnlyHint=not tool.writes,
                    destructiveHint=tool.writes or None,
                    openWorldHint=tool.runs and asks_models,
                ),
            )
            for tool in TOOLS
        ]

    async def tell(seconds: float, said: str) -> None:
        context = server.request_context
        token = context.meta.progressToken if context.meta else None
        if token is not None:
            await context.session.send_progress_notification(
                token, round(seconds, 1), None, said, str(context.request_id)
            )

    @server.call_tool(validate_input=False)  # type: ignore[untyped-decorator]
    async def call_tool(name: str, given: dict[str, Any]) -> types.CallToolResult:
        try:
            tool = BY_NAME.get(name)
            if tool is None:
                raise ConfigurationError(f'There is no tool "{name}"', nearest(name, BY_NAME, "tools"))
            arguments = tool.checked(given)
            if "cursor" in arguments:
                text, found = answers.more(name, arguments["cursor"])
            else:

                async def make(call: Call) -> object:
                    return answers.begin(name, await actions.of(name)(call, **arguments))

                key = f"{name} {shown(sorted(arguments.items()))}"
                text, found = await actions.calls.answer(key, make, tell)  # type: ignore[misc]
        except RunnerError as error:
            said = sentences(error.message, error.hint)
            return types.CallToolResult(content=[types.TextContent(type="text", text=clean(said))], isError=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=clean(text))], structuredContent=found, isError=False
        )

    return server


async def serve_stdio(server: Server[Any, Any], actions: Actions) -> None:
    """Serves until standard input ends. What anything else prints goes to standard error."""
    options = InitializationOptions(
        server_name="yao-test",
        server_version=VERSION,
        capabilities=server.get_capabilities(NotificationOptions(), {}),
        instructions=INSTRUCTIONS,
    )

    with _own_output() as output, open(0, encoding="utf-8", errors="replace", closefd=False) as lines:
        reader, writer = anyio.wrap_file(lines), anyio.wrap_file(output)

        class Input:
            async def __aiter__(self) -> AsyncIterator[str]:
                async for line in reader:
                    yield line
                await actions.calls.end(LAST_CALLS)

        async with stdio_server(Input(), writer) as streams:  # type: ignore[arg-type]
            await server.run(streams[0], streams[1], options)


@contextmanager
def _own_output() -> Iterator[TextIO]:
    """Standard output, while what anything else writes there goes to standard error."""
    with open(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(2, 1)
        try:
            yield output
        finally:
            os.dup2(output.fileno(), 1)
