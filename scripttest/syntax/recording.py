"""The recorder in the files of scripts: `src/recorded.ts` puts it there, and says what each of its calls is about."""

from __future__ import annotations

import os
from threading import Lock

from scripttest.compile.compiler import Loaded
from scripttest.syntax.coverage import LOADERS, loaded
from scripttest.syntax.parser import UnreadableError, parser
from scripttest.values import Value


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
        self._root = root
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
