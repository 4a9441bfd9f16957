"""Whom the server of `yao-test view` answers, and what it refuses."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any

import httpx
import pytest
from table_tests import each
from view_server import View

ROUTES = [
    ("GET", "/nowhere"), ("GET", "//"), ("GET", "/api"),
    ("GET", "/api/runs?limit=1"), ("GET", "/api/events"), ("GET", "/api/runs/x/index"), ("GET", "/api/runs/x/block-0"),
    ("GET", "/api/runs/x/events?after=0"), ("GET", "/api/runs/x/picture?at=0"), ("GET", "/api/runs/x/labels?at=0"),
    ("PUT", "/api/runs/x/labels"), ("GET", "/api/runs/x/labels.jsonl"), ("POST", "/api/runs/x/again"), ("GET", "/api/again"),
    ("DELETE", "/api/again"), ("GET", "/api/compare"), ("GET", "/api/history"), ("GET", "/api/tests"), ("OPTIONS", "/api/runs"),
]  # fmt: skip


def asked(view: View, method: str, path: str, headers: list[tuple[str, str]]) -> http.client.HTTPResponse:
    """The answer to a request with these headers and no others."""
    connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=10)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


@each(("method", "path"), ROUTES)
def test_nothing_is_answered_without_the_token(view: View, method: str, path: str) -> None:
    host = ("Host", f"127.0.0.1:{view.port}")
    wrong = view.token[:-1] + ("A" if view.token[-1] != "A" else "B")
    given = [
        [], [("X-Yao-Test-Token", wrong)], [("X-Yao-Test-Token", "")], [("Cookie", f"token={view.token}")],
        [("Authorization", f"Bearer {view.token}")], [("X-Yao-Test-Token", view.token)] * 2, [("X-Yao-Test-Token", "\xe9")],
    ]  # fmt: skip
    for headers in given:
        assert asked(view, method, path, [host, *headers]).status == 403, headers
    joined = "&" if "?" in path else "?"
    assert asked(view, method, f"{path}{joined}token={view.token}", [host]).status == 403  # a link to it must not do


def test_the_pages_themselves_are_the_same_for_everybody(view: View, runs: list[dict[str, Any]]) -> None:
    host = ("Host", f"127.0.0.1:{view.port}")
    texts = [
        httpx.get(view.origin + path).text
        for path in ("/", f"/run?run={runs[0]['id']}", "/tests", "/test?test=late", "/compare")
    ]
    assert len(set(texts)) == 1
    assert all(run["id"] not in texts[0] for run in runs)
    for method in ("POST", "PUT", "DELETE"):
        assert asked(view, method, "/run", [host]).status == 405


@each("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", "127.0.0.1.nip.io:{port}", ""])  # fmt: skip
def test_another_host_is_refused(view: View, host: str) -> None:
    headers = [("Host", host.format(port=view.port)), ("X-Yao-Test-Token", view.token)]
    assert asked(view, "GET", "/api/runs?limit=1", headers).status in (400, 421)
    assert asked(view, "GET", "/", headers).status in (400, 421)


def test_the_host_must_be_said_once(view: View) -> None:
    host, token = ("Host", f"127.0.0.1:{view.port}"), ("X-Yao-Test-Token", view.token)
    assert asked(view, "GET", "/api/runs?limit=1", [token]).status in (400, 421)
    assert asked(view, "GET", "/api/runs?limit=1", [host, ("Host", "evil.example"), token]).status in (400, 421)
    assert asked(view, "GET", "/api/runs?limit=1", [("Host", f"localhost:{view.port}"), token]).status == 200


def test_a_page_of_another_origin_changes_nothing(view: View, runs: list[dict[str, Any]]) -> None:
    path = f"/api/runs/{runs[-1]['id']}/again"
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{view.port + 1}"):
        refused = view.client.post(path, json={"keys": []}, headers={"Origin": origin})
        assert refused.status_code == 403
    assert view.get("/api/again")["state"] == "none"
    plan = view.client.post(f"{path}/plan", json={"keys": []}, headers={"Origin": view.origin})
    assert plan.status_code == 200


@each("path", ["/", "/view.js", "/api/runs?limit=1", "/nowhere", "/api/runs/x/index"])
def test_every_answer_has_its_headers(view: View, path: str) -> None:
    headers = view.client.get(path).headers
    policy = headers["content-security-policy"].split("; ")
    assert policy == [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' blob:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ]  # fmt: skip
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "set-cookie" not in headers
    assert "access-control-allow-origin" not in headers


def test_nobody_else_can_connect(view: View) -> None:
    own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in own - {"127.0.0.1"}:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((str(address), view.port), timeout=5)


BAD = {
    "no number": ("GET", "/api/runs?limit=x", None, 400),
    "a long number": ("GET", "/api/runs?limit=99999999999999999999", None, 400),
    "no such run": ("GET", "/api/runs/nowhere/index", None, 400),
    "the beginning of an id": ("GET", "/api/runs/{short}/index", None, 404),
    "no such result": ("GET", "/api/runs/{run}/labels?at=999", None, 404),
    "one run": ("GET", "/api/compare?run={run}", None, 400),
    "many runs": ("GET", "/api/compare?" + "run={run}&" * 11, None, 400),
    "no JSON": ("PUT", "/api/runs/{run}/labels", b"{", 400),
    "no object": ("PUT", "/api/runs/{run}/labels", b"[]", 400),
    "deep JSON": ("PUT", "/api/runs/{run}/labels", b"[" * 100_000, 400),
    "a large body": ("PUT", "/api/runs/{run}/labels", b" " * 1_000_001, 400),
    "no place": ("PUT", "/api/runs/{run}/labels", b'{"at": true}', 400),
    "half of a letter": ("POST", "/api/runs/{run}/again/plan", b'{"keys": ["\\ud800"]}', 404),
    "no question": ("PUT", "/api/runs/{run}/labels", b'{"at": 0, "run": 9, "turn": 0, "criterion": "x", "passed": true, "why": ""}', 400),
    "no verdict": ("PUT", "/api/runs/{run}/labels", b'{"at": 0, "run": 1, "turn": 0, "criterion": "", "passed": "yes", "why": ""}', 400),
    "a long reason": ("PUT", "/api/runs/{run}/labels", json.dumps({"at": 0, "run": 1, "turn": 0, "criterion": "", "passed": True, "why": "x" * 2001}).encode(), 400),
    "keys that are no texts": ("POST", "/api/runs/{run}/again", b'{"keys": [1]}', 400),
    "keys of no result": ("POST", "/api/runs/{run}/again", b'{"keys": ["--app=/"]}', 404),
    "no keys": ("POST", "/api/runs/{run}/again", b"{}", 400),
    "another method": ("POST", "/api/runs", b"", 405),
    "nothing there": ("GET", "/api/nothing", None, 404),
}  # fmt: skip


@each(("method", "path", "content", "status"), BAD.values(), ids=BAD)
def test_bad_requests_are_refused_in_a_sentence(
    view: View, runs: list[dict[str, Any]], method: str, path: str, content: bytes | None, status: int
) -> None:
    run = runs[-1]["id"]
    response = view.client.request(method, path.format(run=run, short=run[:4]), content=content)
    assert response.status_code == status, response.text
    if status == 400:
        said = response.json()["error"]
        assert said.startswith(("Cannot ", "Bad request: ", "There is no run"))
        assert "Traceback" not in said
    assert view.get("/api/again")["state"] == "none"
