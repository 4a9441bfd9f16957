"""Two streams between the clients of the MCP SDK and its session, which record the messages that pass.

The session would log texts that are not messages, and reports an ended connection with an error of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    ServerNotification,
    ServerRequest,
)
from pydantic import ValidationError

from runner.agents.mcp.http import FAILED, quoted, reply_in
from runner.connectors.http import HttpError


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
        if isinstance(item.message.root, JSONRPCRequest):
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
                error = ErrorData(code=FAILED, message=f"it answered what is not of the protocol: {quoted(said)}")
                return SessionMessage(JSONRPCMessage(JSONRPCError(jsonrpc="2.0", id=id, error=error)))
            self._ending.stray = self._ending.stray or said[:200].strip()
        return None
