"""Where a model or an MCP server is reached."""

from __future__ import annotations

import pytest

from runner.connectors.http import Endpoint, endpoint_of


@pytest.mark.parametrize(
    ("url", "address", "port"),
    [
        ("https://api.example.com/v1/chat?key=k", "api.example.com", 443),
        ("http://127.0.0.1:8080", "127.0.0.1", 8080),
        ("https://ann:secret@[::1]/x", "::1", 443),
        ("HTTP://Example.com", "example.com", 80),
    ],
)
def test_of_an_address_host_and_port_are_kept(url: str, address: str, port: int) -> None:
    assert endpoint_of(url) == Endpoint(address=address, port=port)


@pytest.mark.parametrize("url", ["", "unix:/run/x", "https://", "http://x:port", "http://x:99999", "http://[x"])
def test_what_is_no_address_has_none(url: str) -> None:
    assert endpoint_of(url) is None
