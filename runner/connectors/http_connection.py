"""A connection of HTTP/1.1, which carries one call after another, and the answer to a call. httptools reads answers.

An answer is read as it arrives. When it has ended, its connection can carry the next call, unless the host wants to
close it or has sent more than one answer."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from select import select
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from runner.connectors.http import (
    IDLE_SECONDS,
    AnswerTooLarge,
    BadProtocol,
    ConnectionLost,
    HttpError,
    HttpTimeout,
    why_lost,
)

DRAIN_SECONDS = 0.25
_HEAD_LIMIT = 1 << 20
"""Bytes of the largest head of an answer."""
_WAITING_LIMIT = 1 << 20
"""Bytes of a body that may wait until somebody reads them; then no more are received."""

_PACKED = {"gzip", "x-gzip", "deflate"}
"""How bodies may be compressed, by hosts that were asked not to."""
_GZIP_OR_ZLIB = 47

_BUFFER = memoryview(bytearray(1 << 18))
"""What a connection receives, until it is parsed, which is at once: all connections share it. It has the size of
asyncio's own for TLS, which loses the end of an answer where less is taken at a time."""


class Response:
    """The answer to a call. `async for` or `read` give its body, once. Its parser calls `on_...`."""

    status = 0
    reason = ""

    def __init__(self, connection: Connection, limit: int, idle: deque[Connection] | None) -> None:
        """`limit` is the bytes of the largest body; `idle` gets the connection when it can carry another call."""
        self.headers: dict[str, str] = {}
        """By lower-case name."""
        self.can_follow = False
        """Whether the connection can carry another call."""
        self._connection = connection
        self._limit = limit
        self._has_head = self._is_complete = False
        self._before_body = 0
        self._pieces = deque[bytes]()
        self._waiting = self._size = 0
        self._unpacker: Any = None
        self._error: HttpError | None = None
        self._arrival: asyncio.Future[None] | None = None
        self._parser: Any = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self._idle = idle
        self._loop = asyncio.get_running_loop()
        self.heard = self._loop.time()
        """When the host has last sent something, or was last asked for more."""

    async def head(self) -> None:
        """Waits for the status and the headers. Raises HttpError."""
        while not self._has_head:
            if self._error:
                raise self._error
            await self._news()

    def __aiter__(self) -> Response:
        """The pieces of the body as they arrive. Raises HttpError."""
        return self

    async def __anext__(self) -> bytes:
        while not self._pieces:
            if self._is_complete:
                raise StopAsyncIteration
            if self._error:
                raise self._error
            self.heard = self._loop.time()
            self._connection.transport.resume_reading()
            await self._news()
        piece = self._pieces.popleft()
        self._waiting -= len(piece)
        if self.headers.get("content-encoding") in _PACKED:
            piece = self._unpacked(piece)
        self._size += len(piece)
        if self._size > self._limit:
            raise AnswerTooLarge(f"the response from {self._connection.host} is larger than {self._limit >> 20} MB")
        return piece

    async def read(self) -> bytes:
        """Reads the rest of the body. Raises HttpError."""
        return b"".join([piece async for piece in self])

    async def drain(self) -> None:
        """Reads what little may be left of the body, so that the connection can be used again."""
        if not self._is_complete:
            with suppress(TimeoutError, HttpError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self.read()

    @property
    def has_begun(self) -> bool:
        """Whether the host has sent anything."""
        return self._has_head or self._before_body > 0

    @property
    def is_waiting(self) -> bool:
        """Whether pieces of its body wait until somebody reads them."""
        return bool(self._pieces)

    def close(self) -> None:
        """Nobody wants more of it: its connection can carry another call if it has come whole, and closes if not."""
        if self._connection.release() and self._idle is not None:
            self._idle.append(self._connection)

    def end(self) -> None:
        """Lets go of what reads it."""
        self._parser = None  # it has its response, which then is freed at once

    def received(self, data: memoryview) -> None:
        """Takes what came from the host."""
        self.heard = self._loop.time()
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.can_follow = False
            if not self._is_complete:
                self.failed(self._invalid(error))
        if not self._has_head:
            self._before_body += len(data)
            if self._before_body > _HEAD_LIMIT:
                self.failed(self._invalid("its head is larger than 1 MB"))
        if self._waiting > _WAITING_LIMIT:
            self._connection.transport.pause_reading()
        self._tell()

    def lost(self, error: Exception | None) -> None:
        """The connection has ended, which also ends a body without a length."""
        has_end = "content-length" in self.headers or "transfer-encoding" in self.headers
        if self._has_head and not has_end and error is None:
            self._is_complete = True
        self.can_follow = False
        self.failed(ConnectionLost(f"lost the connection to {self._connection.host}: {why_lost(error)}"))

    def failed(self, error: HttpError) -> None:
        """Ends the answer, unless it is complete or has failed before."""
        self._error = self._error or error
        self._tell()

    def on_message_begin(self) -> None:
        """An answer begins."""
        if self._is_complete:  # a second answer to one call: what it says must not be read
            raise HttpParserError("more than one answer")

    def on_status(self, reason: bytes) -> None:
        """A piece of the words behind the status."""
        self.reason += reason.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The head has come."""
        self.status = self._parser.get_status_code()
        self._has_head = self.status >= 200

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._pieces.append(body)
        self._waiting += len(body)

    def on_message_complete(self) -> None:
        """The answer has come."""
        self._is_complete = self._has_head
        if self._is_complete:
            self.can_follow = self._parser.should_keep_alive()
        else:  # an interim answer, such as 100 Continue
            self.headers, self.reason = {}, ""

    def _unpacked(self, piece: bytes) -> bytes:
        from zlib import decompressobj, error

        self._unpacker = self._unpacker or decompressobj(_GZIP_OR_ZLIB)
        try:
            return bytes(self._unpacker.decompress(piece, self._limit + 1 - self._size))
        except error as invalid:
            raise self._invalid(f"its body cannot be decompressed: {invalid}") from invalid

    def _invalid(self, why: object) -> BadProtocol:
        return BadProtocol(f"{self._connection.host} sent an invalid HTTP response: {why}")

    async def _news(self) -> None:
        self._arrival = self._loop.create_future()
        await self._arrival

    def _tell(self) -> None:
        if self._arrival and not self._arrival.done():
            self._arrival.set_result(None)


class Connection(asyncio.BufferedProtocol):
    """A connection to a host, or to a proxy on the way to it."""

    transport: Any
    """asyncio.Transport: its type hides that TLS can be put on it."""

    def __init__(self, host: str) -> None:
        """`host` is named in errors."""
        self.host = host
        self._response: Response | None = None
        self._seconds = self._idle_since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def send(self, request: bytes, seconds: float, limit: int, idle: deque[Connection] | None = None) -> Response:
        """Sends a request; `seconds` is how long the host may send nothing. See Response."""
        self._response, self._seconds = Response(self, limit, idle), seconds
        self.transport.write(request)
        if self._timer is None or self._timer.when() > self._response.heard + seconds:
            self._look()
        return self._response

    def release(self) -> bool:
        """Whether the connection can carry another call. If not, it closes now."""
        response, self._response = self._response, None
        if response is not None:
            response.end()
        is_sent = not self.transport.get_write_buffer_size()  # a host may answer before it has the whole request
        if response is None or not response.can_follow or not is_sent or self.transport.is_closing():
            self.transport.abort()
            return False
        self._idle_since = asyncio.get_running_loop().time()
        return True

    @property
    def was_used(self) -> bool:
        """Whether it has carried a call before."""
        return self._idle_since > 0

    def is_usable(self) -> bool:
        """Whether an idle connection can still be used: it is young, and the host has sent nothing, not even an end."""
        return (
            not self.transport.is_closing()
            and asyncio.get_running_loop().time() < self._idle_since + IDLE_SECONDS
            and not _has_news(self.transport.get_extra_info("socket").fileno())
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.BufferedProtocol."""
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        """See asyncio.BufferedProtocol."""
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        """See asyncio.BufferedProtocol."""
        if self._response is None:
            self.transport.abort()
        else:
            self._response.received(_BUFFER[:nbytes])

    def connection_lost(self, error: Exception | None) -> None:
        """See asyncio.BufferedProtocol."""
        self._stop_looking()
        if self._response is not None:
            self._response.lost(error)

    def _look(self) -> None:
        """Whether the host has been silent for too long. Calls and pieces set no new timer, but are seen here."""
        self._stop_looking()
        response, loop = self._response, asyncio.get_running_loop()
        if response is None:
            return
        if response.is_waiting:
            response.heard = loop.time()
        end = response.heard + self._seconds
        if loop.time() < end:
            self._timer = loop.call_at(end, self._look)
        else:
            response.failed(HttpTimeout(f"{self.host} sent nothing for too long"))

    def _stop_looking(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _has_news(file: int) -> bool:
    """Whether a socket has something to be read, which the event loop may not have seen yet."""
    try:
        from select import poll
    except ImportError:  # Windows, where select() has no limit of file numbers
        return bool(select([file], [], [], 0)[0])
    looked = poll()
    looked.register(file, 1)
    return bool(looked.poll(0))
