"""Host calls of scripts as JSON: arguments, and the envelopes of answers; and the worlds of script tests."""

from __future__ import annotations

import json
from collections.abc import Collection

from scripttest import TestKey
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings.errors import ProcessError
    from bindings.world import Clock, Mocks, World


class KeptCall(Value):
    """A host call that has its answer."""

    name: str
    arguments: str
    """JSON."""
    envelope: str
    asked: tuple[tuple[str, str], ...] = ()
    """What the host asked the realm before it answered: names of questions, and JSON of arguments."""


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
