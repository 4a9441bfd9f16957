"""Connections to MCP servers, as sessions of the official SDK.

There is one connection for each server, opened on first use. The SDK's context managers must be entered and left in the
same task, so each connection has its own task, which runs until the connection is closed or broken. Requests may come
from any task, several at a time.

Two streams between the SDK's clients and its session record the messages that pass: the session would log texts that
are not messages, and reports an ended connection with an error of its own. If no message brought an error, the error is
the SDK's own, and means that the connection was lost."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, cast

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import ClientSession, McpError, types
from mcp.shared.message import SessionMessage
from pydantic import AnyUrl, ValidationError

from runner.agents.mcp.http import FAILED, quoted, reason, reply_in
from runner.assertions.results import show
from runner.connectors.http import HttpError

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


Streams = tuple[ObjectReceiveStream[SessionMessage | Exception], ObjectSendStream[SessionMessage]]
Open = Callable[[Ending], AbstractAsyncContextManager[Streams]]
"""Opens the streams from and to a server."""


class Outgoing(ObjectSendStream[SessionMessage]):
    """What the session sends; knows which task sent which request."""

    def __init__(self, stream: ObjectSendStream[SessionMessage]) -> None:
        self._stream = stream
        self.requests: dict[asyncio.Task[Any] | None, int | str] = {}

    async def send(self, item: SessionMessage) -> None:
        """Sends a message."""
        if isinstance(item.message.root, types.JSONRPCRequest):
            self.requests[asyncio.current_task()] = item.message.root.id
        await self._stream.send(item)

    async def aclose(self) -> None:
        """Closes the stream to the server."""
        await self._stream.aclose()


class Incoming(ObjectReceiveStream[SessionMessage | Exception]):
    """What the session receives: messages of the protocol. The session would log others on the root logger."""

    def __init__(
        self, stream: ObjectReceiveStream[SessionMessage | Exception], outgoing: Outgoing, ending: Ending
    ) -> None:
        self._stream = stream
        self._outgoing = outgoing
        self._ending = ending
        self.answered: set[int | str] = set()
        """Ids of the requests that were answered."""

    async def receive(self) -> SessionMessage:
        """The next message. Raises EndOfStream."""
        while True:
            try:
                item = await self._stream.receive()
            except (EndOfStream, ClosedResourceError, BrokenResourceError):
                self._ending.came.set()
                raise
            if isinstance(item, Exception):
                if (error := self._note(item)) is not None:
                    return error
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
        if isinstance(message, types.JSONRPCRequest | types.JSONRPCNotification):
            kind = types.ServerRequest if isinstance(message, types.JSONRPCRequest) else types.ServerNotification
            try:
                kind.model_validate(message.model_dump(by_alias=True, mode="json", exclude_none=True))
                return True
            except ValidationError:
                if isinstance(message, types.JSONRPCRequest):
                    unknown = types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
                    error = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=unknown)
                    await self._outgoing.send(SessionMessage(types.JSONRPCMessage(error)))
                return False
        return self._asked(message.id) is not None

    def _asked(self, reply: Any) -> int | str | None:
        """The request that has the id of a reply, and is answered then."""
        asked = next((id for id in self._outgoing.requests.values() if str(id) == str(reply)), None)
        if asked is not None:
            self.answered.add(asked)
        return asked

    def _note(self, problem: Exception) -> SessionMessage | None:
        """Notes what was no message of the protocol; if it was to be the reply to a request, answers that with an
        error."""
        if isinstance(problem, HttpError):
            self._ending.reason = str(problem)
        if isinstance(problem, ValidationError):
            given = problem.errors(include_url=False)[0]["input"]
            said = given if isinstance(given, str) else json.dumps(given)
            id = self._asked((reply_in(said) or {}).get("id"))
            if id is not None:
                why = f"its response does not follow the protocol: {quoted(said)}"
                error = types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=FAILED, message=why))
                return SessionMessage(types.JSONRPCMessage(error))
            self._ending.stray = self._ending.stray or said[:200].strip()
        return None


class Connection:
    """A session with a server, and its task. `open`: from `opener`. `seconds`: time limit for connecting and
    initialising."""

    def __init__(self, open: Open, seconds: float) -> None:
        self._ending = Ending()
        self._opened = asyncio.Event()
        self._session: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._others: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._run(open, seconds))

    @property
    def ended(self) -> bool:
        """Whether it can no longer be used."""
        return self._ending.came.is_set() or self._task.done()

    @property
    def has_begun(self) -> bool:
        """Whether the server was ever initialised."""
        return self._session.done()

    @property
    def gone(self) -> bool:
        """Whether its connection has ended."""
        return self._task.done()

    async def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Calls a method of the SDK's session once it is open, and waits for the answer. `method`: `list_tools`,
        `call_tool`, `read_resource` ... `arguments`: JSON values; for lists the cursor, if there is one. Raises
        RefusedError: the server answered with an error; ConnectionLostError: there was no answer."""
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
        """Ends the session, and waits until nothing of it is left. Does not wait for one that is still starting."""
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
                    self._outgoing = Outgoing(sent)
                    self._incoming = Incoming(received, self._outgoing, self._ending)
                    stack.callback(lambda: self._spawn(self._incoming.drain()))  # what arrives after the session
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
                self._ending.reason = self._ending.reason or _why(cause)
        finally:
            self._ending.came.set()

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
                raise NotSentError("the session is unknown to it") from error
            if id in self._incoming.answered:
                raise RefusedError(error.error.message, error.error.code) from error
            lost: Exception = error
        except EndOfStream as error:
            lost = error
        except (RuntimeError, ValidationError) as error:
            raise RefusedError(f"its response is invalid: {_odd(error)}", types.INVALID_REQUEST) from error
        self._ending.came.set()
        await asyncio.wait({self._task})
        raise ConnectionLostError(self._ending.explanation()) from lost

    def _id(self, request: asyncio.Task[Any]) -> int | str:
        return self._outgoing.requests.get(request, "")

    def _tell_cancelled(self, id: int | str | None) -> None:
        """Tells the server, without waiting, that the answer is no longer needed."""
        if self.ended or id is None:
            return
        params = types.CancelledNotificationParams(requestId=id, reason="the call was cancelled")
        notification = types.ClientNotification(types.CancelledNotification(params=params))
        self._spawn(self._session.result().send_notification(notification))


def _why(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        return f"its response is invalid: {_odd(error)}"
    return reason(error)


def _odd(error: RuntimeError | ValidationError) -> str:
    """What is odd about an answer: the first thing, in the kind of content that it says it is."""
    if isinstance(error, RuntimeError):
        return reason(error)
    found = error.errors(include_url=False)
    others = {problem["loc"][:-1] for problem in found if problem["type"] == "literal_error"}
    first = next((problem for problem in found if problem["loc"][:-1] not in others), found[0])
    place = ".".join(str(name) for name in first["loc"] if not str(name)[:1].isupper()) or "it"
    return f"{place} is missing" if first["type"] == "missing" else f"{place} is {show(first['input'])}"


async def _call(session: ClientSession, method: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    if method.startswith("list_"):
        params = types.PaginatedRequestParams(cursor=arguments[0]) if arguments else None
        result = await getattr(session, method)(params=params)
    elif method == "read_resource":
        result = await session.read_resource(AnyUrl(arguments[0]))
    elif method == "call_tool":  # the session's own method judges the answer by the server's schema, without a bound
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=arguments[0], arguments=arguments[1]))
        result = await session.send_request(types.ClientRequest(request), types.CallToolResult)
    else:
        result = await getattr(session, method)(*arguments)
    return cast(dict[str, Any], result.model_dump(mode="json", by_alias=True, exclude_none=True))


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
