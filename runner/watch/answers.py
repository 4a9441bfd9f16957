"""The folder in which answers of real models are kept while `--watch` runs.

A file in it is locked as long as its process lives. A process that was killed leaves its folder behind; the
next one removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "yao-test-watch-"
LOCK = ".lock"


class AnswerFolder:
    """A folder for temporary files, until `remove`."""

    def __init__(self) -> None:
        """Makes the folder, and removes those of processes that have ended."""
        _remove_left(Path(tempfile.gettempdir()))
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        new = f"{self.path}/{LOCK}.new"
        self._lock = os.open(new, os.O_RDONLY | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.rename(new, f"{self.path}/{LOCK}")  # who sees it finds it locked

    def remove(self) -> None:
        """Removes it with all that is in it. May be called again, and from a signal handler."""
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_left(folder: Path) -> None:
    for path in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):
            found = os.lstat(path)
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            lock = os.open(path / LOCK, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
