"""What processes of models work on: the models of an application, with those that Yao brings along, and the database
of one test; and the tables of their methods, which say how many arguments each needs, what they are, and what
answers it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bindings.errors import ProcessError, bad, failed
from bindings.models.database import Database
from bindings.models.definition import Model, read_definition
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


Method = tuple[int, str, Callable[..., Json]]
"""The least number of arguments; a word for each of them, with the default after `=`; and the function that is called
with them. A word is a kind that `_converted` knows, or `process`, which is replaced by the name of the process."""


def method_of(methods: Mapping[str, Method], process: str, group: str) -> Method:
    """The method that a process names, in any case; `group` is what it belongs to. Raises ProcessError."""
    name = process.rpartition(".")[2]
    found = methods.get(name.lower())
    if found is None:
        raise no_method(process, f"{group}.{name}")
    return found


def no_method(process: str, name: str) -> ProcessError:
    """The error of a call of a method that is not there."""
    return ProcessError(f"{process} Handler -> {name} not found", 404, missing=True)


def arguments(method: Method, process: str, values: list[Json]) -> Iterator[Json]:
    """What the function of a method is called with. Raises ProcessError when arguments are missing or wrong."""
    least, form, _ = method
    needs(process, values, least)
    place = 0
    for word in form.split():
        kind, has_default, default = word.partition("=")
        if kind == "process":
            yield process
            continue
        value = values[place] if place < len(values) else None
        place += 1
        if value is None and has_default:
            value = {} if kind == "record" else default
        try:
            yield _converted(kind, value)
        except (TypeError, ValueError, OverflowError) as error:
            expected = "a number" if kind == "whole" else error
            raise bad(f"{process}: argument {place} must be {expected}") from None


def needs(process: str, values: list[Json], least: int) -> None:
    """Raises ProcessError when there are fewer arguments."""
    if len(values) < least:
        raise bad(f"{process} Missing parameters, {least} parameters are required")


def _converted(kind: str, value: Json) -> Json:
    """An argument as a kind of it; `any` is left as it is. Raises ValueError with what it must be."""
    if kind == "record" and not isinstance(value, Mapping):
        raise ValueError("an object")
    if kind in ("array", "names", "rows") and not isinstance(value, list):
        raise ValueError("an array")
    if kind == "rows" and not all(isinstance(row, list) for row in value):
        raise ValueError("an array of arrays")
    if kind == "names":
        return [str(name) for name in value]
    if kind == "options":
        return value if isinstance(value, Mapping) else {}
    if kind == "whole":
        return int(float(value))
    return str(value) if kind == "text" else value


_COUNTED = {"name": "id", "type": "ID", "label": "ID"}
"""The column that counts the rows of each built-in model."""


def built_in_models(prefix: str = "yao_") -> list[Model]:
    """The models that Yao brings along, as `built_in.json` has them: id behind `__yao.` → what a model file says, and
    no columns where only the name is known. The names of their tables begin with `prefix`."""
    documents = json.loads(Path(__file__).with_name("built_in.json").read_text("utf-8"))
    return [_built_in(id, prefix, document) for id, document in documents.items()]


def _built_in(id: str, prefix: str, document: dict[str, Json]) -> Model:
    whole = {
        "name": document["name"],
        "table": {"name": prefix + document["table"]["name"]},
        "columns": document.get("columns", [_COUNTED]),
        "indexes": document.get("indexes", []),
        "option": document["option"],
    }
    model = read_definition(f"__yao.{id}", f"/yao/models/{id.replace('.', '/')}.mod.yao", whole)
    return model.replace(has_columns="columns" in document)
