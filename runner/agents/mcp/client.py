"""An MCP server that is a program or a service of its own, as `runner.agents.mcp.base.Server`.

Its connection is opened when it is first used. A server that died, or forgot the session, is connected to again at the
next use; a request that did not reach it is sent once more, one that may have reached it is not. The clients of the
official SDK connect to it over stdio, SSE or streamable HTTP."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from runner.agents.mcp.base import Item, Server, ToolError, no_such_tool, validate
from runner.agents.mcp.http import client
from runner.agents.mcp.remote import Connection, ConnectionLostError, Ending, NotSentError, Open, RefusedError, Streams
from runner.amounts import seconds_of
from runner.application.documents import by_script
from runner.application.programs import program_files
from runner.connectors.http import endpoint_of
from runner.errors import ConfigurationError, did_you_mean
from runner.security.keys import Credential
from scripttest import written_files

OF_TOOL = ("name", "description", "inputSchema", "outputSchema")
"""What is taken of the description of a tool."""
OF_ANSWER = ("content", "isError", "structuredContent")
"""The same of its answer."""
MOST_PAGES = 1000
"""At most this many pages of a list of tools, resources or prompts are read."""
START_SECONDS = 30.0
"""Time to start and to say hello, when the definition has no `timeout`."""
INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
RESOURCE_NOT_FOUND = -32002
GUARD = Path(__file__).with_name("guard.py")
INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Environment variables that a server over stdio gets, in addition to those of its `env`."""
_QUIET = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Keeps Python from writing beside the program, where all files are approved."""
LONGEST_LINE = 16 << 20
"""Bytes of the longest line that a server may write, over HTTP of the largest answer. The SDK copies what it has of a
line for every piece that arrives, which for a line of this length takes half a second."""


class RemoteServer(Server):
    """Implements `Server`. Raises ConfigurationError for a definition that cannot be used.
    `shown`: the command or address as the definition has it, for messages: without values of environment variables."""

    def __init__(
        self,
        id: str,
        transport: str,
        definition: Item,
        shown: str,
        file: Path,
        root: Path,
        variables: Mapping[str, str],
    ) -> None:
        super().__init__(id, definition)
        self.transport = transport
        self.endpoint = endpoint_of(str(definition.get("url") or "")) if transport != "stdio" else None
        self._name = f"MCP server {id} ({shown})"
        self._timeout = _seconds(definition.get("timeout"), file)
        self._open = _opener(transport, definition, file, root, variables)
        self._connection: Connection | None = None
        self._replaced: list[Connection] = []
        self._tools: list[Item] | None = None

    async def list_tools(self) -> list[Item]:
        """See `Server`. Asked once per connection, and again when a tool is called that is not in the list."""
        if self._tools is None or self._connection is None or self._connection.ended:
            listed = await self._list("tools", "list_tools")
            said = [{key: tool[key] for key in OF_TOOL if tool.get(key) is not None} for tool in listed]
            self._tools = [{"name": "", "description": "", "inputSchema": {}} | tool for tool in said]
        return self._tools

    async def call_tool(self, name: str, arguments: Item, context: Any) -> Item:
        """See `Server`. The server knows nothing of the context."""
        tool = await self._tool(name)
        await validate(
            arguments, tool["inputSchema"], f'Cannot call tool "{name}" of MCP server {self.id}', lenient=True
        )
        answer = await self._ask("call_tool", name, arguments)
        if "outputSchema" in tool and not answer.get("isError"):
            what = f'{self._name} failed: the result of its tool "{name}" does not match its outputSchema'
            if answer.get("structuredContent") is None:
                raise ToolError(f"{what}: there is no structuredContent", 502)
            await validate(answer["structuredContent"], tool["outputSchema"], what, 502, lenient=True)
        return {"content": [], "isError": False} | {key: answer[key] for key in OF_ANSWER if key in answer}

    async def list_resources(self) -> list[Item]:
        """See `Server`."""
        resources = await self._list("resources", "list_resources")
        templates = await self._list("resourceTemplates", "list_resource_templates")
        return resources + [{"uri": item["uriTemplate"], **item} for item in templates]

    async def read_resource(self, uri: str, context: Any) -> Item:
        """See `Server`."""
        return await self._ask("read_resource", uri)

    async def list_prompts(self) -> list[Item]:
        """See `Server`."""
        return await self._list("prompts", "list_prompts")

    async def get_prompt(self, name: str, arguments: Item, context: Any = None) -> Item:
        """See `Server`. Arguments of real servers are texts."""
        from bindings.processes.formats import encode_json

        texts = {key: value if isinstance(value, str) else encode_json(value) for key, value in arguments.items()}
        return await self._ask("get_prompt", name, texts)

    async def close(self) -> None:
        """See `Server`."""
        connections = [*self._replaced, *([self._connection] if self._connection else [])]
        self._connection, self._replaced = None, []
        await asyncio.gather(*[connection.close() for connection in connections])

    async def _tool(self, name: str) -> Item:
        for _ in range(2):
            tools = await self.list_tools()
            for tool in tools:
                if tool["name"] == name:
                    return tool
            self._tools = None
        names = [tool["name"] for tool in tools]
        hint = did_you_mean(name, names) or (f"There are {', '.join(names)}" if names else None)
        raise no_such_tool(self.id, name, hint)

    async def _list(self, key: str, method: str) -> list[Item]:
        """All pages of a list; empty when the server does not have lists of this kind."""
        items: list[Item] = []
        seen: set[str | None] = set()
        cursor: str | None = None
        while cursor not in seen:
            seen.add(cursor)
            try:
                page = await self._ask(method, *([cursor] if cursor else []))
            except ToolError as error:
                if isinstance(error.__cause__, RefusedError) and error.__cause__.code == METHOD_NOT_FOUND:
                    break
                raise
            items += page.get(key, [])
            cursor = page.get("nextCursor")
            if len(seen) > MOST_PAGES:
                raise ToolError(
                    f"MCP server {self.id} answers {method} with more than {MOST_PAGES} pages", 500, infrastructure=True
                )
        return items

    async def _ask(self, method: str, *arguments: Any) -> Item:
        try:
            async with asyncio.timeout(self._timeout):
                try:
                    return await self._connected().ask(method, *arguments)
                except NotSentError:
                    return await self._connected().ask(method, *arguments)
        except TimeoutError as error:
            raise self._lost(f"did not answer within {self._timeout:g} s", 504) from error
        except ConnectionLostError as error:
            raise self._lost(f"failed: {error}", 502) from error
        except RefusedError as error:
            code = {INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404, RESOURCE_NOT_FOUND: 404}.get(error.code, 502)
            raise ToolError(f"{self._name} failed: {error}", code, infrastructure=code >= 500) from error

    def _lost(self, why: str, code: int) -> ToolError:
        """The error of a server that cannot be reached, unless it was reached before."""
        error = ToolError(f"{self._name} {why}", code, infrastructure=True)
        if self._connection is not None and not self._connection.has_begun:
            error.missing, error.server = True, self.id
        return error

    def _connected(self) -> Connection:
        if self._connection is None or self._connection.ended:
            if self._connection is not None:
                self._replaced = [old for old in (*self._replaced, self._connection) if not old.gone]
            self._connection = Connection(self._open, self._timeout or START_SECONDS)
        return self._connection


def _seconds(value: Any, file: Path) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    return seconds_of(str(value), f'"timeout" of MCP server {file}')


def _opener(transport: str, definition: dict[str, Any], file: Path, root: Path, variables: Mapping[str, str]) -> Open:
    if transport == "stdio":
        command = definition.get("command")
        arguments = definition.get("arguments") or definition.get("args") or []
        own = definition.get("env") or {}
        if not isinstance(command, str) or not command:
            raise ConfigurationError(f'Cannot read MCP server {file}: transport stdio requires a "command"')
        if not isinstance(arguments, list) or not isinstance(own, dict):
            raise ConfigurationError(
                f'Cannot read MCP server {file}: "arguments" must be a list of strings, "env" an object'
            )
        inherited = {name: variables[name] for name in INHERITED if name in variables}
        environment = inherited | _QUIET | {str(name): str(value) for name, value in own.items()}

        def start(ending: Ending) -> AbstractAsyncContextManager[Streams]:
            for path in program_files(definition, root, {}) if written_files else ():
                if written_files.refuse(path):
                    raise by_script(f"Cannot start MCP server {file}: {path} is part of the server's program")
            return _stdio(ending, [command, *map(str, arguments)], environment, root)

        return start
    url = definition.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ConfigurationError(f'Cannot read MCP server {file}: transport {transport} needs a "url" with http(s)://')
    if definition.get("endpoint"):
        url = f"{url.rstrip('/')}/{str(definition['endpoint']).lstrip('/')}"
    token = definition.get("authorization_token")
    credential = None
    if isinstance(token, str):
        credential = Credential(url=url, headers={"authorization": token if " " in token else f"Bearer {token}"})
    connect = _sse if transport == "sse" else _http
    return lambda ending: connect(ending, url, credential, variables)


@asynccontextmanager
async def _stdio(
    ending: Ending, command: list[str], variables: Mapping[str, str], directory: Path
) -> AsyncIterator[Streams]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-S", str(GUARD), str(LONGEST_LINE), *command],
        env=dict(variables),
        cwd=directory,
        encoding_error_handler="replace",
    )
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            async with stdio_client(parameters, errlog=cast(Any, said)) as streams:
                yield streams
        finally:
            said.seek(0)
            reason, *lines = said.read().splitlines() or [""]
            ending.reason = ending.reason or reason
            stray = [f"(on stdout, which is for the protocol: {ending.stray})"] if ending.stray else []
            ending.errors = lines + stray


@asynccontextmanager
async def _http(
    ending: Ending, url: str, credential: Credential | None, variables: Mapping[str, str]
) -> AsyncIterator[Streams]:
    async with (
        client(url, credential, variables, LONGEST_LINE, ending.request_failed) as http,
        streamable_http_client(url, http_client=http) as (received, sent, _),
    ):
        yield received, sent


@asynccontextmanager
async def _sse(
    ending: Ending, url: str, credential: Credential | None, variables: Mapping[str, str]
) -> AsyncIterator[Streams]:
    def failed(id: int | str | None, why: str, session_ended: bool) -> None:
        ending.reason = ending.reason or why  # answers come another way, which brings none to this request
        ending.came.set()

    def make_client(*_: Any, **__: Any) -> Any:
        return client(url, credential, variables, LONGEST_LINE, failed)

    async with sse_client(url, httpx_client_factory=make_client) as streams:
        yield streams
