"""The mutants of one run: small faults in handlers, of which at most one is switched on at a time.

A file is compiled once, with all its mutants behind switches; `src/mutants/planted.ts` writes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from scripttest.compile.compiler import Loaded
from scripttest.results import HostError
from scripttest.syntax.coverage import COUNTERS, handler_name, loaded
from scripttest.syntax.imported import ImportedTypes
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
    start, end = record["loc"]["start"], record["loc"]["end"]
    return Mutant(
        number=record["id"],
        site=record["site"],
        noted=record["noted"],
        file=name,
        mutator=record["mutator"],
        replacement=record["replacement"],
        original=record["original"],
        line=start["line"],
        column=start["column"] + 1,
        end_line=end["line"],
        end_column=end["column"] + 1,
        within=record["within"],
        mutated=record["mutated"],
        ignored=record.get("ignored"),
    )
