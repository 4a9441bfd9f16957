"""Snapshots of one run: `__snapshots__/<test file>.snap` beside a test or case file, name → printed value.

A value that has no snapshot yet is stored, except in CI, where that is a failure. Files are written by `save`.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bindings.errors import ProcessError
from bindings.snapshot_files import FOLDER, SUFFIX, SnapshotFileError, change, in_each, path_of, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Snapshots:
    """The snapshots of one run. Threads may share `match`."""

    def __init__(self, files: Mapping[str, Path], update: bool, ci: bool) -> None:
        """`files`: suite id → its test or case file. `update`: snapshots that differ are replaced. `ci`: a missing one
        is a failure."""
        self._files = files
        self._update = update
        self._ci = ci
        self._stored: dict[str, dict[str, str]] = {}
        self._new: dict[str, dict[str, str]] = {}
        """What this run stores."""
        self._unsaved: dict[str, dict[str, str]] = {}
        """Those of them that are not in a file yet."""
        self._asked: dict[str, dict[str, str]] = {}
        """What tests of this run asked for, and the first value of each."""
        self._lock = _thread.allocate_lock()
        self.written = self.updated = self.removed = 0
        """How many are stored as new, replaced, and removed because they are obsolete."""
        self.obsolete: list[str] = []
        """Names of those that nothing asks for any more, each with its file, which are still there."""

    def match(self, module: str, test: str, args: list[Any]) -> dict[str, Any]:
        """Provider of `snapshot.Match(key, text)`: `{passed, expected?, reason?}`. Keys of a test begin with its name.

        Raises:
            ProcessError: the key is that of another test, or the file cannot be used.
        """
        key, text = args
        if not isinstance(key, str) or not isinstance(text, str):
            raise ProcessError("snapshot.Match takes the key of a snapshot and a text", 400)
        own = test.partition("#")[0]
        if own and not (key == own or key.startswith((own + " ", own + "/"))):
            raise ProcessError(f'"{key}" is not a snapshot of {own}', 403)
        with self._lock:
            try:
                stored = self._load(module)
            except SnapshotFileError as error:
                raise ProcessError(str(error)) from error
            new = self._new[module]
            first = self._asked[module].setdefault(key, text)
            if first != text and (self._update or key in new):
                return {"passed": False, "expected": first, "reason": "Not equal to the snapshot that this run stores"}
            expected = new.get(key, stored.get(key))
            if expected == text:
                return {"passed": True}
            if expected is not None and not self._update:
                return {"passed": False, "expected": expected}
            if expected is None and self._ci and not self._update:
                reason = "There is no snapshot yet, and CI does not store one: run the test once elsewhere"
                return {"passed": False, "reason": reason}
            new[key] = text
            self._unsaved.setdefault(module, {})[key] = text
            return {"passed": True}

    def find_obsolete(self, module: str, is_obsolete: Callable[[str], bool]) -> None:
        """Removes or reports the snapshots of a suite that its tests did not use and `is_obsolete` accepts. Raises
        SnapshotFileError."""
        if not path_of(self._files[module]).exists():
            return
        stored, asked = self._load(module), self._asked[module]
        self._drop(path_of(self._files[module]), [key for key in stored if key not in asked and is_obsolete(key)])

    def find_left(self) -> None:
        """The same for the snapshots of test files that no longer exist, in the folders of this run."""
        for folder in sorted({path.parent / FOLDER for path in self._files.values()}):
            if folder.is_symlink() or not folder.is_dir():
                continue
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                if not (folder.parent / path.name.removesuffix(SUFFIX)).exists():
                    self._drop(path, list(read(path)))

    def save(self) -> None:
        """Writes what is new or replaced since it was last called. Raises OSError and SnapshotFileError, after it has
        written what can be."""
        with self._lock:
            in_each(self._save, sorted(self._unsaved))

    def _save(self, module: str) -> None:
        test, new = self._files[module], self._unsaved[module]
        change(path_of(test), test.name, partial(_add, new))
        replaced = sum(key in self._stored[module] for key in new)
        self.updated += replaced
        self.written += len(new) - replaced
        del self._unsaved[module]

    def _drop(self, path: Path, keys: list[str]) -> None:
        """Removes snapshots when they are to be updated, and names them when not."""
        if not keys:
            return
        if not self._update:
            self.obsolete += [f"{FOLDER}/{path.name} › {key}" for key in keys]
            return

        def without(snapshots: dict[str, str]) -> None:
            for key in keys:
                snapshots.pop(key, None)

        change(path, path.name.removesuffix(SUFFIX), without)
        self.removed += len(keys)

    def _load(self, module: str) -> dict[str, str]:
        if module not in self._stored:
            test = self._files[module]
            self._stored[module] = read(path_of(test))
            self._new[module] = {}
            self._asked[module] = {}
        return self._stored[module]


def _add(new: Mapping[str, str], snapshots: dict[str, str]) -> None:
    snapshots.update(new)
