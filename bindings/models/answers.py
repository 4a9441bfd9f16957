"""What answers processes of models, by group. `models.*` are their methods; `model.*` says what models there are, and
takes ids as they are written, while `models.*` ignores capitals; `db.*` is what `t.db` of tests asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from bindings.errors import ErrorValue, ProcessError, bad, failed
from bindings.models import query, reads, schemas, writes
from bindings.models.definition import Model, ModelFileError, mapping, read_definition
from bindings.models.reads import all_rows
from bindings.models.store import Method, Store, UnknownColumnsError, arguments, method_of, needs, no_method
from bindings.models.tables import quoted
from scripttest.typing_names import Json

QUERY_METHODS = tuple(query.METHODS)
"""The methods of `Query`, in lower case."""
NAMED = 10
"""Models that are named where one is not found."""
Fixture = Callable[[str], Sequence[tuple[str, Json]]]
"""Name of a fixture → the place and the value of each line; raises ProcessError."""
_ZERO_TIME = "0001-01-01T00:00:00Z"
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
        return [described(model, mapping(values[0] if values else None)) for model in store.catalog.all()]
    needs(process, values, 1)
    id = str(values[0])
    if method == "dsl":
        return described(_named_model(store, process, id), mapping(values[1] if values[1:] else None))
    if method == "exists":
        return _exactly_named(store, process, id) is not None
    if method == "unload":
        store.catalog.models.pop(id, None)
        return None
    if method == "read":  # upstream takes the id from the name of the process
        raise bad("Model:; not found")
    if method == "load":
        return load(store, id, [f"models/{id.replace('.', '/')}.mod.yao", *values[1:]])
    return call_model(store, f"models.{_named_model(store, process, id).id}.{_FORWARDED[method]}", values[1:])


def _exactly_named(store: Store, process: str, id: str) -> Model | None:
    found = store.catalog.models.get(id)
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
    document = metadata(model)
    table = {**mapping(model.document.get("table")), "name": model.table}
    found: dict[str, Json] = {
        "id": model.id,
        "name": model.name,
        "description": table.get("comment", ""),
        "file": model.file,
        "table": table,
        "primary": model.primary,
    }
    if options.get("metadata"):
        found["metadata"] = document
    if options.get("columns"):
        found["columns"] = {column["name"]: column for column in document["columns"]}
    return found


def call_model(store: Store, process: str, values: list[Json]) -> Json:
    """Answers `models.<id>.<Method>`. Raises ProcessError."""
    id, _, name = process.partition(".")[2].rpartition(".")
    method, name = method_of(METHODS, process, "models"), name.lower()
    if name == "exists":
        return store.catalog.find(id) is not None
    if name == "load":
        needs(process, values, 1)
        return load(store, id.lower(), values)
    model = store.catalog.get(id.lower())
    if not model.answers(name):
        raise UnknownColumnsError(process, model.id)
    answer = method[2](store, model, *arguments(method, process, values))
    is_given = name == "save" and values[0].get(model.primary) is not None
    if isinstance(answer, int) and not isinstance(answer, bool) and not is_given:
        return (answer + (1 << 31)) % (1 << 32) - (1 << 31)  # as a number that is all of an answer reaches JavaScript
    return answer


def load(store: Store, id: str, values: list[Json]) -> Json:
    """Adds a model, from a file below the application or from its text: `values` are the file and, if it is given, the
    text. Returns None, or the error."""
    if store.load is None:
        raise failed(f"the model {id} cannot be loaded: no files are available here")
    source = values[1] if len(values) > 1 and isinstance(values[1], str) else None
    try:
        file, document, text = store.load(str(values[0]), source)
        model = read_definition(id, file, document).replace(source=text)
        store.catalog.models[model.id] = model
    except (ModelFileError, ProcessError) as error:
        return ErrorValue(message=error.message)
    return None


def _migrate(store: Store, model: Model, force: Json) -> Json:
    try:
        writes.migrate(store, model, force=force is True)
    except ProcessError as error:  # upstream answers with the error, and does not raise it
        return ErrorValue(message=error.message)
    return None


def _upsert(store: Store, model: Model, process: str, row: Mapping[str, Json], by: Json, columns: Json) -> int:
    unique_by = [by] if isinstance(by, str) and by else by
    if not isinstance(unique_by, list) or not unique_by:
        raise bad(f"{process}: uniqueBy must be the name of a column or a list of them, not empty")
    changed = [str(name) for name in columns] if isinstance(columns, list) and columns else None
    return writes.upsert(store, model, row, [str(name) for name in unique_by], changed)


def _snapshot(store: Store, model: Model, is_temporary: Json) -> str:
    moment = store.database.now()
    name = f"{model.table}_snapshot_{moment:%Y%m%d%H%M%S}_{moment.microsecond // 1000:03}"
    temporary = "TEMPORARY " if is_temporary is True else ""
    store.database.write(f"CREATE {temporary}TABLE {quoted(name)} AS SELECT * FROM {quoted(model.table)}")
    return name


def _on_snapshot(*statements: str) -> Callable[[Store, Model, str], None]:
    """Statements on `{0}`, the table of a model, and `{1}`, a snapshot of it."""

    def run(store: Store, model: Model, name: str) -> None:
        if not _has_snapshot(store, model, name):
            raise failed(f"the snapshot {name} does not exist")
        for sql in statements:
            store.database.write(sql.format(quoted(model.table), quoted(name)))

    return run


def _has_snapshot(store: Store, model: Model, name: str) -> bool:
    if not name.startswith(f"{model.table}_snapshot_"):
        return False
    sql = "SELECT 1 FROM sqlite_master WHERE name = ? UNION SELECT 1 FROM sqlite_temp_master WHERE name = ?"
    return bool(store.database.read(sql, [name, name]))


def metadata(model: Model) -> dict[str, Json]:
    """The definition as scripts see it: the file with the columns that options add."""
    columns = [{**column.document, "name": column.name, "type": column.type} for column in model.columns]
    table = {**mapping(model.document.get("table")), "name": model.table}
    return {
        **model.document,
        "table": {"collation": "", "charset": "", "primarykeys": None, **table},
        "columns": columns,
        "mtime": _ZERO_TIME,
        "ctime": _ZERO_TIME,
    }


METHODS: dict[str, Method] = {
    "find": (2, "any options", reads.find),
    "get": (1, "record", reads.get),
    "paginate": (3, f"record whole=1 whole={reads.PAGE_SIZE}", reads.paginate),
    "count": (1, "record", reads.count),
    "selectoption": (0, "text= text=name text=id whole=20", reads.select_option),
    "create": (1, "record", writes.create),
    "save": (1, "record", writes.save),
    "insert": (2, "names rows", writes.insert),
    "update": (2, "any record", writes.update),
    "updatewhere": (2, "record record", writes.update_where),
    "upsert": (2, "process record any any", _upsert),
    "eachsave": (1, "array record=", writes.each_save),
    "eachsaveafterdelete": (2, "array array record=", writes.each_save_after_delete),
    "delete": (1, "any", writes.delete),
    "deletewhere": (0, "record=", writes.delete_where),
    "destroy": (1, "any", writes.destroy),
    "destroywhere": (0, "record=", writes.destroy_where),
    "migrate": (0, "any", _migrate),
    "load": (1, "", lambda store, model: None),
    "exists": (0, "", lambda store, model: True),
    "reload": (0, "", lambda store, model: None),
    "metadata": (0, "", lambda store, model: metadata(model)),
    "read": (0, "", lambda store, model: model.source or json.dumps(dict(model.document), ensure_ascii=False)),
    "takesnapshot": (0, "any", _snapshot),
    "restoresnapshot": (1, "text=", _on_snapshot("DELETE FROM {0}", "INSERT INTO {0} SELECT * FROM {1}")),
    "restoresnapshotbyrename": (1, "text=", _on_snapshot("DROP TABLE {0}", "ALTER TABLE {1} RENAME TO {0}")),
    "dropsnapshot": (1, "text=", _on_snapshot("DROP TABLE {1}")),
    "snapshotexists": (1, "text=", _has_snapshot),
}
"""By name in lower case. `load` and `exists` are answered by `call`: there may be no such model."""
_GROUPS: dict[str, tuple[Callable[[Store, str, list[Json]], Json], Collection[str]]] = {
    "models": (call_model, METHODS),
    "model": (call_listing, LISTING),
    "schemas": (schemas.call, schemas.METHODS),
    "query": (query.call, query.METHODS),
}
"""First word of a process → what answers it, and its methods in lower case."""
