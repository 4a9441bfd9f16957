"""Finds what answers `Process(...)` calls of script tests: a table of groups, then the host functions.

Mocks, `stores.*` and scripts are answered before, in the realm (`bindings/src/realm/process.ts`).
Calls and answers travel as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from scripttest import AskBack, Outcome, Selected, Services, TestKey, kind_of
from scripttest.typing_names import Protocol
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings.errors import ProcessError
    from bindings.host_processes import HostProcesses
    from bindings.world import Clock, Mocks, World


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


Provider = Callable[["World", str, "list[Any]"], "Any"]
"""(world of the test, process name, arguments) → JSON value; raises ProcessError. May be called from any thread."""


_JUDGE = "agent.Validate"
"""What `t.assert.Agent` asks a judge by."""


class TestKind(Protocol):
    """Controls the tests of one kind other than plain tests: `fuzz` or `benchmark`."""

    def answer(self, world: World, name: str, args: list[Any]) -> Any:
        """Answers a host call of this kind; a `Provider`."""

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """As `Services.seconds_after`."""

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """As `Services.settled`."""


class ProcessRouter(Services):
    """Implements `scripttest.Services`. Its table is complete when it is built, and does not change."""

    def __init__(
        self,
        host: HostProcesses,
        providers: Mapping[str, Provider],
        context: Mapping[str, Any],
        select: Callable[[str, Mapping[str, str]], Selected],
        worlds: Worlds,
        arrange: Callable[[str, Sequence[str]], Sequence[int]] | None = None,
        kinds: Mapping[str, Callable[[], TestKind]] | None = None,
        goes_on: Callable[[str, str], None] | None = None,
        wanted: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Calls nothing yet.

        Args:
            host: answers what no provider answers.
            providers: answer groups of processes, by the first word of their names in lower case, or by a whole name. A
                whole name has priority.
            context: the fields of the run's context.
            select: which tests of a module run, by their names and sources.
            worlds: the worlds of the tests. Whoever ends a test ends its world.
            arrange: returns the order in which the tests of a module run, as positions; None: the order of the file.
            kinds: kind of tests, in lower case → a function that returns the object that runs them.
            goes_on: called with the module and name of a test that continues in another realm and world.
            wanted: that of `Services`."""
        self._kinds = kinds or {}
        self._goes_on = goes_on
        self._host = host
        self._providers = dict(providers)
        self._context = context
        self._select = select
        self._arrange = arrange
        self._wanted = wanted
        self.worlds = worlds
        self.judged: dict[tuple[str, int], str] | None = None
        """Arguments of a judge and how often the test has asked that before → the answer, which is given again; None:
        judges are asked each time."""
        self._asked: Counter[tuple[TestKey, str]] = Counter()
        self.kept: KeptCalls | None = None
        """Keeps the calls of tests under way; None: nobody needs them."""

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        """Answers one host call; see `scripttest.Services`."""
        if self.kept is None:
            return self._answered(test, name, arguments, world, link)
        asked: list[tuple[str, str]] = []

        def ask(question: str, given: str, done: Callable[[str | None, str], None]) -> None:
            asked.append((question, given))
            link(question, given, done)

        envelope = self._answered(test, name, arguments, world, ask)
        self.kept.keep(test, KeptCall(name=name, arguments=arguments, envelope=envelope, asked=tuple(asked)))
        return envelope

    def _answered(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        if self.judged is None or name != _JUDGE:
            return self._enveloped(test, name, arguments, world, link)
        order = (arguments, self._asked[test, arguments])
        self._asked[test, arguments] += 1
        if order not in self.judged:
            self.judged[order] = self._enveloped(test, name, arguments, world, link)
        return self.judged[order]

    def _enveloped(self, test: TestKey, name: str, arguments: str, told: str, link: AskBack) -> str:
        """The JSON envelope of the answer to a call, before which the realm has told the state of the test."""
        from bindings.errors import ProcessError

        world = self.worlds.of(test)
        world.link = link
        try:
            args = revived(arguments)
            world.take(told)
            return envelope(self._answer(world, name, args), world.clock)
        except ProcessError as error:
            failure = error
        except RecursionError:
            failure = ProcessError(f"{name}: values are nested too deeply", 400)
        except UnicodeEncodeError:
            failure = ProcessError(f"{name}: a string contains a lone surrogate", 400)
        except Exception as error:
            failure = ProcessError(f"{name}: {type(error).__name__}: {error}")
        return failure_envelope(failure, world.clock)

    def library(self, module: str, script: str) -> Path:
        """The file of a script; see `scripttest.Services`."""
        return self._host.library(script)

    def selected(self, module: str, tests: Mapping[str, str]) -> Selected:
        """Which tests of a module run; see `scripttest.Services`."""
        return self._select(module, tests)

    def wanted(self) -> str | None:
        """See `Services`."""
        return self._wanted()

    def arranged(self, module: str, tests: Sequence[str]) -> Sequence[int]:
        """In which order tests run; see `scripttest.Services`."""
        return range(len(tests)) if self._arrange is None else self._arrange(module, tests)

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """Seconds that a test gets again after a call; see `scripttest.Services`."""
        return self._kinds[kind_of(test.test).lower()]().seconds_after(test, name)

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a test whose realm has ended; see `scripttest.Services`."""
        settled = self._kinds[kind_of(test.test).lower()]().settled(test, outcome)
        if settled is None:
            self.worlds.forget(test.suite, [test.test])
            if self._goes_on is not None:
                self._goes_on(test.suite, test.test)
        return settled

    def _answer(self, world: World, name: str, args: list[Any]) -> Any:
        group = name.partition(".")[0]
        if group in self._kinds and group == kind_of(world.test).lower():
            return self._kinds[group]().answer(world, name, args)
        provider = self._providers.get(name) or self._providers.get(group.lower())
        from bindings.world import PendingQuestion

        asked = world.asked = PendingQuestion(name)
        try:
            return provider(world, name, args) if provider else self._host.call(name, args, self._context, world)
        finally:
            asked.end()


def arguments_text(args: list[Any]) -> str:
    """JSON of the arguments of a call: a list, or `{args, bytes}`; what `revived` reads."""
    places = [place for place, value in enumerate(args) if isinstance(value, bytes)]
    if not places:
        return json.dumps(args)
    from base64 import b64encode

    texts = [b64encode(value).decode() if isinstance(value, bytes) else value for value in args]
    return json.dumps({"args": texts, "bytes": places})


def answered_value(envelope: dict[str, Any]) -> Any:
    """The value in an envelope. Raises ProcessError for an error, LookupError and the like for something else."""
    from bindings.errors import ProcessError

    if "error" in envelope:
        error = envelope["error"]
        code = error.get("code")
        failure = ProcessError(str(error["message"]), code if isinstance(code, int) else 500)
        failure.hides_code = error.get("hides_code") is True
        raise failure
    if "bytes" in envelope:
        from base64 import b64decode

        return b64decode(envelope["bytes"])
    return envelope["ok"]


def revived(arguments: str) -> list[Any]:
    """The arguments of a host call from their JSON: a list, or `{args, bytes}` with the places of those in base64."""
    given: Any = json.loads(arguments)
    if isinstance(given, list):
        return given
    from base64 import b64decode

    args: list[Any] = given["args"]
    for place in given["bytes"]:
        args[place] = b64decode(args[place])
    return args


def envelope(value: Any, clock: Clock, mocks: Mocks | None = None) -> str:
    """The envelope of a result; with the time, in milliseconds, where the clock is stopped, and with `mocks` that have
    changed during the call."""
    from bindings.errors import ErrorValue

    if isinstance(value, ErrorValue):
        return _told({"returned": {"message": value.message}}, clock, mocks)
    if isinstance(value, bytes):
        from base64 import b64encode

        return _told({"bytes": b64encode(value).decode()}, clock, mocks)
    return _told({"ok": value}, clock, mocks)


def failure_envelope(error: ProcessError, clock: Clock, mocks: Mocks | None = None) -> str:
    """The envelope of an error; with the time and mocks as `envelope`."""
    said: dict[str, Any] = {"message": error.message, "code": error.code}
    if error.infrastructure:
        said["broke"] = True
    if error.hides_code:
        said["hides_code"] = True
    return _told({"error": said}, clock, mocks)


def _told(record: dict[str, Any], clock: Clock, mocks: Mocks | None) -> str:
    record |= clock.told
    if mocks is not None:
        record["mocks"] = mocks.record()
    return json.dumps(record)


class Worlds:
    """The worlds of the running script tests. Threads may share it. The owner must close it."""

    def __init__(self, seed: int | None = None) -> None:
        """`seed`: of `--seed`. The random numbers of a test are seeded with it and the name of the test."""
        self._seed = seed
        self._worlds: dict[TestKey, World] = {}

    def of(self, test: TestKey) -> World:
        """The world of a run of a test."""
        found = self._worlds.get(test)
        if found is None:
            from bindings.world import World  # most tests ask for nothing

            seed = "" if self._seed is None else f"{self._seed} {test.test}"
            found = World(suite=test.suite, test=test.test, run=test.run, seed=seed, of_case=False)
            found.key = test
            found = self._worlds.setdefault(test, found)
        return found

    def known(self, test: TestKey) -> World | None:
        """The world of a run of a test; None when that has asked for nothing."""
        return self._worlds.get(test)

    def end(self, test: TestKey) -> World | None:
        """Closes the world of a run that has ended, and forgets it; None when it has asked for nothing."""
        world = self._worlds.pop(test, None) if self._worlds else None
        if world is not None:
            world.close()
        return world

    def forget(self, module: str, tests: Collection[str] | None) -> None:
        """Closes the worlds of tests of a module, by name, because they run again; None: of all its tests."""
        for key in list(self._worlds):
            if key.suite == module and (tests is None or key.test in tests):
                self.end(key)

    def close(self) -> None:
        """Closes all that are left."""
        while self._worlds:
            self._worlds.popitem()[1].close()
