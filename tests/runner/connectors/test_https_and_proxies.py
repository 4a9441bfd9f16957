"""The HTTP client by TLS and through proxies: real servers with certificates of their own, and real proxies."""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, body, settle

from bindings.processes.http import trusted_authorities
from runner.connectors.definition import Definition
from runner.connectors.faults import Faults
from runner.connectors.http import CannotConnect, Proxies
from runner.connectors.http_client import HttpClient


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(default=body(200, "fine")) as server:
        yield server


async def post(client: HttpClient, url: str) -> tuple[int, bytes]:
    with closing(await client.post(url, {"content-type": "text/plain"}, b"hello")) as response:
        return response.status, await response.read()


@asynccontextmanager
async def proxy(
    answer: bytes = b"HTTP/1.1 200 Connected\r\n\r\n", context: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that forwards requests, and opens tunnels when it answers so; and the heads that it saw. With a context
    it is reached by TLS."""
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

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"https://localhost:{port}" if context else f"http://user:p%40ss@127.0.0.1:{port}", heads
    finally:
        await settle()
        server.close()
        for writer in writers:
            writer.transport.abort()
        await settle()


def test_a_proxy_forwards_plain_calls(server: ModelServer) -> None:
    async def session() -> Any:
        async with proxy() as (url, heads):
            client = HttpClient(Proxies(urls={"http": url}))
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
            client = HttpClient(Proxies(urls={"https": proxy_url} if tunnel else {}), authorities=authority)
            status, content = await post(client, url)
            await client.close()
            return status, len(content), [head.split(" ")[0] for head in heads]

    status, length, methods = asyncio.run(session())
    assert (status, length, set(methods)) == (200, 1000000, {"CONNECT"} if tunnel else set())


def test_a_proxy_can_be_reached_by_tls(tmp_path: Path, server: ModelServer) -> None:
    async def session() -> Any:
        async with tls_server(tmp_path) as (url, authority):
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(tmp_path / "server.pem")
            async with proxy(context=context) as (proxy_url, heads):
                client = HttpClient(Proxies(urls={"all": proxy_url}), authorities=authority)
                answers = [(await post(client, to))[0] for to in (url, server.url)]
                await client.close()
                return answers, [head.split(" ")[0] for head in heads]

    assert asyncio.run(session()) == ([200, 200], ["CONNECT", "POST"])


@pytest.mark.parametrize("own", [False, True], ids=["of an authority", "of its own"])
def test_a_file_of_certificates_adds_an_authority(tmp_path: Path, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def session() -> Any:
        async with tls_server(tmp_path, own_authority=own) as (url, authority):
            (tmp_path / "authority.pem").write_bytes(authority)
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
            trusted_authorities.cache_clear()
            client = HttpClient()
            status, content = await post(client, url)
            await client.close()
            return status, len(content)

    assert asyncio.run(session()) == (200, 1000000)
    trusted_authorities.cache_clear()


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    async def session() -> None:
        async with tls_server(tmp_path) as (url, _):
            client = HttpClient()
            try:
                await post(client, url)
            finally:
                await client.close()

    with pytest.raises(CannotConnect) as caught:
        asyncio.run(session())
    assert re.search(r"localhost:\d+: its certificate cannot be trusted: .*issuer", str(caught.value))
    assert caught.value.lasting
    definition = Definition(id="m", where="m.conn.yao", type="openai", options={}, sources={})
    assert "SSL_CERT_FILE" in (Faults(definition, "localhost").failed(caught.value).hint or "")


def test_a_host_without_tls_and_a_proxy_that_is_not_there_are_said() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def said(url: str, proxies: Proxies) -> str:
        client = HttpClient(proxies)
        with pytest.raises(CannotConnect) as caught:
            await post(client, url)
        await client.close()
        return str(caught.value)

    async def session() -> list[str]:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            plain = await said(f"https://127.0.0.1:{port}", Proxies())
        gone = Proxies(urls={"http": f"http://127.0.0.1:{port}"})
        return [plain.replace(str(port), "PORT"), await said("http://api.example.com", gone)]

    assert asyncio.run(session()) == [
        "cannot connect to 127.0.0.1:PORT: it does not speak TLS: its address may be http:// instead",
        "cannot connect to api.example.com through the proxy 127.0.0.1: Connection refused",
    ]


def test_a_proxy_that_refuses_is_said_without_its_password() -> None:
    async def session() -> None:
        async with proxy(b"HTTP/1.1 407 Who are you\r\n\r\n") as (url, _):
            client = HttpClient(Proxies(urls={"https": url}))
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
