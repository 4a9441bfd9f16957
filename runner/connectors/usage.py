"""What a call takes: its usage as the provider reports it, and its time by clocks that tests hand in; the time that a
case has.

Texts of a usage are read as numbers. A number that is negative, not finite, or no number at all says that the others
cannot be trusted either, and makes all of it unknown."""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from runner.connectors.base import Usage
from scripttest.values import Value


class Timing(Value):
    """The clocks, the function that waits, and the source of random numbers."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    """Waits this many seconds."""
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    """Seconds since 1970, for `Retry-After` as a date."""
    random: Callable[[], float] = random.random
    """From 0 up to 1."""


class CaseTime:
    """The time of one case, or of a call from a script test: `async with` raises TimeoutError when it runs out.

    It is stopped while a call waits in a queue of this tool or for a person, which is not the fault of the agent. A
    call that is being answered at that moment may take as long as was left then."""

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(seconds)
        self._pauses = 0
        self._left = 0.0
        self._paused_at = 0.0
        self._stood_still = 0.0
        self._is_over = False
        self._answered: dict[object, float] = {}
        """Calls that are being answered → their beginning; at the earliest, when the clock was stopped."""

    async def __aenter__(self) -> CaseTime:
        await self._timeout.__aenter__()
        self._token = _current.set(self)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._is_over = True
        _current.reset(self._token)
        await self._timeout.__aexit__(kind, error, None)

    def end(self) -> float | None:
        """When it runs out, on the monotonic clock; None while it is stopped."""
        return self._timeout.when()

    @property
    def is_over(self) -> bool:
        """Whether it has run out."""
        return self._timeout.expired()

    def now(self) -> float:
        """Seconds of the monotonic clock, without those for which it stood still."""
        return (self._paused_at if self._pauses else time.monotonic()) - self._stood_still

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stops it; several pauses at the same time count once."""
        if not self._pauses:
            self._paused_at = time.monotonic()
            self._left = (self._timeout.when() or 0.0) - self._paused_at
            self._answered = dict.fromkeys(self._answered, self._paused_at)
        self._pauses += 1
        self._bound_calls()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._stood_still += time.monotonic() - self._paused_at
                self._reschedule(time.monotonic() + self._left)

    def begin_answer(self, call: object) -> None:
        """Notes that a call is being answered, which has a time limit even while the clock is stopped."""
        self._answered[call] = time.monotonic()
        self._bound_calls()

    def end_answer(self, call: object) -> None:
        """Notes that it no longer is."""
        del self._answered[call]
        self._bound_calls()

    def count_in(self, seconds: float) -> None:
        """Adds the time that was spent in an earlier run; that alone does not end the time."""
        self._stood_still -= seconds

    def _bound_calls(self) -> None:
        """While it is stopped, it runs out when the first of the calls that are being answered has used its time."""
        if self._pauses:
            since = min(self._answered.values(), default=None)
            self._reschedule(None if since is None else since + self._left)

    def _reschedule(self, when: float | None) -> None:
        if not (self._is_over or self._timeout.expired()):
            self._timeout.reschedule(when)


_current: ContextVar[CaseTime | None] = ContextVar("case_time", default=None)


def uncounted() -> AbstractContextManager[None]:
    """Inside the `with` block, the clock of the running case is stopped."""
    case = _current.get()
    return nullcontext() if case is None else case.pause()


class Answering:
    """Inside the `with` block, a host answers a call of the running case."""

    def __enter__(self) -> None:
        self._case = _current.get()
        if self._case is not None:
            self._case.begin_answer(self)

    def __exit__(self, *_: object) -> None:
        if self._case is not None:
            self._case.end_answer(self)


def case_end() -> float | None:
    """When the running case runs out of time, on the monotonic clock; None for never."""
    case = _current.get()
    return case.end() if case is not None else None


def is_case_late() -> bool:
    """Whether the running case has run out of time."""
    case = _current.get()
    return case is not None and case.is_over


def case_now() -> float:
    """The monotonic clock, without the seconds for which the clock of the running case was stopped."""
    case = _current.get()
    return case.now() if case is not None else time.monotonic()


def count_in(seconds: float) -> None:
    """Adds to the time of the running case the time that an answer took in an earlier run."""
    case = _current.get()
    if case is not None:
        case.count_in(seconds)


UNKNOWN = Usage(unknown=True)
MOST = 2**53
"""More than this, no call takes."""
_SHOWN = 60
"""Characters that a problem quotes of a value."""


class UsageReader:
    """Reads the figures of one usage."""

    def __init__(self, said: Any) -> None:
        """`said` is the object as it came; None when there is none."""
        self.problems: list[str] = []
        """What cannot be: `prompt_tokens is -5`."""
        self._said: dict[str, Any] = {}
        if isinstance(said, dict):
            self._said = said
        elif said is not None:
            self.problems.append(f"it is {short_json(said)}")

    def count(self, *names: str) -> int | None:
        """A number of tokens, under the first of the names that has one; None when none has. Names of inner objects
        are written with a dot."""
        found = self._number(*names)
        return None if found is None else round(found)

    def amount(self, name: str) -> float | None:
        """A number of dollars; None when it is not said."""
        found = self._number(name)
        return None if found is None else float(found)

    def usage(self, cost: float | None = None, **tokens: int | None) -> Usage:
        """All of it, unknown when there is a problem; `tokens` by the fields of `Usage`. They are unknown too when
        neither those of the input nor those of the output are said."""
        if self.problems:
            return UNKNOWN
        known = {name: count for name, count in tokens.items() if count is not None}
        return Usage(cost=cost, unknown=known.keys().isdisjoint(("input_tokens", "output_tokens")), **known)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say of the problems, after the name of who said it; for when everything was read."""
        if not self.problems:
            return ()
        problems = ", ".join(dict.fromkeys(self.problems))
        return (f"reports an impossible usage: {problems}; the usage of the call is unknown",)

    def _number(self, *names: str) -> float | None:
        for name in names:
            outer, _, inner = name.partition(".")
            value = self._said.get(outer)
            if inner and value is not None:
                if not isinstance(value, dict):
                    self.problems.append(f"{outer} is {short_json(value)}")
                    return None
                value = value.get(inner)
            if value is None:
                continue
            number = _read(value)
            if number is None:
                self.problems.append(f"{name} is {short_json(value)}")
            return number
        return None


def merged(known: Any, said: Any, together: Sequence[str] = ()) -> Any:
    """A usage after a later one of the same call, which may be the sum so far, or repeat some figures. A figure that is
    missing, or lower than the known one, changes nothing. `together` are fields between which tokens may move: they
    change together, or not at all."""
    if said is None or known is None or said == known:
        return known if said is None else said
    if not isinstance(known, dict) or not isinstance(said, dict):
        before, after = _read(known), _read(said)
        lower = before is not None and after is not None and after < before
        return known if lower or (known and not said) else said
    result = {**known, **{name: merged(known.get(name), value) for name, value in said.items()}}
    moved = {name: known.get(name) if said.get(name) is None else said[name] for name in together}
    figures = [[_read(values.get(name) or 0) for name in together] for values in (known, moved)]
    if together and None not in (*figures[0], *figures[1]):
        before, after = (sum(number or 0 for number in each) for each in figures)
        result |= {name: values.get(name) for values in [moved if after >= before else known] for name in together}
    return result


def short_json(value: Any) -> str:
    """A value in short, as JSON."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _read(value: Any) -> float | None:
    """A number from 0 up; None when it is none. Whole numbers stay whole."""
    if type(value) is int:
        return value if 0 <= value <= MOST else None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, float):
        return None
    return value if 0 <= value <= MOST and math.isfinite(value) else None
