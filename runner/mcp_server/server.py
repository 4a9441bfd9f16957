"""The server: requests of the Model Context Protocol, over standard input and output or over HTTP on this machine."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import anyio
import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

from runner.errors import ConfigurationError, RunnerError, sentences
from runner.mcp_server import material
from runner.mcp_server.actions import Actions
from runner.mcp_server.running import Call
from runner.mcp_server.tools import BY_NAME, INSTRUCTIONS, TOOLS, Answers, nearest, shown
from runner.version import VERSION

LAST_CALLS = 2.0
"""Seconds that calls have when the input has ended: so long clients wait for the end of a server."""


def server_of(actions: Actions, clean: Any, asks_models: bool) -> Server[Any, Any]:
    """The server; `clean` takes secrets out of a text."""
    server: Server[Any, Any] = Server("yao-test", VERSION, INSTRUCTIONS)
    answers = Answers()
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # what it has to say, its answers say

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

    @server.list_resources()  # type: ignore[no-untyped-call,untyped-decorator]
    async def list_resources() -> list[types.Resource]:
        return [
            types.Resource(uri=AnyUrl(one.uri), name=one.name, description=one.description, mimeType=one.media_type)
            for one in material.resources(actions)
        ]

    @server.list_resource_templates()  # type: ignore[no-untyped-call,untyped-decorator]
    async def list_templates() -> list[types.ResourceTemplate]:
        uri = f"{material.ADDRESS}runs/{{run}}"
        return [
            types.ResourceTemplate(uriTemplate=uri, name="run", description="A stored run", mimeType="text/markdown")
        ]

    @server.read_resource()  # type: ignore[no-untyped-call,untyped-decorator]
    async def read_resource(uri: AnyUrl) -> list[ReadResourceContents]:
        with _refused():
            text, media_type = await material.read(actions, str(uri))
        return [ReadResourceContents(content=clean(text), mime_type=media_type)]

    @server.list_prompts()  # type: ignore[no-untyped-call,untyped-decorator]
    async def list_prompts() -> list[types.Prompt]:
        return [
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(name=name, description=said, required=True)
                    for name, said in prompt.takes.items()
                ],
            )
            for prompt in material.PROMPTS.values()
        ]

    @server.get_prompt()  # type: ignore[no-untyped-call,untyped-decorator]
    async def get_prompt(name: str, given: dict[str, str] | None) -> types.GetPromptResult:
        with _refused():
            prompt = material.PROMPTS.get(name)
            if prompt is None:
                raise ConfigurationError(f'There is no prompt "{name}"', nearest(name, material.PROMPTS, "prompts"))
            text = clean(await prompt.text(actions, given or {}))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    return server


@contextmanager
def _refused() -> Iterator[None]:
    """Errors of requests that are no calls of tools are those of the protocol."""
    try:
        yield
    except RunnerError as error:
        said = sentences(error.message, error.hint)
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message=said)) from error


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


REFUSED = "This needs the token that yao-test mcp printed: Authorization: Bearer TOKEN\n"


async def serve_http(server: Server[Any, Any], token: str, port: int, begun: Callable[[str], None]) -> None:
    """Serves over HTTP, at one address of this machine, whoever has the token, until the process ends. `port` is 0 for
    any; `begun` is told the address. Raises ConfigurationError when the port is in use."""
    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from runner.view.server import ADDRESS, Guard, config_of, listening

    class WithoutSignals(uvicorn.Server):  # they are for the command
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    sessions = StreamableHTTPSessionManager(server)
    opened = listening(port)
    port = int(opened.getsockname()[1])
    guarded = Guard(sessions.handle_request, f"Bearer {token}", port, header=b"authorization", said=REFUSED)
    begun(f"http://{ADDRESS}:{port}/mcp")
    async with sessions.run():
        await WithoutSignals(config_of(guarded)).serve(sockets=[opened])
