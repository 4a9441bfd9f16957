"""A table of the functions that answer processes of models, by group. `db.*` is what `t.db` of tests asks; `model.*`
says what models there are, and takes ids as they are written, while `models.*` ignores capitals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from bindings.errors import ProcessError, bad
from bindings.models import processes, query, schemas, writes
from bindings.models.definition import Model
from bindings.models.methods import needs, no_method
from bindings.models.reads import all_rows
from bindings.models.store import Store, UnknownColumnsError
from scripttest.typing_names import Json

QUERY_METHODS = tuple(query.METHODS)
"""The methods of `Query`, in lower case."""
NAMED = 10
"""Models that are named where one is not found."""
Fixture = Callable[[str], Sequence[tuple[str, Json]]]
"""Name of a fixture → the place and the value of each line; raises ProcessError."""
_FORWARDED = {"reload": "Reload", "migrate": "Migrate"}
LISTING = ("list", "dsl", "exists", "load", "unload", "read", *_FORWARDED)
"""Methods of `model`, in lower case."""


def answer(store: Store, process: str, values: list[Json], fixture: Fixture) -> Json:
    """Answers `models.*`, `model.*`, `schemas.*`, `query.*`, `db.*`. Raises ProcessError."""
    group = process.partition(".")[0].lower()
    if group == "db":
        return _answer_test(store, process, values, fixture)
    try:
        return _GROUPS[group][0](store, process, values)
    except ProcessError as error:
        if _is_no_model(error) and group == "models":
            text = f"{process}: {error.message}{_there_are(store)}"
            store.warn(f"{text}: add the model file, or mock the process")
        raise


def _is_no_model(error: ProcessError) -> bool:
    return error.missing and error.code == 400


def _there_are(store: Store) -> str:
    """The application's models, with a check that reports unknown names."""
    own = [model.id for model in store.catalog.all() if not model.id.startswith("__yao.")]
    return f"; there are {', '.join(own[:NAMED])}{' ...' if len(own) > NAMED else ''}" if own else ""


def serves(process: str) -> bool:
    """Whether there is such a process, be the model that it names there or not."""
    group, _, rest = process.lower().partition(".")
    return group in _GROUPS and rest.rpartition(".")[2] in _GROUPS[group][1]


def _answer_test(store: Store, process: str, values: list[Json], fixture: Fixture) -> Json:
    first = values[0] if values else None
    if process == "db.Seed":
        return _seed(store, _lines_of(first, fixture) if isinstance(first, str) else _rows_of(first))
    if process != "db.Rows":
        raise ProcessError(f"{process} Handler -> {process} not found", 404)
    if not isinstance(first, str):
        raise bad("t.db.rows takes a model id")
    return _rows(store, first, values[1] if len(values) > 1 and values[1] is not None else {})


def _seed(store: Store, rows: Iterator[tuple[str, str, Json]]) -> dict[str, list[Json]]:
    """Adds rows through `Create`; the new ids by model."""
    ids: dict[str, list[Json]] = {}
    for where, model, row in rows:
        if not isinstance(row, Mapping):
            raise bad(f"{where}: a row must be an object")
        found = _model_of(store, model, where)
        try:
            ids.setdefault(model, []).append(writes.create(store, found, row))
        except ProcessError as error:
            raise ProcessError(f"{where}: {error.message}", error.code) from error
    return ids


def _rows_of(given: Json) -> Iterator[tuple[str, str, Json]]:
    """The position of each row of `{model: [rows]}`, its model, and the row. Raises ProcessError."""
    if not isinstance(given, Mapping) or not all(isinstance(rows, list) for rows in given.values()):
        raise bad('t.db.seed takes the name of a fixture, or rows by model, such as { "user.pet": [{ name: "Rex" }] }')
    for model, rows in given.items():
        for place, row in enumerate(rows):
            yield f"t.db.seed: row {place} of {model}", model, row


def _lines_of(name: str, fixture: Fixture) -> Iterator[tuple[str, str, Json]]:
    """The same of a fixture. Raises ProcessError."""
    for where, line in fixture(name):
        if not isinstance(line, Mapping) or line.keys() != {"model", "row"} or not isinstance(line["model"], str):
            raise bad(f'{where}: a line of a fixture is {{"model": "<id>", "row": {{...}}}}')
        yield where, line["model"], line["row"]


def _rows(store: Store, model: str, options: Json) -> list[dict[str, Json]]:
    if not isinstance(options, Mapping) or options.keys() - {"where", "deleted"}:
        raise bad("t.db.rows: the options are where and deleted")
    where = options.get("where") or []
    if isinstance(where, Mapping):
        where = [{"column": column, "value": value} for column, value in where.items()]
    if not isinstance(where, list):
        raise bad("t.db.rows: where is an object of columns and values, or a list of conditions as Get has it")
    return all_rows(store, _model_of(store, model, "t.db.rows"), where, deleted=options.get("deleted") is True)


def _model_of(store: Store, id: str, where: str) -> Model:
    """A model whose rows `where` asks for. Raises ProcessError."""
    try:
        return store.catalog.with_columns(id, where)
    except UnknownColumnsError:
        raise
    except ProcessError as error:
        there = _there_are(store) if _is_no_model(error) else ""
        raise ProcessError(f"{where}: {error.message}{there}", error.code) from error


def call_listing(store: Store, process: str, values: list[Json]) -> Json:
    """Answers `model.<Method>`. Raises ProcessError."""
    method = process.partition(".")[2].lower()
    if method not in LISTING:
        raise no_method(process, process)
    if method == "list":
        return [described(model, _options(values, 0)) for model in store.catalog.all()]
    needs(process, values, 1)
    id = str(values[0])
    if method == "dsl":
        return described(_named_model(store, process, id), _options(values, 1))
    if method == "exists":
        return _exactly_named(store, process, id) is not None
    if method == "unload":
        store.catalog.remove(id)
        return None
    if method == "read":  # upstream takes the id from the name of the process
        raise bad("Model:; not found")
    if method == "load":
        return processes.load(store, id, [f"models/{id.replace('.', '/')}.mod.yao", *values[1:]])
    return processes.call(store, f"models.{_named_model(store, process, id).id}.{_FORWARDED[method]}", values[1:])


def _exactly_named(store: Store, process: str, id: str) -> Model | None:
    found = store.catalog.exact(id)
    if found is None and (other := store.catalog.find(id)) is not None:
        store.warn(f"{process}: there is no model {id}; it is {other.id}, and {process} takes ids as they are written")
    return found


def _named_model(store: Store, process: str, id: str) -> Model:
    """Raises ProcessError."""
    found = _exactly_named(store, process, id)
    if found is None:
        raise store.catalog.missing(id)
    return found


def described(model: Model, options: Mapping[str, Json]) -> dict[str, Json]:
    """A model as `model.List` and `model.DSL` answer."""
    document = processes.metadata(model)
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


_GROUPS: dict[str, tuple[Callable[[Store, str, list[Json]], Json], Collection[str]]] = {
    "models": (processes.call, processes.METHODS),
    "model": (call_listing, LISTING),
    "schemas": (schemas.call, schemas.METHODS),
    "query": (query.call, query.METHODS),
}
"""First word of a process → what answers it, and its methods in lower case."""
