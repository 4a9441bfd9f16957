"""Files of Python's `marshal` format in which a command keeps what later ones need not make again."""

from __future__ import annotations

import marshal
import os
import stat
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DAMAGED = (OSError, ValueError, EOFError, LookupError, TypeError, AttributeError)
"""What reading a kept value, or what one finds in it, may raise; then it is made again."""
_PRIME = (1 << 89) - 1
_KEPT_FOR = 30 * 24 * 3600
"""Seconds after which what was kept is let go, of all applications; what is in use is made once more then."""


class KeptFiles:
    """What is kept of one kind and one application. Nothing is used from a folder that others can write."""

    def __init__(self, folder: str) -> None:
        """`folder`: `CACHES/APPLICATION/KIND`; it need not exist."""
        self._folder = folder
        self.is_used = _is_own(folder)
        """Whether files can be read and written."""
        self._has_looked = False

    def read(self, key: bytes) -> Any:
        """What was kept by a key, or by another one that has the same file. Raises one of `DAMAGED`."""
        if not self.is_used:
            raise LookupError
        with open(self._file(key), "rb", buffering=0) as file:
            return marshal.loads(file.read())  # `load` asks the file for each value

    def write(self, key: bytes, value: Any) -> None:
        """Keeps a value, if it is of the types that `marshal` has and files can be written."""
        if not self.is_used:
            return
        path = self._file(key)
        unfinished = f"{path}.{os.getpid()}"
        try:
            content = marshal.dumps(value)
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            if not os.path.lexists(path):
                self._let_old_ones_go()
            with open(unfinished, "wb") as file:
                file.write(content)
            os.replace(unfinished, path)
        except ValueError:
            return
        except OSError:
            self.is_used = False

    def _let_old_ones_go(self) -> None:
        """Once in each process, where one is added: else those of applications that are gone would stay."""
        if self._has_looked:
            return
        self._has_looked = True
        caches, name = os.path.dirname(os.path.dirname(self._folder)), os.path.basename(self._folder)
        oldest = time.time() - _KEPT_FOR
        for application in os.listdir(caches):
            with suppress(OSError):  # it has none, or another process lets them go
                folder = f"{caches}/{application}/{name}"
                for file in os.scandir(folder) if _is_own(folder) else ():
                    if file.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(file)

    def _file(self, key: bytes) -> str:
        number = int.from_bytes(key, "big") % _PRIME
        return f"{self._folder}/{number:x}"


def state_of(path: str) -> list[int]:
    """By what a file is seen to have changed. Raises OSError."""
    found = os.stat(path)
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino]


def _is_own(folder: str) -> bool:
    """Whether nobody else can have put files into a folder, or it is not there. A link may lead to anybody's files."""
    try:
        found = os.lstat(folder)
    except OSError:
        return True
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
