"""MCP servers over stdio, SSE and streamable HTTP, through the clients of the official SDK, which only this imports.

One connection per server, opened when it is first used. The SDK's context managers must be entered and left in the same
task, so each connection has a task of its own, which lives until it is closed or broken. Requests come from any task,
several at a time.

Between the SDK's clients and its session stand two streams, `_Incoming` and `_Outgoing`. They know which messages went
through: an error that no message brought is the SDK's own, and means that the connection was lost.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    ClientRequest,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    PaginatedRequestParams,
    ServerNotification,
    ServerRequest,
)
from pydantic import AnyUrl, ValidationError

from runner.agents.mcp.http import client, reason
from runner.connectors.http import HttpError
from runner.errors import ConfigurationError
from runner.security.keys import Credential

CLOSE_SECONDS = 6.0
"""Time for a connection to end by itself; longer than the guard of a process takes."""
GUARD = Path(__file__).with_name("guard.py")
INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Environment variables that a server over stdio is given, beside those of its `env`."""
LONGEST_LINE = 16 << 20
"""Bytes of the longest line that a server may write, over HTTP of the largest answer. The SDK copies what it has of a
line for every piece that arrives, which for a line of this length takes half a second."""
OPEN_SECONDS = 1.0
"""Time that the start of a process takes at the most: until then, asyncio would not survive being cancelled."""

logging.getLogger("mcp").addHandler(logging.NullHandler())
logging.getLogger("mcp").propagate = False  # what the SDK would log reaches the caller as an error
_OF_CHILDREN = ("Unknown child process pid", "Loop %r that handles pid")
"""What asyncio logs of a child whose end it has seen twice, or after its loop has: that says nothing about a server."""
logging.getLogger("asyncio").addFilter(lambda record: not str(record.msg).startswith(_OF_CHILDREN))


class ConnectionLostError(Exception):
    """The connection ended, or never began; the text says why. A request may have reached the server."""


class NotSentError(ConnectionLostError):
    """A request that did not reach the server: it can be sent again over a new connection."""


class RefusedError(Exception):
    """The server answered with an error; `code` is that of JSON-RPC."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class _Ending:
    """The end of a connection: that it is wanted or has come, and why."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.reason = ""
        self.errors: list[str] = []
        """The last lines that the server's process wrote to stderr."""
        self.stray = ""
        """The first thing that came and was no message of the protocol."""
        self.unknown_session: set[int | str] = set()
        """Requests that the server refused because it does not know the session any more."""

    def request_failed(self, id: int | str | None, why: str, session_ended: bool) -> None:
        """Notes a request that the HTTP client has answered in the place of the server."""
        if session_ended and id is not None:
            self.unknown_session.add(id)

    def explanation(self) -> str:
        """Why it ended, and what the server's process wrote at last."""
        text = self.reason or "the connection was closed"
        rows = "".join(f"\n  {line}" for line in self.errors)
        return f"{text}; the last lines of its stderr:{rows}" if rows else text


Streams = tuple[ObjectReceiveStream[SessionMessage | Exception], ObjectSendStream[SessionMessage]]
Open = Callable[[_Ending], AbstractAsyncContextManager[Streams]]
"""Opens the streams from and to a server."""


class _Outgoing(ObjectSendStream[SessionMessage]):
    """What the session sends; knows which task sent which request."""

    def __init__(self, stream: ObjectSendStream[SessionMessage]) -> None:
        self._stream = stream
        self.requests: dict[asyncio.Task[Any] | None, int | str] = {}

    async def send(self, item: SessionMessage) -> None:
        if isinstance(item.message.root, JSONRPCRequest):
            self.requests[asyncio.current_task()] = item.message.root.id
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Incoming(ObjectReceiveStream[SessionMessage | Exception]):
    """What the session receives: messages of the protocol. The session would log others on the root logger."""

    def __init__(
        self, stream: ObjectReceiveStream[SessionMessage | Exception], outgoing: _Outgoing, ending: _Ending
    ) -> None:
        self._stream = stream
        self._outgoing = outgoing
        self._ending = ending
        self.answered: set[int | str] = set()
        """Ids of the requests that were answered."""

    async def receive(self) -> SessionMessage:
        while True:
            try:
                item = await self._stream.receive()
            except (EndOfStream, ClosedResourceError, BrokenResourceError):
                self._ending.came.set()
                raise
            if isinstance(item, Exception):
                self._note(item)
            elif await self._is_known(item):
                return item

    async def aclose(self) -> None:
        """Does nothing: the transport closes its stream, and `drain` may still read from it."""

    async def drain(self) -> None:
        """Reads what comes until the transport ends: one that cannot get rid of what it has read would wait forever."""
        async with self._stream:
            async for _ in self._stream:
                pass

    async def _is_known(self, item: SessionMessage) -> bool:
        message = item.message.root
        if isinstance(message, JSONRPCRequest | JSONRPCNotification):
            kind = ServerRequest if isinstance(message, JSONRPCRequest) else ServerNotification
            try:
                kind.model_validate(message.model_dump(by_alias=True, mode="json", exclude_none=True))
                return True
            except ValidationError:
                if isinstance(message, JSONRPCRequest):
                    unknown = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
                    error = JSONRPCError(jsonrpc="2.0", id=message.id, error=unknown)
                    await self._outgoing.send(SessionMessage(JSONRPCMessage(error)))
                return False
        asked = next((id for id in self._outgoing.requests.values() if str(id) == str(message.id)), None)
        if asked is not None:
            self.answered.add(asked)
        return asked is not None

    def _note(self, problem: Exception) -> None:
        if isinstance(problem, HttpError):
            self._ending.reason = str(problem)
        if isinstance(problem, ValidationError):
            said = str(problem.errors(include_url=False)[0]["input"])[:200].strip()
            self._ending.stray = self._ending.stray or said


class Connection:
    """A session with a server, and the task that it lives in.

    Args:
        open: from `opener`
        seconds: time to connect and to say hello
    """

    def __init__(self, open: Open, seconds: float) -> None:
        self._ending = _Ending()
        self._opened = asyncio.Event()
        self._session: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._others: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._run(open, seconds))

    @property
    def ended(self) -> bool:
        """Whether it is of no more use."""
        return self._ending.came.is_set() or self._task.done()

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
            raise ConnectionLostError(self._ending.explanation())
        request = asyncio.create_task(_call(self._session.result(), method, arguments))
        try:
            await asyncio.wait({request, self._task}, return_when=asyncio.FIRST_COMPLETED)
            return await self._answer(request)
        except asyncio.CancelledError:
            self._tell_cancelled(self._outgoing.requests.get(request))
            raise
        finally:
            request.cancel()
            await asyncio.wait({request})
            self._incoming.answered.discard(self._id(request))
            self._outgoing.requests.pop(request, None)

    async def close(self) -> None:
        """Ends the session, and waits until nothing of it is left. Who is still starting is not waited for."""
        self._ending.came.set()
        if not self._session.done():
            opened = asyncio.create_task(self._opened.wait())
            await asyncio.wait({opened, self._task}, timeout=OPEN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            opened.cancel()
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def _run(self, open: Open, seconds: float) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(seconds):
                    received, sent = await stack.enter_async_context(open(self._ending))
                    self._opened.set()
                    self._outgoing = _Outgoing(sent)
                    self._incoming = _Incoming(received, self._outgoing, self._ending)
                    stack.callback(self._drain)
                    streams: Any = (self._incoming, self._outgoing)
                    session = await stack.enter_async_context(ClientSession(*streams))
                    await session.initialize()
                self._session.set_result(session)
                await self._ending.came.wait()
        except TimeoutError:
            self._ending.reason = f"it did not start within {seconds:g} s"
        except Exception as error:
            cause = _innermost(error)
            if not isinstance(cause, McpError) or self._incoming.answered:
                self._ending.reason = self._ending.reason or reason(cause)
        finally:
            self._ending.came.set()

    def _drain(self) -> None:
        """What comes after the session is read and dropped."""
        self._spawn(self._incoming.drain())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)
        task.add_done_callback(_retrieved)

    async def _answer(self, request: asyncio.Task[dict[str, Any]]) -> dict[str, Any]:
        if not request.done():
            raise ConnectionLostError(self._ending.explanation())
        try:
            return request.result()
        except (ClosedResourceError, BrokenResourceError) as error:
            self._ending.came.set()
            raise NotSentError("the connection is closed") from error
        except McpError as error:
            id = self._id(request)
            if id in self._ending.unknown_session:
                self._ending.came.set()
                raise NotSentError("it does not know the session") from error
            if id in self._incoming.answered:
                raise RefusedError(error.error.message, error.error.code) from error
            lost: Exception = error
        except EndOfStream as error:
            lost = error
        except (RuntimeError, ValidationError) as error:
            raise RefusedError(f"its answer is not as it should be: {reason(error)}", INVALID_REQUEST) from error
        self._ending.came.set()
        await asyncio.wait({self._task})
        raise ConnectionLostError(self._ending.explanation()) from lost

    def _id(self, request: asyncio.Task[Any]) -> int | str:
        return self._outgoing.requests.get(request, "")

    def _tell_cancelled(self, id: int | str | None) -> None:
        """Tells the server, without waiting, that nobody waits for an answer any more."""
        if self.ended or id is None:
            return
        params = CancelledNotificationParams(requestId=id, reason="nobody waits for it any more")
        notification = ClientNotification(CancelledNotification(params=params))
        self._spawn(self._session.result().send_notification(notification))


async def _call(session: ClientSession, method: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    if method.startswith("list_"):
        params = PaginatedRequestParams(cursor=arguments[0]) if arguments else None
        result = await getattr(session, method)(params=params)
    elif method == "read_resource":
        result = await session.read_resource(AnyUrl(arguments[0]))
    elif method == "call_tool":  # the session's own method judges the answer by the server's schema, without a bound
        request = CallToolRequest(params=CallToolRequestParams(name=arguments[0], arguments=arguments[1]))
        result = await session.send_request(ClientRequest(request), CallToolResult)
    else:
        result = await getattr(session, method)(*arguments)
    return cast(dict[str, Any], result.model_dump(mode="json", by_alias=True, exclude_none=True))


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
        return lambda ending: _stdio(ending, [command, *map(str, arguments)], environment, root)
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
    ending: _Ending, command: list[str], variables: Mapping[str, str], directory: Path
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
    ending: _Ending, url: str, credential: Credential | None, variables: Mapping[str, str]
) -> AsyncIterator[Streams]:
    async with (
        client(credential, variables, LONGEST_LINE, ending.request_failed) as http,
        streamable_http_client(url, http_client=http) as (received, sent, _),
    ):
        yield received, sent


@asynccontextmanager
async def _sse(
    ending: _Ending, url: str, credential: Credential | None, variables: Mapping[str, str]
) -> AsyncIterator[Streams]:
    def failed(id: int | str | None, why: str, session_ended: bool) -> None:
        ending.reason = ending.reason or why  # answers come another way, which brings none to this request
        ending.came.set()

    def make_client(*_: Any, **__: Any) -> Any:
        return client(credential, variables, LONGEST_LINE, failed)

    async with sse_client(url, httpx_client_factory=make_client) as streams:
        yield streams


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
