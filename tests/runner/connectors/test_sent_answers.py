"""Calls of a process whose answers another one stores: none begins while too many are not stored."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from connector_bench import Bench, asks
from model_server import says, status

from runner.agents.chat import Origin
from runner.answers.journal import Journal
from runner.cluster.model_calls import SentAnswers
from runner.connectors.base import ConnectorError
from runner.connectors.load import Connectors

CASE = Origin(suite="suite", case="case")


class Sending:
    """A journal whose lines go to somebody who keeps them when he likes."""

    def __init__(self, bench: Bench, at_once: int) -> None:
        self.bench = bench
        self.sent: list[Any] = []
        self.answers = SentAnswers(self.sent.append, at_once)
        (bench.root / "calls.jsonl").write_text("")
        self.journal = Journal(
            bench.root / "calls.jsonl",
            lambda _: self.answers,
            bench.root,
            str,
            pytest.fail,
            True,
            gate=self.answers,
        )
        bench.write(retries=0)

    def call(self, connectors: Connectors, text: str) -> asyncio.Task[Any]:
        return asyncio.create_task(self.journal.complete(CASE, "test", asks(text), connectors))

    async def others_have_called(self, connectors: Connectors) -> None:
        """The model has answered calls that are not stored, one after the other."""
        for number in range(20):
            await self.journal.complete(Origin(), "test", asks(f"other {number}"), connectors)

    @property
    def asked(self) -> list[str]:
        texts = [request.last_text for request in self.bench.server.requests]
        return [text for text in texts if not text.startswith("other")]


@pytest.mark.parametrize("at_once", [1, 2])
def test_no_more_calls_than_may_be_lost(bench: Bench, at_once: int) -> None:
    sending = Sending(bench, at_once)

    async def work(connectors: Connectors) -> None:
        calls = [sending.call(connectors, f"t{number}") for number in range(5)]
        for kept in range(5 - at_once):
            await sending.others_have_called(connectors)
            assert len(sending.asked) == kept + at_once
            assert sum(call.done() for call in calls) == kept + at_once  # an answer does not wait to be kept
            sending.answers.keep(kept + 1)
        await asyncio.gather(*calls)

    bench.run(work)
    assert [line.answer[0] for line in sending.sent] == [1, 2, 3, 4, 5]


def test_a_call_without_an_answer_makes_room(bench: Bench) -> None:
    sending = Sending(bench, 1)
    bench.server.plan(status(400, "no"), says("yes"))

    async def work(connectors: Connectors) -> None:
        with pytest.raises(ConnectorError):
            await sending.call(connectors, "first")
        await sending.call(connectors, "second")
        cut = sending.call(connectors, "third")
        await sending.others_have_called(connectors)
        cut.cancel()  # while it waits
        sending.answers.keep(len(sending.sent))
        await sending.call(connectors, "fourth")

    bench.run(work)
    assert sending.asked == ["first", "second", "fourth"]


def test_the_end_waits_until_all_is_kept(bench: Bench) -> None:
    sending = Sending(bench, 3)
    sending.answers.wait()

    async def work(connectors: Connectors) -> None:
        await asyncio.gather(*(sending.call(connectors, f"t{number}") for number in range(3)))
        waiting = asyncio.create_task(asyncio.to_thread(sending.answers.wait))
        sending.answers.keep(len(sending.sent) - 1)
        await sending.others_have_called(connectors)
        assert not waiting.done()
        sending.answers.keep(len(sending.sent))
        await waiting

    bench.run(work)
