"""The HTTP client for calls of models: POSTs whose answers are read as they arrive, over connections that are kept.

It is asyncio with a parser: libraries that do more take three to twenty times the processor time for a call
(`docs/performance.md`)."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from runner.connectors.http import PORTS, BadProtocol, CannotConnect, ConnectionLost, Proxies, not_connected
from runner.connectors.http_connection import Connection, Response
from runner.security.keys import Credential
from scripttest.values import Value

if TYPE_CHECKING:
    import ssl
    from urllib.parse import SplitResult

BODY_LIMIT = 64 << 20
"""Bytes of the largest body that is read."""
CONNECT_SECONDS = 10.0
READ_SECONDS = 300.0
_OTHER_ADDRESS_SECONDS = 0.25
"""After which the next address of a host is tried beside the first one (RFC 8305)."""
_NOT_IN_URLS = re.compile(r"[^\x21-\x7e]")


class Route(Value):
    """The way to an address."""

    host: str
    """Its name and port as the address has them: named in errors, and sent as `Host`."""
    name: str
    port: int
    secure: bool
    proxy: str | None
    target: bytes
    """Begins the request: `POST ... HTTP/1.1`, and the headers that every request has."""


class HttpClient:
    """Makes calls, any number at a time, and keeps connections for the next ones. For one event loop."""

    def __init__(
        self,
        proxies: Proxies | None = None,
        *,
        connect_seconds: float = CONNECT_SECONDS,
        limit: int = BODY_LIMIT,
        authorities: bytes | None = None,
    ) -> None:
        """`authorities` are certificates (PEM) that are trusted instead of the usual ones."""
        self._connect_seconds = connect_seconds
        self._limit = limit
        self._proxies = proxies or Proxies()
        self._authorities = authorities
        self._routes: dict[str, Route] = {}
        self._idle = defaultdict[tuple[str, bool, str | None], deque[Connection]](deque)
        """The connections that wait for a call, the last used at the end."""

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        read_seconds: float = READ_SECONDS,
        credential: Credential | None = None,
    ) -> Response:
        """Sends a POST; the answer, whose head has come, and which is to be closed. Raises HttpError.

        Args:
            url: an absolute `http` or `https` URL.
            headers: in addition to `Host` and `Content-Length`.
            read_seconds: how long the other side may send nothing.
            credential: is sent only to its own origin."""
        route = self._routes.get(url) or self._route(url)
        if credential is not None:
            headers = {**headers, **credential.headers_for(url)}
        request = b"%scontent-length: %d\r\n%s\r\n%s" % (
            route.target, len(body), _lines(headers, route.host), body
        )  # fmt: skip
        idle = self._idle[route.host, route.secure, route.proxy]
        connection = _usable(idle) or await self._connect(route)
        while True:
            response = connection.send(request, read_seconds, self._limit, idle)
            try:
                await response.head()
                return response
            except BaseException as error:
                response.close()
                if not isinstance(error, ConnectionLost) or response.has_begun or not connection.was_used:
                    raise
            connection = await self._connect(route)  # the host closed it while the request was on its way

    def check(self, url: str) -> None:
        """Raises ConfigurationError when the proxy on the way to this address cannot be used."""
        parts = urlsplit(url)
        self._proxies.find(parts.scheme, parts.netloc.rpartition("@")[2])

    async def close(self) -> None:
        """Closes idle connections."""
        for idle in self._idle.values():
            for connection in idle:
                connection.transport.abort()
        self._idle.clear()
        await asyncio.sleep(0)  # in which the event loop closes them

    def _route(self, url: str) -> Route:
        host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        try:
            if _NOT_IN_URLS.search(url):
                raise ValueError("it contains a space or a control character, or one that is not ASCII")
            parts = urlsplit(url)
            port, host = parts.port or PORTS[parts.scheme], parts.netloc.rpartition("@")[2]
        except (ValueError, KeyError) as error:
            raise BadProtocol(f"the address of {host} cannot be used: {error}") from error
        proxy, secure = self._proxies.find(parts.scheme, host), parts.scheme == "https"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        where, login = path, _login(parts, "authorization")
        if proxy and not secure:
            where, login = f"http://{host}{path}", login + _login(urlsplit(proxy), "proxy-authorization")
        self._routes[url] = Route(
            host=host,
            name=parts.hostname or "",
            port=port,
            secure=secure,
            proxy=proxy,
            target=f"POST {where} HTTP/1.1\r\nhost: {host}\r\naccept: */*\r\n{login}".encode("ascii"),
        )
        return self._routes[url]

    async def _connect(self, route: Route) -> Connection:
        try:
            async with asyncio.timeout(self._connect_seconds):
                if route.proxy:
                    return await self._connect_by_proxy(route, urlsplit(route.proxy))
                return await self._open(route.host, route.name, route.port, route.secure)
        except (OSError, UnicodeError) as error:
            by = f" through the proxy {urlsplit(route.proxy).hostname}" if route.proxy else ""
            raise not_connected(f"{route.host}{by}", error) from error

    async def _connect_by_proxy(self, route: Route, proxy: SplitResult) -> Connection:
        connection = await self._open(
            route.host, proxy.hostname or "", proxy.port or PORTS[proxy.scheme], proxy.scheme == "https"
        )
        if not route.secure:
            return connection
        to = f"[{route.name}]:{route.port}" if ":" in route.name else f"{route.name}:{route.port}"
        login = _login(proxy, "proxy-authorization")
        try:
            tunnel = connection.send(
                f"CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n{login}\r\n".encode(), self._connect_seconds, 0
            )
            await tunnel.head()
            if tunnel.status != 200:
                why = f"the proxy refused the connection: {tunnel.status} {tunnel.reason}".rstrip()
                raise CannotConnect(f"cannot connect to {route.host}: {why}", lasting=True)
            tunnel.end()
            connection.transport = await asyncio.get_running_loop().start_tls(
                connection.transport, connection, self._trusted(), server_hostname=route.name
            )
        except BaseException:
            connection.release()
            raise
        return connection

    async def _open(self, host: str, name: str, port: int, secure: bool) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(host),
            name,
            port,
            ssl=self._trusted() if secure else None,
            happy_eyeballs_delay=_OTHER_ADDRESS_SECONDS,
        )
        return connection

    def _trusted(self) -> ssl.SSLContext:
        if self._authorities:
            from ssl import create_default_context

            return create_default_context(cadata=self._authorities.decode("ascii"))
        from bindings.processes.http import trusted_authorities

        return trusted_authorities()


def _usable(idle: deque[Connection]) -> Connection | None:
    """The idle connection that was used last, without those that no longer can be."""
    while idle:
        if (connection := idle.pop()).is_usable():
            return connection
        connection.transport.abort()
    return None


def _lines(headers: Mapping[str, str], host: str) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if lines.count("\r") != len(headers) or lines.count("\n") != len(headers) or "\0" in lines:
        # quotes no header, which may be a key
        raise BadProtocol(f"the request to {host} cannot be sent: a header contains a line break")
    return lines.encode("utf-8", "replace")


def _login(parts: SplitResult, header: str) -> str:
    """The header for the name and password in an address, if it has them."""
    if parts.username is None:
        return ""
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"{header}: Basic {b64encode(login.encode()).decode()}\r\n"
