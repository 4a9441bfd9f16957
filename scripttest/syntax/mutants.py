"""The mutants of one run: small faults in handlers, of which at most one is switched on at a time.

A file is compiled once, with all its mutants behind switches; `src/mutants/planted.ts` writes them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from scripttest.compile.boundary import Boundary
from scripttest.compile.compiler import Loaded
from scripttest.compile.configuration import CompilerOptions
from scripttest.results import HostError
from scripttest.syntax.instruments import COUNTERS, handler_name, loaded
from scripttest.syntax.parser import UnreadableError, planter
from scripttest.values import Value

FIRST = 2
"""The number of the first mutant: the first two counters of a worker are for other things."""


class Mutant(Value):
    """A small fault in a handler."""

    number: int
    """Of its switch, from `FIRST`; 0: it is not planted."""
    site: int
    """The number of the first mutant of its place, by which that is noted as reached."""
    noted: int
    """The place whose values tell what it changes: of a literal, the operator around it; 0: none does."""
    file: str
    """The path of the handler from the root of the application."""
    mutator: str
    replacement: str
    """What takes the place of `original`, as StrykerJS shows it."""
    original: str
    line: int
    """Where it begins, from 1."""
    column: int
    """From 1, in units of UTF-16."""
    end_line: int
    end_column: int
    """Behind it, from 1."""
    within: str
    """The name of the function that it is in; empty at the top of a module."""
    mutated: str
    """The lines from `line` to `end_line` once it is in them."""
    ignored: str | None = None
    """Why it is not planted."""


class Planted(Value):
    """A file with its mutants."""

    name: str
    """Its path from the root."""
    text: str
    mutants: tuple[Mutant, ...]
    loaded: Loaded | None = None
    """What the compiler gets; None: the file as it is."""
    unread: str | None = None
    """Why it cannot be read."""


class Mutants:
    """Plants mutants in the handlers of a run. May be used from several threads."""

    def __init__(self, root: str, wanted: Callable[[str], bool], calls: Sequence[str] = ()) -> None:
        """Plants in the handlers of the application at `root` whose paths from there are `wanted`, and not in the
        arguments of `calls`. Raises HostError when there is no parser."""
        self._root = root
        self._wanted = wanted
        self._calls = list(calls)
        self._planter = planter()
        self._imported = ImportedTypes(root)
        self._lock = Lock()
        self._next = FIRST
        self.files: dict[str, Planted] = {}
        """Path from the root → the handler with its mutants."""

    def instrument(self, path: str, source: bytes) -> Loaded | None:
        """The text of a file with its mutants; None when it stays as it is. Blocks for some milliseconds."""
        name = handler_name(path, self._root)
        if name is None or not self._wanted(name):
            return None
        with self._lock:
            if name not in self.files:
                self.files[name] = self._planted(name, source.decode("utf-8-sig", "replace"))
            return self.files[name].loaded

    def _planted(self, name: str, text: str) -> Planted:
        try:
            imported = self._imported.of(f"{self._root}/{name}", text)
            found = self._planter.ask("planted", text, os.path.splitext(name)[1], self._next, self._calls, imported)
        except UnreadableError as error:
            return Planted(name=name, text=text, mutants=(), unread=str(error))
        if found is None:
            return Planted(name=name, text=text, mutants=())
        mutants = tuple(_mutant(name, record) for record in found["mutants"])
        self._next += sum(mutant.number > 0 for mutant in mutants)
        if self._next >= COUNTERS:
            raise HostError(f"A run has room for {COUNTERS} mutants only", hint="Name fewer handlers with --mutate")
        return Planted(name=name, text=text, mutants=mutants, loaded=loaded(name, found))


def _mutant(name: str, record: dict[str, Any]) -> Mutant:
    number, loc = record.pop("id"), record.pop("loc")
    (line, column), (end_line, end_column) = ((at["line"], at["column"] + 1) for at in (loc["start"], loc["end"]))
    place = {"line": line, "column": column, "end_line": end_line, "end_column": end_column}
    return Mutant(number=number, file=name, **place, **record)


MOST = 100
"""At most this many imported files are read for one script."""
_FROM = re.compile(r"""\b(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"'\n]+)["']""")
_DECLARES = re.compile(r"\b(?:type|interface|enum)\s+[\w$]|\bexport\b[^;]*?\bfrom\b|\bas\s+const\b")
_ENDINGS = ("", ".ts", ".tsx", ".mts", ".cts", ".d.ts", "/index.ts", "/index.d.ts")
_TYPED = (".ts", ".tsx", ".mts", ".cts")


class ImportedTypes:
    """The files that scripts import, also through others, for the types that they declare; each is read once.

    They are found as the compiler finds them: by relative paths, by the `paths` of the nearest `tsconfig.json`, and
    below `@scripts/`. Packages are left out, and so are files that declare nothing."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._boundary = Boundary(Path(root))
        self._file = cache(self._file_at)
        self._options = CompilerOptions()

    def of(self, path: str, text: str) -> dict[str, Any]:
        """`{imports, files}`: what a script imports, `{specifier: path}`, and by their paths the files that these lead
        to, `{text, suffix, imports}`."""
        imports = self._imports(path, text)
        found: dict[str, Any] = {}
        waiting = list(imports.values())
        while waiting and len(found) < MOST:
            target = waiting.pop(0)
            file = self._file(target) if target not in found else None
            if file is not None:
                found[target] = file
                waiting += file["imports"].values()
        return {"imports": imports, "files": found}

    def _file_at(self, path: str) -> dict[str, Any] | None:
        try:
            text = self._boundary.source(path).decode("utf-8-sig", "replace")
        except OSError:
            text = ""
        record = {"text": text, "suffix": os.path.splitext(path)[1], "imports": self._imports(path, text)}
        return record if _DECLARES.search(text) else None

    def _imports(self, path: str, text: str) -> dict[str, str]:
        named = dict.fromkeys(_FROM.findall(text))
        return {one: target for one in named if (target := self._target(one, os.path.dirname(path))) is not None}

    def _target(self, specifier: str, folder: str) -> str | None:
        for place in self._places(specifier, folder):
            bare = re.sub(r"\.([mc]?)js$", r".\1ts", place)
            for path in (f"{bare}{ending}" for ending in _ENDINGS):
                if path.endswith(_TYPED) and os.path.isfile(path):
                    return path
        return None

    def _places(self, specifier: str, folder: str) -> Iterator[str]:
        if specifier.startswith("."):
            yield os.path.normpath(os.path.join(folder, specifier))
            return
        for pattern, targets in self._mapped(folder):
            before, star, behind = pattern.partition("*")
            rest = specifier[len(before) : len(specifier) - len(behind)]
            if specifier == f"{before}{rest}{behind}" and (star or not rest):
                yield from (target.replace("*", rest, 1) for target in targets)
        if specifier.startswith("@scripts/"):
            yield f"{self._root}/scripts/{specifier.removeprefix('@scripts/')}"

    def _mapped(self, folder: str) -> Iterator[tuple[str, list[str]]]:
        """The `paths` that count in a folder, with absolute targets."""
        home, options = self._options.of(folder)
        paths, base = options.get("paths"), os.path.join(home, str(options.get("baseUrl", ".")))
        for pattern, targets in paths.items() if isinstance(paths, dict) else ():
            if isinstance(targets, list):
                found = (os.path.normpath(os.path.join(base, one)) for one in targets if isinstance(one, str))
                yield pattern, [*found]
