"""Makes the tables of models, with their first rows."""

from __future__ import annotations

from bindings.errors import ProcessError
from bindings.models import tables
from bindings.models.definition import Model
from bindings.models.errors import bad
from bindings.models.store import Store
from bindings.models.writes import create

_INDEX_TYPES = ("index", "unique", "primary", "fulltext")
"""Types of indexes; the last two make nothing here."""


def migrate_all(store: Store) -> None:
    """Makes the tables of all models, with their first rows. A table that cannot be made is a warning."""
    for model in store.catalog.all():
        if not model.table or not model.has_columns:
            continue
        try:
            migrate(store, model)
        except ProcessError as error:
            if not model.values or not tables.exists(store.database, model.table):
                store.warn(f"{model.file}: the table {model.table} cannot be made: {error.message}")


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
        tables.adapt(store.database, model)
        return
    tables.create(store.database, model)
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
