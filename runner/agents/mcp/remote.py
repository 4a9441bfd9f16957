"""Connections to MCP servers: sessions of the protocol over the streams of the official SDK.

There is one connection for each server, opened on first use. The SDK's context managers must be entered and left in the
same task, so each connection has its own task, which runs until the connection is closed or broken. Requests may come
from any task, several at a time.

The streams from and to a server are the SDK's. What they carry is matched here, and not by the SDK's session, which
would log texts that are not messages, and end in an error of its own where a connection was lost."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from itertools import count
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from pydantic import ValidationError

from runner.agents.mcp.http import FAILED, quoted, reason, reply_in
from runner.assertions.results import show
from runner.connectors.http import HttpError

CLOSED = (ClosedResourceError, BrokenResourceError)
"""What the streams of a server raise when this or the other end of them is closed."""
CLOSE_SECONDS = 6.0
"""Time for a connection to end by itself; longer than the guard of a process takes."""
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


class Ending:
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
        """Notes a request that the HTTP client has answered instead of the server."""
        if session_ended and id is not None:
            self.unknown_session.add(id)

    def explanation(self) -> str:
        """Why it ended, and what the server's process wrote at last."""
        text = self.reason or "the connection was closed"
        rows = "".join(f"\n  {line}" for line in self.errors)
        return f"{text}; the last lines of its stderr:{rows}" if rows else text


_METHODS: Mapping[str, tuple[str, type[types.Result], tuple[str, ...]]] = {
    "list_tools": ("tools/list", types.ListToolsResult, ("cursor",)),
    "call_tool": ("tools/call", types.CallToolResult, ("name", "arguments")),
    "list_resources": ("resources/list", types.ListResourcesResult, ("cursor",)),
    "list_resource_templates": ("resources/templates/list", types.ListResourceTemplatesResult, ("cursor",)),
    "read_resource": ("resources/read", types.ReadResourceResult, ("uri",)),
    "list_prompts": ("prompts/list", types.ListPromptsResult, ("cursor",)),
    "get_prompt": ("prompts/get", types.GetPromptResult, ("name", "arguments")),
}
"""What is asked for → the method of the protocol, its result, and the names of its parameters."""
Streams = tuple[ObjectReceiveStream[SessionMessage | Exception], ObjectSendStream[SessionMessage]]
Sent = types.JSONRPCRequest | types.JSONRPCNotification | types.JSONRPCResponse | types.JSONRPCError
Open = Callable[[Ending], AbstractAsyncContextManager[Streams]]
"""Opens the streams from and to a server."""


class Connection:
    """A session with a server, and its task. `open`: from `opener`. `seconds`: time limit for connecting and
    initialising."""

    def __init__(self, open: Open, seconds: float) -> None:
        self._ending = Ending()
        self._opened = asyncio.Event()
        self._begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ids = count()
        self._waiting: dict[int, asyncio.Future[dict[str, Any] | RefusedError]] = {}
        """Requests that are not answered, by their ids."""
        self._others: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._run(open, seconds))

    @property
    def ended(self) -> bool:
        """Whether it can no longer be used."""
        return self._ending.came.is_set() or self._task.done()

    @property
    def has_begun(self) -> bool:
        """Whether the server was ever initialised."""
        return self._begun.done()

    @property
    def gone(self) -> bool:
        """Whether its connection has ended."""
        return self._task.done()

    async def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """The answer to a request, which is sent when the server is initialised. `method`: one of `_METHODS`.
        `arguments`: JSON values; for lists the cursor, if there is one. Raises RefusedError: the server answered with
        an error; ConnectionLostError: there was no answer."""
        await asyncio.wait({self._begun, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            raise ConnectionLostError(self._ending.explanation())
        name, kind, parameters = _METHODS[method]
        return await self._ask(name, dict(zip(parameters, arguments, strict=False)), kind, self._task)

    async def close(self) -> None:
        """Ends the session, and waits until nothing of it is left. Does not wait for one that is still starting."""
        self._ending.came.set()
        if not self._begun.done():
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
                    self._sent = await stack.enter_async_context(sent)
                    await self._initialise(self._spawn(self._read(received)))
                self._begun.set_result(None)
                await self._ending.came.wait()
        except TimeoutError:
            self._ending.reason = f"it did not start within {seconds:g} s"
        except Exception as error:
            cause = _innermost(error)
            if not isinstance(cause, (ConnectionLostError, *CLOSED)):
                self._ending.reason = self._ending.reason or reason(cause)
        finally:
            self._ending.came.set()

    async def _initialise(self, reading: asyncio.Task[None]) -> None:
        client = {"name": "mcp", "version": "0.1.0"}
        hello = {"protocolVersion": types.LATEST_PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
        said = await self._ask("initialize", hello, types.InitializeResult, reading)
        if (version := said["protocolVersion"]) not in SUPPORTED_PROTOCOL_VERSIONS:
            raise RefusedError(f"Unsupported protocol version from the server: {version}", types.INVALID_REQUEST)
        await self._notify("notifications/initialized")

    async def _ask(
        self, method: str, parameters: dict[str, Any], kind: type[types.Result], end: asyncio.Task[None]
    ) -> dict[str, Any]:
        """The answer to a request, of a `kind`; at the `end` of what brings answers there is none."""
        id = next(self._ids)
        answer = self._waiting[id] = asyncio.get_running_loop().create_future()
        request = types.JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=parameters or None)
        try:
            await self._send(request)
            await asyncio.wait({answer, end}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if self.has_begun and not self.ended:
                cancelled = {"requestId": id, "reason": "the call was cancelled"}
                self._spawn(self._notify("notifications/cancelled", cancelled))
            raise
        finally:
            del self._waiting[id]
        if not answer.done():
            raise ConnectionLostError(self._ending.explanation())
        result = answer.result()
        if id in self._ending.unknown_session:
            self._ending.came.set()
            raise NotSentError("the session is unknown to it")
        if isinstance(result, RefusedError):
            raise result
        try:
            found = kind.model_validate(result)
        except ValidationError as error:
            raise RefusedError(f"its response is invalid: {_odd(error)}", types.INVALID_REQUEST) from error
        return found.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def _notify(self, method: str, parameters: dict[str, Any] | None = None) -> None:
        await self._send(types.JSONRPCNotification(jsonrpc="2.0", method=method, params=parameters))

    async def _send(self, message: Sent) -> None:
        """Sends a message. Raises NotSentError when the connection is closed."""
        try:
            await self._sent.send(SessionMessage(types.JSONRPCMessage(message)))
        except CLOSED as error:
            self._ending.came.set()
            raise NotSentError("the connection is closed") from error

    async def _read(self, received: ObjectReceiveStream[SessionMessage | Exception]) -> None:
        """Takes what comes until the transport ends: one that cannot get rid of what it has read would wait forever."""
        try:
            async with received:
                async for item in received:
                    if isinstance(item, Exception):
                        self._note(item)
                    else:
                        await self._take(item.message.root)
        finally:
            self._ending.came.set()

    async def _take(self, message: Any) -> None:
        """Takes a message of the protocol. A server may ask whether this side lives, and for nothing else."""
        if isinstance(message, types.JSONRPCRequest):
            unknown = types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
            reply: Sent = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=unknown)
            if message.method == "ping":
                reply = types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result={})
            with suppress(NotSentError):  # a connection that is being closed is still read
                await self._send(reply)
        elif isinstance(message, types.JSONRPCError):
            self._answer(message.id, RefusedError(message.error.message, message.error.code))
        elif isinstance(message, types.JSONRPCResponse):
            self._answer(message.id, message.result)

    def _note(self, problem: Exception) -> None:
        """Notes what was no message of the protocol, which may have to be the reply to a request."""
        if isinstance(problem, HttpError):
            self._ending.reason = str(problem)
        if isinstance(problem, ValidationError):
            given = problem.errors(include_url=False)[0]["input"]
            said = given if isinstance(given, str) else json.dumps(given)
            why = f"its response does not follow the protocol: {quoted(said)}"
            if not self._answer((reply_in(said) or {}).get("id"), RefusedError(why, FAILED)):
                self._ending.stray = self._ending.stray or said[:200].strip()

    def _answer(self, id: Any, answer: dict[str, Any] | RefusedError) -> bool:
        """Whether there is a request with an id, which is answered then. Servers may write numbers as texts."""
        asked = next((one for number, one in self._waiting.items() if str(number) == str(id)), None)
        if asked is not None and not asked.done():
            asked.set_result(answer)
        return asked is not None

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)
        task.add_done_callback(_retrieved)
        return task


def _odd(error: ValidationError) -> str:
    """What is odd about an answer: the first thing, in the kind of content that it says it is."""
    found = error.errors(include_url=False)
    others = {problem["loc"][:-1] for problem in found if problem["type"] == "literal_error"}
    first = next((problem for problem in found if problem["loc"][:-1] not in others), found[0])
    place = ".".join(str(name) for name in first["loc"] if not str(name)[:1].isupper()) or "it"
    return f"{place} is missing" if first["type"] == "missing" else f"{place} is {show(first['input'])}"


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
