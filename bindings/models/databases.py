"""The databases of a run: all tables are made once, with their first rows, and each test gets a copy when it first asks
for a row, from which its processes of models, and `t.db`, are answered.

Every run of cases loads this module, and few of them need what is imported in its functions."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from bindings.errors import ProcessError, failed
from scripttest.typing_names import Json, Protocol
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from bindings.models.definition import Model
    from bindings.models.store import Catalog, Store

_OVER = "the test has ended"


class ModelFiles(Value):
    """The models of an application, as its files say."""

    models: tuple[Model, ...]
    broken: tuple[str, ...] = ()
    """What is wrong with files that cannot be read; with one of them no test can use models."""
    refused: Mapping[str, str] = {}
    """Id of a model → what is wrong with its file, where the other models can be used all the same."""


class Contents(Value):
    """All tables of a database with their rows."""

    catalog: Catalog
    dump: bytes
    """The content of an SQLite file."""


class Fixture(Value):
    """A file of rows."""

    file: str
    """Below the application."""
    lines: tuple[tuple[str, Json], ...]
    """The place of each, such as `fixtures/pets.jsonl:3`, and its value."""


class Files(Protocol):
    """Reads an application's files."""

    def models(self) -> ModelFiles:
        """All models, without those that Yao brings along."""

    def document(self, file: str, source: str | None) -> tuple[str, Json, str]:
        """Name, value and text of a model's file; `source` is its text where that is given. Raises ModelFileError."""

    def fixture(self, name: str, folder: Path) -> Fixture:
        """What is in `fixtures/<name>.jsonl` in a folder or the nearest one above it. Raises ProcessError."""


class Databases:
    """Makes the databases of tests. Threads may share it."""

    def __init__(self, files: Files, warn: Callable[[str], None]) -> None:
        """Reads nothing yet. `warn` is called with warnings about the application's models."""
        self.files = files
        self.fixture = cache(files.fixture)
        """That of `Files`, which is read once."""
        self._warn = warn
        self._lock = _thread.allocate_lock()
        self._first: Contents | ProcessError | None = None

    def contents(self) -> Contents:
        """What each database has at first: the tables of all models, and their first rows. Raises ProcessError, if
        files of models cannot be read."""
        with self._lock:
            self._first = self._first or self._made()
        if isinstance(self._first, ProcessError):
            raise failed(self._first.message)
        return self._first

    def _made(self) -> Contents | ProcessError:
        from contextlib import closing

        from bindings.models.database import Database
        from bindings.models.store import Catalog, Store
        from bindings.models.writes import migrate_all

        files = self.files.models()
        for problem in files.broken or files.refused.values():
            self._warn(problem)
        if files.broken:
            return failed("\n".join(files.broken))
        catalog = Catalog({model.id: model for model in files.models}, files.refused)
        with closing(Database()) as database:
            migrate_all(Store(catalog, database, self._warn, load=self.files.document))
            return Contents(catalog=catalog, dump=database.dump())


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
