"""Where scripts may read and write, and which hosts they may reach."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from table_tests import each

from bindings.errors import ProcessError
from bindings.policy import VOLUMES, Policy, Volume


def test_the_volumes_of_an_application(tmp_path: Path) -> None:
    volumes = [Volume(name=name, application=tmp_path) for name in VOLUMES]
    assert {one.name: (one.root.relative_to(tmp_path).as_posix(), one.writable) for one in volumes} == {
        "data": ("data", True),
        "system": ("data", True),
        "app": (".", False),
        "dsl": (".", False),
        "script": ("scripts", False),
        "seed": ("seeds", False),
    }


CLOSED = [
    ".env",
    ".env.local",
    "sub/.ENV",
    "connectors/openai.conn.yao",
    "CONNECTORS/x.txt",
    "sub/a.conn.jsonc",
    "mcps/web.mcp.yao",
    ".git/config",
    "x/.netrc",
    "certs/server.pem",
    ".e\u200cnv",
    "\uff0eenv",
    ".env. ",
]
OPEN = ["app.yao", "environment.txt", "scripts/connectors/a.ts", "assistants/demo/package.yao", "env", "keys.json", ""]


@pytest.mark.parametrize("path", CLOSED)
def test_what_holds_secrets_in_the_application_is_closed(tmp_path: Path, path: str) -> None:
    assert not Volume(name="app", application=tmp_path).is_open(tuple(path.split("/")))
    assert Volume(name="data", application=tmp_path).is_open(tuple(path.split("/")))


@pytest.mark.parametrize("path", OPEN)
def test_all_else_in_the_application_is_open(tmp_path: Path, path: str) -> None:
    assert Volume(name="app", application=tmp_path).is_open(tuple(path.split("/")))


ALLOWED = [
    (("*",), "http://anything.example/x"),
    (("api.example.com",), "https://api.example.com/v1?x=1"),
    (("api.example.com",), "http://api.example.com:8080/"),
    (("API.Example.COM",), "https://api.example.com"),
    (("api.example.com",), "https://API.EXAMPLE.COM."),
    (("api.example.com:443",), "https://api.example.com/"),
    (("api.example.com:80",), "http://api.example.com/"),
    (("api.example.com:8080",), "http://api.example.com:8080/"),
    (("a.example", "b.example"), "http://b.example/"),
    (("api.example.com",), "http://user:word@api.example.com/"),
    (("127.0.0.1:9000",), "http://127.0.0.1:9000/"),
    (("[::1]:9000",), "http://[::1]:9000/"),
    (("::1",), "http://[::1]:9000/"),
    (("[::1]",), "http://[::1]/"),
    (("bücher.example",), "http://xn--bcher-kva.example/"),
]


@each(("allow", "url"), ALLOWED, ids=[row[1] for row in ALLOWED])
def test_allowed_hosts_pass(allow: tuple[str, ...], url: str) -> None:
    Policy(allow_net=allow).check_host(url)


REFUSED = [
    (None, "http://api.example.com/", "api.example.com"),
    ((), "http://api.example.com/", "api.example.com"),
    (("api.example.com",), "http://evil.example/", "evil.example"),
    (("api.example.com",), "http://api.example.com.evil.example/", "api.example.com.evil.example"),
    (("api.example.com",), "http://notapi.example.com/", "notapi.example.com"),
    (("example.com",), "http://api.example.com/", "api.example.com"),
    (("api.example.com",), "http://api.example.com@evil.example/", "evil.example"),
    (("api.example.com",), "http://evil.example/?api.example.com", "evil.example"),
    (("api.example.com",), "http://evil.example#@api.example.com", "evil.example"),
    (("api.example.com:443",), "https://api.example.com:8443/", "api.example.com:8443"),
    (("api.example.com:443",), "http://api.example.com/", "api.example.com:80"),
    (("127.0.0.1",), "http://127.1/", "127.1"),
    (("[::1]:9000",), "http://[::1]:9001/", "[::1]:9001"),
]


@each(("allow", "url", "host"), REFUSED, ids=[f"{row[0]} {row[1]}" for row in REFUSED])
def test_other_hosts_are_refused_with_the_way_out(allow: tuple[str, ...] | None, url: str, host: str) -> None:
    with pytest.raises(ProcessError) as caught:
        Policy(allow_net=allow).check_host(url)
    assert caught.value.code == 403
    what = "port" if host.rpartition(":")[2].isdigit() else "host"
    why = "scripts have no network" if allow is None else f"this {what} is not allowed"
    assert caught.value.message == f'Cannot reach "{host}": {why}; allow it with --allow-net={host}'
    assert caught.value.missing


@each(
    "url",
    [
        "ftp://a.example/",
        "file:///etc/passwd",
        "a.example/x",
        "//a.example",
        "http://",
        "http:///x",
        "http://a.example:99999/",
        "http://[::1/",
        "http://a.example\\@b.example/",
        "http://a.example\n/",
        " http://a.example/",
        "javascript:alert(1)",
        "",
    ],
)
def test_what_is_no_web_address_is_refused_even_when_everything_is_allowed(url: str) -> None:
    with pytest.raises(ProcessError) as caught:
        Policy(allow_net=("*",)).check_host(url)
    assert caught.value.code == 403


def resolver(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
    """Names resolve to these addresses, one list for each time that somebody asks."""
    left = list(answers)

    def answer(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in left.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


NOT_PUBLIC = """
    127.0.0.1 127.9.9.9 0.0.0.0 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 224.0.0.1 255.255.255.255
    ::1 :: fe80::1 fe80::1%eth0 fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 2002:7f00:1::
    64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 ::127.0.0.1 2001:0:7f00:1:0:0:80ff:fffe 192.0.2.1 198.18.0.1 240.0.0.1
""".split()


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_a_name_that_leads_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolver(monkeypatch, [address])
    with pytest.raises(ProcessError, match="not public") as caught:
        Policy(allow_net=("*",)).addresses("http://innocent.example/")
    assert caught.value.code == 403


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34"])
def test_public_addresses_pass(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    resolver(monkeypatch, [address])
    assert Policy(allow_net=("*",)).addresses("http://good.example/") == [address]


def test_only_the_public_addresses_of_a_name_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver(monkeypatch, ["10.0.0.1", "93.184.216.34", "127.0.0.1"])
    assert Policy(allow_net=("*",)).addresses("http://mixed.example/") == ["93.184.216.34"]


@pytest.mark.parametrize(
    "allow",
    [("intra.example",), ("*", "intra.example"), ("intra.example:80",), ("*", "10.0.0.1"), ("*", "10.0.0.1:80")],
    ids=str,
)
def test_a_private_address_is_reached_when_its_host_or_itself_is_named(
    monkeypatch: pytest.MonkeyPatch, allow: tuple[str, ...]
) -> None:
    resolver(monkeypatch, ["10.0.0.1"])
    assert Policy(allow_net=allow).addresses("http://intra.example/") == ["10.0.0.1"]


@each("host", ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "[::1]", "localhost", "0"])
def test_every_spelling_of_this_machine_is_refused(host: str) -> None:
    with pytest.raises(ProcessError, match="not public"):
        Policy(allow_net=("*",)).addresses(f"http://{host}/")
