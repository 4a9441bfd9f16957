"""`model.*`: what models there are. Ids are taken as they are written, while `models.*` ignores capitals."""

from __future__ import annotations

from collections.abc import Mapping

from bindings.errors import ProcessError
from bindings.models.definition import Model
from bindings.models.errors import bad
from bindings.models.processes import call as call_model
from bindings.models.processes import load, metadata
from bindings.models.store import Store
from scripttest.typing_names import Json

_FORWARDED = {"reload": "Reload", "migrate": "Migrate"}


def knows(method: str) -> bool:
    """Whether there is `model.<method>`, in any case."""
    return method.lower() in ("list", "dsl", "exists", "load", "unload", "read", *_FORWARDED)


def call(store: Store, process: str, values: list[Json]) -> Json:
    """Answers `model.<Method>`. Raises ProcessError."""
    method = process.partition(".")[2].lower()
    if not knows(method):
        raise ProcessError(f"{process} Handler -> {process} not found", 404, missing=True)
    if method == "list":
        return [shown(model, _options(values, 0)) for model in store.catalog.all()]
    if not values:
        raise bad(f"{process} Missing parameters, 1 parameters are required")
    id = str(values[0])
    if method == "dsl":
        return shown(_model(store, process, id), _options(values, 1))
    if method == "exists":
        return _found(store, process, id) is not None
    if method == "unload":
        store.catalog.remove(id)
        return None
    if method == "read":  # upstream takes the id from the name of the process
        raise bad("Model:; not found")
    if method == "load":
        return load(store, id, [f"models/{id.replace('.', '/')}.mod.yao", *values[1:]])
    return call_model(store, f"models.{_model(store, process, id).id}.{_FORWARDED[method]}", values[1:])


def _found(store: Store, process: str, id: str) -> Model | None:
    found = store.catalog.exact(id)
    if found is None and (other := store.catalog.find(id)) is not None:
        store.warn(f"{process}: there is no model {id}; it is {other.id}, and {process} takes ids as they are written")
    return found


def _model(store: Store, process: str, id: str) -> Model:
    """Raises ProcessError."""
    found = _found(store, process, id)
    if found is None:
        raise store.catalog.missing(id)
    return found


def shown(model: Model, options: Mapping[str, Json]) -> dict[str, Json]:
    """A model as `model.List` and `model.DSL` answer."""
    document = metadata(model)
    given = model.document.get("table")
    table: Mapping[str, Json] = given if isinstance(given, Mapping) else {}
    found: dict[str, Json] = {
        "id": model.id,
        "name": model.name,
        "description": table.get("comment", ""),
        "file": model.file,
        "table": {**table, "name": model.table},
        "primary": model.primary,
    }
    if options.get("metadata"):
        found["metadata"] = document
    if options.get("columns"):
        found["columns"] = {column["name"]: column for column in document["columns"]}
    return found


def _options(values: list[Json], place: int) -> Mapping[str, Json]:
    value = values[place] if place < len(values) else None
    return value if isinstance(value, Mapping) else {}
