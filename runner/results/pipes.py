"""Reports that are written into a named pipe. The pipe is opened when the run begins, and only if something reads it,
so that a run never waits for a reader."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO
from pathlib import Path

from runner.errors import ConfigurationError


def is_pipe(path: Path) -> bool:
    """Whether a path leads to a pipe."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False


def open_pipe(path: Path) -> FileIO:
    """Opens a pipe for writing, without waiting for a reader. Raises ConfigurationError when there is none, and
    OSError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise ConfigurationError(
            f"Cannot write {path}: it is a pipe, and nobody reads it", "Start what reads it first, or name a file"
        ) from error
    os.set_blocking(descriptor, True)
    return FileIO(descriptor, "w")
