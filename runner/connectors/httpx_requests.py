"""Requests by httpx, for MCP servers: their SDK takes a client of httpx."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from bindings.processes.http import trusted_authorities
from runner.connectors.http import (
    CLOSED_EARLY,
    IDLE_SECONDS,
    BadProtocol,
    CannotConnect,
    ConnectionLost,
    ConnectTimeout,
    HttpError,
    HttpTimeout,
    not_connected,
    why_lost,
)


def transport_for(proxy: str | None) -> httpx.AsyncHTTPTransport:
    """Sends requests directly, or through a proxy."""
    context = trusted_authorities()
    return httpx.AsyncHTTPTransport(
        verify=context,
        limits=httpx.Limits(max_connections=None, keepalive_expiry=IDLE_SECONDS),
        proxy=httpx.Proxy(proxy, ssl_context=context if proxy.startswith("https:") else None) if proxy else None,
    )


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
            return not_connected(host, _origin(error))
        case httpx.NetworkError():
            return ConnectionLost(f"lost the connection to {host}: {why_lost(_origin(error))}")
        case httpx.RemoteProtocolError() if "closed connection" in said or "disconnected" in said:
            return ConnectionLost(f"lost the connection to {host}: {CLOSED_EARLY}")
    return BadProtocol(f"{host} sent an invalid HTTP response: {said}")


def _origin(error: Exception) -> Exception:
    """What the system said: the first error with a number below one of httpx, or the last of all."""
    while not (isinstance(error, OSError) and error.errno):
        below = error.__cause__ or error.__context__
        if isinstance(error, BaseExceptionGroup):
            below = error.exceptions[0]
        if not isinstance(below, Exception):
            break
        error = below
    return error
