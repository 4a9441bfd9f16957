"""Calls by pyqwest, which is reqwest, hyper and tokio in Rust: connections that are kept, and threads of its own.

It says what failed in one line: its causes with colons between them, such as `Request failed: ... : client error
(Connect): tcp connect error: Connection refused (os error 111)`. Their words are those of hyper and rustls."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping

from pyqwest import ConnectTimeout as NotConnectedInTime
from pyqwest import Headers, HTTPTransport, HTTPVersion, Proxy, ReadError, RemoteProtocolError, Request, WriteError

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
    not_connected,
)

_CONNECTIONS = 100_000
"""Idle connections that may be kept: as many as calls were under way at once."""
_SYSTEM = re.compile(r"\(os error (\d+)\)$")
_CUT = ("closed before message completed", "end of file before message length", "unexpected EOF", "unexpected end")
_NOT_KNOWN = ("Name or service not known", "nodename nor servname provided", "No address associated with hostname")


class AuthorityAsHost(CannotConnect):
    """The host shows the certificate of an authority as its own, which rustls refuses even where it is trusted."""


class PyqwestSender:
    """See `Sender`."""

    def __init__(self, connect_seconds: float, authorities: bytes | None) -> None:
        """`authorities` are certificates (PEM) that are trusted besides the usual ones."""
        self._connect_seconds = connect_seconds
        self._authorities = authorities
        self._transports: dict[tuple[bool, str | None], HTTPTransport] = {}

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, proxy: str | None) -> Answer:
        """See `Sender`."""
        host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        try:
            fields = Headers(headers.items())
        except ValueError:  # quotes the header, which may be a key
            raise BadProtocol(f"the request to {host} cannot be sent: a header contains a line break") from None
        try:
            transport = self._transport(url[:6].lower() == "https:", proxy)
            response = await transport.execute(Request("POST", url, fields, body))
        except ValueError as error:
            raise BadProtocol(f"the address of {host} cannot be used: {error}") from error
        except (OSError, ReadError, WriteError, RemoteProtocolError) as error:
            raise _translated(error, host) from error
        found = dict(response.headers.items())
        return Answer(
            status=response.status,
            headers=found,
            chunks=_pieces(response.content, host, found.get("content-length")),
            close=lambda: response.__aexit__(None, None, None),
        )

    async def close(self) -> None:
        """Closes idle connections: they end with what holds them."""
        self._transports.clear()

    def _transport(self, secure: bool, proxy: str | None) -> HTTPTransport:
        if (secure, proxy) not in self._transports:
            self._transports[secure, proxy] = HTTPTransport(
                tls_ca_cert=_usual_authorities() + (self._authorities or b"") if secure else None,
                tls_include_system_certs=secure,
                http_version=HTTPVersion.HTTP1,
                proxy=Proxy(proxy) if proxy else _unused_proxy(secure),
                connect_timeout=self._connect_seconds,
                pool_idle_timeout=IDLE_SECONDS,
                pool_max_idle_per_host=_CONNECTIONS,
                enable_gzip=False,
                enable_brotli=False,
                enable_zstd=False,
                use_system_dns=True,
                follow_redirects=False,
                enable_otel=False,
            )
        return self._transports[secure, proxy]


def _unused_proxy(secure: bool) -> Proxy:
    """A proxy for addresses of the other scheme: without any, the library reads the proxy variables of the process."""
    return Proxy("http://127.0.0.1:9", scheme="http" if secure else "https")


async def _pieces(
    content: AsyncIterator[bytes | memoryview | bytearray], host: str, length: str | None
) -> AsyncIterator[bytes]:
    size = 0
    try:
        async for piece in content:
            size += len(piece)
            yield bytes(piece)
            if str(size) == length:  # does not wait for another thread to say that it was the last
                return
    except (OSError, ReadError, WriteError, RemoteProtocolError) as error:
        raise _translated(error, host) from error


def _usual_authorities() -> bytes:
    from certifi import contents

    return contents().encode("ascii") + b"\n"


def _translated(error: Exception, host: str) -> HttpError:
    said = str(error)
    last = said.rpartition(": ")[2]
    system = _SYSTEM.search(said)
    number = int(system[1]) if system else 0
    match error:
        case NotConnectedInTime():
            return ConnectTimeout(f"no connection to {host} in time")
        case ConnectionError():
            return _not_connected(said, host, number)
        case _ if any(words in said for words in _CUT):
            return ConnectionLost(f"lost the connection to {host}: {CLOSED_EARLY}")
        case ReadError() | WriteError() if number:
            return ConnectionLost(f"lost the connection to {host}: {os.strerror(number)}")
    return BadProtocol(f"{host} sent an invalid HTTP response: {last}")


def _not_connected(said: str, host: str, number: int) -> HttpError:
    begin = f"cannot connect to {host}: "
    if any(words in said for words in _NOT_KNOWN):
        return CannotConnect(begin + NO_SUCH_HOST, lasting=True)
    _, certificate, why = said.partition("invalid peer certificate: ")
    if certificate:
        kind = AuthorityAsHost if "CaUsedAsEndEntity" in why else CannotConnect
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", why).lower()
        return kind(f"{begin}its certificate cannot be trusted: {words}", lasting=True)
    _, tunnel, why = said.partition("tunnel error: ")
    if tunnel:
        return CannotConnect(f"{begin}the proxy refused the connection: {why}", lasting=True)
    return not_connected(host, number) if number else CannotConnect(begin + said.rpartition(": ")[2])
