"""MCP servers over stdio, SSE and streamable HTTP, through the official SDK. The one place that imports it.

One connection per server, opened when it is first used. The SDK's context managers must be entered and left in the same
task, so each connection has a task of its own, which lives until it is closed or broken. Requests come from any task,
several at a time. What the SDK would log is either an error that
reaches the caller anyway, or of no use to a user of tests, and is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream, create_memory_object_stream
from mcp import ClientSession, McpError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    JSONRPCMessage,
    PaginatedRequestParams,
)
from pydantic import AnyUrl, ValidationError

from runner.errors import ConfigurationError
from runner.mcp.child import MAX_LINE, Child
from runner.mcp.http import Client, reason

CLOSE_SECONDS = 6.0
"""Time for a connection to end by itself; longer than a `Child` takes."""
INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Environment variables that a server over stdio is given, beside those of its `env`."""
SESSION_TERMINATED = 32600
"""The SDK's code for an HTTP session that the server no longer knows."""

Streams = tuple[Any, Any]


def _silence() -> None:
    logger = logging.getLogger("mcp")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    # mcp.shared.session logs on the root logger.
    logging.getLogger().addFilter(lambda record: "mcp/shared/" not in record.pathname.replace("\\", "/"))


_silence()


class ConnectionLostError(Exception):
    """The connection ended, or never began; the text says why. A request may have reached the server."""


class NotSentError(ConnectionLostError):
    """A request that did not reach the server: it can be sent again over a new connection."""


class RefusedError(Exception):
    """The server answered with an error; `code` is that of JSON-RPC."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class _Line:
    """What a transport and the task of its connection tell each other."""

    def __init__(self) -> None:
        self.stopped = asyncio.Event()
        """Set to end the connection."""
        self.failure = ""
        """Why it ended, as far as the transport knows better than an exception."""
        self.errors = ""
        """What the server's process wrote to stderr at last."""

    def stop(self, failure: str = "") -> None:
        """Ends the connection."""
        self.failure = self.failure or failure
        self.stopped.set()


Open = Callable[[_Line], Any]
"""Gives an async context manager of the streams to and from a server."""


class Connection:
    """A session with a server, and the task that it lives in.

    Args:
        open: from `opener`
        seconds: time to connect and to say hello
    """

    def __init__(self, open: Open, seconds: float) -> None:
        self._line = _Line()
        self._session: asyncio.Future[_Session] = asyncio.get_running_loop().create_future()
        self._notices: set[asyncio.Task[None]] = set()
        self._failure = ""
        self._task = asyncio.create_task(self._run(open, seconds))
        self._task.add_done_callback(_retrieved)

    @property
    def ended(self) -> bool:
        """Whether it is of no more use."""
        return self._line.stopped.is_set() or self._task.done()

    @property
    def gone(self) -> bool:
        """Whether nothing of it is left."""
        return self._task.done()

    async def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Calls a method of the SDK's session once it is open, and waits for the answer.

        Args:
            method: `list_tools`, `call_tool`, `read_resource` ...
            arguments: JSON values; for lists the cursor, if any

        Raises:
            RefusedError: the server answered with an error
            ConnectionLostError: there was no answer
        """
        either: set[asyncio.Future[Any]] = {self._session, self._task}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            raise ConnectionLostError(self._explanation())
        request = asyncio.create_task(self._session.result().ask(method, arguments))
        request.add_done_callback(_retrieved)
        try:
            await asyncio.wait({request, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            request.cancel()
        try:
            if not request.done():
                raise ConnectionLostError(self._explanation())
            return _plain(request.result())
        except (ClosedResourceError, BrokenResourceError) as error:
            self._line.stop()
            raise NotSentError("the connection is closed") from error
        except McpError as error:
            if error.error.code == SESSION_TERMINATED:
                self._line.stop()
                raise NotSentError("it does not know the session") from error
            if error.error.code != CONNECTION_CLOSED:
                raise RefusedError(error.error.message, error.error.code) from error
            raise await self._lost() from error
        except EndOfStream as error:
            raise await self._lost() from error
        except (RuntimeError, ValidationError) as error:
            raise RefusedError(f"its answer is not as it should be: {_first_line(error)}", INVALID_REQUEST) from error

    async def close(self) -> None:
        """Ends the session, and waits until nothing of it is left. Who is still starting is not waited for."""
        self._line.stop()
        if self._session.done():
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self, open: Open, seconds: float) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(seconds):
                    streams = await stack.enter_async_context(open(self._line))
                    session = await stack.enter_async_context(_Session(*streams[:2]))
                    session.on_cancel = self._tell_cancelled
                    await session.initialize()
                self._session.set_result(session)
                await self._line.stopped.wait()
        except TimeoutError:
            self._failure = f"it did not start within {seconds:g} s"
        except FileNotFoundError as error:
            self._failure = f"there is no such command: {error.filename or error}"
        except Exception as error:
            self._failure = _explained(error)
        finally:
            self._line.stopped.set()
            for notice in self._notices:
                notice.cancel()

    async def _lost(self) -> ConnectionLostError:
        self._line.stop()
        await asyncio.wait({self._task})
        return ConnectionLostError(self._explanation())

    def _explanation(self) -> str:
        text = self._line.failure or self._failure or "the connection was closed"
        if self._line.errors:
            rows = "\n".join(f"  {row}" for row in self._line.errors.splitlines())
            text += f"; the last lines of its stderr:\n{rows}"
        return text

    def _tell_cancelled(self, request: int | str) -> None:
        """Tells the server, without waiting, that nobody waits for an answer any more."""
        if self.ended or not self._session.done():
            return
        params = CancelledNotificationParams(requestId=request, reason="nobody waits for it any more")
        notification = ClientNotification(CancelledNotification(params=params))
        notice = asyncio.create_task(self._session.result().send_notification(notification))
        self._notices.add(notice)
        notice.add_done_callback(self._notices.discard)
        notice.add_done_callback(_retrieved)


class _Session(ClientSession):
    """A session that hears of its cancelled requests."""

    on_cancel: Callable[[int | str], None] | None = None

    async def ask(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Calls a method by its name."""
        if method.startswith("list_"):
            params = PaginatedRequestParams(cursor=arguments[0]) if arguments else None
            return await getattr(self, method)(params=params)
        if method == "read_resource":
            arguments = (AnyUrl(arguments[0]),)
        return await getattr(self, method)(*arguments)

    async def send_request(self, *args: Any, **options: Any) -> Any:
        id = self._request_id  # the one that this request will get: nothing is awaited before it does
        try:
            return await super().send_request(*args, **options)
        except asyncio.CancelledError:
            if self.on_cancel is not None:
                self.on_cancel(id)
            raise


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
        environment = inherited | {str(name): str(value) for name, value in own.items()}
        return lambda line: _stdio(line, [command, *map(str, arguments)], environment, root)
    url = definition.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ConfigurationError(f'Cannot read MCP server {file}: transport {transport} needs a "url" with http(s)://')
    if definition.get("endpoint"):
        url = f"{url.rstrip('/')}/{str(definition['endpoint']).lstrip('/')}"
    token = definition.get("authorization_token")
    headers = {"authorization": token if " " in token else f"Bearer {token}"} if isinstance(token, str) else {}
    address = url
    return (lambda line: _sse(line, address, headers)) if transport == "sse" else lambda line: _http(address, headers)


@asynccontextmanager
async def _stdio(
    line: _Line, command: list[str], variables: Mapping[str, str], directory: Path
) -> AsyncIterator[Streams]:
    child = Child(command, variables, directory)
    incoming, received = create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = create_memory_object_stream[SessionMessage](0)
    stray = ""

    async def read() -> None:
        nonlocal stray
        async with incoming:
            async for text in child.lines():
                try:
                    message = JSONRPCMessage.model_validate_json(text)
                except ValidationError:
                    stray = stray or text[:200].decode(errors="replace").strip()
                else:
                    await incoming.send(SessionMessage(message))
        line.stop()

    async def write() -> None:
        async with outgoing:
            async for message in outgoing:
                child.write(message.message.model_dump_json(by_alias=True, exclude_none=True).encode())

    tasks: list[asyncio.Task[None]] = []
    try:
        await child.connect()
        tasks += [asyncio.create_task(read()), asyncio.create_task(write())]
        yield received, sent
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (incoming, received, sent, outgoing):
            stream.close()
        line.errors = await child.end()
        if child.too_long:
            line.failure = f"it wrote a line of more than {MAX_LINE} bytes"
        elif not child.signalled and child.exit_code:
            ended = f"with exit code {child.exit_code}" if child.exit_code > 0 else f"by signal {-child.exit_code}"
            line.failure = f"it ended {ended}"
        if stray:
            line.errors = f"{line.errors}\n(on stdout, which is for the protocol: {stray})".strip()


@asynccontextmanager
async def _http(url: str, headers: dict[str, str]) -> AsyncIterator[Streams]:
    async with Client(headers) as client, streamable_http_client(url, http_client=client) as streams:
        yield streams[:2]


@asynccontextmanager
async def _sse(line: _Line, url: str, headers: dict[str, str]) -> AsyncIterator[Streams]:
    def make_client(*_: Any, **__: Any) -> Client:
        return Client(headers, line.stop)

    async with sse_client(url, httpx_client_factory=make_client) as streams:
        yield streams


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _explained(error: BaseException) -> str:
    """The innermost reason of an error, in a line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, McpError):
        return "the connection was closed" if error.error.code == CONNECTION_CLOSED else error.error.message
    return reason(error)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def _plain(result: Any) -> dict[str, Any]:
    value: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value
