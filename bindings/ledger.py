"""What a test has asked of the outside, and who answered."""

from __future__ import annotations

from enum import StrEnum

from scripttest.values import Value


class Answered(StrEnum):
    """Who answered a call that left its script. Reports write the same words."""

    SERVED = "served"
    """This host: a process, an agent, a tool, a request."""
    MOCKED = "mocked"
    """A mock of the test."""
    MISSING = "missing"
    """Nobody: there is neither a mock nor anything here that can."""


MOST = 1000
"""Different calls of one test that are kept."""


class OutsideCall(Value):
    """A call, made once or several times, that left its script."""

    name: str
    """Of the process; of what it is about too, where the process does not say that: `agent.Call expense`."""
    answered: Answered
    count: int = 1
    message: str = ""
    """Why it is missing, and what to do about that."""


class Ledger:
    """The calls of one world. Threads may share it."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, Answered], OutsideCall] = {}

    def note(self, name: str, answered: Answered, message: str = "", count: int = 1) -> None:
        """Writes a call down."""
        key = (name, answered)
        known = self._calls.get(key)
        if known is not None:
            self._calls[key] = known.replace(count=known.count + count)
        elif len(self._calls) < MOST:
            self._calls[key] = OutsideCall(name=name, answered=answered, count=count, message=message)

    @property
    def calls(self) -> tuple[OutsideCall, ...]:
        """All of them, in the order of their first."""
        return tuple(self._calls.values())
