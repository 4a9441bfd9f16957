"""`--db FILE`: keeps the databases of tests as SQLite files; those of several tests are put into a folder of
this name."""

from __future__ import annotations

import os
import re
import shutil
import threading
from pathlib import Path

from bindings import APPLICATION_ID
from runner.errors import ConfigurationError
from runner.security.files import check_target
from scripttest import RefusedFileError, TestKey

_HEADER = b"SQLite format 3\0"
_ID_AT = 68
"""Offset in a SQLite file of the number of the application that created it."""

MOST_LETTERS = 200
"""At most this many characters of a file name."""


class StoredDatabases:
    """Keeps the databases of one run. Several threads may use it. The files are in their place after `finish`."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigurationError when the path exists and was not made by this command."""
        self.path = path
        self._part = path.with_name(f".yao-test.{path.name}")
        self._lock = threading.Lock()
        self._files: dict[TestKey, Path] = {}
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

    def add(self, test: TestKey, dump: bytes) -> None:
        """Keeps the database of a run of a test, and drops an earlier one of the same run. Raises OSError."""
        with self._lock:
            if not self._files:
                shutil.rmtree(self._part, ignore_errors=True)
                self._part.mkdir()
            file = self._files.get(test)
            if file is None:
                file = self._files[test] = self._file(test)
            file.write_bytes(dump)

    def _file(self, test: TestKey) -> Path:
        """A file name that no other test has, also where upper and lower case are the same."""
        number = f".{test.run}" if test.run > 1 else ""
        name = re.sub(r"[^\w.-]+", "_", f"{test.suite}.{test.test}")[:MOST_LETTERS] + number
        taken = {file.name.lower() for file in self._files.values()}
        same = 1
        while (found := f"{name}.db" if same == 1 else f"{name}-{same}.db").lower() in taken:
            same += 1
        return self._part / found

    def finish(self) -> Path | None:
        """Puts the files into their place, and returns the file or folder that was written; None when no test had a
        database. Raises OSError."""
        if not self._files:
            return None
        files = list(self._files.values())
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
