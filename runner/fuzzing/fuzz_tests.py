"""The fuzz tests of a run: answers what their realms ask, and says when they are over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import ProcessError
from runner.fuzzing.corpus import FOLDER
from runner.fuzzing.fuzz_test import Fuzzing, FuzzTest
from runner.fuzzing.literals import Literals, literals_in
from runner.paths import shown_path

if TYPE_CHECKING:
    from bindings import World
    from scripttest import Compiled, Outcome, TestKey


class FuzzTests:
    """Controls the fuzz tests of a run: a `TestKind` of `bindings`. Threads may share it."""

    def __init__(
        self,
        fuzzing: Fuzzing,
        files: Mapping[str, Path],
        root: Path,
        stopped: Callable[[], bool],
    ) -> None:
        """Reads nothing yet.

        Args:
            fuzzing: the settings from the flags.
            files: module → its test file.
            root: the application.
            stopped: whether the run shall end.
        """
        self._fuzzing = fuzzing
        self._files = files
        self._root = root
        self._stopped = stopped
        self._tests: dict[TestKey, FuzzTest] = {}
        self._code: dict[str, list[str]] = {}
        self.summaries: list[str] = []
        """The results of the searches, one line each."""

    def take(self, compiled: Compiled) -> None:
        """Takes the compiled code of a module, or of a script that it calls."""
        self._code.setdefault(compiled.source.key, []).extend(script.code for script in compiled.scripts)

    def answer(self, world: World, name: str, args: list[Any]) -> Any:
        """Answers `fuzz.Begin` and `fuzz.Next`."""
        test = self._test(world.key)
        test.world = world
        if name == "fuzz.Begin":
            return test.begin(*args)
        if name == "fuzz.Next":
            return test.next(args[0])
        raise ProcessError(f"Process {name} does not exist", 404, missing=True)

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """What the next input may take."""
        return self._test(test).allowed

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a test, or None where another realm is needed."""
        own = self._test(test)
        found = own.settled(outcome)
        if found is not None:
            own.close()
            del self._tests[test]
            self.summaries += [own.summary] if own.summary else []
        return found

    def corpus_of(self, module: str, test: str) -> Path:
        """The folder of the corpus of a test."""
        return self._files[module].parent / FOLDER / test

    def close(self) -> None:
        """Ends running searches."""
        for test in self._tests.values():
            test.close()

    def _test(self, test: TestKey) -> FuzzTest:
        if test not in self._tests:
            folder = self.corpus_of(test.suite, test.test)
            shown = shown_path(folder, self._root)
            self._tests[test] = FuzzTest(
                module=test.suite,
                name=test.test,
                fuzzing=self._fuzzing,
                folder=folder,
                shown=str(shown),
                literals=self._literals,
                stopped=self._stopped,
            )
        return self._tests[test]

    def _literals(self) -> Literals:
        return literals_in("\n".join(code for codes in self._code.values() for code in codes))
