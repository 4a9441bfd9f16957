"""`http.*` against a real server on a thread."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from bindings.errors import ProcessError
from bindings.policy import HostCall, Policy
from bindings.processes import call, http
from bindings.world import World

Run = Callable[..., Any]


class Handler(BaseHTTPRequestHandler):
    """Echoes requests as JSON; some paths answer otherwise. `/to?url=` redirects."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        path = urlsplit(self.path)
        query = parse_qs(path.query, keep_blank_values=True)
        self.server.seen.append(self.path)  # type: ignore[attr-defined]
        if path.path == "/to":
            self.reply(int(query.get("status", ["302"])[0]), b"", {"Location": query["url"][0]})
        elif path.path == "/text":
            self.reply(200, "héllo\nworld".encode(), {"Content-Type": "text/plain"})
        elif path.path == "/lines":
            self.reply(201, "data: 1\r\n\r\ndata: é\u2028\n[DONE]".encode(), {"Content-Type": "text/event-stream"})
        elif path.path == "/broken":
            self.reply(200, b"{", {"Content-Type": "application/json"})
        elif path.path == "/error":
            self.reply(
                500, b'{"code": 9, "message": "went wrong"}', {"Content-Type": "application/json; charset=utf-8"}
            )
        elif path.path == "/list":
            self.reply(200, b"[1, 2]", {"Content-Type": "application/json"})
        elif path.path == "/empty":
            self.reply(204, b"", {"X-Twice": "a", "x-twice": "b"})
        elif path.path == "/gzip":
            self.reply(200, gzip.compress(b"0" * int(query["n"][0])), {"Content-Encoding": "gzip"})
        elif path.path == "/cut":
            self.reply(200, b"abc", {"Content-Length": "100"})
            self.close_connection = True
        else:
            echo = {
                "method": self.command,
                "path": path.path,
                "query": query,
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "body": body.decode(errors="replace"),
            }
            self.reply(200, json.dumps(echo).encode(), {"Content-Type": "application/json"})

    def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def url(server: ThreadingHTTPServer) -> str:
    server.seen.clear()  # type: ignore[attr-defined]
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/up.txt").write_text("uploaded")
    surroundings = HostCall(
        app_root=tmp_path,
        policy=Policy(allow_net=("127.0.0.1",)),
        locale="en-us",
        authorized={},
        world=World(suite="", test=""),
    )
    return lambda name, *args: call(f"http.{name}", args, surroundings)


JSON = "application/json; charset=utf-8"
ECHOED: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("Get", ["/a?x=1"], {"method": "GET", "path": "/a", "query": {"x": ["1"]}, "body": "", "type": JSON}),
    ("Get", ["/a?x=1", {"y": 2, "z": [3, "é"]}], {"query": {"x": ["1"], "y": ["2"], "z": ["3", "é"]}}),
    ("Get", ["/a#part", "y=2&y=3"], {"query": {"y": ["2", "3"]}}),
    ("Get", ["/a", "?y=a%20b&n="], {"query": {"y": ["a b"], "n": [""]}}),
    ("Get", ["/a", [{"y": 1}, "y=2", {"y": True}]], {"query": {"y": ["1", "2", "true"]}}),
    ("Get", ["/a", None, {"Accept": "x/y"}], {"query": {}, "accept": "x/y"}),
    ("Get", ["/a", None, [{"X-A": "1"}, "X-B=2"]], {"x-a": "1", "x-b": "2"}),
    ("Get", ["/a", None, {"X-A": "né"}], {"x-a": "nÃ©"}),
    ("Post", ["/a", {"n": "é", "x": [1]}], {"method": "POST", "body": '{"n":"é","x":[1]}', "type": JSON}),
    ("Post", ["/a", "text"], {"body": '"text"'}),
    ("Post", ["/a"], {"body": "", "type": JSON}),
    ("Post", ["/a", {"q": 1}, None, {"y": 1}, {"X-A": "b"}], {"query": {"y": ["1"]}, "x-a": "b"}),
    (
        "Post",
        ["/a", {"k": "a b", "n": 1}, None, None, {"Content-Type": "application/x-www-form-urlencoded"}],
        {"body": "k=a+b&n=1", "type": "application/x-www-form-urlencoded"},
    ),
    ("Post", ["/a", "k=1", None, None, {"content-type": "application/x-www-form-urlencoded"}], {"body": "k=1"}),
    (
        "Post",
        ["/a", "<x/>", None, None, {"Content-Type": "application/xml"}],
        {"body": "<x/>", "type": "application/xml"},
    ),
    ("Post", ["/a", b"raw", None, None, {"Content-Type": "application/octet-stream"}], {"body": "raw"}),
    ("Put", ["/a", [1], {"y": 1}, {"X-A": "b"}], {"method": "PUT", "body": "[1]", "query": {"y": ["1"]}, "x-a": "b"}),
    ("Patch", ["/a", {}], {"method": "PATCH", "body": "{}", "type": JSON}),
    ("Patch", ["/a", {}, {"y": 1}, {"X-A": "b"}], {"query": {"y": ["1"]}, "x-a": "b"}),
    ("Delete", ["/a", {}, {"y": 1}, {"X-A": "b"}], {"query": {"y": ["1"]}, "x-a": "b"}),
    ("Delete", ["/a"], {"method": "DELETE", "type": JSON}),
    ("Delete", ["/a", {"x": None}], {"body": '{"x":null}'}),
    ("Send", ["GET", "/a"], {"method": "GET", "type": None}),
    ("Send", ["post", "/a", "text"], {"method": "POST", "body": "text", "type": "text/plain"}),
    ("Send", ["POST", "/a", {"x": 1}, {"y": 1}, {"X-A": "b"}], {"body": '{"x":1}', "query": {"y": ["1"]}, "x-a": "b"}),
    ("Send", ["OPTIONS", "/a"], {"method": "OPTIONS"}),
]


@pytest.mark.parametrize(("name", "args", "expected"), ECHOED, ids=[f"{row[0]} {row[1]}" for row in ECHOED])
def test_what_is_sent(run: Run, url: str, name: str, args: list[Any], expected: dict[str, Any]) -> None:
    at = 1 if name == "Send" else 0
    result = run(name, *args[:at], url + args[at], *args[at + 1 :])
    assert (result["status"], result["code"], result["message"]) == (200, 200, "")
    echo = result["data"] | {"type": result["data"]["headers"].get("content-type")}
    assert {key: echo.get(key, echo["headers"].get(key)) for key in expected} == expected


def test_an_answer_in_json(run: Run, url: str) -> None:
    result = run("Get", f"{url}/error")
    assert {key: result[key] for key in ("status", "code", "data", "message")} == {
        "status": 500,
        "code": 500,
        "data": {"code": 9, "message": "went wrong"},
        "message": "went wrong",
    }
    assert result["headers"]["Content-Type"] == ["application/json; charset=utf-8"]


def test_an_answer_in_json_need_not_be_an_object(run: Run, url: str) -> None:
    result = run("Get", f"{url}/list")
    assert (result["data"], result["message"]) == ([1, 2], "")


def test_any_other_answer_is_base64(run: Run, url: str) -> None:
    result = run("Get", f"{url}/text")
    assert base64.b64decode(result["data"]).decode() == "héllo\nworld"
    assert result["message"] == ""


def test_an_empty_answer_is_null_and_headers_keep_all_values(run: Run, url: str) -> None:
    result = run("Get", f"{url}/empty")
    assert (result["status"], result["data"], result["headers"]["X-Twice"]) == (204, None, ["a", "b"])


def test_head_has_no_body(run: Run, url: str, server: Any) -> None:
    result = run("Head", f"{url}/text", None, {"x": 1})
    assert server.seen == ["/text?x=1"]
    assert (result["status"], result["data"], result["headers"]["Content-Length"]) == (200, None, ["12"])


def test_compressed_answers_are_unpacked(run: Run, url: str) -> None:
    assert base64.b64decode(run("Get", f"{url}/gzip?n=3")["data"]) == b"000"


def test_files_are_sent_as_forms(run: Run, url: str) -> None:
    posted = run("Post", f"{url}/a", {"name": "Lucy", "n": 1}, {"doc": "/up.txt"})["data"]
    assert posted["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert 'name="doc"; filename="up.txt"' in posted["body"]
    assert all(text in posted["body"] for text in ("uploaded", 'name="name"\r\n\r\nLucy', 'name="n"\r\n\r\n1'))
    whole = run("Post", f"{url}/a", "up.txt", None, None, {"Content-Type": "multipart/form-data"})["data"]["body"]
    assert 'name="file"; filename="up.txt"' in whole
    fields = run("Post", f"{url}/a", {"a": "b"}, None, None, {"Content-Type": "multipart/form-data"})["data"]
    assert 'name="a"\r\n\r\nb' in fields["body"]
    sent = run("Send", "POST", f"{url}/a", None, None, None, [{"name": "f", "path": "/x/y.bin", "data": "aGk="}])[
        "data"
    ]
    assert 'name="f"; filename="y.bin"' in sent["body"]
    assert "\r\n\r\nhi\r\n" in sent["body"]


def test_files_outside_the_data_folder_are_not_sent(run: Run, url: str, server: Any) -> None:
    for args in ({"x": 1}, {"doc": "../secret"}), ("../secret", None, None, {"Content-Type": "multipart/form-data"}):
        with pytest.raises(ProcessError, match="leaves the volume"):
            run("Post", f"{url}/a", *args)
    with pytest.raises(ProcessError, match="a file is the path of one in the volume data"):
        run("Post", f"{url}/a", None, {"doc": 5})
    assert server.seen == []


def test_stream_collects_lines(run: Run, url: str) -> None:
    result = run("Stream", "get", f"{url}/lines")
    assert result["lines"] == ["data: 1", "", "data: é\u2028", "[DONE]"]
    response = result["response"]
    assert (response["status"], response["code"], response["data"], response["message"]) == (201, 201, None, "")
    assert response["headers"]["Content-Type"] == ["text/event-stream"]


def test_stream_sends_payload_query_and_headers(run: Run, url: str) -> None:
    lines = run("Stream", "POST", f"{url}/a", {"x": 1}, {"y": 1}, {"X-A": "b"})["lines"]
    echo = json.loads("\n".join(lines))
    assert (echo["body"], echo["query"], echo["headers"]["x-a"]) == ('{"x":1}', {"y": ["1"]}, "b")
    assert echo["headers"]["content-type"] == JSON
    plain = json.loads("\n".join(run("Stream", "GET", f"{url}/a")["lines"]))
    assert "content-type" not in plain["headers"]


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def test_no_answer_is_a_result_and_no_error(run: Run, url: str) -> None:
    closed = f"http://127.0.0.1:{closed_port()}/"
    for result in (
        run("Get", closed),
        run("Stream", "GET", closed),
        run("Get", f"{url}/cut"),
        run("Stream", "GET", f"{url}/cut"),
    ):
        assert (result["status"], result["code"], result["data"], result["headers"]) == (0, 0, None, {})
        assert result["message"]


def test_an_answer_that_is_no_json_is_a_result_too(run: Run, url: str) -> None:
    result = run("Get", f"{url}/broken")
    assert (result["status"], result["data"]) == (0, None)
    assert result["message"].startswith("the answer is not JSON: ")


def test_an_answer_that_is_too_long_is_a_result_too(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_BODY", 1000)
    assert run("Get", f"{url}/gzip?n=1000")["status"] == 200
    for result in (run("Get", f"{url}/gzip?n=1001"), run("Stream", "GET", f"{url}/gzip?n=1001")):
        assert (result["status"], result["message"]) == (0, "the answer is longer than 1000 bytes")


def test_an_answer_that_takes_too_long_is_a_result_too(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TOTAL_SECONDS", -1.0)
    assert "takes longer" in run("Get", f"{url}/text")["message"]


def test_ten_megabytes_are_the_bound() -> None:
    assert http.MAX_BODY == 10 * 1024 * 1024


def test_redirects_are_followed(run: Run, url: str) -> None:
    assert run("Get", f"{url}/to", {"url": "/a?x=1"})["data"]["query"] == {"x": ["1"]}
    assert run("Get", f"{url}/to", {"url": f"{url}/to?url=/b"})["data"]["path"] == "/b"
    assert run("Post", f"{url}/to", {"k": 1}, None, {"url": "/a"})["data"]["method"] == "GET"
    kept = run("Post", f"{url}/to", {"k": 1}, None, {"url": "/a", "status": 307})["data"]
    assert (kept["method"], kept["body"]) == ("POST", '{"k":1}')


def test_a_long_chain_of_redirects_ends(run: Run, url: str, server: Any) -> None:
    location = "/a"
    for _ in range(12):
        location = f"/to?url={quote(location)}"
    assert run("Get", url + location)["message"] == "stopped after 10 redirects"
    assert len(server.seen) == 11


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_refused(run: Run, url: str, server: Any, status: int) -> None:
    port = urlsplit(url).port
    with pytest.raises(ProcessError, match=r'http\.Get: Cannot reach "localhost": this host is not allowed') as caught:
        run("Get", f"{url}/to", {"url": f"http://localhost:{port}/secret", "status": status})
    assert caught.value.code == 403
    assert [path for path in server.seen if path.startswith("/secret")] == []


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "//evil.example/x", "http://"])
def test_a_redirect_to_something_else_is_not_followed(run: Run, url: str, target: str) -> None:
    try:
        result = run("Get", f"{url}/to", {"url": target})
    except ProcessError as error:
        assert error.code == 403
    else:
        assert result["status"] == 0


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("Get", ["http://evil.example/"]),
        ("Post", ["https://evil.example/x", {}]),
        ("Head", ["http://evil.example/"]),
        ("Send", ["GET", "http://evil.example/"]),
        ("Stream", ["GET", "http://evil.example/"]),
        ("Get", ["http://127.0.0.1@evil.example/"]),
        ("Get", ["HTTP://EVIL.EXAMPLE/"]),
    ],
)
def test_a_host_that_is_not_allowed_is_refused_with_the_ways_out(run: Run, name: str, args: list[Any]) -> None:
    url = next(text for text in args if isinstance(text, str) and "://" in text)
    with pytest.raises(ProcessError) as caught:
        run(name, *args)
    assert caught.value.message == (
        f'http.{name}: Cannot reach "evil.example": this host is not allowed; allow it with --allow-net=evil.example, '
        f'or answer it with mocks: {{"http": {{"{url}": ...}}}}'
    )
    assert caught.value.code == 403


def test_without_permission_nothing_is_sent(url: str, server: Any, tmp_path: Path) -> None:
    closed = HostCall(app_root=tmp_path, policy=Policy(), locale="en-us", authorized={}, world=World(suite="", test=""))
    with pytest.raises(ProcessError, match=r'Cannot reach "127\.0\.0\.1": scripts have no network') as caught:
        call("http.Get", [f"{url}/a"], closed)
    assert caught.value.code == 403
    assert server.seen == []


def test_the_port_can_be_part_of_the_permission(url: str, tmp_path: Path) -> None:
    port = urlsplit(url).port
    for allowed, fits in ((f"127.0.0.1:{port}", True), (f"127.0.0.1:{closed_port()}", False)):
        surroundings = HostCall(
            app_root=tmp_path,
            policy=Policy(allow_net=(allowed,)),
            locale="en-us",
            authorized={},
            world=World(suite="", test=""),
        )
        if fits:
            assert call("http.Get", [f"{url}/a"], surroundings)["status"] == 200
        else:
            with pytest.raises(ProcessError, match="not allowed"):
                call("http.Get", [f"{url}/a"], surroundings)


def test_proxies_and_passwords_of_the_machine_are_not_used(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{closed_port()}")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert "authorization" not in run("Get", f"{url}/a")["data"]["headers"]


def test_calls_share_no_cookies(run: Run, url: str) -> None:
    run("Get", f"{url}/a", None, {"Cookie": "a=b"})
    assert "cookie" not in run("Get", f"{url}/a")["data"]["headers"]


BAD: list[tuple[str, list[Any], str]] = [
    (
        "Get",
        ["http://127.0.0.1/", 5],
        "argument 2 must be an object, a string like a=1&b=2, or an array of these, got number",
    ),
    (
        "Get",
        ["http://127.0.0.1/", None, True],
        "argument 3 must be an object, a string like a=1&b=2, or an array of these",
    ),
    ("Send", ["GET /", "http://127.0.0.1/"], "argument 1 must be the name of a method"),
    ("Stream", ["GET /", "http://127.0.0.1/"], "argument 1 must be the name of a method"),
    ("Send", ["GET"], "argument 2 must be a string, got nothing"),
    (
        "Send",
        ["POST", "http://127.0.0.1/", None, None, None, [{}]],
        "argument 6 must be {name, path, data} with strings",
    ),
    (
        "Send",
        ["POST", "http://127.0.0.1/", None, None, None, [{"name": "a", "data": "*"}]],
        'argument 6: the data of "a" is not base64',
    ),
    ("Post", ["http://127.0.0.1/", None, []], "argument 3 must be an object, got array"),
    ("Get", ["/relative"], 'Cannot reach "/relative": scripts can only reach http:// and https:// URLs'),
    ("Get", ["http://127.0.0.1/\r\nX: y"], "a URL cannot contain spaces"),
]


@pytest.mark.parametrize(("name", "args", "message"), BAD, ids=[f"{row[0]} {row[2]}" for row in BAD])
def test_wrong_arguments(run: Run, name: str, args: list[Any], message: str) -> None:
    with pytest.raises(ProcessError) as caught:
        run(name, *args)
    assert caught.value.message.startswith(f"http.{name}: {message}")


def test_a_header_cannot_carry_another(run: Run, url: str, server: Any) -> None:
    result = run("Get", f"{url}/a", None, {"X-A": "b\r\nX-Evil: c"})
    assert (result["status"], server.seen) == (0, [])
