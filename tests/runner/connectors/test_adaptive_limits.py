"""Bounds that adapt, retries within the time of a case, and hosts that are down."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from connector_bench import Bench, asks
from model_server import Exchange, ModelServer, echo, status

from runner.connectors.base import ConnectorError
from runner.connectors.limits import FAILURES, PAUSE, Limits
from runner.connectors.load import Connectors
from runner.connectors.usage import CaseTime

NOT_NOW = status(429, "slow down")


def answers_of(bench: Bench, work: Callable[[Any], Awaitable[Any]], **options: Any) -> Any:
    bench.write(**options)
    return bench.run(lambda connectors: work(connectors.get("test")))


async def outcome(connector: Any, text: str = "hi") -> str:
    try:
        return str((await connector.complete(asks(text))).content)
    except ConnectorError as error:
        return error.message


# Calls at a time


def limits_after(bench: Bench, *happenings: str, under_way: int = 8) -> list[int]:
    """Calls at a time after each happening: `refused` while as many calls as are named are under way, `answered`, or
    `stale` for the refusal of a call that began before the last one."""

    async def work() -> list[int]:
        limits = Limits(16, None, bench.clock.timing())
        for _ in range(under_way):
            await limits.__aenter__()
        found = []
        for happening in happenings:
            bench.clock.now += 1
            if happening == "answered":
                limits.answered(0)
            else:
                limits.refused(bench.clock.now if happening == "refused" else 0.0, None)
            found.append(limits.allowed)
        return found

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("happenings", "allowed"),
    [
        (["refused"], [4]),
        (["refused", "stale", "stale"], [4, 4, 4]),
        (["refused", "refused", "refused", "refused"], [4, 2, 1, 1]),
        (["refused", *["answered"] * 5], [4, 4, 4, 4, 4, 5]),
        (["answered"] * 3, [16, 16, 16]),
    ],
    ids=["halved", "once a round", "not below one", "one more each round", "not above the bound"],
)
def test_calls_at_a_time_adapt(bench: Bench, happenings: list[str], allowed: list[int]) -> None:
    assert limits_after(bench, *happenings) == allowed


def test_after_a_refusal_fewer_calls_are_under_way(bench: Bench) -> None:
    under_way, most = 0, []

    async def refuse(exchange: Exchange) -> None:
        while len(bench.server.requests) < 8:
            await asyncio.sleep(0)
        await NOT_NOW(exchange)

    async def count(exchange: Exchange) -> None:
        nonlocal under_way
        under_way += 1
        most.append(under_way)
        while len(most) < 4:
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)  # for a fifth one that should not come
        under_way -= 1
        await echo()(exchange)

    bench.server.default = count
    bench.server.plan(*[refuse] * 8)

    async def work(connector: Any) -> list[str]:
        return await asyncio.gather(*(outcome(connector, str(number)) for number in range(24)))

    assert answers_of(bench, work, max_concurrency=8) == [f"echo: {number}" for number in range(24)]
    assert len(bench.server.requests) == 32
    assert most[:4] == [1, 2, 3, 4]
    assert max(most) < 8


@pytest.mark.parametrize("admitted", [False, True])
def test_a_call_that_ends_while_it_waits_to_be_made_again_takes_no_place(bench: Bench, admitted: bool) -> None:
    async def work() -> tuple[bool, bool]:
        limits = Limits(2, None, bench.clock.timing())
        await limits.__aenter__()

        async def refused() -> None:
            async with limits:
                limits.refused(bench.clock.now, None)
                await limits.again()

        call = asyncio.ensure_future(refused())
        await asyncio.sleep(0)
        assert not call.done()
        if admitted:
            await limits.__aexit__()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        if not admitted:
            await limits.__aexit__()
        entered = [asyncio.ensure_future(limits.__aenter__()) for _ in range(2)]
        await asyncio.sleep(0)
        done = (entered[0].done(), entered[1].done())
        entered[1].cancel()
        await asyncio.gather(*entered, return_exceptions=True)
        return done

    assert asyncio.run(work()) == (True, False)


def test_a_server_that_says_when_to_come_back_is_left_alone_by_all_calls(bench: Bench) -> None:
    bench.server.plan(status(429, "", {"retry-after": "20"}))

    async def work(connector: Any) -> list[str]:
        first = asyncio.ensure_future(outcome(connector, "first"))
        while not bench.clock.slept:
            await asyncio.sleep(0.001)
        started = bench.clock.now
        return [await outcome(connector, "second"), await first, str(bench.clock.now - started >= 0)]

    found = answers_of(bench, work, max_concurrency=2)
    assert found[:2] == ["echo: second", "echo: first"]
    assert bench.clock.slept[0] == 21


def test_tokens_are_spread_over_the_minute(bench: Bench) -> None:
    """An answer of the server takes 18 tokens, so that 36 a minute are one call each 30 seconds."""

    async def work(connector: Any) -> None:
        for number in range(4):
            await connector.complete(asks(str(number)))

    answers_of(bench, work, tokens_per_minute=36)
    assert bench.clock.slept == [30, 30, 30]


# The time of a case


def in_time(bench: Bench, seconds: float, **options: Any) -> str:
    async def work(connector: Any) -> str:
        bench.clock.now = time.monotonic()
        async with CaseTime(seconds):
            return await outcome(connector)

    return str(answers_of(bench, work, **options))


def test_a_retry_that_cannot_end_in_time_is_not_begun(bench: Bench) -> None:
    bench.server.plan(status(503, "busy"), status(503, "busy"), status(503, "busy"))
    host = f"127.0.0.1:{bench.server.port}"
    assert in_time(bench, 2.5) == (
        f"test ({host}) answered 503: busy (the case has no time left for another attempt) (tried 2 times)"
    )
    assert (bench.clock.slept, len(bench.server.requests)) == ([1], 2)


def test_a_retry_that_ends_in_time_is_made(bench: Bench) -> None:
    bench.server.plan(status(503, "busy"))
    assert in_time(bench, 1.5) == "echo: hi"


def test_a_call_that_the_bounds_hold_back_is_waited_for_and_has_its_time_then(bench: Bench) -> None:
    bench.server.plan(echo(), status(503, "busy"))

    async def work(connector: Any) -> list[str]:
        bench.clock.now = time.monotonic()
        async with CaseTime(10):
            return [await outcome(connector), await outcome(connector)]

    assert answers_of(bench, work, requests_per_minute=2, retries=0) == [
        "echo: hi",
        f"test (127.0.0.1:{bench.server.port}) answered 503: busy",
    ]
    assert bench.clock.slept == [30]


# Hosts that are down


def gone() -> str:
    """An address at which no server listens."""
    with ModelServer() as server:
        return server.url


def test_calls_fail_at_once_when_the_host_is_down(bench: Bench) -> None:
    host = gone()

    async def work(connector: Any) -> list[str]:
        return [await outcome(connector) for _ in range(4)]

    first, second, third, fourth = answers_of(bench, work, host=host)
    refused = f"test: cannot connect to {host[7:]}: Connection refused"
    down = f"test: the host is down, so this call was not made. {FAILURES} attempts in a row failed with: {refused}"
    assert (first, second) == (f"{refused} (tried 4 times)", refused)
    assert (third, fourth) == (down, down)
    assert bench.clock.slept == [1, 2, 4]


def test_one_call_alone_does_not_find_a_host_down(bench: Bench) -> None:
    error = bench.fail(host=gone(), retries=8)
    assert error.message.endswith("Connection refused (tried 9 times)")


def test_a_host_that_comes_back_is_found_by_one_call(bench: Bench, server: ModelServer) -> None:
    async def work(connectors: Connectors) -> list[str]:
        connector: Any = connectors.get("test")
        address, connector._url = connector._url, f"{gone()}/v1/chat/completions"
        while "host is down" not in (last := await outcome(connector)):
            pass
        found = [last]
        bench.clock.now += PAUSE
        together = await asyncio.gather(*(outcome(connector) for _ in range(3)))
        found += together
        connector._url = address
        bench.clock.now += PAUSE
        found += [await outcome(connector), await outcome(connector)]
        return found

    bench.write()
    words = ["down" if "host is down" in said else said.partition(":")[0] for said in bench.run(work)]
    assert words == ["down", "test", "down", "down", "echo", "echo"]


def test_an_answer_of_any_kind_says_that_the_host_is_there(bench: Bench) -> None:
    async def work(connectors: Connectors) -> list[str]:
        connector: Any = connectors.get("test")
        address, nowhere = connector._url, f"{gone()}/v1/chat/completions"
        found = []
        for _ in range(4):
            connector._url = nowhere
            found += [await outcome(connector), await outcome(connector)]
            connector._url = address
            bench.server.plan(status(400, "no"))
            found.append(await outcome(connector))
        return found

    bench.write(retries=0)
    assert [said for said in bench.run(work) if "host is down" in said] == []
