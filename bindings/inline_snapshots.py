"""Inline snapshots of one run, which are written into the test files when their tests have ended."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from bindings.inline_source import Edit, InlineError, agrees, edit_of, edited
from bindings.snapshots import in_each
from scripttest import Inlined


class InlineSnapshots:
    """The inline snapshots that a run writes into test files. Used by one thread at a time."""

    def __init__(self, files: Mapping[str, Path], before_writing: Callable[[Path, bytes], None]) -> None:
        """`files`: suite id → its test file. `before_writing` hears of each that is about to be written, and what it
        will hold."""
        self._files = files
        self._before_writing = before_writing
        self._sources: dict[str, _Source] = {}

    @property
    def written(self) -> int:
        """How many new snapshots are in the files."""
        return sum(source.is_new(edit) for source in self._sources.values() for edit in source.saved)

    @property
    def updated(self) -> int:
        """How many replaced snapshots are in the files."""
        return sum(not source.is_new(edit) for source in self._sources.values() for edit in source.saved)

    def take(self, module: str, test: str, inlined: Inlined) -> None:
        """Takes the inline snapshots of a test. Raises InlineError, which says why one cannot be written."""
        place = inlined.location
        if place is None or inlined.source is None:
            raise InlineError("the call is not in the test file: write it there, or use t.snapshot(value, name)")
        if module not in self._sources:
            self._sources[module] = _Source(self._files[module], inlined.source)
        source = self._sources[module]
        edit = edit_of(source.text, place.line, place.column, inlined.text, inlined.given is not None)
        known = source.values.setdefault((edit.start, edit.end), (inlined.text, test))
        if known[0] != inlined.text:
            self._drop(source, edit)
            by = "the same call" if known[1] == test else f"the same call, in {known[1]}"
            raise InlineError(f"{by} had another value before; for several values use t.snapshot(value, name)")
        if inlined.given is not None and agrees(inlined.given, inlined.text):
            return
        if edit not in source.edits:
            source.edits.append(edit)

    def save(self, module: str | None = None) -> None:
        """Writes what was taken for one module, or for all, and is not written yet. Raises OSError, and InlineError
        when a file has changed since it was compiled, after it has written what can be."""
        sources = self._sources.values() if module is None else filter(None, [self._sources.get(module)])
        in_each(lambda source: source.save(self._before_writing), sources)

    def _drop(self, source: _Source, edit: Edit) -> None:
        """Takes a value back that was not the only one."""
        for known in [known for known in source.edits if known.start == edit.start]:
            source.edits.remove(known)


class _Source:
    """A test file."""

    def __init__(self, path: Path, compiled: bytes) -> None:
        self._path = path
        self._is = compiled
        """Its content, unless somebody changes it."""
        try:
            self._text = compiled.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InlineError(f"the file is not overwritten: byte {error.start} is not UTF-8") from error
        self.text = self._text.removeprefix("\ufeff")
        """As the compiler counts its lines and columns."""
        self.edits: list[Edit] = []
        self.saved: list[Edit] = []
        """Those of the edits that are in the file."""
        self.values: dict[tuple[int, int], tuple[str, str]] = {}
        """Place of a snapshot in the source → its value, and its test."""

    def is_new(self, edit: Edit) -> bool:
        """Whether an edit replaces nothing, or an empty text."""
        return not self.text[edit.start : edit.end].strip("`'\" \t\r\n")

    def save(self, before: Callable[[Path, bytes], None]) -> None:
        """Writes the edits into the file, which is replaced as a whole. Raises InlineError and OSError."""
        if self.saved == self.edits:
            return
        if self._path.is_symlink():
            raise InlineError(f"Cannot write inline snapshots into {self._path}: it is a link")
        content = (self._text[: len(self._text) - len(self.text)] + edited(self.text, self.edits)).encode("utf-8")
        folder = os.open(self._path.parent, os.O_RDONLY)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if self._path.read_bytes() != self._is:
                raise InlineError(
                    f"Cannot write inline snapshots into {self._path}: it has changed since it was compiled; run again"
                )
            temporary.unlink(missing_ok=True)
            with temporary.open("xb") as file:  # never through a link
                file.write(content)
            shutil.copymode(self._path, temporary)
            before(self._path, content)
            os.replace(temporary, self._path)
        finally:
            temporary.unlink(missing_ok=True)
            os.close(folder)
        self._is, self.saved = content, [*self.edits]
