"""Locks of a store: they belong to the open file, so they end with the process, however that ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path

RUNNING = "running"
"""The folder with a file for each running run."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits until no other process has locked a file, and locks it. Raises OSError."""
    descriptor = _opened(path)
    try:
        with suppress(OSError):  # a file system without locks
            flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class RunLock:
    """Marks a run as running, as long as its process lives."""

    def __init__(self, folder: Path, run: str) -> None:
        """Raises OSError."""
        self._path = folder / RUNNING / run
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = _opened(self._path)
        with suppress(OSError):
            flock(self._descriptor, LOCK_EX | LOCK_NB)

    def release(self) -> None:
        """The run is over."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_under_way(folder: Path, run: str) -> bool:
    """Whether a process of this machine still writes a run."""
    try:
        descriptor = os.open(folder / RUNNING / run, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
