"""Where a model or an MCP server is reached over HTTP."""

from __future__ import annotations

from urllib.parse import urlsplit

from scripttest.values import Value

_PORTS = {"http": 80, "https": 443}


class Endpoint(Value):
    """The place of a server. Names and passwords of its address are not in it."""

    address: str
    """The name of the host, or its IP address."""
    port: int


def endpoint_of(url: str) -> Endpoint | None:
    """The endpoint of an address; None if it is none of HTTP."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return Endpoint(address=parts.hostname, port=port) if parts.hostname else None
