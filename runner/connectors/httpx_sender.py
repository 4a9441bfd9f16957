"""Calls by httpx: for MCP servers, whose SDK takes a client of httpx, and for models where pyqwest cannot serve.

A call of a model has a connection of its own. An answer that is waiting in a connection before its request was sent is
then never taken for the answer, and no pool looks at each of its connections before and after each call."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx

from bindings.processes.http import trusted_authorities
from runner.connectors.http import (
    CLOSED_EARLY,
    IDLE_SECONDS,
    NO_SUCH_HOST,
    Answer,
    BadProtocol,
    CannotConnect,
    ConnectionLost,
    ConnectTimeout,
    HttpError,
    HttpTimeout,
    not_connected,
)


class HttpxSender:
    """See `Sender`."""

    def __init__(self, connect_seconds: float, authorities: bytes | None) -> None:
        """`authorities` are certificates (PEM) that are trusted besides the usual ones."""
        self._timeout = {"connect": connect_seconds}
        self._trusted = trusted_authorities()
        if authorities:
            self._trusted = ssl.create_default_context(cadata=authorities.decode("ascii"))

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, proxy: str | None) -> Answer:
        """See `Sender`."""
        host = urlsplit(url).netloc.rpartition("@")[2]
        transport = transport_for(proxy, self._trusted)
        try:
            with errors_of(host):
                fields = [(name.encode(), value.encode()) for name, value in headers.items()]
                request = httpx.Request(
                    "POST", url, headers=fields, content=body, extensions={"timeout": self._timeout}
                )
                response = await transport.handle_async_request(request)
        except BaseException:
            await transport.aclose()
            raise

        async def close() -> None:
            await response.aclose()
            await transport.aclose()

        return Answer(
            status=response.status_code,
            headers={name.lower(): value for name, value in response.headers.items()},
            chunks=body_of(response, host),
            close=close,
        )

    async def close(self) -> None:
        """There is nothing left: each call closes what it opened."""


def transport_for(proxy: str | None, trusted: ssl.SSLContext | None = None) -> httpx.AsyncHTTPTransport:
    """Sends requests directly, or through a proxy; `trusted` by default are the usual certificates."""
    context = trusted or trusted_authorities()
    return httpx.AsyncHTTPTransport(
        verify=context,
        limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE_SECONDS),
        proxy=httpx.Proxy(proxy, ssl_context=context if proxy.startswith("https:") else None) if proxy else None,
    )


async def body_of(response: httpx.Response, host: str) -> AsyncIterator[bytes]:
    """The pieces of a body. Raises HttpError."""
    assert isinstance(response.stream, AsyncIterable)
    with errors_of(host):
        async for chunk in response.stream:
            yield chunk


@contextmanager
def errors_of(host: str) -> Iterator[None]:
    """Turns what httpx raises into HttpErrors."""
    try:
        yield
    except httpx.LocalProtocolError:
        # the cause quotes the header, which may be a key
        raise BadProtocol(f"the request to {host} cannot be sent: a header contains a line break") from None
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
            return HttpTimeout(f"{host} sent nothing for too long")
        case httpx.ProxyError():
            return CannotConnect(f"cannot connect to {host}: the proxy refused the connection: {said}", lasting=True)
        case httpx.ConnectError() | UnicodeError():  # a name too long for DNS is a UnicodeError
            cause = _origin(error)
            if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError | socket.gaierror) and cause.errno:
                return not_connected(host, cause.errno)
            return CannotConnect(f"cannot connect to {host}: {_reason(cause)}", _lasts(cause))
        case httpx.NetworkError():
            return ConnectionLost(f"lost the connection to {host}: {_reason(_origin(error))}")
        case httpx.RemoteProtocolError() if "closed connection" in said or "disconnected" in said:
            return ConnectionLost(f"lost the connection to {host}: {CLOSED_EARLY}")
    return BadProtocol(f"{host} sent an invalid HTTP response: {said}")


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
            return NO_SUCH_HOST
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
    return getattr(error, "strerror", None) or str(error) or "it was closed"


def _lasts(error: BaseException) -> bool:
    return isinstance(error, ssl.SSLCertVerificationError | UnicodeError) or (
        isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
    )
