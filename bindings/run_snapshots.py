"""The snapshots of a run, which are read when the first is asked for."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bindings.snapshots import Snapshots


class RunSnapshots:
    """Compares with the stored snapshots of a run. Threads may share it."""

    def __init__(self, files: Mapping[str, Path], update: bool, ci: bool, redact: Callable[[str], str]) -> None:
        """Reads nothing yet.

        Args:
            files: suite id → its test or case file.
            update: whether a snapshot that differs is replaced.
            ci: whether a missing snapshot is a failure.
            redact: takes secrets out of what is stored.
        """
        self.files = files
        """Suite id → its test or case file."""
        self._update = update
        self._ci = ci
        self._redact = redact
        self._stored: Snapshots | None = None
        self._lock = _thread.allocate_lock()

    @property
    def used(self) -> Snapshots | None:
        """The snapshots of this run; None when nothing has asked for one."""
        return self._stored

    def stored(self) -> Snapshots:
        """The snapshots of this run."""
        with self._lock:  # two tests may ask at the same time
            if self._stored is None:
                from bindings.snapshots import Snapshots

                self._stored = Snapshots(self.files, self._update, self._ci)
        return self._stored

    def match(self, module: str, test: str, args: list[Any]) -> dict[str, Any]:
        """What `snapshot.Match(key, text)` answers: `{passed, expected?, reason?}`. Raises ProcessError."""
        cleaned = [self._redact(text) if isinstance(text, str) else text for text in args]
        return self.stored().match(module, test, cleaned)

    def matcher(self, module: str) -> Callable[[str, str], dict[str, Any]]:
        """What compares texts with the snapshots of a file, which `files` names: (key, text) → `{passed, expected?,
        reason?}`. It raises ProcessError."""
        return lambda key, text: self.match(module, "", [key, text])
