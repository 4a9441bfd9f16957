"""What is compiled at once: which files become bundles, which stay scripts, and the result of each; and what of that is
kept for later runs. A run of modules that have not changed asks nothing of the compiler, which takes a fifth of the
processor time of many small ones (`tests/bench/shortcuts.py`).

Each module that is kept has a file, in Python's `marshal` format: the texts of the files that it is made of, its
scripts and their source maps. It is used while all is as it was on which the scripts depend: these texts, which are
compared whole; the configuration files in their folders and above; the compiler; and that no file is there which an
import would rather mean. What depends on more is not kept: packages, links, imports by other paths than relative ones,
source maps of files, a `tsconfig.json` that extends a package or a link, and builds that the compiler had something to
say about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripttest.compile.boundary import PACKAGES, Boundary
from scripttest.compile.configuration import CONFIGURATION_FILES, extends_of
from scripttest.compile.esbuild import EXTENSIONS, VERSION
from scripttest.compile.linking import Output, Script, names_at_top
from scripttest.files import SOURCE_LIMIT
from scripttest.kept_files import DAMAGED, KeptFiles, state_of
from scripttest.results import CompileError
from scripttest.values import Value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODULE_SYNTAX = rb"^\s*(?:import|export)\b|\bmodule\s*\.\s*exports\b|(?<![.\w$])(?:exports(?:\.\w|\[)|require\s*\()"
_MODULE_WORDS = (b"import", b"export", b"require")
"""One of them is in every match of `_MODULE_SYNTAX`, which takes long to find nothing."""
_CONSTANT = r'^This assignment will throw because "(.+)" is a constant'
_IMPORTS = rb"\bimport\s*\("
_OF_ESBUILD = ("yao-runtime:", "<")
"""How what is no file begins in esbuild's records."""


class Source(Value):
    """What is to be compiled: a test file with the module it tests, or a plain script."""

    key: str
    """Names it among all sources of a run."""
    test: Path
    """Absolute path of the entry point."""
    script: Path | None
    """The module under test, loaded before the test file unless the test file imports it."""


class Compiled(Value):
    """A module that is ready to run."""

    source: Source
    scripts: tuple[Script, ...]
    entry_start: int
    """Offset in the last script at which the code of the entry point itself begins."""
    exports: dict[str, str]
    """Exported name → global name."""
    inputs: tuple[str, ...] = ()
    """Paths of all files that it includes, from the root of the application."""
    text: bytes | None = None
    """The text of the entry point, if it may have inline snapshots."""

    @property
    def declared(self) -> frozenset[str]:
        """The names that it exports or declares at its top level."""
        return frozenset(self.exports).union(*(names_at_top(script.code) for script in self.scripts))


class Build:
    """One running build."""

    def __init__(
        self,
        sources: list[Source],
        boundary: Boundary,
        missing: dict[str, set[str]],
        refused: CompileError | None,
        with_scripts: bool = False,
        keeps_names: bool = False,
    ) -> None:
        self.sources = sources
        self.with_scripts = with_scripts
        """Whether the module under test is built for each of them."""
        self.keeps_names = keeps_names
        """Whether the compiler keeps the names of all functions, see `linking`."""
        self.deadline = 0.0
        """Monotonic time at which its time is up."""
        self.refused = refused
        """What the first build of the same sources complained about."""
        self.overlay = dict(missing)
        """Absolute path → names to export in addition."""
        self.inline: dict[str, bytes] = {}
        """Source → the text of its test file, where that may have inline snapshots."""
        self.alongside: set[str] = set()
        """Sources whose module under test is built too: when the test file cannot be importing it."""
        self._plain: list[list[str]] = []
        """Output and path of each entry that is not bundled; those are built first."""
        self._bundled: list[list[str]] = []
        self.files: dict[str, bytes] = {}
        """Name of an output, or of its source map → its content."""
        self.outputs: dict[str, Any] = {}
        """Name of an output → esbuild's record of it."""
        self.inputs: dict[str, Any] = {}
        """Path of a file, from the root → esbuild's record of it."""
        self.contents: dict[str, bytes] = {}
        """Absolute path → the text of a file of code that was read."""
        self.constants: frozenset[str] = frozenset()
        """Names of constants to which scripts that are not bundled assign."""
        self._scripts: set[str] = set()
        for number, source in enumerate(sources):
            text = self._add(f"{number}.test", source.test, boundary)
            if b"inline" in text:
                self.inline[source.key] = text
            script = source.script
            if script is not None and (with_scripts or not (b"import" in text and f"/{script.stem}".encode() in text)):
                self.alongside.add(source.key)
                self._add(f"{number}.script", script, boundary)
        self.is_plain = bool(self._plain)
        """Whether the entries that are not bundled are being built."""

    def _add(self, output: str, path: Path, boundary: Boundary) -> bytes:
        """Decides how an entry is built; its text."""
        text = self._read(path, boundary)
        is_plain = _is_plain(text)
        if is_plain and path.suffix == ".js" and not re.search(_IMPORTS, text):
            self._plain.append([output, str(path)])
            return text
        self._bundled.append([output, str(path)])
        if is_plain:
            self.overlay.setdefault(str(path), set())
        return text

    def entries(self) -> list[list[str]]:
        """What is to be built now: output and path of each."""
        return self._plain if self.is_plain else self._bundled

    def add(self, answer: dict[str, Any]) -> bool:
        """Keeps what was built; whether that is all."""
        files = {file["path"].rpartition("/")[2]: file["contents"] for file in answer["outputFiles"]}
        if self.is_plain:
            self.constants = frozenset(
                name for said in answer["warnings"] for name in re.findall(_CONSTANT, said["text"])
            )
            self._scripts = set(files)
        self.files |= files
        self.outputs |= answer["metafile"]["outputs"]
        self.inputs |= answer["metafile"]["inputs"]
        done = not (self.is_plain and self._bundled)
        self.is_plain = False
        return done

    def output(self, name: str) -> Output:
        """What the compiler wrote for an entry."""
        return Output(
            code=self.files[name].decode(),
            source_map=self.files[f"{name}.map"],
            is_bundle=name not in self._scripts,
            constants=self.constants,
        )

    def _read(self, path: Path, boundary: Boundary) -> bytes:
        """The text of a file; empty when it cannot be read, which the compiler then says."""
        try:
            text = self.contents[str(path)] = boundary.source(str(path))
        except OSError:
            return b""
        return text


def _is_plain(text: bytes) -> bool:
    """Whether a script has no module syntax at all; esbuild would take it for CommonJS and hide its functions. A file
    that cannot be read is left to the compiler."""
    if not text or b"\nexport " in text or b"\nimport " in text or text.startswith((b"import ", b"export ")):
        return False
    return not (any(word in text for word in _MODULE_WORDS) and re.search(_MODULE_SYNTAX, text, re.MULTILINE))


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
