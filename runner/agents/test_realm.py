"""Asks the realm of a script test, while it waits for what it has called: for what a mock answers, for a store."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from bindings import ProcessError, World, answered_value, arguments_text

Reply = tuple[str | None, str]


async def ask_test(world: World, name: str, args: list[Any]) -> Any:
    """Asks the realm of the test, and returns its answer, a JSON value or bytes.

    Args:
        name: name of a function in `bindings/src/mocks/host-questions.ts`.
        args: JSON values and bytes.

    Raises:
        ProcessError: the function threw an error, or the test has ended.
    """
    link = world.link
    if link is None:
        raise ProcessError("The test has ended: its mocks answer no more", 503)
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[Reply] = loop.create_future()

    def hear(reply: Reply) -> None:
        if not heard.done():
            heard.set_result(reply)

    def done(envelope: str | None, told: str) -> None:
        loop.call_soon_threadsafe(hear, (envelope, told))

    link.ask(name, arguments_text([world.clock.stopped_at, *args]), done)
    envelope, told = await heard
    if envelope is None:
        raise ProcessError("The test has ended: its mocks answer no more", 503)
    try:
        world.take(told)
        world.clock.looks += 1  # a mock may have looked at the clock in the realm of the test
        return answered_value(json.loads(envelope))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ProcessError(f"The test answered something that is not a valid answer: {error}", 500) from error
