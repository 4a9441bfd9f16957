"""The host calls of script tests under way, kept with their answers, for a test that runs once more to see the same."""

from __future__ import annotations

from collections.abc import Callable

from scripttest import ReplyChannel, TestKey
from scripttest.values import Value

MOST_OF_LOADING = 1000
"""At most this many calls are kept of the loading of a module, which happens for each test."""


class KeptCall(Value):
    """A host call."""

    name: str
    arguments: str
    """JSON."""
    envelope: str
    asked: tuple[tuple[str, str], ...] = ()
    """What the host asked the realm before it answered: names of questions, and JSON of arguments."""


class KeptCalls:
    """The calls of the tests under way. Threads may share it."""

    def __init__(self) -> None:
        self._calls: dict[TestKey, list[KeptCall]] = {}

    def call(
        self, test: TestKey, name: str, arguments: str, link: ReplyChannel, answer: Callable[[ReplyChannel], str]
    ) -> str:
        """What `answer` answers a call, which gets the `link` to the realm."""
        asked: list[tuple[str, str]] = []

        def ask(question: str, given: str, done: Callable[[str | None, str], None]) -> None:
            asked.append((question, given))
            link.ask(question, given, done)

        envelope = answer(ReplyChannel(ask))
        self.keep(test, KeptCall(name=name, arguments=arguments, envelope=envelope, asked=tuple(asked)))
        return envelope

    def keep(self, test: TestKey, call: KeptCall) -> None:
        """Keeps a call that has its answer."""
        calls = self._calls.setdefault(test, [])
        if test.test or len(calls) < MOST_OF_LOADING:
            calls.append(call)

    def of_loading(self, module: str) -> tuple[KeptCall, ...]:
        """The calls that a module made while it was loaded."""
        return tuple(self._calls.get(TestKey(suite=module, test=""), ()))

    def take(self, test: TestKey) -> tuple[KeptCall, ...]:
        """The calls of a test that has ended, which are forgotten."""
        return tuple(self._calls.pop(test, ()))
