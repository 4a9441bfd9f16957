"""A world: all state that belongs to one test, or to one attempt of a case, and to nobody else.

Everything that the test calls (`Process`, other scripts, tools, agents, hooks, delegates, judges) gets the same world.
So they have the same session, stores, memory, mocks, clock, random numbers and database, and write into the same ledger
of calls that went outside. Its clock is the real one, until a test stops it; then it moves only on request.

Mocks, newest last, are values that a case gives, or functions and values that its script test keeps. What a mock of a
script test answers is made in the realm of the test, which is asked for it: there its function lives, and there its
calls are recorded."""

from __future__ import annotations

import _thread
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from bindings.ledger import Ledger, agent_id
from scripttest import TestKey
from scripttest.typing_names import Protocol, TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random
    from typing import Any

    from scripttest import AskBack, ResultWarning

SEARCHES = {"web": "search.Web", "kb": "search.KB", "db": "search.DB"}
"""What a search looks in → the process that it calls."""
KINDS = ("process", "agent", "http", "exec")


class Mock(Value):
    """Answers calls whose names match its pattern, in which `*` stands for any characters."""

    pattern: str
    value: Any = None
    """What it answers, a JSON value."""
    number: int | None = None
    """The number by which the realm of a script test knows its mock."""


class Mocks(Value):
    """By kind, newest last."""

    process: tuple[Mock, ...] = ()
    agent: tuple[Mock, ...] = ()
    http: tuple[Mock, ...] = ()
    exec: tuple[Mock, ...] = ()

    def find(self, kind: str, name: str) -> Mock | None:
        """The newest mock of a `process`, in any case, of an `agent`, or of a command (`exec`): by the whole of it, by
        its first words, or by a regular expression between slashes; `bindings/src/mocks/mocked-exec.ts` finds the same.
        Raises PatternError."""
        fits = {"process": _fits_process, "agent": _fits, "exec": _fits_command}[kind]
        return next((mock for mock in reversed(getattr(self, kind)) if fits(mock.pattern, name)), None)

    def record(self) -> dict[str, Any]:
        """For realms of functions: kind → `[pattern, value, number or null]`; see `bindings/src/realm/invoke.ts`."""
        return {
            kind: [[mock.pattern, mock.value, mock.number] for mock in mocks]
            for kind in KINDS
            if (mocks := getattr(self, kind))
        }


def given_mocks(given: Mapping[str, Any]) -> Mocks:
    """The mocks of a case: kind → pattern → value. `search` is short for processes: one list for all searches, or one
    each for `web`, `kb` and `db`."""
    search = given.get("search")
    if search is not None:
        named = search if isinstance(search, dict) else dict.fromkeys(SEARCHES, search)
        processes = {SEARCHES[type]: items for type, items in named.items() if items is not None}
        given = {**given, "process": {**processes, **(given.get("process") or {})}}
    return _mocks(
        {kind: [(pattern, {"value": value}) for pattern, value in (given.get(kind) or {}).items()] for kind in KINDS}
    )


def told_mocks(told: Mapping[str, Any]) -> Mocks:
    """The mocks of a script test, as its realm sends them: kind → `[pattern, number]`. Raises ValueError."""
    return _mocks(
        {kind: [(str(pattern), {"number": int(number)}) for pattern, number in told.get(kind) or ()] for kind in KINDS}
    )


def _mocks(rows: Mapping[str, list[tuple[str, dict[str, Any]]]]) -> Mocks:
    """Mocks by kind, of their patterns and other fields."""
    return Mocks(
        **{
            kind: tuple(
                Mock(pattern=agent_id(pattern) if kind == "agent" else pattern, **fields) for pattern, fields in given
            )
            for kind, given in rows.items()
        }
    )


def _fits(pattern: str, text: str) -> bool:
    """Whether a text is as the pattern says, in which `*` stands for any text. Each piece is looked for once."""
    first, *pieces = pattern.split("*")
    if not pieces:
        return text == first
    end = len(text) - len(pieces[-1])
    if not (text.startswith(first) and text.endswith(pieces[-1]) and len(first) <= end):
        return False
    place = len(first)
    for piece in pieces[:-1]:
        found = text.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def _fits_process(pattern: str, name: str) -> bool:
    return _fits(pattern.lower(), name.lower())


def _fits_command(pattern: str, command: str) -> bool:
    expression = re.fullmatch(r"/(.+)/([a-z]*)", pattern, re.DOTALL)
    if expression is not None:
        from bindings.patterns import compile

        flags = "".join(flag for flag in expression[2] if flag in "ims")
        return bool(compile(f"(?{flags}){expression[1]}" if flags else expression[1]).search(command))
    return _fits(pattern, command) or _fits(f"{pattern} *", command)


_BRANCH: ContextVar[tuple[World, Random] | None] = ContextVar("branch", default=None)
"""The world of what runs, and its random numbers, where it has some of its own."""
CLOCK_STANDS = "t.mock.now, or mocks.now of a case, stopped it; advance it with t.mock.advance or time.Sleep"


class Closing(Protocol):
    """Something that is open for the test of a world, and closed with it."""

    def close(self) -> None:
        """Ends it."""


Opened = TypeVar("Opened", bound=Closing)


class PendingQuestion:
    """A process that a script test has called."""

    def __init__(self, name: str) -> None:
        """It begins now."""
        self.name = name
        self._began = monotonic()
        self._ended: float | None = None

    def end(self) -> None:
        """It has been answered."""
        self._ended = monotonic()

    @property
    def seconds(self) -> float:
        """How long that took, or has taken so far."""
        return (self._ended or monotonic()) - self._began


class World:
    """Lives for one test, or one attempt of a case. Threads may share it. To be closed."""

    def __init__(
        self,
        *,
        suite: str,
        test: str,
        run: int = 1,
        mocks: Mocks | None = None,
        stopped_at: float | None = None,
        seed: str = "",
        of_case: bool = True,
        mocked: bool = True,
    ) -> None:
        """Opens nothing.

        Args:
            suite: the id of the module, or of the suite of the case.
            test: the name of the test, or the id of the case.
            run: the number of this run of the test, from 1.
            mocks: the mocks of a case.
            stopped_at: the time of a stopped clock, in milliseconds since 1970.
            seed: seed of random numbers; empty: they are not reproducible.
            of_case: whether it belongs to a case, or to hooks around cases, and not to a script test.
            mocked: whether it may have mocks; what surrounds cases has none."""
        self.key = TestKey(suite=suite, test=test, run=run)
        """The run of the test that it belongs to."""
        self.suite = suite
        self.test = test
        self.run = run
        self.of_case = of_case
        self._mocked = mocked
        self.clock = Clock(stopped_at)
        self.mocks = mocks
        self.session: dict[str, Any] = {}
        """Values of `session.*`."""
        self.stores: dict[str, list[Any]] = {}
        """Store id → `[key, JSON text, expiry or null]` entries; `ctx.memory` lives here too. Those of a script test
        are in its realm."""
        self.variables: set[str] = set()
        """Names of the environment variables that scripts have read."""
        self.ledger = Ledger()
        self.judgements: list[Any] = []
        """The verdicts of judges that a script asked."""
        self.is_judged = False
        """Whether its result depends on how judges are asked."""
        self.warnings: list[ResultWarning] = []
        """What is odd about answers that the test is judged by."""
        self.link: AskBack | None = None
        """The way back to the realm of a script test, while it waits for a call; None for a case."""
        self.asked: PendingQuestion | None = None
        """What a script test has asked for last."""
        self._first_seed = self._seed = seed
        self._seeded: tuple[Any, Any] = (None, None)
        """How often the realm has begun its random numbers again, and of what it made them."""
        self._random: Random | None = None
        self._branches: Counter[str] = Counter()
        self._told = self._caught_up = ""
        self._open: dict[str, Any] = {}
        self._lock = _thread.allocate_lock()

    def warn(self, kind: str, text: str) -> None:
        """Adds a warning to the result of the test, once."""
        from scripttest import ResultWarning

        warning = ResultWarning(kind=kind, message=text)
        if warning not in self.warnings:
            self.warnings.append(warning)

    def mock(self, kind: str, name: str) -> str:
        """How a mock is written down here: of a `process`, an `agent` or `http`, by its name."""
        if not self._mocked:
            return "mocks, which only tests and cases have"
        written = json.dumps(name, ensure_ascii=False)
        return f'mocks: {{"{kind}": {{{written}: ...}}}}' if self.of_case else f"t.mock.{kind}({written}, ...)"

    @property
    def random(self) -> Random | None:
        """Draws the random numbers of a test that has a seed; None without one."""
        branch = _BRANCH.get()
        if branch is not None and branch[0] is self:
            return branch[1]
        if self._random is None and self._seed:
            from random import Random

            self._random = Random(self._seed)
        return self._random

    @contextmanager
    def branch(self, *key: Any) -> Iterator[None]:
        """Gives what runs in this block random numbers of its own, made of the seed and of `key`, JSON values: the same
        ones in every run, whatever draws numbers beside it."""
        if not self._seed:
            yield
            return
        from random import Random

        name = json.dumps(key)
        self._branches[name] += 1
        token = _BRANCH.set((self, Random(f"{self._seed} {name} {self._branches[name]}")))
        try:
            yield
        finally:
            _BRANCH.reset(token)

    def opened(self, name: str, open: Callable[[World], Opened]) -> Opened:
        """The object that is open under a name. `open` makes it on first use, and it is closed with the
        world. One thread at a time opens something."""
        with self._lock:
            found = self._open.get(name)
            if found is None:
                found = self._open[name] = open(self)
            return found

    def held(self, name: str) -> Any:
        """The object that is open under a name; None if nothing was opened."""
        return self._open.get(name)

    def take(self, told: str) -> None:
        """Takes over the state of the realm of a script test: JSON of `WorldState` in
        `bindings/src/mocks/world-state.ts`, or an empty text if it has no mocks, no stopped clock and no seed.
        Raises ValueError for anything else."""
        if told == self._told:
            return
        state = _state(told)
        mocks, now = state.get("mocks"), state.get("now")
        seeded = (state.get("seeded"), state.get("seed"))
        self.mocks = told_mocks(mocks) if isinstance(mocks, dict) else None
        self.clock.stopped_at = None if now is None else float(now)
        if seeded != self._seeded:
            self._seeded, self._random = seeded, None
            self._branches.clear()
            self._seed = self._first_seed if seeded[1] is None else str(seeded[1])
        self._told = told

    def catch_up(self, told: str) -> None:
        """Moves a stopped clock to where a function, that ran in this world, has moved its own. Raises ValueError."""
        if told == self._caught_up:
            return
        now, clock = _state(told).get("now"), self.clock
        if now is not None and clock.stopped_at is not None:
            clock.stopped_at = max(clock.stopped_at, float(now))
        self._caught_up = told

    def surroundings(self) -> str:
        """The state for the realm of a function: JSON of `mocks` in `bindings/src/realm/invoke.ts`; `null` if there is
        nothing."""
        record: dict[str, Any] = self.mocks.record() if self.mocks else {}
        if self.clock.stopped_at is not None:
            record["now"] = self.clock.stopped_at
        if self.random is not None:
            record["seed"] = self.random.getrandbits(48)
        return json.dumps(record) if record else "null"

    def close(self) -> None:
        """Closes the ledger, then what was opened, the last first."""
        self.ledger.close()
        while self._open:
            self._open.popitem()[1].close()


def _state(told: str) -> Mapping[str, Any]:
    state = json.loads(told) if told else {}
    if not isinstance(state, dict):
        raise ValueError("what is told of a world is not an object")
    return state


class Clock:
    """Tells the time of a test. Threads may share it."""

    def __init__(self, stopped_at: float | None = None) -> None:
        """`stopped_at`: milliseconds since 1970; None: it goes with the real time."""
        self.stopped_at = stopped_at
        self.looks = 0
        """How often it was looked at, while it was stopped, by what runs here or in other realms."""
        self.writes = 0
        """How often something of the world was written while it was stopped."""

    @property
    def milliseconds(self) -> float:
        """Since 1970."""
        if self.stopped_at is None:
            return time.time() * 1000
        self.looks += 1
        return self.stopped_at

    @property
    def seconds(self) -> float:
        """Since 1970."""
        return self.milliseconds / 1000

    @property
    def told(self) -> dict[str, float]:
        """What the realm of a script needs to know of it: `now` where it is stopped, and `looks` and `writes`, from
        which the realm tells whether a loop waits for it; see `bindings/src/mocks/waiting.ts`."""
        if self.stopped_at is None:
            return {}
        return {"now": self.stopped_at, "looks": self.looks, "writes": self.writes}

    def sleep(self, milliseconds: float) -> bool:
        """Moves a stopped clock, and returns at once; whether it is stopped: the real one is not waited for."""
        if self.stopped_at is None:
            return False
        self.stopped_at += max(0.0, milliseconds)
        return True
