"""Decides which requests the server of `yao-test view` accepts, and what a browser may do with its answers.

| request | refused with |
| --- | --- |
| to another host name than the loopback address, as after DNS rebinding | 421 |
| for something of the store, without the token of the link or with a wrong one | 403 |
| to change something, from a page of another origin | 403 |

Pages, script and style are the same for everybody and contain nothing about a run. Everything else needs the token in a
header, which no page of another origin can send.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN_HEADER = b"x-yao-test-token"
SAFE_METHODS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
REFUSED = "Open the link that yao-test view printed: it has the token that this page needs.\n"


class Guard:
    """Passes on what may be asked, and gives every answer its headers."""

    def __init__(self, app: App, token: str, port: int, public: Collection[str]) -> None:
        """`public` are the paths that everybody gets, who may only read them."""
        self._app = app
        self._public = frozenset(public)
        self._token = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            await self._app(scope, receive, with_headers)
        else:
            status, said = refused
            head = [(b"content-type", b"text/plain; charset=utf-8")]
            await with_headers({"type": "http.response.start", "status": status, "headers": head})
            await with_headers({"type": "http.response.body", "body": said.encode()})

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """Status and words for a request that is refused; None when it may be answered."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This server answers for 127.0.0.1 only.\n"
        if scope["path"] not in self._public:
            given = headers.get(TOKEN_HEADER, [])
            if len(given) != 1 or not hmac.compare_digest(given[0], self._token):
                return 403, REFUSED
        if scope["method"] not in SAFE_METHODS:
            origins = headers.get(b"origin", [])
            if any(origin not in {b"http://" + host for host in self._hosts} for origin in origins):
                return 403, "Another page may not change anything here.\n"
        return None
