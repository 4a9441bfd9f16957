"""Folders that a process has locked. If its process has ended, however it ended, the folder is no longer locked."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress


def hold(descriptor: int, wait: bool = False) -> bool | None:
    """Whether the lock of an open file or folder was free, perhaps after a `wait`, and is held now; None where the file
    system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


class HeldFolder:
    """A temporary folder, until `remove`. If its process is killed, the next one that uses the prefix removes it."""

    def __init__(self, prefix: str) -> None:
        """Makes the folder, whose name begins with `prefix`, and removes those of killed processes. Raises OSError."""
        import tempfile

        _remove_left(tempfile.gettempdir(), prefix)
        while True:
            self.path = tempfile.mkdtemp(prefix=prefix)
            with suppress(FileNotFoundError):
                self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                if hold(self._lock) is not False and os.path.exists(self.path):
                    return
                os.close(self._lock)  # another process took it for one that was left behind

    def remove(self) -> None:
        """Removes it with all that is in it. May be called again, and from a signal handler."""
        _remove(self.path)


def _remove_left(parent: str, prefix: str) -> None:
    """Removes the folders of this user in `parent` whose names begin with a prefix and that nobody has locked."""
    with suppress(OSError):
        for entry in [*os.scandir(parent)]:
            if not entry.name.startswith(prefix):
                continue
            with suppress(OSError):
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    if os.fstat(descriptor).st_uid == os.getuid() and hold(descriptor):
                        _remove(entry.path)
                finally:
                    os.close(descriptor)


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
