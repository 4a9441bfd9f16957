"""The HTTP client for calls of models: one POST at a time, whose answer is read as it arrives.

pyqwest makes the calls. httpx makes them where pyqwest is not installed (its wheels are for Linux, macOS and Windows),
and to hosts whose certificate only OpenSSL accepts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from urllib.parse import urlsplit

from runner.connectors.http import (
    Answer,
    AnswerTooLarge,
    BadProtocol,
    HttpError,
    HttpTimeout,
    Proxies,
    Sender,
)
from runner.security.keys import Credential

BODY_LIMIT = 64 << 20
"""Bytes of the largest body that is read."""
CONNECT_SECONDS = 10.0
READ_SECONDS = 300.0
DRAIN_SECONDS = 0.25


class Response:
    """The answer to a call. Its body can be read once: by `chunks` or by `read`."""

    def __init__(self, host: str, answer: Answer, limit: int, heard: Callable[[], None]) -> None:
        """`heard` is called with each piece of the body."""
        self.status = answer.status
        self.headers = answer.headers
        """By lower-case name."""
        self._length = answer.headers.get("content-length")
        self._is_whole = False
        self._body = self._read(host, answer.chunks, limit, heard)

    def chunks(self) -> AsyncIterator[bytes]:
        """The pieces of the body as they arrive. Raises HttpError."""
        return self._body

    async def _read(
        self, host: str, chunks: AsyncIterator[bytes], limit: int, heard: Callable[[], None]
    ) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in chunks:
            heard()
            size += len(chunk)
            if size > limit:
                raise AnswerTooLarge(f"the response from {host} is larger than {limit >> 20} MB")
            self._is_whole = str(size) == self._length
            yield chunk

    async def read(self) -> bytes:
        """Reads the rest of the body. Raises HttpError."""
        return b"".join([chunk async for chunk in self._body])

    async def drain(self) -> None:
        """Reads what little may be left of the body, so that the connection can be used again."""
        with suppress(TimeoutError, HttpError):
            if self._is_whole:
                await self.read()
                return
            async with asyncio.timeout(DRAIN_SECONDS):
                await self.read()


class HttpClient:
    """Makes calls, any number at a time, and keeps connections for the next ones. For one event loop."""

    def __init__(
        self,
        proxies: Proxies | None = None,
        *,
        connect_seconds: float = CONNECT_SECONDS,
        limit: int = BODY_LIMIT,
        authorities: bytes | None = None,
        library: str = "",
    ) -> None:
        """`authorities` are certificates (PEM) that are trusted besides the usual ones; `library` is `pyqwest` or
        `httpx`, by default the first of them that is installed."""
        self._connect_seconds = connect_seconds
        self._limit = limit
        self._proxies = proxies or Proxies()
        self._authorities = authorities
        self._library = library or ("pyqwest" if find_spec("pyqwest") else "httpx")
        self._senders: dict[str, Sender] = {}
        self._by_openssl: set[str] = set()
        """The hosts whose certificates rustls does not accept, but OpenSSL may."""
        self._routes: dict[str, tuple[str, str | None]] = {}
        """Address → its host, and the proxy on the way."""

    @asynccontextmanager
    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        read_seconds: float = READ_SECONDS,
        credential: Credential | None = None,
    ) -> AsyncIterator[Response]:
        """Sends a POST. `async with` gives the answer, and raises HttpError. Leaving it early closes the connection.

        Args:
            url: an absolute `http` or `https` URL.
            headers: in addition to `Host` and `Content-Length`.
            read_seconds: how long the other side may send nothing.
            credential: is sent only to its own origin."""
        host, proxy = self._routes.get(url) or self._route(url)
        if credential is not None:
            headers = {**headers, **credential.headers_for(url)}
        try:
            async with asyncio.timeout(None) as time:
                silence = _Silence(time, read_seconds)
                try:
                    answer = await self._answer(url, headers, body, proxy, host)
                    try:
                        yield Response(host, answer, self._limit, silence.hear)
                    finally:
                        await answer.close()
                finally:
                    silence.close()
        except TimeoutError as error:
            if not time.expired():
                raise
            raise HttpTimeout(f"{host} sent nothing for too long") from error

    def _route(self, url: str) -> tuple[str, str | None]:
        host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        if re.search(r"[\x00-\x20\x7f]", url):
            raise BadProtocol(f"the address of {host} cannot be used: it contains a space or a control character")
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018 - looks whether it is one
        except ValueError as error:
            raise BadProtocol(f"the address of {host} cannot be used: {error}") from error
        self._routes[url] = host, self._proxies.find(parts.scheme, host)
        return self._routes[url]

    async def _answer(self, url: str, headers: Mapping[str, str], body: bytes, proxy: str | None, host: str) -> Answer:
        if self._library == "httpx" or host in self._by_openssl:
            return await self._sender("httpx").post(url, headers, body, proxy)
        from runner.connectors.pyqwest_sender import AuthorityAsHost

        try:
            return await self._sender("pyqwest").post(url, headers, body, proxy)
        except AuthorityAsHost:
            self._by_openssl.add(host)
        return await self._sender("httpx").post(url, headers, body, proxy)

    def _sender(self, library: str) -> Sender:
        if library not in self._senders:
            self._senders[library] = _new_sender(library, self._connect_seconds, self._authorities)
        return self._senders[library]

    def check(self, url: str) -> None:
        """Raises ConfigurationError when the proxy on the way to this address cannot be used."""
        parts = urlsplit(url)
        self._proxies.find(parts.scheme, parts.netloc.rpartition("@")[2])

    async def close(self) -> None:
        """Closes idle connections."""
        for sender in self._senders.values():
            await sender.close()


class _Silence:
    """Ends the time of a call when nothing was heard for some seconds. What is heard sets no new timer."""

    def __init__(self, time: asyncio.Timeout, seconds: float) -> None:
        self._time = time
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._heard = self._loop.time()
        self._timer = self._loop.call_at(self._heard + seconds, self._look)

    def hear(self) -> None:
        """Something was heard."""
        self._heard = self._loop.time()

    def close(self) -> None:
        """The call is over."""
        self._timer.cancel()

    def _look(self) -> None:
        if self._loop.time() < self._heard + self._seconds:
            self._timer = self._loop.call_at(self._heard + self._seconds, self._look)
        else:
            self._time.reschedule(self._loop.time())


def _new_sender(library: str, connect_seconds: float, authorities: bytes | None) -> Sender:
    if library == "pyqwest":
        from runner.connectors.pyqwest_sender import PyqwestSender

        return PyqwestSender(connect_seconds, authorities)
    from runner.connectors.httpx_sender import HttpxSender

    return HttpxSender(connect_seconds, authorities)
