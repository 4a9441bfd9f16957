"""The databases of the tests of a run, warnings about them, and the files that `--db` keeps."""

from __future__ import annotations

import _thread
import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bindings import OwnDatabase
from runner.errors import ConfigurationError
from runner.options.options import report_path

if TYPE_CHECKING:
    from bindings import Databases, World
    from runner.application.application import Application
    from runner.execution.stored_databases import StoredDatabases
    from runner.options.options import RunOptions

MOST_WARNINGS = 100
"""At most this many warnings about rows and queries in one run."""


class RunDatabases:
    """Opens the databases of one run. Several threads may use it."""

    def __init__(self, application: Application, options: RunOptions, directory: Path) -> None:
        """Reads no models yet. Raises ConfigurationError when `--db` names a file that must not be overwritten."""
        self._application = application
        self._strict = options.strict_db
        self._kept: StoredDatabases | None = None
        if options.db is not None:
            from runner.execution.stored_databases import StoredDatabases

            self._kept = StoredDatabases(report_path(options.db, directory))
        self._databases: Databases | None = None
        self._warnings: dict[str, str] = {}
        self._folders: dict[str, Path] = {}
        """Test module → its folder."""
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
        suite = world.suite.removeprefix(f"{self._application.root}/")
        return OwnDatabase(
            self._opened,
            folder=folder,
            now=lambda: datetime.fromtimestamp(world.clock.seconds, UTC),
            salt=lambda: os.urandom(16) if world.random is None else world.random.randbytes(16),
            warn=lambda message: self._warn(message, f" (first in {world.test} of {suite})"),
            strict=strict or self._strict,
            keep=None if self._kept is None else partial(self._kept.add, world.key.replace(suite=suite)),
        )

    def finish(self) -> Path | None:
        """Puts the files that `--db` keeps into their place, and says where that is; None when it keeps nothing. Raises
        OSError."""
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
            self._folders[suite] = self._found(suite)
        return self._folders[suite]

    def _found(self, suite: str) -> Path:
        if not suite.startswith("scripts."):
            return self._application.root
        try:
            return self._application.resolve(suite)[0].test.parent
        except ConfigurationError:
            return self._application.root
