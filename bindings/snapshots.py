"""Snapshots: `__snapshots__/<module>.snap.json` beside a test or case file, test name → printed value.

A value that has no snapshot yet is stored, except in CI, where that is a failure. The file is written when the run
ends, keys sorted, so that it reads well in a review.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bindings.services import ProcessError


class Snapshots:
    """The snapshots of one run."""

    def __init__(self, files: Mapping[str, Path], update: bool, ci: bool) -> None:
        """`files`: module id → its test file."""
        self._files = files
        self._update = update
        self._ci = ci
        self._stored: dict[str, dict[str, str]] = {}
        self._changed: set[str] = set()
        self._lock = threading.Lock()

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
            stored = self._load(module)
            expected = stored.get(key)
            if expected == text:
                return {"passed": True}
            if expected is not None and not self._update:
                return {"passed": False, "expected": expected}
            if expected is None and self._ci and not self._update:
                return {
                    "passed": False,
                    "reason": "There is no snapshot yet, and CI does not store one: run the test once elsewhere",
                }
            stored[key] = text
            self._changed.add(module)
            return {"passed": True}

    def save(self) -> None:
        """Writes what changed. Raises OSError."""
        for module in sorted(self._changed):
            path = self._path(module)
            path.parent.mkdir(exist_ok=True)
            text = json.dumps(self._stored[module], indent=2, ensure_ascii=False, sort_keys=True)
            path.write_text(text + "\n", "utf-8")

    def _path(self, module: str) -> Path:
        test = self._files[module]
        return test.parent / "__snapshots__" / f"{test.stem.removesuffix('_test')}.snap.json"

    def _load(self, module: str) -> dict[str, str]:
        if module not in self._stored:
            path = self._path(module)
            if path.is_symlink() or path.parent.is_symlink():
                raise ProcessError(f"Cannot use the snapshots in {path.name}: it is a link, or in one", 403)
            try:
                stored = json.loads(path.read_text("utf-8"))
            except FileNotFoundError:
                stored = {}
            except (OSError, ValueError) as error:
                raise ProcessError(f"Cannot read the snapshots in {path.name}: {error}") from error
            self._stored[module] = stored
        return self._stored[module]
