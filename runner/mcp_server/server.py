"""The server: requests of the Model Context Protocol, over standard input and output or over HTTP on this machine.
What a client reads or begins with: schemas and reports of kept runs as resources, and prompts."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import anyio
import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

from runner.errors import ConfigurationError, RunnerError, beside_missing, sentences
from runner.execution.outcome import bounded
from runner.mcp_server.actions import Actions
from runner.mcp_server.running import Call
from runner.mcp_server.tools import BY_NAME, INSTRUCTIONS, TOOLS, Answers, nearest, shown
from runner.security.files import CASE_FILES, CODE, read_text
from runner.version import VERSION
from scripttest.values import Value

ADDRESS = "yao-test://"
SCHEMAS: Mapping[str, str] = {
    "case": "A case, as on a line of JSONL",
    "file": "Case files",
    "config": "yao-test.toml",
    "result": "What --json prints",
}
"""Name of a schema, as `yao-test schema` has it → what it describes."""
LISTED = 20
"""Runs that are listed."""
LONGEST = 12_000
"""Characters of a file in a prompt."""


def resources(actions: Actions) -> list[types.Resource]:
    """The schemas, and the newest runs."""
    found = [(f"schemas/{name}", f"schema {name}", said, "application/json") for name, said in SCHEMAS.items()]
    runs = actions.kept.newest(LISTED)
    found += [(f"runs/{id}", f"run {id}", f"{at}, {state}", "text/markdown") for id, at, state in runs]
    return [
        types.Resource(uri=AnyUrl(f"{ADDRESS}{place}"), name=name, description=said, mimeType=media_type)
        for place, name, said, media_type in found
    ]


async def read(actions: Actions, uri: str) -> tuple[str, str]:
    """Text and media type of a resource. Raises ConfigurationError."""
    kind, _, name = uri.removeprefix(ADDRESS).partition("/")
    if kind == "schemas" and name in SCHEMAS:
        return await actions.printed(Call(), ["schema", name]), "application/json"
    if kind == "runs" and name.isalnum():
        words = ["show", f"run:{name}", f"--store={actions.store}", "-r", "report.markdown"]
        return await actions.printed(Call(), words), "text/markdown"
    known = [str(resource.uri) for resource in resources(actions)]
    raise ConfigurationError(f"There is no resource {uri}", nearest(uri, known, "resources"))


class Prompt(Value):
    """Something that a person asks for, about a part of a file. What the model is told is in `prompts`, by the name."""

    name: str
    title: str
    description: str
    takes: Mapping[str, str]
    """Argument → what it is: the file, then its part. All are required."""
    of: tuple[str, ...]
    """How the name of the file ends."""
    hint: str
    """What to do where the file does not have the part."""

    async def text(self, actions: Actions, given: Mapping[str, str]) -> str:
        """What the model is told. Raises ConfigurationError."""
        if missing := [name for name in self.takes if not given.get(name)]:
            raise ConfigurationError(f"{self.name} needs {' and '.join(missing)}: {self.takes[missing[0]]}")
        path, text = _file(actions, given["file"], self.of)
        part = list(self.takes)[1]
        if given[part] not in text:
            raise ConfigurationError(f"{path} has no {f'{part} ' * (part == 'case')}{given[part]}", self.hint)
        told = {"part": given[part], "path": path, "address": ADDRESS}
        if self.of == CODE:
            test = path.with_name(f"{path.stem}_test{path.suffix}")
            told |= {"test": test, "module": actions.application.module_at(actions.application.root / test).id}
        template = (Path(__file__).parent / "prompts" / f"{self.name}.md").read_text("utf-8")
        return template.format(text=bounded(text, LONGEST), **told)


PROMPTS: Mapping[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            name="test_function",
            title="Write a test for this function",
            description="Script tests for a function of a handler, and what they have to notice.",
            takes={"file": "Path of the handler in the application.", "function": "Its name."},
            of=CODE,
            hint="Name a function of this file",
        ),
        Prompt(
            name="stricter_case",
            title="Make this case stricter",
            description="Assertions that notice what a case lets pass.",
            takes={"file": "Path of the case file in the application.", "case": "The id of the case."},
            of=CASE_FILES,
            hint="list_tests names the cases",
        ),
    )
}


def _file(actions: Actions, name: str, suffixes: tuple[str, ...]) -> tuple[Path, str]:
    """Path in the application and text of a file of some kinds. Raises ConfigurationError."""
    path = Path(actions.inside(name))
    place = actions.application.root / path
    if not name.lower().endswith(suffixes) or not place.is_file():
        hint = beside_missing(place, lambda one: one.lower().endswith(suffixes))
        raise ConfigurationError(f"{name} is not a file of the application that ends in {', '.join(suffixes)}", hint)
    return path, read_text(place, "replace")


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
        return resources(actions)

    @server.read_resource()  # type: ignore[no-untyped-call,untyped-decorator]
    async def read_resource(uri: AnyUrl) -> list[ReadResourceContents]:
        with _refused():
            text, media_type = await read(actions, str(uri))
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
            for prompt in PROMPTS.values()
        ]

    @server.get_prompt()  # type: ignore[no-untyped-call,untyped-decorator]
    async def get_prompt(name: str, given: dict[str, str] | None) -> types.GetPromptResult:
        with _refused():
            prompt = PROMPTS.get(name)
            if prompt is None:
                raise ConfigurationError(f'There is no prompt "{name}"', nearest(name, PROMPTS, "prompts"))
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
