"""An HTTP client for calls of models: one POST at a time, whose answer is read as it arrives.

For calls of models, only this module uses httpx. MCP servers use `Routes`, which knows the proxies. Exceptions of httpx
become one of these errors, which name the host and the reason:

HttpError
├── CannotConnect      nobody answers there, unknown name, untrusted certificate, or a proxy refuses
├── ConnectionLost     the other side closed the connection before the answer was complete
├── HttpTimeout        nothing came for too long
│   └── ConnectTimeout connecting took too long
├── BadProtocol        what was sent or received is not HTTP
└── AnswerTooLarge     the body is larger than the limit
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import urlsplit

import httpx

from bindings.processes.http import trusted_authorities
from runner.connectors.wire import Proxies
from runner.security.keys import Credential

BODY_LIMIT = 64 << 20
"""Bytes of the largest body that is read."""
CONNECT_SECONDS = 10.0
READ_SECONDS = 300.0
IDLE_SECONDS = 3.0
"""Servers commonly drop a connection after 5 idle seconds; one that they may be dropping is not used again."""

DRAIN_SECONDS = 0.25


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
    """The host sent nothing for too long."""


class ConnectTimeout(HttpTimeout):
    """There was no connection in time."""


class BadProtocol(HttpError):  # noqa: N818
    """The request or the answer is not valid HTTP."""


class AnswerTooLarge(HttpError):  # noqa: N818
    """The body of the answer is larger than the limit."""


class Response:
    """The answer to a call. Its body can be read once: by `chunks` or by `read`."""

    def __init__(self, host: str, response: httpx.Response, limit: int) -> None:
        self._host = host
        self._limit = limit
        self._body = self._read(response)
        self.status = response.status_code
        self.headers = response.headers
        """By name, in any case."""

    def chunks(self) -> AsyncIterator[bytes]:
        """The pieces of the body as they arrive. Raises HttpError."""
        return self._body

    async def _read(self, response: httpx.Response) -> AsyncIterator[bytes]:
        assert isinstance(response.stream, AsyncIterable)
        size = 0
        with errors_of(self._host):
            async for chunk in response.stream:
                size += len(chunk)
                if size > self._limit:
                    raise AnswerTooLarge(f"the answer of {self._host} exceeds {self._limit >> 20} MB")
                yield chunk

    async def read(self) -> bytes:
        """Reads the rest of the body. Raises HttpError."""
        return b"".join([chunk async for chunk in self._body])

    async def drain(self) -> None:
        """Reads what little may be left of the body, so that the connection can be used again."""
        with suppress(TimeoutError, HttpError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await self.read()


class Routes(httpx.AsyncBaseTransport):
    """Sends requests directly or through a proxy, as the proxy variables say. Only here, a request gets the credential
    in its extension `credential`, if the request goes to the origin of the credential.

    Args:
        trusted: returns the trusted certificates; called at the first address with TLS
    """

    def __init__(self, proxies: Proxies, trusted: Callable[[], ssl.SSLContext]) -> None:
        self._proxies = proxies
        self._trusted = trusted
        self._transports: dict[tuple[str, str | None], httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx. Raises ConfigurationError when the proxy cannot be used."""
        credential: Credential | None = request.extensions.get("credential")
        if credential is not None:
            request = _with_headers(request, credential.headers_for(str(request.url)))
        scheme = request.url.scheme
        proxy = self._proxies.find(scheme, request.url.netloc.decode("ascii"))
        if (scheme, proxy) not in self._transports:
            self._transports[scheme, proxy] = self._transport(scheme, proxy)
        return await self._transports[scheme, proxy].handle_async_request(request)

    async def aclose(self) -> None:
        """Closes idle connections."""
        for transport in self._transports.values():
            await transport.aclose()

    def _transport(self, scheme: str, proxy: str | None) -> httpx.AsyncHTTPTransport:
        context = self._trusted() if proxy and proxy.startswith("https:") else None
        return httpx.AsyncHTTPTransport(
            verify=self._trusted() if scheme == "https" else False,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE_SECONDS),
            proxy=httpx.Proxy(proxy, ssl_context=context) if proxy else None,
        )


class HttpClient:
    """Makes calls, any number at a time, and keeps connections for the next ones. For one event loop.

    Each call under way has routes of its own, and with them a connection. A pool that all calls share looks at every
    connection before and after every call: 50 calls at a time took 1.2 ms of processor time more each.
    """

    def __init__(
        self,
        proxies: Proxies | None = None,
        *,
        connect_seconds: float = CONNECT_SECONDS,
        limit: int = BODY_LIMIT,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`ssl_context` is for hosts that the usual authorities do not vouch for."""
        self._connect_seconds = connect_seconds
        self._limit = limit
        self._proxies = proxies or Proxies()
        self._trusted = (lambda: ssl_context) if ssl_context else trusted_authorities
        self._free: list[Routes] = []
        self._careless: set[str] = set()
        """The hosts that sent more than an answer."""

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
            body: the body.
            read_seconds: how long the other side may send nothing.
            credential: is sent only to its own origin.
        """
        host = urlsplit(url).netloc.rpartition("@")[2]
        timeouts = {"connect": self._connect_seconds, "read": read_seconds}
        arrival = _Arrival()
        extensions = {"timeout": timeouts, "credential": credential, "trace": arrival.hear}
        fields = [(name.encode(), value.encode()) for name, value in headers.items()]
        routes = self._free.pop() if self._free else Routes(self._proxies, self._trusted)
        try:
            with errors_of(host):
                request = httpx.Request("POST", url, headers=fields, content=body, extensions=extensions)
            response = await self._own_answer(routes, request, arrival, host)
            try:
                yield Response(host, response, self._limit)
            finally:
                await response.aclose()
        finally:
            if host in self._careless:
                await routes.aclose()
            else:
                self._free.append(routes)

    async def _own_answer(self, routes: Routes, request: httpx.Request, arrival: _Arrival, host: str) -> httpx.Response:
        """The answer to a request. What the host sent after the answer before it is thrown away with its connection."""
        try:
            with errors_of(host):
                response = await routes.handle_async_request(request)
            if not arrival.was_there:
                return response
            await response.aclose()
        except BadProtocol:
            if arrival.is_first:
                raise
        with errors_of(host):
            response = await routes.handle_async_request(request)
        self._careless.add(host)
        return response

    def check(self, url: str) -> None:
        """Raises ConfigurationError when the proxy on the way to this address cannot be used."""
        parts = urlsplit(url)
        self._proxies.find(parts.scheme, parts.netloc.rpartition("@")[2])

    async def close(self) -> None:
        """Closes idle connections."""
        for routes in self._free:
            await routes.aclose()


class _Arrival:
    """How an answer comes: over which connection, and whether it was there before its request."""

    is_first = False
    """Whether it is the first one of its connection."""
    was_there = False
    _has_come = False

    async def hear(self, event: str, _: object) -> None:
        """Hears what the transport does."""
        match event:
            case "connection.connect_tcp.started":
                self.is_first = True
            case "http11.receive_response_headers.started":
                self.was_there = True
                asyncio.get_running_loop().call_soon(self._wait)  # each read from a connection lets the loop turn
                self._has_come = False
            case "http11.receive_response_headers.complete":
                self._has_come = True

    def _wait(self) -> None:
        self.was_there = self.was_there and self._has_come


def _with_headers(request: httpx.Request, headers: Mapping[str, str]) -> httpx.Request:
    """Another request: whoever follows a redirect copies the headers of the one that it knows."""
    sent = httpx.Headers(request.headers)
    sent.update(headers)
    return httpx.Request(
        request.method, request.url, headers=sent, stream=request.stream, extensions=request.extensions
    )


@contextmanager
def errors_of(host: str) -> Iterator[None]:
    """Turns what httpx raises into HttpErrors."""
    try:
        yield
    except httpx.LocalProtocolError:
        # the cause quotes the header, which may be a key
        raise BadProtocol(f"the request to {host} cannot be sent: a header holds a line break") from None
    except httpx.InvalidURL as error:
        raise BadProtocol(f"the address of {host} cannot be used: {error}") from error
    except (httpx.TransportError, UnicodeError) as error:
        raise _translated(error, host) from error


def _translated(error: httpx.TransportError | UnicodeError, host: str) -> HttpError:
    said = str(error)
    match error:
        case httpx.ConnectTimeout():
            return ConnectTimeout(f"no connection to {host} in time")
        case httpx.TimeoutException():
            return HttpTimeout(f"{host} was silent for too long")
        case httpx.ProxyError():
            return CannotConnect(f"cannot connect to {host}: the proxy answered {said}", lasting=True)
        case httpx.ConnectError() | UnicodeError():  # a name too long for DNS is a UnicodeError
            cause = _origin(error)
            return CannotConnect(f"cannot connect to {host}: {_reason(cause)}", _lasts(cause))
        case httpx.NetworkError():
            return ConnectionLost(f"lost the connection to {host}: {_reason(_origin(error))}")
        case httpx.RemoteProtocolError() if "closed connection" in said or "disconnected" in said:
            return ConnectionLost(f"lost the connection to {host}: it was closed before the answer was complete")
    return BadProtocol(f"{host} does not speak HTTP as expected: {said}")


def _origin(error: BaseException) -> BaseException:
    """What the system said: the first error with a number below one of httpx, or the last of all."""
    while not (isinstance(error, OSError) and error.errno):
        below = error.__cause__ or error.__context__
        if isinstance(error, BaseExceptionGroup):
            below = error.exceptions[0]
        if below is None:
            break
        error = below
    return error


def _reason(error: BaseException) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate cannot be trusted: {error.verify_message}"
        case UnicodeError() | socket.gaierror(errno=socket.EAI_NONAME):
            return "there is no host of that name"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
    return getattr(error, "strerror", None) or str(error) or "it was closed"


def _lasts(error: BaseException) -> bool:
    return isinstance(error, ssl.SSLCertVerificationError | UnicodeError) or (
        isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
    )
