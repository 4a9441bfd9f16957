"""The snapshots of a run, which are read on first use."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Mapping
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings.inline_snapshots import InlineSnapshots
    from bindings.snapshots import Snapshots


class RunSnapshots:
    """Compares with the stored snapshots of a run. Threads may share it."""

    def __init__(self, files: Mapping[str, Path], update: bool, ci: bool, redact: Callable[[str], str]) -> None:
        """Reads nothing yet.

        Args:
            files: id of a suite → its test or case file.
            update: whether a snapshot that differs is replaced.
            ci: whether a missing snapshot is a failure.
            redact: removes secrets from texts before they are stored."""
        self.files = files
        """Suite id → its test or case file."""
        self._update = update
        self._ci = ci
        self._redact = redact
        self._stored: Snapshots | None = None
        self._inline: InlineSnapshots | None = None
        self.before_writing: Callable[[Path, bytes], None] = lambda path, content: None
        """Called before a test file is written, with its path and its new content."""
        self._lock = _thread.allocate_lock()

    @property
    def used(self) -> Snapshots | None:
        """The snapshots of this run; None when nothing has asked for one."""
        return self._stored

    @property
    def used_inline(self) -> InlineSnapshots | None:
        """What this run writes into sources; None when that is nothing."""
        return self._inline

    def inline(self) -> InlineSnapshots:
        """What this run writes into sources. For one thread."""
        if self._inline is None:
            from bindings.inline_snapshots import InlineSnapshots

            self._inline = InlineSnapshots(self.files, self.before_writing)
        return self._inline

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

    def match_inline(self, args: list[Any]) -> dict[str, Any]:
        """What `snapshot.Inline(actual, expected | null)` answers: `{passed, expected?, reason?, store?}`; `store` is
        what the source is to get. Raises ProcessError."""
        from bindings.errors import ProcessError
        from bindings.inline_snapshots import agrees, unindented

        if len(args) != 2 or not isinstance(args[0], str) or not isinstance(args[1], str | None):
            raise ProcessError("snapshot.Inline takes a string, and another one or null", 400)
        actual, expected = self._redact(args[0]), args[1]
        if expected is not None and not expected.strip():  # a place for a text
            expected = None
        agreed = expected is not None and agrees(expected, actual)
        if agreed and not (self._update and not self._ci):
            return {"passed": True}
        if self._ci:
            reason = "There is no snapshot yet, and this run writes none into sources: use --update-snapshots"
            return {"passed": False, "reason": reason} if expected is None else _differs(unindented(expected))
        if expected is None or self._update:
            return {"passed": True, "store": actual}
        return _differs(unindented(expected))

    def matcher(self, module: str) -> Callable[[str, str], dict[str, Any]]:
        """What compares texts with the snapshots of a file, which `files` names: (key, text) → `{passed, expected?,
        reason?}`. It raises ProcessError."""
        return lambda key, text: self.match(module, "", [key, text])


def _differs(expected: str) -> dict[str, Any]:
    return {"passed": False, "expected": expected}
