"""Keys leave the environment, and credentials go to their own origin only."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Any

import pytest
from model_server import ModelServer
from table_tests import each

from runner.connectors.http_client import HttpClient
from runner.security.keys import Credential, Keys, take_keys

KEY = "sk-0123456789-abcdef"


@each(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", KEY),
        ("github_token", KEY),
        ("DATABASE_URL", "postgres://app:hunter22@db/x"),
        ("HOOK", "https://hooks.example/?access_token=t-0123456"),
        ("ALPHA", KEY),
    ],
)
def test_a_secret_variable_leaves_the_environment(name: str, value: str) -> None:
    environment = {"PATH": "/bin", "YAO_TEST_SECRETS": "ALPHA", name: value}

    keys = take_keys(environment)

    assert environment == {"PATH": "/bin", "YAO_TEST_SECRETS": "ALPHA"}
    assert dict(keys) == {name: value}
    assert value not in repr(keys)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TOKENS", "4000"), ("SSH_AUTH_SOCK", "/tmp"), ("PWD", "/home/somebody"), ("SITE", "https://a.example/?q=1")],
)
def test_a_variable_that_is_no_secret_stays(name: str, value: str) -> None:
    environment = {name: value}
    assert dict(take_keys(environment)) == {}
    assert environment == {name: value}


def test_keys_are_a_copy() -> None:
    values = {"A_KEY": KEY}
    keys = Keys(values)
    values.clear()
    assert keys["A_KEY"] == KEY


CREDENTIAL = Credential(url="https://api.example.com/v1/chat", headers={"x-api-key": KEY})


@pytest.mark.parametrize(
    "url", ["https://api.example.com/other", "https://API.example.com:443/", "https://api.example.com./x?y"]
)
def test_a_credential_is_for_its_origin(url: str) -> None:
    assert CREDENTIAL.headers_for(url) == {"x-api-key": KEY}


@each(
    "url",
    [
        "http://api.example.com/v1/chat",
        "https://api.example.com:8443/v1/chat",
        "https://example.com/",
        "https://evil.example/https://api.example.com/",
        "https://api.example.com@evil.example/",
        "https://api.example.com.evil.example/",
        "https://evil.example/#@api.example.com/",
    ],
)
def test_a_credential_is_for_no_other_origin(url: str) -> None:
    assert CREDENTIAL.headers_for(url) == {}
    assert KEY not in repr(CREDENTIAL)


def test_the_client_adds_a_credential_to_requests_for_its_origin_only() -> None:
    async def work(own: str, other: str) -> None:
        client = HttpClient()
        credential = Credential(url=own, headers={"authorization": f"Bearer {KEY}"})
        for url in (own, other):
            with closing(await client.post(url, {}, b"{}", 20, credential)) as response:
                await response.read()
        await client.close()

    with ModelServer() as own, ModelServer() as other:
        asyncio.run(work(own.url, other.url))
        heads: list[Any] = [server.requests[0].headers.get("authorization") for server in (own, other)]
    assert heads == [f"Bearer {KEY}", None]
