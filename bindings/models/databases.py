"""The databases of a run: all tables are made once, with their first rows, and each test gets a copy
when it first asks for a row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Protocol

from bindings.errors import ProcessError, bad, failed
from bindings.models import tables
from bindings.models.database import Database
from bindings.models.definition import Model
from bindings.models.store import Catalog, Store
from bindings.models.writes import create
from scripttest.typing_names import Json
from scripttest.values import Value

_INDEX_TYPES = ("index", "unique", "primary", "fulltext")
"""Types of indexes; the last two make nothing here."""


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
        self._lock = threading.Lock()
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
        files = self.files.models()
        for problem in files.broken or files.refused.values():
            self._warn(problem)
        if files.broken:
            return failed("\n".join(files.broken))
        catalog = Catalog({model.id: model for model in files.models}, files.refused)
        with closing(Database()) as database:
            migrate_all(Store(catalog, database, self._warn, load=self.files.document))
            return Contents(catalog=catalog, dump=database.dump())


def migrate_all(store: Store) -> None:
    """Makes the tables of all models, with their first rows. A table that cannot be made is a warning."""
    for model in store.catalog.all():
        if not model.table or not model.has_columns:
            continue
        try:
            migrate(store, model)
        except ProcessError as error:
            if not model.values or not tables.exists(store.database, model.table):
                store.warn(f"{model.file}: the table {model.table} cannot be created: {error.message}")


def migrate(store: Store, model: Model, *, force: bool = False) -> None:
    """Makes the table of a model with its first rows, or changes it as the model says. A model of which only the
    name is known has none. Raises ProcessError."""
    if not model.table:
        raise bad("missing table name")
    if not model.has_columns:
        return
    if force:
        tables.drop(store.database, model.table)
    if tables.exists(store.database, model.table):
        tables.adapt(store.database, model.table, model.columns, model.indexes)
        return
    tables.make(store.database, model.table, model.columns, model.indexes)
    for index in model.indexes:
        if index.type not in _INDEX_TYPES:
            said = f"its type is {index.type}, and must be" if index.type else "it has no type, which must be"
            store.warn(f"{model.file}: the index {index.name} is left out: {said} index, unique, primary or fulltext")
    problems = 0
    for row in model.values:
        try:
            create(store, model, row)
        except Exception as error:
            problems += 1
            store.warn(f"{model.file}: a row of values is left out: {error}")
    if problems:
        raise bad(f"{problems} values error, please check the logs")
