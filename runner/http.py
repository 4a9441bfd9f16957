"""An HTTP client for calls to models: one POST at a time, its answer read as it arrives.

The only module that touches httpcore, which brings HTTP/1.1, TLS and proxies. Two things are our own, for their cost
(CPU per call on one machine, 50 calls at a time): network streams on asyncio's, and a plain list of idle connections.
httpcore's pool looks at every connection for every call, 3.8 ms; a list takes 0.3 ms, whatever the number of calls.

HttpError
├── CannotConnect      nobody there, no such name, a certificate that cannot be trusted, a proxy that refuses
├── ConnectionLost     the other side went away before the answer was complete
├── HttpTimeout        nothing came for too long
│   └── ConnectTimeout connecting took too long
├── BadProtocol        what was sent or what came is not HTTP
└── AnswerTooLarge     the body exceeds the bound
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from contextlib import nullcontext
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
from httpcore._async import connection as _connection
from httpcore._async import http11 as _http11

from runner.proxies import Proxies

# httpcore's locks choose an event loop's library at each use, and load anyio for asyncio: 15 ms once, an eighth of
# each call. Where a later version has other names for them, these lines change nothing.
_connection.AsyncLock = _http11.AsyncLock = asyncio.Lock  # type: ignore[assignment, attr-defined]
_http11.AsyncShieldCancellation = nullcontext  # type: ignore[assignment, attr-defined]  # closing never waits here

BODY_LIMIT = 64 << 20
"""Bytes of the largest body that is read."""
CONNECT_SECONDS = 10.0
READ_SECONDS = 300.0
_IDLE_SECONDS = 3.0
"""Servers commonly drop a connection after 5 idle seconds; one that they may be dropping is not used again."""
_DRAIN_SECONDS = 0.25


class HttpError(Exception):
    """A call that failed below the level of HTTP status codes; the message names host and reason."""

    def __init__(self, message: str, lasting: bool = False) -> None:
        super().__init__(message)
        self.lasting = lasting
        """Whether the next call will meet the same: an untrusted certificate, an unknown name, a proxy's refusal."""


class CannotConnect(HttpError):  # noqa: N818
    """There is no connection to the host."""


class ConnectionLost(HttpError):  # noqa: N818
    """The connection ended before the answer did."""


class HttpTimeout(HttpError):  # noqa: N818
    """The other side was silent for too long."""


class ConnectTimeout(HttpTimeout):
    """There was no connection in time."""


class BadProtocol(HttpError):  # noqa: N818
    """What was to be sent, or what came, is not HTTP."""


class AnswerTooLarge(HttpError):  # noqa: N818
    """The body is larger than the bound."""


class Response:
    """The answer to a call. Its body can be read once: by `chunks` or by `read`."""

    def __init__(self, host: str, response: httpcore.Response, limit: int) -> None:
        self._host = host
        self._limit = limit
        self._body = self._read(response)
        self.status = response.status
        self.headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        """By lower-case name; of a header that comes twice, the last."""

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The pieces of the body as they arrive. Raises HttpError."""
        return self._body

    async def read(self) -> bytes:
        """The whole body. Raises HttpError."""
        return b"".join([chunk async for chunk in self._body])

    async def drain(self) -> None:
        """Reads what little may be left of the body, so that the connection can be used again."""
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                async for _ in self._body:
                    pass
        except (TimeoutError, HttpError):
            pass

    async def close(self) -> None:
        """Ends the reading."""
        await self._body.aclose()

    async def _read(self, response: httpcore.Response) -> AsyncGenerator[bytes, None]:
        size = 0
        assert isinstance(response.stream, AsyncIterable)
        try:
            async for chunk in response.stream:
                size += len(chunk)
                if size > self._limit:
                    raise AnswerTooLarge(f"the answer of {self._host} exceeds {self._limit >> 20} MB")
                yield chunk
        except _FOREIGN as error:
            raise _translated(error, self._host) from error


class Call:
    """A POST under way; `async with` opens it and gives the Response. Leaving early closes the connection."""

    def __init__(self, client: HttpClient, url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> None:
        self._client = client
        self._url = httpcore.URL(url)
        self._host = urlsplit(url).netloc.rpartition("@")[2]
        fields = [(b"host", self._host.encode()), (b"content-length", b"%d" % len(body))]
        fields += [(name.encode(), value.encode()) for name, value in headers.items()]
        timeouts = {"connect": client.connect_seconds, "read": seconds}
        self._request = httpcore.Request(
            "POST", self._url, headers=fields, content=body, extensions={"timeout": timeouts}
        )

    async def __aenter__(self) -> Response:
        self._connection = await self._client.take(self._url.origin, self._host)
        try:
            self._answer = await self._connection.handle_async_request(self._request)
        except httpcore.LocalProtocolError:
            await self._connection.aclose()
            # the cause quotes the header, which may be a key
            raise BadProtocol(f"the request to {self._host} cannot be sent: a header holds a line break") from None
        except BaseException as error:
            await self._connection.aclose()
            if isinstance(error, _FOREIGN):
                raise _translated(error, self._host) from error
            raise
        self._response = Response(self._host, self._answer, self._client.limit)
        return self._response

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self._response.close()
        await self._answer.aclose()
        if self._connection.is_idle():
            self._client.give_back(self._url.origin, self._connection)
        else:
            await self._connection.aclose()


class HttpClient:
    """Makes calls and keeps connections for the next ones. For one event loop; it bounds no concurrency itself."""

    def __init__(
        self,
        proxies: Proxies | None = None,
        *,
        connect_seconds: float = CONNECT_SECONDS,
        limit: int = BODY_LIMIT,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.connect_seconds = connect_seconds
        self.limit = limit
        self._proxies = proxies or Proxies()
        self._ssl_context = ssl_context
        self._factories: dict[str, httpcore.AsyncConnectionPool] = {}
        self._idle: dict[str, list[httpcore.AsyncConnectionInterface]] = {}

    def post(self, url: str, headers: Mapping[str, str], body: bytes, read_seconds: float = READ_SECONDS) -> Call:
        """A POST, to be opened by `async with`, which raises HttpError.

        Args:
            url: With scheme and host, `http` or `https`.
            headers: Beside `Host` and `Content-Length`.
            body: What is sent.
            read_seconds: How long the other side may be silent.
        """
        return Call(self, url, headers, body, read_seconds)

    def check(self, url: str) -> None:
        """Raises ConfigurationError when the proxy on the way to this address cannot be used."""
        parts = urlsplit(url)
        self._proxies.find(parts.scheme, parts.netloc.rpartition("@")[2])

    async def take(self, origin: httpcore.Origin, host: str) -> httpcore.AsyncConnectionInterface:
        """An idle connection, or a new one that connects when it is used."""
        idle = self._idle.get(str(origin), [])
        while idle:
            connection = idle.pop()
            if not connection.has_expired() and connection.is_available():
                return connection
            await connection.aclose()
        return self._factory(origin.scheme.decode(), host).create_connection(origin)

    def give_back(self, origin: httpcore.Origin, connection: httpcore.AsyncConnectionInterface) -> None:
        """Keeps a connection whose answer was read to its end."""
        self._idle.setdefault(str(origin), []).append(connection)

    async def close(self) -> None:
        """Closes idle connections."""
        for connections in self._idle.values():
            for connection in connections:
                await connection.aclose()
        self._idle = {}
        await asyncio.sleep(0)  # the loop closes the sockets on its next turn

    def _factory(self, scheme: str, host: str) -> httpcore.AsyncConnectionPool:
        url = self._proxies.find(scheme, host)
        key = f"{scheme} {url}"
        if key not in self._factories:
            self._factories[key] = httpcore.AsyncConnectionPool(
                ssl_context=self._context() if scheme == "https" else None,
                proxy=_proxy(url, self._context) if url else None,
                keepalive_expiry=_IDLE_SECONDS,
                network_backend=_Network(),
            )
        return self._factories[key]

    def _context(self) -> ssl.SSLContext:
        if self._ssl_context is None:
            self._ssl_context = httpcore.default_ssl_context()
        return self._ssl_context


def _proxy(url: str, context: Any) -> httpcore.Proxy:
    parts = urlsplit(url)
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return httpcore.Proxy(address, auth=auth, ssl_context=context() if parts.scheme == "https" else None)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


class _Network(httpcore.AsyncNetworkBackend):
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                delay = None if _is_address(host) else 0.25
                return _Stream(*await asyncio.open_connection(host, port, happy_eyeballs_delay=delay))
        except TimeoutError as error:
            raise httpcore.ConnectTimeout from error
        except (OSError, UnicodeError) as error:  # a name too long for DNS is a UnicodeError
            raise httpcore.ConnectError(_reason(error)) from error


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._unsent: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            self._writer.write(b"".join(self._unsent))
            self._unsent = []
        try:
            async with asyncio.timeout(timeout):
                return await self._reader.read(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout from error
        except OSError as error:
            raise httpcore.ReadError(_reason(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # head and body go out together, when the answer is waited for; if they cannot, reading says so
        self._unsent.append(buffer)

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except BaseException as error:
            await self.aclose()
            if isinstance(error, TimeoutError):
                raise httpcore.ConnectTimeout from error
            if isinstance(error, OSError):
                raise httpcore.ConnectError(_reason(error)) from error
            raise
        return self

    async def aclose(self) -> None:
        # no farewell: a server that does not answer it would keep the socket open
        self._writer.transport.abort()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._reader.at_eof() or self._writer.is_closing()
        return None


_FOREIGN = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


def _translated(error: BaseException, host: str) -> HttpError:
    reason = str(error)
    match error:
        case httpcore.ConnectTimeout():
            return ConnectTimeout(f"no connection to {host} in time")
        case httpcore.TimeoutException():
            return HttpTimeout(f"{host} was silent for too long")
        case httpcore.ConnectError():
            return CannotConnect(f"cannot connect to {host}: {reason}", _lasts(error.__cause__))
        case httpcore.ProxyError():
            return CannotConnect(f"cannot connect to {host}: the proxy answered {reason}", lasting=True)
        case httpcore.NetworkError():
            return ConnectionLost(f"lost the connection to {host}: {reason}")
        case httpcore.RemoteProtocolError() if "closed connection" in reason or "disconnected" in reason:
            return ConnectionLost(f"lost the connection to {host}: it was closed before the answer was complete")
    return BadProtocol(f"{host} does not speak HTTP as expected: {reason}")


def _reason(error: OSError | UnicodeError) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate cannot be trusted: {error.verify_message}"
        case UnicodeError() | socket.gaierror(errno=socket.EAI_NONAME):
            return "there is no host of that name"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
    return getattr(error, "strerror", None) or str(error)


def _lasts(error: BaseException | None) -> bool:
    return isinstance(error, ssl.SSLCertVerificationError | UnicodeError) or (
        isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
    )
