"""Retries, limits, cancellation and error texts of connectors over HTTP."""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from typing import Any

import pytest
from command import PATIENCE
from connector_bench import KEY, Bench, asks
from model_server import ModelServer, body, echo, raw, says, sends, silence, status

from runner.connectors.base import ConnectorError
from runner.connectors.limits import Limits
from runner.connectors.load import Connectors

NOT_NOW = status(429, "slow down")
PIECE = {"choices": [{"delta": {"content": "Hel"}}]}


@pytest.mark.parametrize(
    ("failures", "slept"),
    [
        ([NOT_NOW], [1]),
        ([status(500), status(503), status(529)], [1, 2, 4]),
        ([status(408)], [1]),
        ([raw(b"", reset=True)], [1]),
        ([says("abc", cut_after=2)], [1]),
        ([says("abc", reset_after=2)], [1]),
        ([sends({"error": {"message": "busy", "code": 503}})], [1]),
        ([sends({"error": {"message": "busy", "code": 503, "status": "UNAVAILABLE"}})], [1]),
        ([sends({"error": {"message": "busy", "type": "api_error", "code": None}})], [1]),
        ([sends(PIECE, 'data: {"choices": [{"del', done=False)], [1]),
        ([sends(PIECE, 'event: x\r\ndata: {"choices": [{"delta": {"content": "\u00e4', done=False)], [1]),
        ([sends(PIECE, "dat", done=False), sends("data:", done=False), sends("data: nul", done=False)], [1, 2, 4]),
        ([status(429, "", {"retry-after": "20"})], [21]),
        ([status(503, "", {"retry-after": formatdate(1040, usegmt=True)})], [42]),
        ([status(429, "", {"retry-after": "soon"})], [1]),
    ],
    ids=[
        "429",
        "5xx",
        "408",
        "reset",
        "cut",
        "reset in the stream",
        "error in the stream",
        "with a status in words",
        "with a type alone",
        "cut in an event",
        "cut in a text",
        "cut in a line",
        "seconds",
        "date",
        "nonsense",
    ],
)
def test_what_may_pass_is_tried_again(bench: Bench, failures: list[Any], slept: list[float]) -> None:
    bench.server.plan(*failures)
    assert bench.ask().content == "echo: hi"
    assert (bench.clock.slept, len(bench.server.requests)) == (slept, len(failures) + 1)


@pytest.mark.parametrize(
    "asked", ["", "inf", "nan", "-5", "1e3", "1_0", "9" * 500, "Wed, 21 Oct 2015 07:28:00 +99999999999999999999"]
)
def test_an_unreadable_time_to_wait_does_not_count(bench: Bench, asked: str) -> None:
    bench.server.plan(status(429, "", {"retry-after": asked}))
    assert bench.ask().content == "echo: hi"
    assert bench.clock.slept == [1]


def test_silence_is_tried_again(bench: Bench) -> None:
    bench.server.plan(silence(), says("abc", hold_after=2))
    assert bench.ask(timeout=0.05).content == "echo: hi"
    assert bench.clock.slept == [1, 2]


def test_after_three_retries_the_last_failure_counts(bench: Bench) -> None:
    bench.server.plan(status(500), status(500), status(500), NOT_NOW)
    error = bench.fail()
    host = f"127.0.0.1:{bench.server.port}"
    assert (error.message, error.status, error.retryable) == (
        f"test ({host}) answered 429: slow down (tried 4 times)",
        429,
        True,
    )
    assert error.hint == "Use a smaller --parallel, or set options.requests_per_minute in connectors/test.conn.yao"


def test_retries_can_be_turned_off(bench: Bench) -> None:
    bench.server.plan(status(500))
    bench.fail(retries=0)
    assert len(bench.server.requests) == 1


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(bench: Bench) -> None:
    bench.server.plan(status(429, "quota", {"retry-after": "3600"}))
    assert bench.fail().message.endswith("answered 429: quota (it asks for a wait of 3600 s)")
    assert bench.clock.slept == []


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422, 301])
def test_other_statuses_fail_at_once(bench: Bench, code: int) -> None:
    bench.server.plan(status(code))
    error = bench.fail()
    assert (error.status, error.retryable, len(bench.server.requests)) == (code, False, 1)


def test_pieces_that_were_heard_are_not_heard_again(bench: Bench) -> None:
    heard: list[str] = []
    bench.server.plan(says("abcdef", cut_after=2), says("abcdef"))
    assert bench.ask(asks("hi", on_chunk=heard.append)).content == "abcdef"
    assert heard == ["abc", "def"]


def test_when_the_second_answer_is_another_one_the_content_counts(bench: Bench) -> None:
    heard: list[str] = []
    bench.server.plan(says("abcdef", cut_after=2), says("uvwxyz!"))
    assert bench.ask(asks("hi", on_chunk=heard.append)).content == "uvwxyz!"
    assert heard == ["abc", "x", "yz!"]


def test_cancelling_closes_the_connection(bench: Bench) -> None:
    bench.server.plan(says("abc", hold_after=2))
    bench.write()

    async def work(connectors: Connectors) -> None:
        heard = asyncio.Event()
        request = asks("hi", on_chunk=lambda _: heard.set())
        task = asyncio.ensure_future(connectors.get("test").complete(request))
        await asyncio.wait_for(heard.wait(), PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(bench.server.saw_hang_up)

    bench.run(work)


def together(bench: Bench, count: int) -> list[Any]:
    async def work(connectors: Connectors) -> list[Any]:
        connector = connectors.get("test")
        return await asyncio.gather(*(connector.complete(asks(str(number))) for number in range(count)))

    return [answer.content for answer in bench.run(work)]


def test_no_more_calls_than_the_bound_are_under_way(bench: Bench) -> None:
    under_way, most = 0, 0

    async def count(exchange: Any) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        while most < 3:
            await asyncio.sleep(0)
        under_way -= 1
        await echo()(exchange)

    bench.server.default = count
    bench.write(max_concurrency=3)
    assert together(bench, 12) == [f"echo: {number}" for number in range(12)]
    assert most == 3


def test_requests_are_spread_over_the_minute(bench: Bench) -> None:
    bench.write(requests_per_minute=30, max_concurrency=1)
    together(bench, 4)
    assert bench.clock.slept == [2, 2, 2]


def test_a_retry_waits_for_its_turn_too(bench: Bench) -> None:
    bench.server.plan(NOT_NOW)
    bench.write(requests_per_minute=12)
    together(bench, 1)
    assert bench.clock.slept == [1, 4]


def test_a_waiting_call_that_is_cancelled_leaves_its_place_to_the_next(bench: Bench) -> None:
    async def work() -> list[str]:
        limits = Limits(1, None, bench.clock.timing())
        order: list[str] = []
        done = asyncio.Event()

        async def hold(name: str) -> None:
            async with limits:
                order.append(name)
                await done.wait()

        tasks = [asyncio.ensure_future(hold(name)) for name in ("first", "cancelled", "third", "fourth")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        done.set()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE)
        return order

    assert asyncio.run(work()) == ["first", "third", "fourth"]


UNPAID = "The account has no credit left: see its billing page"
ADVICE = "Check the environment variable KEY, which options.key in connectors/test.conn.yao names"


@pytest.mark.parametrize(
    ("behaviour", "text", "hint"),
    [
        (status(401, f"invalid api key {KEY}"), " answered 401: invalid api key ***", ADVICE),
        (status(403, "no"), " answered 403: no", ADVICE),
        (status(404, "no model m"), " answered 404: no model m", "Check options.model and options.host in connectors/test.conn.yao"),
        (body(429, {"error": {"message": "no quota", "code": "insufficient_quota"}}), " answered 429: no quota", UNPAID),
        (body(400, {"error": {"message": "Your credit balance is too low"}}), " answered 400: Your credit balance is too low", UNPAID),
        (status(307, ""), " answered 307", "The server redirects to another URL, which is not followed: set options.host to it in connectors/test.conn.yao"),
        (body(400, {"message": "bad  \n input"}), " answered 400: bad input", None),
        (body(400, {"error": "flat"}), " answered 400: flat", None),
        (body(400, [{"error": {"message": "listed"}}]), " answered 400: listed", None),
        (body(400, {"detail": [{"loc": ["x"]}]}), ' answered 400: [{"loc": ["x"]}]', None),
        (body(400, "plain"), " answered 400: plain", None),
        (body(400, "<html>for people</html>"), " answered 400", None),
        (body(400, "y" * 5000), f" answered 400: {'y' * 300}...", None),
        (
            body(200, "<html>"),
            " returned invalid JSON: <html>",
            "Check options.host in connectors/test.conn.yao: it must be the URL of an API",
        ),
        (body(200, "[1]"), " answered JSON that is not an object: [1]", None),
        (body(200, {"error": {"message": f"no {KEY}"}}), " answered with an error: no ***", None),
        (body(200, {"choices": []}), " answered with an error: the response has no choices", None),
        (body(200, {"choices": [1]}), ' answered JSON of an unexpected shape: {"choices": [1]}', None),
        (sends('data: {"cho\n\n'), ' returned invalid JSON: {"cho', "Check options.host in connectors/test.conn.yao: it must be the URL of an API"),
        (sends({"choices": [{"delta": {"content": 5}}]}), ' answered JSON of an unexpected shape: {"choices": [{"delta": {"content": 5}}]}', None),
    ],
)  # fmt: skip
def test_an_error_says_who_answered_what_and_what_to_do(
    bench: Bench, behaviour: Any, text: str, hint: str | None
) -> None:
    bench.server.plan(behaviour)
    error = bench.fail()
    assert (error.message, error.hint, error.retryable) == (f"test (127.0.0.1:{bench.server.port}){text}", hint, False)
    assert len(bench.server.requests) == 1


def test_no_connection_names_the_host_and_the_file(bench: Bench) -> None:
    with ModelServer() as gone:
        host = gone.url
    error = bench.fail(host=host)
    assert (error.message, error.hint) == (
        f"test: cannot connect to {host[7:]}: Connection refused (tried 4 times)",
        "Check options.host in connectors/test.conn.yao, the proxy variables, and that the server is running",
    )


def test_a_host_that_does_not_exist_is_not_tried_again(bench: Bench) -> None:
    error = bench.fail(host=f"http://{'x' * 64}.invalid")
    assert (error.message, error.retryable, bench.clock.slept) == (
        f"test: cannot connect to {'x' * 64}.invalid: there is no host with that name",
        False,
        [],
    )


def test_calls_go_through_the_proxy_that_the_variables_name(bench: Bench) -> None:
    bench.write(host="http://api.example.com")
    variables = {"HTTP_PROXY": bench.server.url}
    answer = bench.run(lambda connectors: connectors.get("test").complete(asks("hi")), variables)
    assert answer.content == "echo: hi"
    assert bench.server.requests[0].path == "http://api.example.com/v1/chat/completions"


def test_a_key_appears_in_no_error_however_it_comes_back(bench: Bench) -> None:
    places: list[Any] = [
        status(401, f"key {KEY} is wrong"),
        body(500, f"plain {KEY}"),
        body(200, f"not json {KEY}"),
        body(200, {"choices": [KEY]}),
        sends({"error": {"message": KEY, "type": KEY}}),
        sends(f"data: {KEY}\n\n"),
        body(500, f"{' ' * (2400 - len(KEY) // 2)}{KEY}"),
    ]
    for place in places:
        bench.server.plan(place)
        with pytest.raises(ConnectorError) as caught:
            bench.ask(retries=0)
        assert "***" in caught.value.message
        assert KEY[: len(KEY) // 2] not in caught.value.message
        assert KEY not in caught.value.message + str(caught.value.hint) + str(caught.value)
