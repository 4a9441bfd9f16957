"""Bounds of a connector that hold for several runner processes, one of which hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from runner.cluster import model_calls
from runner.cluster.model_calls import AskedLimits, SharedLimits
from runner.connectors.limits import Limits
from runner.connectors.usage import Timing


class Process:
    """A runner process, as its bounds see it."""

    def __init__(self, name: str, kept: SharedLimits) -> None:
        self.hangs = False
        self.renewed = 0
        self._name, self._kept = name, kept
        self.places = AskedLimits(self._ask)

    def _ask(self, call: tuple[Any, ...]) -> None:
        if not self.hangs:
            self.renewed += call[3] == "holds"
            self._kept.take(self._name, call)

    def limits(self) -> Limits:
        """Of a connector that lets one call through at a time."""
        return self.places.limits("model", {"max_concurrency": 1}, Timing())


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Process]]:
    monkeypatch.setattr(model_calls, "RENEW", 0.01)
    monkeypatch.setattr(model_calls, "LEASE", 0.5)
    found: dict[str, Process] = {}
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    kept = SharedLimits(lambda name, number: found[name].places.let(number), loop)
    found |= {name: Process(name, kept) for name in ("first", "second")}
    yield found
    for name in found:
        kept.give_up(name)
    loop.call_soon_threadsafe(loop.call_later, 0.01, loop.stop)
    thread.join()
    loop.close()


def test_calls_count_as_long_as_their_process_is_heard(processes: dict[str, Process]) -> None:
    first, second = processes["first"], processes["second"]

    async def call(process: Process) -> None:
        async with process.limits():
            pass

    async def calls() -> None:
        async with first.limits():
            waiting = asyncio.create_task(call(second))
            while first.renewed < 200:  # longer than a lease
                await asyncio.sleep(0.01)
            assert not waiting.done()
            first.hangs = True
            await waiting
            first.hangs = False
        await call(first)  # it goes on
        await call(second)

    asyncio.run(asyncio.wait_for(calls(), 60))
