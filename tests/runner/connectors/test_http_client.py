"""The HTTP client against real servers and proxies."""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from command import PATIENCE
from model_server import Exchange, ModelServer, body, raw, settle, silence
from table_tests import each

from bindings.processes.http import trusted_authorities
from runner.connectors.http import (
    AnswerTooLarge,
    BadProtocol,
    CannotConnect,
    ConnectionLost,
    HttpError,
    HttpTimeout,
    Proxies,
)
from runner.connectors.http_client import HttpClient

SHORT = 0.05
"""Seconds of silence that a test waits for."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(default=body(200, "fine", {"X-Note": "a"})) as server:
        yield server


LIBRARY = ContextVar[str]("LIBRARY")


@pytest.fixture(autouse=True, params=["pyqwest", "httpx"])
def library(request: pytest.FixtureRequest) -> str:
    """The library that makes the calls: each test holds for each of them."""
    LIBRARY.set(request.param)
    return str(request.param)


def new_client(proxies: Proxies | None = None, **options: Any) -> HttpClient:
    return HttpClient(proxies, library=LIBRARY.get(), **options)


def run(work: Callable[[HttpClient], Awaitable[Any]], **options: Any) -> Any:
    async def session() -> Any:
        client = new_client(**options)
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(session())


async def post(client: HttpClient, url: str, seconds: float = 20.0) -> tuple[int, bytes]:
    async with client.post(url, {"content-type": "text/plain"}, b"hello", seconds) as response:
        return response.status, await response.read()


def test_a_post_gives_status_headers_and_body(server: ModelServer) -> None:
    async def work(client: HttpClient) -> Any:
        async with client.post(f"{server.url}/path?q=1", {"X-Own": "1"}, b'{"a": 1}') as response:
            return response.status, response.headers["x-note"], [chunk async for chunk in response.chunks()]

    assert run(work) == (200, "a", [b"fine"])
    sent = server.requests[0]
    assert (sent.method, sent.path, sent.body) == ("POST", "/path?q=1", {"a": 1})
    given = {name: value for name, value in sent.headers.items() if name != "accept"}
    assert given == {"host": f"127.0.0.1:{server.port}", "content-length": "8", "x-own": "1"}


def test_a_connection_is_used_again_where_the_library_watches_it(server: ModelServer, library: str) -> None:
    async def work(client: HttpClient) -> None:
        for _ in range(3):
            await post(client, server.url)

    run(work)
    assert [request.connection for request in server.requests] == ([1, 1, 1] if library == "pyqwest" else [1, 2, 3])


def test_a_connection_that_the_server_closed_is_not_used_again(server: ModelServer) -> None:
    server.plan(raw(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"))

    async def work(client: HttpClient) -> Any:
        first = await post(client, server.url)
        await asyncio.to_thread(server.wait_for_quiet)  # the server has closed its end
        return first, await post(client, server.url)

    assert run(work) == ((200, b"ok"), (200, b"fine"))


MORE = {
    "rubbish": b"and more",
    "another answer": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nstale",
    "an empty answer": b"HTTP/1.1 204 No Content\r\n\r\n",
    "half an answer": b"HTTP/1.1 200 OK\r\ncontent-le",
}
HEADS = {
    "a length": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "chunks": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("more", MORE)
def test_what_comes_after_an_answer_is_not_the_answer_to_the_next_call(
    server: ModelServer, head: str, more: str
) -> None:
    async def says_more(exchange: Exchange) -> None:
        await exchange.write(HEADS[head] + MORE[more])

    server.plan(*[says_more] * 3)

    async def work(client: HttpClient) -> Any:
        return [await post(client, server.url) for _ in range(4)]

    assert run(work) == [(200, b"ok"), (200, b"ok"), (200, b"ok"), (200, b"fine")]
    assert [request.connection for request in server.requests] == [1, 2, 3, 4]


def test_silence_counts_from_the_last_piece(server: ModelServer) -> None:
    async def slowly(exchange: Exchange) -> None:
        await exchange.write(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n")
        for _ in range(8):
            await asyncio.sleep(0.1)
            await exchange.write(b"x")

    server.plan(slowly)
    assert run(lambda client: post(client, server.url, 0.6)) == (200, b"x" * 8)


def test_a_hundred_calls_are_made_at_once(server: ModelServer) -> None:
    async def work(client: HttpClient) -> Any:
        return await asyncio.gather(*(post(client, server.url) for _ in range(100)))

    assert run(work) == [(200, b"fine")] * 100


FAILURES = {
    "reset": (raw(b"", reset=True), ConnectionLost, "lost the connection to <host>: Connection reset by peer"),
    "no answer": (
        raw(b""),
        ConnectionLost,
        "lost the connection to <host>: it was closed before the response was complete",
    ),
    "half a head": (raw(b"HTTP/1.1 200 OK\r\ncont"), ConnectionLost, None),
    "short body": (raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"), ConnectionLost, None),
    "short chunks": (raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"), ConnectionLost, None),
    "no HTTP": (raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), BadProtocol, None),
    "bad chunks": (raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), BadProtocol, None),
    "silence": (silence(), HttpTimeout, "<host> sent nothing for too long"),
    "too large": (body(200, "x" * 3000000), AnswerTooLarge, "the response from <host> is larger than 2 MB"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_its_kind_and_names_the_host(server: ModelServer, name: str) -> None:
    behaviour, kind, text = FAILURES[name]
    server.plan(behaviour)
    with pytest.raises(HttpError) as caught:
        run(lambda client: post(client, server.url, SHORT if name == "silence" else 20.0), limit=2 << 20)
    host = f"127.0.0.1:{server.port}"
    assert type(caught.value) is kind
    assert host in str(caught.value)
    assert text is None or str(caught.value) == text.replace("<host>", host)


def test_nobody_there_is_said_with_the_reason() -> None:
    with ModelServer() as server:
        gone = server.url
    with pytest.raises(CannotConnect, match=r"^cannot connect to 127\.0\.0\.1:\d+: Connection refused$"):
        run(lambda client: post(client, gone))


def test_a_name_that_nobody_has_is_said() -> None:
    name = "x" * 64 + ".invalid"
    with pytest.raises(CannotConnect) as caught:
        run(lambda client: post(client, f"http://{name}"))
    assert (str(caught.value), caught.value.lasting) == (
        f"cannot connect to {name}: there is no host with that name",
        True,
    )


@pytest.mark.parametrize("path", ["\x00", "a\x7fb", "line\nbreak"])
def test_an_address_that_is_none_is_said(server: ModelServer, path: str) -> None:
    with pytest.raises(
        BadProtocol, match=r"^the address of 127\.0\.0\.1:\d+ cannot be used: it contains a space or a control"
    ):
        run(lambda client: post(client, f"{server.url}/{path}"))


@each("url", ["http://localhost:99999/v1", "http://localhost:port/v1", "http://[::1/v1"])
def test_an_address_with_an_odd_host_or_port_is_said(url: str) -> None:
    with pytest.raises(BadProtocol, match=r"^the address of .* cannot be used: "):
        run(lambda client: post(client, url))


def test_calls_to_several_hosts_share_a_client(server: ModelServer, library: str) -> None:
    async def work(client: HttpClient) -> None:
        with ModelServer(default=body(200, "other")) as other:
            for url, answer in [(server.url, b"fine"), (other.url, b"other")] * 3:
                assert await post(client, url) == (200, answer)
            used = {server.connections, other.connections}
            # a connection that is not back in the pool yet is joined by a second one
            assert used <= {1, 2} if library == "pyqwest" else used == {3}

    run(work)


def test_a_header_with_a_line_break_is_refused_and_never_shown(server: ModelServer) -> None:
    async def work(client: HttpClient) -> None:
        async with client.post(server.url, {"authorization": "secret\nx"}, b""):
            raise AssertionError

    with pytest.raises(BadProtocol) as caught:
        run(work)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_cancelling_closes_the_connection(server: ModelServer) -> None:
    server.plan(silence())

    async def work(client: HttpClient) -> None:
        task = asyncio.ensure_future(post(client, server.url))
        await asyncio.to_thread(server.arrivals.acquire, timeout=PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.saw_hang_up)

    run(work)


def test_twenty_megabytes_are_read(server: ModelServer) -> None:
    server.plan(body(200, "x" * (20 << 20)))
    assert len(run(lambda client: post(client, server.url))[1]) == 20 << 20


@asynccontextmanager
async def proxy(answer: bytes = b"HTTP/1.1 200 Connected\r\n\r\n") -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that forwards requests, and opens tunnels when it answers so; and the heads that it saw."""
    heads: list[str] = []
    writers: list[asyncio.StreamWriter] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        head = await reader.readuntil(b"\r\n\r\n")
        heads.append(head.decode())
        method, target, _ = heads[-1].split(" ", 2)
        address = target if method == "CONNECT" else target.split("/")[2]
        if method == "CONNECT":
            writer.write(answer)
            if b" 200 " not in answer:
                return
        host, _, port = address.rpartition(":")
        there_reader, there = await asyncio.open_connection(host, int(port))
        writers.append(there)
        if method != "CONNECT":
            there.write(head)
        await asyncio.gather(pump(reader, there), pump(there_reader, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://user:p%40ss@127.0.0.1:{server.sockets[0].getsockname()[1]}", heads
    finally:
        await settle()
        server.close()
        for writer in writers:
            writer.transport.abort()
        await settle()


def test_a_proxy_forwards_plain_calls(server: ModelServer) -> None:
    async def session() -> Any:
        async with proxy() as (url, heads):
            client = new_client(Proxies(urls={"http": url}))
            answer = await post(client, f"{server.url}/v1")
            await client.close()
            return answer, heads[0].splitlines()

    answer, head = asyncio.run(session())
    assert answer == (200, b"fine")
    assert head[0] == f"POST {server.url}/v1 HTTP/1.1"
    assert "proxy-authorization: basic dxnlcjpwqhnz" in [line.lower() for line in head]


class Large(BaseHTTPRequestHandler):
    """Answers with a megabyte, and closes the connection."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "1000000")
        self.end_headers()
        self.wfile.write(b"x" * 1000000)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@asynccontextmanager
async def tls_server(folder: Path, *, own_authority: bool = False) -> AsyncIterator[tuple[str, bytes]]:
    """An HTTPS server, and the certificate that vouches for it: an authority's, or its own."""
    certificate, authority = make_certificates(folder, own_authority)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with HTTPServer(("127.0.0.1", 0), Large) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield f"https://localhost:{server.server_port}", authority
        finally:
            server.shutdown()
            serving.join()


def make_certificates(folder: Path, own_authority: bool) -> tuple[Path, bytes]:
    """A file with the host's key and certificate, and the certificate of who signed it. As `openssl req -x509` does it,
    the host's own certificate is an authority's."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.now(UTC)

    def certificate(name: str, key: Any, signer: str, signing_key: Any, authority: bool) -> Any:
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, signer)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .sign(signing_key, hashes.SHA256())
        )

    key, signing_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    if own_authority:
        own = signed_by = certificate("localhost", key, "localhost", key, True)
    else:
        signed_by = certificate("authority.example", signing_key, "authority.example", signing_key, True)
        own = certificate("localhost", key, "authority.example", signing_key, False)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + own.public_bytes(serialization.Encoding.PEM))
    return path, signed_by.public_bytes(serialization.Encoding.PEM)


@pytest.mark.parametrize("own", [False, True], ids=["of an authority", "of its own"])
@pytest.mark.parametrize("tunnel", [False, True], ids=["direct", "through a proxy"])
def test_https_is_verified_and_read(tmp_path: Path, tunnel: bool, own: bool) -> None:
    async def session() -> Any:
        async with tls_server(tmp_path, own_authority=own) as (url, authority), proxy() as (proxy_url, heads):
            client = new_client(Proxies(urls={"https": proxy_url} if tunnel else {}), authorities=authority)
            status, content = await post(client, url)
            await client.close()
            return status, len(content), [head.split(" ")[0] for head in heads]

    status, length, methods = asyncio.run(session())
    assert (status, length, set(methods)) == (200, 1000000, {"CONNECT"} if tunnel else set())


@pytest.mark.parametrize("own", [False, True], ids=["of an authority", "of its own"])
def test_a_file_of_certificates_adds_an_authority(tmp_path: Path, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def session() -> Any:
        async with tls_server(tmp_path, own_authority=own) as (url, authority):
            (tmp_path / "authority.pem").write_bytes(authority)
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
            trusted_authorities.cache_clear()
            client = new_client()
            status, content = await post(client, url)
            await client.close()
            return status, len(content)

    assert asyncio.run(session()) == (200, 1000000)
    trusted_authorities.cache_clear()


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    async def session() -> None:
        async with tls_server(tmp_path) as (url, _):
            client = new_client()
            try:
                await post(client, url)
            finally:
                await client.close()

    with pytest.raises(CannotConnect) as caught:
        asyncio.run(session())
    assert re.search(r"localhost:\d+: its certificate cannot be trusted: .*issuer", str(caught.value))
    assert caught.value.lasting


def test_a_proxy_that_refuses_is_said_without_its_password() -> None:
    async def session() -> None:
        async with proxy(b"HTTP/1.1 407 Who are you\r\n\r\n") as (url, _):
            client = new_client(Proxies(urls={"https": url}))
            try:
                await post(client, "https://api.example.com")
            finally:
                await client.close()

    with pytest.raises(CannotConnect) as caught:
        asyncio.run(session())
    assert re.match(
        r"cannot connect to api\.example\.com: the proxy refused the connection: (407 Who|proxy auth)",
        str(caught.value),
    )
    assert "ss@" not in str(caught.value)
    assert caught.value.lasting
