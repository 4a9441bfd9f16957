"""What is put into scripts besides counters and mutants, each as an `Instrument` of the compiler: the recorder of
`--story` (`src/recorded.ts`), the expressions of `--watch-expr` (`src/watched.ts`), and the test that `yao-test repl`
adds to a script, which asks for inputs (`bindings/src/realm/repl.ts`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock

from scripttest.compile.compiler import Loaded
from scripttest.compile.esbuild import Service
from scripttest.syntax.coverage import LOADERS, loaded
from scripttest.syntax.parser import UnreadableError, parser
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Site(Value):
    """What a call of the recorder is about."""

    file: str
    """Absolute path."""
    line: int
    """From 1."""
    kind: str
    """As in `src/recorded.ts`."""
    name: str
    """The text of the expression, or the name of the function or the variable."""
    names: tuple[str, ...] = ()
    """Those of several values."""


class Recording:
    """Puts recorders into the files of one application. May be used from several threads."""

    def __init__(self, root: str) -> None:
        """For the application at `root`. Raises HostError when there is no parser."""
        self._root = f"{root}/"
        self._parser = parser()
        self._lock = Lock()
        self._made: dict[tuple[str, bytes], Loaded | None] = {}
        self.sites = [Site(file="", line=0, kind="", name="")]
        """By number; the first stands for the top of a module."""

    def instrument(self, path: str, source: bytes) -> Loaded | None:
        """The text of a file with a recorder; None when it stays as it is. Blocks for some milliseconds."""
        stem, suffix = os.path.splitext(path)
        if suffix not in LOADERS or stem.endswith(".d") or "/node_modules/" in path or not path.startswith(self._root):
            return None
        with self._lock:
            if (path, source) not in self._made:
                self._made[path, source] = self._recorded(path, suffix, source)
            return self._made[path, source]

    def _recorded(self, path: str, suffix: str, source: bytes) -> Loaded | None:
        try:
            found = self._parser.ask("recorded", source.decode("utf-8-sig", "replace"), suffix, len(self.sites))
        except UnreadableError:
            return None
        if found is None:
            return None
        for line, kind, name, *names in found["sites"]:
            self.sites.append(Site(file=path, line=line, kind=kind, name=name, names=tuple(*names)))
        return loaded(path, found)


class Watch(Value):
    """An expression after a line."""

    line: int
    """From 1."""
    expression: str
    name: str
    """What the printed value is named by."""


class WatchProblem(Value):
    """Why a file cannot have its watches."""

    number: int
    """Which of them is wrong, from 0."""
    text: str = ""
    """What is wrong with its expression; empty: its line has no code."""
    nearest: int = 0
    """The nearest line that has some; 0: none has."""


class Watching:
    """Puts watches into the files of a run."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[bytes, list[Watch], Loaded]] = {}
        """Path → the text, its watches, and both together."""

    def add(self, path: str, source: bytes, watches: Sequence[Watch]) -> WatchProblem | None:
        """Puts watches into a file; returns what is wrong with them. Blocks for some milliseconds. Raises
        UnreadableError for a text that is no script, or an expression that cannot be read."""
        suffix = os.path.splitext(path)[1]
        if suffix not in LOADERS:
            raise UnreadableError("it is not a script")
        found = parser().ask("watched", source.decode("utf-8-sig", "replace"), suffix, _given(watches))
        if "number" in found:
            number, text, nearest = found["number"], found.get("problem", ""), found.get("nearest", 0)
            return WatchProblem(number=number, text=text, nearest=nearest)
        self._made[path] = source, [*watches], loaded(path, found)
        return None

    @property
    def names(self) -> set[str]:
        """The names of all watches."""
        return {one.name for _, watches, _ in self._made.values() for one in watches}

    def of(self, path: str) -> list[list[object]]:
        """The watches of a file, as the parser takes them."""
        return _given(self._made[path][1]) if path in self._made else []

    def instrument(self, path: str, source: bytes) -> Loaded | None:
        """The text of a file with its watches; None when it stays as it is. In a file that was saved since, they are
        put in anew, if they fit."""
        known = self._made.get(path)
        try:
            if known is None or (known[0] != source and self.add(path, source, known[1]) is not None):
                return None
        except UnreadableError:  # the compiler says why
            return None
        return self._made[path][2]


def _given(watches: Sequence[Watch]) -> list[list[object]]:
    return [[one.line, one.expression, one.name] for one in watches]


PROMPT_TEST = "TestPrompt"
"""The name of the test that `yao-test repl` adds."""
_ENTRY = f"\nasync function {PROMPT_TEST}(t, ctx) {{ await $yaoRepl(t, ctx); }}\n"


class PromptCode:
    """Adds the test to a script."""

    def __init__(self, script: str) -> None:
        """`script` is an absolute path."""
        self._script = os.path.realpath(script)

    def instrument(self, path: str, source: bytes) -> Loaded | None:
        """The text of the script with the test; None for another file."""
        if os.path.realpath(path) != self._script:
            return None
        return Loaded(code=source + _ENTRY.encode(), loader=LOADERS[os.path.splitext(path)[1]])


class PromptInputs:
    """Reads what is typed at the prompt."""

    _service: Service | None = None

    def read(self, typed: str) -> dict[str, Any]:
        """As `src/repl.ts` says; blocks for some milliseconds. Raises UnreadableError, and HostError where there is no
        parser or compiler."""
        found: dict[str, Any] = parser().ask("replInput", typed, True)
        if "typescript" in found:
            self._service = self._service or Service([])
            found = parser().ask("replInput", self._service.javascript(found["typescript"]), False)
        return found
