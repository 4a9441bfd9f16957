"""The database of one test: what its processes of models, and `t.db`, are answered from."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scripttest.typing_names import Json

if TYPE_CHECKING:
    from datetime import datetime

    from bindings.models.databases import Contents, Databases
    from bindings.models.store import Store


_OVER = "the test has ended"


class OwnDatabase:
    """Opened when it is first used. Threads may share it; their calls follow one another. To be closed."""

    def __init__(
        self,
        databases: Callable[[], Databases],
        *,
        folder: Path,
        warn: Callable[[str], None],
        now: Callable[[], datetime],
        salt: Callable[[], bytes],
        strict: bool = False,
        keep: Callable[[bytes], None] | None = None,
    ) -> None:
        """Opens nothing yet.

        Args:
            databases: the databases of the run.
            folder: folder of the test. Fixtures are searched in it and in the folders above.
            warn: called with warnings about things that do not work as they are written.
            now: the time, in UTC.
            salt: returns 16 random bytes for the hash of a password.
            strict: whether to refuse what MySQL would refuse.
            keep: called when the test ends, with the database as the content of an SQLite file."""
        self._databases = databases
        self._folder = folder
        self._warn, self._now, self._salt, self._strict = warn, now, salt, strict
        self._keep = keep
        self._lock = _thread.RLock()
        self._store: Store | None = None
        self._first: Contents | None = None
        self._closed = False
        self.is_used = False
        """Whether anything has asked for models."""
        self.fixtures: set[str] = set()
        """Files of fixtures that were loaded, below the application."""

    def call(self, process: str, values: list[Json]) -> Json:
        """Answers a process of models, schemas, queries, or of `t.db`; may block. Raises ProcessError."""
        from bindings.errors import failed
        from bindings.models.answers import answer

        with self._lock:
            if self._closed:
                raise failed(_OVER)
            self.is_used = True
            if self._store is None:
                self._store = self._opened()
                if self._closed:  # meanwhile, by a thread that saw nothing to give up
                    raise failed(_OVER)
            return answer(self._store, process, values, self._lines)

    def _opened(self) -> Store:
        from bindings.models.database import Database
        from bindings.models.store import Store

        databases = self._databases()
        first = self._first or databases.contents()
        database = Database(self._now)
        database.load(first.dump)
        load = databases.files.document
        return Store(first.catalog.copy(), database, self._warn, load=load, strict=self._strict, salt=self._salt)

    def begin_with(self, contents: Contents | None) -> None:
        """Has these contents when it is opened, instead of the first rows of all models; None: those."""
        self._first = contents

    def contents(self) -> Contents | None:
        """What it has now; None while it is not opened."""
        from bindings.models.databases import Contents

        with self._lock:
            store = self._store
            return None if store is None else Contents(catalog=store.catalog.copy(), dump=store.database.dump())

    @property
    def changes(self) -> int:
        """How many rows were written since it was opened."""
        return self._store.database.changes if self._store is not None else 0

    @property
    def has_own_models(self) -> bool:
        """Whether the application or one of its agents has models of its own."""
        return self._store is not None and any(not model.id.startswith("__yao.") for model in self._store.catalog.all())

    def _lines(self, name: str) -> Sequence[tuple[str, Json]]:
        fixture = self._databases().fixture(name, self._folder)
        self.fixtures.add(fixture.file)
        return fixture.lines

    def fixture(self, name: str) -> list[Json] | None:
        """The values in a file of fixtures; None if there is no such file. Raises ProcessError for a broken one."""
        from bindings.errors import ProcessError

        try:
            return [value for _, value in self._lines(name)]
        except ProcessError as error:
            if error.code == 404:
                return None
            raise

    def load(self, fixtures: Sequence[str]) -> None:
        """Loads fixtures by name. Raises ProcessError."""
        for name in fixtures:
            self.call("db.Seed", [name])

    def close(self) -> None:
        """Closes the database. A running statement is aborted, and no further call is answered."""
        self._closed = True
        if (store := self._store) is not None:
            store.database.give_up(_OVER)
        with self._lock:
            if self._store is None:
                return
            try:
                if self._keep is not None:
                    self._keep(self._store.database.dump())
            finally:
                self._store.database.close()
                self._store = None
