"""Keeps what modules were compiled to, for later runs: a run of modules that have not changed asks nothing of the
compiler, which takes a fifth of the processor time of many small ones (`tests/bench/shortcuts.py`).

Each module has a file, in Python's `marshal` format: the texts of the files that it is made of, its scripts and their
source maps. It is used while all is as it was on which the scripts depend: these texts, which are compared whole; the
configuration files in their folders and above; the compiler; and that no file is there which an import would rather
mean. What depends on more is not kept: packages, links, imports by other paths than relative ones, source maps of
files, a `tsconfig.json` that extends a package or a link, and builds that the compiler had something to say about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripttest.compile.boundary import PACKAGES, Boundary
from scripttest.compile.builds import Build, Compiled, Source
from scripttest.compile.configuration import CONFIGURATION_FILES, extends_of
from scripttest.compile.esbuild import EXTENSIONS, VERSION
from scripttest.compile.linking import Script
from scripttest.files import SOURCE_LIMIT
from scripttest.kept_files import DAMAGED, KeptFiles, state_of
from scripttest.values import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OF_ESBUILD = ("yao-runtime:", "<")
"""How what is no file begins in esbuild's records."""


class _UnclearError(Exception):
    """What a module depends on is more than is looked at here."""


class KeptModules:
    """The modules that were kept of an application."""

    def __init__(self, folder: str, root: Path, boundary: Boundary) -> None:
        """`folder` has the files; it need not exist. `root`: absolute, of the application."""
        self._files = KeptFiles(folder)
        self._root = str(root)
        self._boundary = boundary
        self._compiler = [VERSION, *(state_of(file) for file in sorted(map(str, Path(__file__).parent.glob("*.py"))))]
        self._configured: dict[str, list[Any]] = {}
        """Folder → the states of the configuration files in it and above, as the first module found them."""

    def find(self, source: Source) -> Compiled | None:
        """What was kept of a module, if it is still right."""
        if not self._files.is_used:
            return None
        try:
            self._configuration(os.path.dirname(source.test))  # as it is before the module is built, if it has to be
            state, texts, absent, scripts, more = self._files.read(os.fsencode(source.key))
            is_same = state == self._state_of(source, texts) and not any(map(os.path.lexists, absent))
            if not is_same or any(self._boundary.read(path, SOURCE_LIMIT) != text for path, text in texts.items()):
                return None
            text = texts[str(source.test)]
            text = text if b"inline" in text else None
            return Compiled(source=source, scripts=tuple(Script(**one) for one in scripts), text=text, **more)
        except (*DAMAGED, _UnclearError):
            return None

    def keep(self, compiled: Compiled, build: Build) -> None:
        """Keeps a module that a build has made, if all that it depends on is known. Where files cannot be written, none
        is kept."""
        if not self._files.is_used or build.refused:
            return
        source = compiled.source
        try:
            files, absent = self._made_of(source, build)
            texts = {file: build.contents[file] for file in files}
            if any(b"sourceMappingURL=" in text for text in texts.values()):
                return
            state = self._state_of(source, texts)
        except (KeyError, OSError, _UnclearError):
            return
        scripts = [fields_of(script) for script in compiled.scripts]
        more = {name: getattr(compiled, name) for name in ("entry_start", "exports", "inputs")}
        self._files.write(os.fsencode(source.key), (state, texts, absent, scripts, more))

    def _made_of(self, source: Source, build: Build) -> tuple[list[str], list[str]]:
        """The files that a module is made of, and those that an import would mean if they were there; absolute paths.
        Raises KeyError and _UnclearError."""
        todo = [str(source.test), *([str(source.script)] if source.script else [])]
        files, absent = dict.fromkeys(todo), list[str]()
        while todo:
            file = todo.pop()
            for imported in build.inputs[file.removeprefix(f"{self._root}/")]["imports"]:
                if imported["path"].startswith(_OF_ESBUILD):
                    continue
                found = os.path.join(self._root, imported["path"])
                absent += _preferred(file, imported, found)
                todo += [found] if found not in files else []
                files[found] = None
        return list(files), absent

    def _state_of(self, source: Source, files: Iterable[str]) -> list[Any]:
        """What is compared before the texts. Raises OSError and _UnclearError."""
        folders = dict.fromkeys(map(os.path.dirname, files))
        if any(map(os.path.islink, files)) or any(f"/{PACKAGES}/" in f"{folder}/" for folder in folders):
            raise _UnclearError
        module = [source.key, str(source.test), str(source.script)]
        return [self._compiler, module, [self._configuration(folder) for folder in folders]]

    def _configuration(self, folder: str) -> list[Any]:
        if folder not in self._configured:
            above = os.path.dirname(folder)
            found = self._configuration(above) if above != folder else []
            if os.path.islink(folder):
                raise _UnclearError
            self._configured[folder] = [*found, *_configuration_in(folder)]
        return self._configured[folder]


def _preferred(file: str, imported: dict[str, Any], found: str) -> Iterator[str]:
    """The files that an import of a file would mean, before the one that it has found. Raises _UnclearError."""
    path = imported["original"]
    meant = os.path.normpath(os.path.join(os.path.dirname(file), path))
    ending = found.removeprefix(meant)
    if not path.startswith(("./", "../")) or ending not in ("", *EXTENSIONS):
        raise _UnclearError
    if ending:
        yield meant
        yield from (meant + other for other in EXTENSIONS[: EXTENSIONS.index(ending)])


def _configuration_in(folder: str) -> Iterator[list[Any]]:
    for name in CONFIGURATION_FILES:
        path = f"{folder}/{name}"
        if os.path.lexists(path):
            yield from _configuration_of(path, set())


def _configuration_of(path: str, seen: set[str]) -> Iterator[list[Any]]:
    """The state of a configuration file, and of the files that it extends. Raises OSError and _UnclearError."""
    seen.add(path)
    yield [path, state_of(path)]
    for name in extends_of(path) if path.endswith(".json") else ():
        extended = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if not name.startswith(("./", "../")) or not name.endswith(".json") or os.path.islink(extended):
            raise _UnclearError
        if extended not in seen:
            yield from _configuration_of(extended, seen)
