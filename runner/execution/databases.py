"""The databases of the tests of a run, warnings about them, and the files that `--db` keeps."""

from __future__ import annotations

import _thread
import os
import re
import threading
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain, count
from pathlib import Path

from bindings import OwnDatabase
from runner.errors import ConfigurationError
from runner.options.options import RunOptions, report_path
from runner.security.files import check_target
from scripttest import RefusedFileError, TestKey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from bindings import Databases, World
    from runner.application.application import Application


MOST_WARNINGS = 100
"""At most this many warnings about rows and queries in one run."""


class RunDatabases:
    """Opens the databases of one run. Several threads may use it."""

    def __init__(self, application: Application, options: RunOptions, directory: Path) -> None:
        """Reads no models yet. Raises ConfigurationError when `--db` names a file that must not be overwritten."""
        self._application = application
        self._strict = options.strict_db
        self._kept = None if options.db is None else StoredDatabases(report_path(options.db, directory))
        self._databases: Databases | None = None
        self._warnings: dict[str, str] = {}
        self._folders: dict[str, Path] = {}
        self._lock = _thread.allocate_lock()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the user, each once, with the first test that caused it."""
        return tuple(self._warnings.values())

    def of_script(self, world: World) -> OwnDatabase:
        """The database of a script test, which is created on first use."""
        return self.of_case(world, self._folder(world.suite), strict=False)

    def of_case(self, world: World, folder: Path, *, strict: bool) -> OwnDatabase:
        """The database of a case whose file is in `folder`; it is created on first use."""
        return OwnDatabase(
            self._opened,
            folder=folder,
            now=lambda: datetime.fromtimestamp(world.clock.seconds, UTC),
            salt=lambda: os.urandom(16) if world.random is None else world.random.randbytes(16),
            warn=lambda message: self._warn(message, f" (first in {world.test} of {self._named(world.suite)})"),
            strict=strict or self._strict,
            keep=None
            if self._kept is None
            else partial(self._kept.add, world.key.replace(suite=self._named(world.suite))),
        )

    def _named(self, suite: str) -> str:
        return suite.removeprefix(f"{self._application.root}/")

    def finish(self) -> Path | None:
        """Puts the files of `--db` into their place; where that is, None when there are none. Raises OSError."""
        return None if self._kept is None else self._kept.finish()

    def _opened(self) -> Databases:
        if self._databases is None:
            from bindings import Databases
            from runner.application.models import ApplicationData

            with self._lock:
                self._databases = self._databases or Databases(ApplicationData(self._application), self._warn)
        return self._databases

    def _warn(self, message: str, where: str = "") -> None:
        if len(self._warnings) < MOST_WARNINGS:
            self._warnings.setdefault(message, message + where)

    def _folder(self, suite: str) -> Path:
        """The folder of a test module; for anything else, that of the application."""
        if suite not in self._folders:
            self._folders[suite] = self._application.root
            if suite.startswith("scripts."):
                with suppress(ConfigurationError):
                    self._folders[suite] = self._application.resolve(suite)[0].test.parent
        return self._folders[suite]


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
                f"Cannot write --db {path}: the file already exists and was not created by --db", "Choose another file"
            )

    def add(self, test: TestKey, dump: bytes) -> None:
        """Keeps the database of a run of a test, and drops an earlier one of the same run. Raises OSError."""
        with self._lock:
            if not self._files:
                from shutil import rmtree  # takes as long to load as reading twenty cases

                rmtree(self._part, ignore_errors=True)
                self._part.mkdir()
            if test not in self._files:
                self._files[test] = self._file(test)
            self._files[test].write_bytes(dump)

    def _file(self, test: TestKey) -> Path:
        """A file name that no other test has, also where upper and lower case are the same."""
        number = f".{test.run}" if test.run > 1 else ""
        name = re.sub(r"[^\w.-]+", "_", f"{test.suite}.{test.test}")[:MOST_LETTERS] + number
        taken = {file.name.lower() for file in self._files.values()}
        names = chain([f"{name}.db"], (f"{name}-{same}.db" for same in count(2)))
        return self._part / next(found for found in names if found.lower() not in taken)

    def finish(self) -> Path | None:
        """Puts the files into their place; the file or folder, None when no test had a database. Raises OSError."""
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
    from bindings import APPLICATION_ID  # with SQLite, for those who keep databases only

    return head.startswith(_HEADER) and int.from_bytes(head[_ID_AT:]) == APPLICATION_ID
