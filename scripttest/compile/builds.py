"""What is compiled at once: which files become bundles, which stay scripts, and the result of each."""

from __future__ import annotations

import re
from pathlib import Path

from scripttest.compile.boundary import Boundary
from scripttest.compile.linking import Output, Script, names_at_top
from scripttest.results import CompileError
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODULE_SYNTAX = rb"^\s*(?:import|export)\b|\bmodule\s*\.\s*exports\b|(?<![.\w$])(?:exports(?:\.\w|\[)|require\s*\()"
_MODULE_WORDS = (b"import", b"export", b"require")
"""One of them is in every match of `_MODULE_SYNTAX`, which takes long to find nothing."""
_CONSTANT = r'^This assignment will throw because "(.+)" is a constant'
_IMPORTS = rb"\bimport\s*\("


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
