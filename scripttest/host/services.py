"""The interfaces between the host and its owner: what the owner answers, and what it may ask the realm of a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from scripttest.names import TestKey
from scripttest.results import Outcome

Backed = Callable[[str | None, str], None]
"""Gets the answer of a realm and what the realm reports of its world; None: the test has ended."""


class Link:
    """Asks the realm of a test that waits for the answer to a host call."""

    def __init__(self, ask: Callable[[str, str, Backed], None]) -> None:
        self._ask = ask

    def ask(self, name: str, arguments: str, done: Backed) -> None:
        """Asks the realm of the test, and returns at once. May be called from any thread.

        Args:
            name: name of a function in `bindings/src/mocks/host-questions.ts`.
            arguments: JSON list.
            done: called once, on any thread, with the JSON envelope of the answer and the state of the realm's world.
        """
        self._ask(name, arguments, done)


class Services:
    """What the host asks its owner. The owner overrides these methods."""

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: Link) -> str:
        """Answers a host call. Runs on its own thread and may block.

        Args:
            test: the run of a test that calls; without a name while a module is loaded.
            name: name of the process.
            arguments: JSON.
            world: state of the test's world, see `protocol`.
            link: asks the realm of the test, until the call is answered.

        Returns:
            A JSON envelope: `{"ok": ...}`, `{"bytes": base64}` or `{"error": {"message", "code"}}`.
        """
        raise NotImplementedError

    def at_once(self, test: TestKey, name: str, arguments: str, world: str) -> str | None:
        """What `call` answers, if it takes so little time that the host can wait for it; else None. Arguments as those
        of `call`."""
        return None

    def library(self, module: str, script: str) -> Path:
        """The file of the script that `Process("scripts.a.b.Fn")` names without its function. Raises ScriptError."""
        raise NotImplementedError

    def selects(self, module: str, test: str) -> bool:
        """Whether a test of a module runs."""
        raise NotImplementedError

    def arranged(self, module: str, tests: Sequence[str]) -> Sequence[int]:
        """The positions of the tests of a module that run, in the order in which they run."""
        return range(len(tests))

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """Seconds that a fuzz test or a benchmark has again once it has its answer to a host call of its own kind
        (`fuzz.*`, `benchmark.*`), during which its clock stands; None: as many as any test."""
        return None

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a fuzz test or a benchmark whose realm has ended; None: it runs again, in a new realm."""
        return outcome
