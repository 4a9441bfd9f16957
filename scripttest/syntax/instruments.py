"""What is put into scripts besides mutants, each as an `Instrument` of the compiler: counters, the recorder of
`--story` (`src/recorded.ts`), the expressions of `--watch-expr` (`src/watched.ts`), and the test that `yao-test repl`
adds to a script, which asks for inputs (`bindings/src/realm/repl.ts`).

Each worker process has a file of counters in a folder of the run, and maps it into its memory, which all its realms
share. So the counts of a worker are not lost if it is killed."""

from __future__ import annotations

import json
import os
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from scripttest.compile.boundary import Boundary
from scripttest.compile.compiler import Loaded
from scripttest.compile.esbuild import Service
from scripttest.folder_locks import HeldFolder
from scripttest.results import HostError
from scripttest.syntax.parser import UnreadableError, parser
from scripttest.values import Value

PREFIX = "yao-test-coverage-"
"""How the names of folders of counters begin."""
LOADERS = {ending: ending.lstrip(".mc") for ending in (".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")}
"""Extensions of scripts → esbuild's loader."""
COUNTERS = 1 << 22
"""How many counters a run has at the most; each takes four bytes once it is used."""

Record = dict[str, Any]
"""The coverage of a file as Istanbul writes it: `{path, statementMap, fnMap, branchMap, s, f, b}`. A file that cannot
be read has one statement, one function and one branch, of which nothing ran, and the reason in `unread`."""


class _Made(Value):
    """The compiled code of a file."""

    loaded: Loaded | None = None
    """Its text with counters; None: it stays as it is."""
    table: Record | None = None
    """What is counted of it, with the numbers of counters in place of counts; None: nothing is."""
    unread: Record | None = None
    """Its record, without a path, if it cannot be read."""


class Coverage:
    """Counts what handlers run: the scripts below `scripts/` and below the `src/` of agents, without tests. May be used
    from several threads. To be closed."""

    def __init__(self, root: Path) -> None:
        """Counts for the application at `root`. Raises HostError when counters have no place, or there is no parser."""
        self._root = str(root)
        try:
            self._held = HeldFolder(PREFIX)
        except OSError as error:
            raise HostError(
                f"Cannot make a folder for the counters of --coverage: {error.strerror}",
                hint="Name a folder that can be written in TMPDIR",
            ) from error
        self.folder = self._held.path
        """Where workers put their counters."""
        self._parser = parser()
        self._lock = Lock()
        self.watches: Callable[[str], list[list[object]]] = lambda path: []
        """The expressions that are watched in a file besides, see `Watching`."""
        self._next = 0
        self._made: dict[tuple[str, bytes], _Made] = {}
        """Path from the root and text → its compiled code."""
        self._last: dict[str, _Made] = {}
        """Path from the root → the compiled code of its last text."""

    def close(self) -> None:
        """Forgets the counters."""
        self._held.remove()

    def instrument(self, path: str, source: bytes) -> Loaded | None:
        """The text of a file with counters; None when it stays as it is. Blocks for some milliseconds."""
        name = handler_name(path, self._root)
        if name is None:
            return None
        with self._lock:
            key = (name, source)
            if key not in self._made:
                self._made[key] = self._instrumented(name, source, self.watches(path))
            self._last[name] = self._made[key]
            return self._last[name].loaded

    def finish(self, files: Iterable[str]) -> dict[str, Record]:
        """Path from the root → the coverage of each file, sorted. A file that has changed counts from then on, and
        one that is gone does not count. `files`: the paths of all files below `assistants/` and `scripts/`; scripts
        that nothing has loaded count too."""
        boundary = Boundary(Path(self._root))
        there = {name: path for path in files if (name := handler_name(path, self._root)) is not None}
        for name in self._last.keys() - there.keys():
            del self._last[name]
        for name, path in there.items():
            try:
                self.instrument(path, boundary.source(path))
            except OSError as error:
                self._last[name] = _Made(unread=_unread(b"", error.strerror or str(error)))
        with self._lock:
            counts = self._counts()
            records = {name: made.unread or _record(made.table, counts) for name, made in self._last.items()}
            return {name: {"path": name, **record} for name in sorted(records) if (record := records[name])}

    def begin_again(self) -> None:
        """Forgets what was counted. No worker may be at work."""
        with self._lock:
            for file in os.listdir(self.folder):
                with open(f"{self.folder}/{file}", "r+b") as counters:
                    counters.write(bytes(array("I").itemsize * self._next))
            self._next = 0
            self._made.clear()
            self._last.clear()

    def _instrumented(self, name: str, source: bytes, watches: list[list[object]]) -> _Made:
        """A file with counters, still in the author's TypeScript; a source map in its text leads the compiler back to
        the original."""
        suffix = os.path.splitext(name)[1]
        try:
            found = self._parser.ask("instrumented", source.decode("utf-8-sig", "replace"), suffix, self._next, watches)
        except UnreadableError as error:
            return _Made(unread=_unread(source, str(error)))
        if found is None:
            return _Made()
        if self._next + found["counters"] > COUNTERS:
            return _Made(unread=_unread(source, f"a run has room for {COUNTERS} counters only"))
        self._next += found["counters"]
        return _Made(loaded=loaded(name, found), table=found["table"])

    def _counts(self) -> array[int]:
        """The sums of the counters of all workers."""
        total = array("L", bytes(array("L").itemsize * self._next))
        for file in os.listdir(self.folder):
            with open(f"{self.folder}/{file}", "rb") as counters:
                counts = array("I", counters.read(array("I").itemsize * self._next))
            for number, count in enumerate(counts):
                if count:
                    total[number] += count
        return total


def handler_name(path: str, root: str) -> str | None:
    """The path of a handler from the root: a script below `scripts/` or the `src/` of an agent that is no test. None
    for another file."""
    if not path.startswith(f"{root}/"):
        return None
    name = path[len(root) + 1 :]
    folders = name.split("/")
    stem, suffix = os.path.splitext(folders.pop())
    if suffix not in LOADERS or stem.endswith(("_test", ".d")) or "node_modules" in folders:
        return None
    is_handler = folders[:1] == ["scripts"] or (folders[:1] == ["assistants"] and "src" in folders[1:])
    return name if is_handler else None


def loaded(name: str, made: Mapping[str, Any]) -> Loaded:
    """What the compiler gets of a file into whose text something was put: `{code, mappings}`. Positions lead back to
    the file."""
    source_map = {"version": 3, "sources": [os.path.basename(name)], "names": [], "mappings": made["mappings"]}
    address = b64encode(json.dumps(source_map).encode()).decode()
    code = f"{made['code']}\n//# sourceMappingURL=data:application/json;base64,{address}\n".encode()
    return Loaded(code=code, loader=LOADERS[os.path.splitext(name)[1]])


def _record(table: Record | None, counts: Mapping[int, int] | array[int]) -> Record | None:
    if table is None:
        return None
    return {
        **table,
        "s": {key: counts[number] for key, number in table["s"].items()},
        "f": {key: counts[number] for key, number in table["f"].items()},
        "b": {key: [counts[number] for number in numbers] for key, numbers in table["b"].items()},
    }


def _unread(source: bytes, why: str) -> Record:
    lines = source.splitlines() or [b""]
    end = {"line": len(lines), "column": len(lines[-1].decode("utf-8", "replace"))}
    where = {"start": {"line": 1, "column": 0}, "end": end}
    return {
        "statementMap": {"0": where},
        "fnMap": {"0": {"name": "(unread)", "decl": where, "loc": where, "line": 1}},
        "branchMap": {"0": {"loc": where, "type": "if", "locations": [where], "line": 1}},
        "s": {"0": 0},
        "f": {"0": 0},
        "b": {"0": [0]},
        "unread": why,
    }


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
