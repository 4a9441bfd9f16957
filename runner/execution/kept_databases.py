"""`--db FILE`: the databases that tests have left, as files of SQLite; several are in a folder of this name."""

from __future__ import annotations

import os
import re
import shutil
import threading
from pathlib import Path

from bindings import APPLICATION_ID
from runner.errors import ConfigurationError
from runner.security.files import check_target
from scripttest import RefusedFileError

_HEADER = b"SQLite format 3\0"
_ID_AT = 68
"""Where a file of SQLite has the number of the application that made it."""


class KeptDatabases:
    """Of one run. Threads may share it. They are in their place after `finish`."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigurationError when there is something at the path that this command has not made."""
        self.path = path
        self._part = path.with_name(f".yao-test.{path.name}")
        self._lock = threading.Lock()
        self._count = 0
        try:
            check_target(path)
        except RefusedFileError as error:
            raise ConfigurationError(f"Cannot write --db {path}: {error.strerror}") from error
        if not path.parent.is_dir():
            raise ConfigurationError(f"Cannot write --db {path}: there is no folder {path.parent}")
        if path.exists() and not path.is_dir() and not _is_ours(path):
            raise ConfigurationError(
                f"Cannot write --db {path}: this file is there already, and was not made by --db", "Name another file"
            )

    def add(self, suite: str, test: str, run: int, dump: bytes) -> None:
        """Keeps what a test has left. Raises OSError."""
        name = re.sub(r"[^\w.-]+", "_", f"{suite}.{test}") + (f".{run}" if run > 1 else "")
        with self._lock:
            if not self._count:
                shutil.rmtree(self._part, ignore_errors=True)
                self._part.mkdir()
            self._count += 1
            number = 1
            while (file := self._part / (f"{name}.db" if number == 1 else f"{name}-{number}.db")).exists():
                number += 1
            file.write_bytes(dump)

    def finish(self) -> Path | None:
        """Puts the files in their place: the file or folder that was written; None when no test had a database. Raises
        OSError."""
        if not self._count:
            return None
        files = sorted(self._part.iterdir())
        if len(files) == 1 and not self.path.is_dir():
            files[0].replace(self.path)
        else:
            if self.path.is_file():
                self.path.unlink()
            self.path.mkdir(exist_ok=True)
            for file in files:
                file.replace(self.path / file.name)
        os.rmdir(self._part)
        return self.path


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_ID_AT + 4)
    return head.startswith(_HEADER) and int.from_bytes(head[_ID_AT:]) == APPLICATION_ID
