"""Connects to MCP servers over stdio, SSE or streamable HTTP, with the clients of the official SDK."""

from __future__ import annotations

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

from runner.agents.mcp.http import client
from runner.agents.mcp.streams import Ending, Open, Streams
from runner.application.documents import by_script
from runner.application.programs import program_files
from runner.errors import ConfigurationError
from runner.security.keys import Credential
from scripttest import written_files

GUARD = Path(__file__).with_name("guard.py")
INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Environment variables that a server over stdio gets, in addition to those of its `env`."""
_QUIET = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Keeps Python from writing beside the program, where all files are approved."""
LONGEST_LINE = 16 << 20
"""Bytes of the longest line that a server may write, over HTTP of the largest answer. The SDK copies what it has of a
line for every piece that arrives, which for a line of this length takes half a second."""


def opener(transport: str, definition: dict[str, Any], file: Path, root: Path, variables: Mapping[str, str]) -> Open:
    """How to connect to a server. Raises ConfigurationError."""
    if transport == "stdio":
        command = definition.get("command")
        arguments = definition.get("arguments") or definition.get("args") or []
        own = definition.get("env") or {}
        if not isinstance(command, str) or not command:
            raise ConfigurationError(f'Cannot read MCP server {file}: transport stdio needs a "command"')
        if not isinstance(arguments, list) or not isinstance(own, dict):
            raise ConfigurationError(f'Cannot read MCP server {file}: "arguments" is a list of texts, "env" an object')
        inherited = {name: variables[name] for name in INHERITED if name in variables}
        environment = inherited | _QUIET | {str(name): str(value) for name, value in own.items()}

        def start(ending: Ending) -> AbstractAsyncContextManager[Streams]:
            for path in program_files(definition, root, {}) if written_files else ():
                if written_files.refuse(path):
                    raise by_script(f"Cannot start MCP server {file}: {path} is part of its program")
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
