"""The HTTP client against real servers and proxies."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from command import PATIENCE
from model_server import Exchange, ModelServer, body, raw, silence
from table_tests import each

from runner.connectors.http import (
    AnswerTooLarge,
    BadProtocol,
    CannotConnect,
    ConnectionLost,
    HttpError,
    HttpTimeout,
)
from runner.connectors.http_client import HttpClient

SHORT = 0.05
"""Seconds of silence that a test waits for."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(default=body(200, "fine", {"X-Note": "a"})) as server:
        yield server


def run(work: Callable[[HttpClient], Awaitable[Any]], **options: Any) -> Any:
    async def session() -> Any:
        client = HttpClient(**options)
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(session())


async def post(client: HttpClient, url: str, seconds: float = 20.0) -> tuple[int, bytes]:
    with closing(await client.post(url, {"content-type": "text/plain"}, b"hello", seconds)) as response:
        return response.status, await response.read()


def test_a_post_gives_status_headers_and_body(server: ModelServer) -> None:
    async def work(client: HttpClient) -> Any:
        with closing(await client.post(f"{server.url}/path?q=1", {"X-Own": "1"}, b'{"a": 1}')) as response:
            return response.status, response.headers["x-note"], [chunk async for chunk in response]

    assert run(work) == (200, "a", [b"fine"])
    sent = server.requests[0]
    assert (sent.method, sent.path, sent.body) == ("POST", "/path?q=1", {"a": 1})
    given = {name: value for name, value in sent.headers.items() if name != "accept"}
    assert given == {"host": f"127.0.0.1:{server.port}", "content-length": "8", "x-own": "1"}


def test_a_connection_is_used_again(server: ModelServer) -> None:
    async def work(client: HttpClient) -> None:
        for _ in range(3):
            await post(client, server.url)

    run(work)
    assert [request.connection for request in server.requests] == [1, 1, 1]


def test_a_connection_that_the_server_closed_is_not_used_again(server: ModelServer) -> None:
    server.plan(raw(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"))

    async def work(client: HttpClient) -> Any:
        first = await post(client, server.url)
        await asyncio.to_thread(server.wait_for_quiet)  # the server has closed its end
        return first, await post(client, server.url)

    assert run(work) == ((200, b"ok"), (200, b"fine"))


def test_a_call_on_a_connection_that_closes_meanwhile_is_made_on_another(server: ModelServer) -> None:
    server.plan(body(200, "ok"), raw(b""), body(200, "fine"), raw(b""), raw(b""))

    async def work(client: HttpClient) -> Any:
        first = [await post(client, server.url) for _ in range(2)]
        with pytest.raises(ConnectionLost):
            await post(client, server.url)
        return first

    assert run(work) == [(200, b"ok"), (200, b"fine")]
    assert [request.connection for request in server.requests] == [1, 1, 2, 2, 3]


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


ANSWERS = {
    "an interim answer before": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "early hints before": b"HTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "no length": b"HTTP/1.1 200 OK\r\n\r\nok",
    "HTTP/1.0": b"HTTP/1.0 200\r\n\r\nok",
    "bare newlines": b"HTTP/1.1 200 OK\ncontent-length: 2\n\nok",
    "a length beside chunks": b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "a folded header": b"HTTP/1.1 200 OK\r\nx: 1\r\n  2\r\ncontent-length: 2\r\n\r\nok",
    "compressed": b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + gzip.compress(b"ok"),
    "deflated": b"HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\n\r\n" + zlib.compress(b"ok"),
    "padded chunks": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2  \r\nok\r\n0\r\nx: trailer\r\n\r\n",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_of_unusual_hosts_are_read(server: ModelServer, name: str) -> None:
    server.plan(raw(ANSWERS[name]))
    assert run(lambda client: post(client, server.url)) == (200, b"ok")


def test_an_idle_connection_on_which_something_comes_is_not_used_again(server: ModelServer) -> None:
    async def says_more_later(exchange: Exchange) -> None:
        await exchange.write(HEADS["a length"])
        await asyncio.sleep(SHORT)
        await exchange.write(MORE["another answer"])
        await asyncio.sleep(SHORT)

    server.plan(says_more_later)

    async def work(client: HttpClient) -> Any:
        first = await post(client, server.url)
        time.sleep(2 * SHORT)  # the event loop sees nothing of what comes meanwhile
        return first, await post(client, server.url)

    assert run(work) == ((200, b"ok"), (200, b"fine"))


def test_a_connection_whose_request_was_answered_too_early_is_not_used_again() -> None:
    connections = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno")

    async def session() -> list[int]:
        server = await asyncio.start_server(refuse, "127.0.0.1", 0, limit=1 << 12)
        client = HttpClient()
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        statuses = []
        for _ in range(2):
            with closing(await client.post(url, {}, b"x" * (20 << 20))) as response:
                statuses.append(response.status)
                assert await response.read() == b"no"
        await client.close()
        server.close()
        for writer in connections:
            writer.transport.abort()
        return statuses

    assert asyncio.run(session()) == [413, 413]
    assert len(connections) == 2


def test_name_and_password_of_an_address_are_sent_as_a_header(server: ModelServer) -> None:
    run(lambda client: post(client, server.url.replace("://", "://user:p%40ss@")))
    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwQHNz"
    assert server.requests[0].headers["host"] == f"127.0.0.1:{server.port}"


def test_a_query_right_behind_the_host_is_no_part_of_its_name(server: ModelServer) -> None:
    run(lambda client: post(client, f"{server.url}?q=1"))
    sent = server.requests[0]
    assert (sent.path, sent.headers["host"]) == ("/?q=1", f"127.0.0.1:{server.port}")


def test_a_body_that_nobody_reads_yet_waits_at_the_host(server: ModelServer) -> None:
    sent = []

    async def pours(exchange: Exchange) -> None:
        await exchange.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (40 << 20))
        for _ in range(40):
            await exchange.write(b"x" * (1 << 20))
            sent.append(1)

    server.plan(pours)

    async def work(client: HttpClient) -> Any:
        with closing(await client.post(server.url, {}, b"", 0.3)) as response:
            await asyncio.sleep(0.5)  # longer than a host may be silent
            arrived = len(sent)
            return arrived, len(await response.read())

    arrived, length = run(work)
    assert (arrived < 30, length) == (True, 40 << 20)


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
    "another protocol": (
        raw(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
        BadProtocol,
        None,
    ),
    "not compressed": (raw(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nabc"), BadProtocol, None),
    "large when unpacked": (
        raw(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + gzip.compress(bytes(8 << 20))),
        AnswerTooLarge,
        "the response from <host> is larger than 2 MB",
    ),
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


def test_calls_to_several_hosts_share_a_client(server: ModelServer) -> None:
    async def work(client: HttpClient) -> None:
        with ModelServer(default=body(200, "other")) as other:
            for url, answer in [(server.url, b"fine"), (other.url, b"other")] * 3:
                assert await post(client, url) == (200, answer)
            assert (server.connections, other.connections) == (1, 1)

    run(work)


def test_a_header_with_a_line_break_is_refused_and_never_shown(server: ModelServer) -> None:
    async def work(client: HttpClient) -> None:
        with closing(await client.post(server.url, {"authorization": "secret\nx"}, b"")):
            raise AssertionError

    with pytest.raises(BadProtocol) as caught:
        run(work)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


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
