"""Bounds of a connector that hold for several runner processes, one of which is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from runner.cluster.model_calls import AskedLimits, SharedLimits
from runner.connectors.limits import Limits
from runner.connectors.usage import Timing


class Process:
    """A runner process, as its bounds see it."""

    def __init__(self, name: str, kept: SharedLimits) -> None:
        self._name, self._kept = name, kept
        self.places = AskedLimits(self._ask)

    def _ask(self, call: tuple[Any, ...]) -> None:
        self._kept.take(self._name, call)

    def lose(self) -> None:
        """What the command does when the process is gone."""
        self._kept.give_up(self._name)

    def limits(self) -> Limits:
        """Of a connector that lets one call through at a time."""
        return self.places.limits("model", {"max_concurrency": 1}, Timing())


@pytest.fixture
def processes() -> Iterator[dict[str, Process]]:
    found: dict[str, Process] = {}
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    kept = SharedLimits(lambda name, number: found[name].places.let(number), loop)
    found |= {name: Process(name, kept) for name in ("first", "second")}
    yield found
    for process in found.values():
        process.lose()
    loop.call_soon_threadsafe(loop.call_later, 0.01, loop.stop)
    thread.join()
    loop.close()


def test_calls_count_until_they_end_or_their_process_is_lost(processes: dict[str, Process]) -> None:
    first, second = processes["first"], processes["second"]

    async def call(process: Process) -> None:
        async with process.limits():
            pass

    async def calls() -> None:
        async with first.limits():
            waiting = asyncio.create_task(call(second))
            await asyncio.sleep(0.1)
            assert not waiting.done()
            first.lose()
            await waiting
        await call(first)
        await call(second)

    asyncio.run(asyncio.wait_for(calls(), 60))
