"""Where a host is reached, and the events that it streams."""

from __future__ import annotations

import pytest
from table_tests import each

from runner.connectors.http import Endpoint, EventReader, Proxies, endpoint_of
from runner.connectors.http_client import HttpClient
from runner.errors import ConfigurationError


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


@each("url", ["", "unix:/run/x", "https://", "http://x:port", "http://x:99999", "http://[x"])
def test_what_is_no_address_has_none(url: str) -> None:
    assert endpoint_of(url) is None


STREAMS = {
    "events": (b"data: a\n\ndata: b\n\n", ["a", "b"]),
    "carriage returns": (b"data: a\r\n\r\nevent: x\r\ndata: b\r\n\r\n", ["a", "b"]),
    "several lines": (b"data: a\ndata:  b\ndata\n\n", ["a\n b\n"]),
    "comments and other fields": (b": hi\nid: 1\nretry: 5\ndatabase: x\ndata: a\n\n\n\n", ["a"]),
    "an event without data": (b"event: ping\n\ndata: a\n\n", ["a"]),
    "no space": (b"data:a\n\n", ["a"]),
    "no blank line at the end": (b"data: a\n\ndata: b", ["a", "b"]),
    "letters of several bytes": ("data: 世界\n\n".encode(), ["世界"]),
}


@each("size", [1, 2, 3, 1000])
@each("name", STREAMS)
def test_a_stream_reads_the_same_wherever_it_is_cut(name: str, size: int) -> None:
    stream, expected = STREAMS[name]
    reader = EventReader()
    read = [data for start in range(0, len(stream), size) for data in reader.feed(stream[start : start + size])]
    assert read + reader.end() == expected


HTTP = {"HTTP_PROXY": "http://p:1"}


@each(
    ("variables", "scheme", "host", "expected"),
    [
        ({}, "http", "a.com", None),
        (HTTP, "http", "a.com", "http://p:1"),
        (HTTP, "https", "a.com", None),
        ({**HTTP, "http_proxy": "http://lower:1"}, "http", "a.com", "http://lower:1"),
        ({"ALL_PROXY": "p:1"}, "https", "a.com", "http://p:1"),
        ({**HTTP, "NO_PROXY": "*"}, "http", "a.com", None),
        ({**HTTP, "NO_PROXY": "b.com, .A.com"}, "http", "x.a.com:80", None),
        ({**HTTP, "NO_PROXY": "a.com"}, "http", "nota.com", "http://p:1"),
        ({**HTTP, "NO_PROXY": "a.com:80"}, "http", "a.com:81", "http://p:1"),
        ({**HTTP, "NO_PROXY": "127.0.0.1"}, "http", "127.0.0.1:8080", None),
        ({**HTTP, "NO_PROXY": "*.a.com"}, "http", "x.a.com:80", None),
        ({**HTTP, "NO_PROXY": "::1"}, "http", "[::1]:8080", None),
        ({**HTTP, "NO_PROXY": "10.0.0.0/8,fd00::/8"}, "http", "10.1.2.3:80", None),
        ({**HTTP, "NO_PROXY": "10.0.0.0/8,fd00::/8"}, "http", "[fd00::2]", None),
        ({**HTTP, "NO_PROXY": "10.0.0.0/8,a.com/b"}, "http", "a.com", "http://p:1"),
    ],
)
def test_variables_say_which_proxy_to_use(
    variables: dict[str, str], scheme: str, host: str, expected: str | None
) -> None:
    assert Proxies.from_variables(variables).find(scheme, host) == expected


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("socks5://p:1", "Cannot use the proxy for a.com: socks5 proxies are not supported"),
        ("http://p:port", "Cannot use the proxy for a.com: HTTPS_PROXY or ALL_PROXY is not a URL"),
        ("http://", "Cannot use the proxy for a.com: HTTPS_PROXY or ALL_PROXY is not a URL"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_a_configuration_error(url: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        HttpClient(Proxies(urls={"all": url})).check("https://a.com/v1")
    assert caught.value.message == message
