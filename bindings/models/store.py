"""The models of an application with the database of one test."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from bindings.errors import ProcessError, failed
from bindings.models.database import Database
from bindings.models.definition import Model
from scripttest.typing_names import Json


class UnknownColumnsError(ProcessError):
    """Rows are asked for of a built-in model of which only the name is known; `model` is its id."""

    def __init__(self, asked: str, model: str) -> None:
        """`asked` names the caller."""
        super().__init__(f"{asked}: the columns of {model} are not known, only its name", 404, missing=True)
        self.model = model


class Catalog:
    """All models, by id. Each test has its own catalog, because scripts can load and unload models."""

    def __init__(self, models: Mapping[str, Model], refused: Mapping[str, str] | None = None) -> None:
        """`refused` are the ids of models whose files cannot be read, each with its error."""
        self.models = dict(models)
        """By id, as it is written."""
        self._refused = {id.lower(): problem for id, problem in (refused or {}).items()}

    def copy(self) -> Catalog:
        """The same models, for another test."""
        return Catalog(self.models, self._refused)

    def get(self, id: str) -> Model:
        """The model of an id, be it written in capitals or not. Raises ProcessError."""
        found = self.find(id)
        if found is None:
            raise self.missing(id)
        return found

    def missing(self, id: str) -> ProcessError:
        """The error of somebody who asks for a model that is not there."""
        if id.lower() in self._refused:
            return failed(self._refused[id.lower()])
        return ProcessError(f"Model:{id}; not found", 400, missing=True)

    def with_columns(self, id: str, asked: str) -> Model:
        """The same, for callers that read rows; `asked` names the caller. Raises ProcessError, also if only the name
        of the model is known."""
        model = self.get(id)
        if not model.has_columns:
            raise UnknownColumnsError(asked, model.id)
        return model

    def find(self, id: str) -> Model | None:
        """The model of an id, be it written in capitals or not; None when there is none."""
        if id in self.models:
            return self.models[id]
        return next((model for name, model in self.models.items() if name.lower() == id.lower()), None)

    def all(self) -> list[Model]:
        """All models by id."""
        return [self.models[id] for id in sorted(self.models)]


class Store:
    """The models and the database that processes of models work on. The database is to be closed."""

    def __init__(
        self,
        catalog: Catalog,
        database: Database,
        warn: Callable[[str], None],
        *,
        load: Callable[[str, str | None], tuple[str, Json, str]] | None = None,
        strict: bool = False,
        salt: Callable[[], bytes] = lambda: os.urandom(16),
    ) -> None:
        """Opens nothing.

        Args:
            catalog: the models.
            database: has their tables.
            warn: called with warnings about things that do not work as they are written.
            load: `(file below the application, its text or None)` → `(name of the file, document, text)`.
            strict: whether to refuse what MySQL would refuse.
            salt: returns 16 random bytes for the hash of a password."""
        self.catalog = catalog
        self.database = database
        self.warn = warn
        self.load = load
        self.strict = strict
        self.salt = salt
        self.checked: set[str] = set()
        """Ids of models whose rules were looked at."""
