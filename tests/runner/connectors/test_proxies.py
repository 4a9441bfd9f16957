"""Which proxy is used for what, by the variables."""

from __future__ import annotations

import pytest

from runner.connectors.http import Proxies
from runner.connectors.http_client import HttpClient
from runner.errors import ConfigurationError

HTTP = {"HTTP_PROXY": "http://p:1"}


@pytest.mark.parametrize(
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
    ],
)
def test_variables_say_which_proxy_to_use(
    variables: dict[str, str], scheme: str, host: str, expected: str | None
) -> None:
    assert Proxies.from_variables(variables).find(scheme, host) == expected


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("socks5://p:1", "Cannot use the proxy for a.com: proxies of kind socks5 are not supported"),
        ("http://p:port", "Cannot use the proxy for a.com: HTTPS_PROXY or ALL_PROXY is not an address"),
        ("http://", "Cannot use the proxy for a.com: HTTPS_PROXY or ALL_PROXY is not an address"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_a_configuration_error(url: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        HttpClient(Proxies(urls={"all": url})).check("https://a.com/v1")
    assert caught.value.message == message
