"""`models.<id>.<Method>`: the processes of models."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bindings.errors import ErrorValue, ProcessError, bad, failed
from bindings.models import reads, tables, writes
from bindings.models.databases import migrate
from bindings.models.definition import Model, ModelFileError, read_definition
from bindings.models.methods import Method, arguments, method_of, needs
from bindings.models.store import Store, UnknownColumnsError
from bindings.models.tables import quoted
from scripttest.typing_names import Json

_ZERO_TIME = "0001-01-01T00:00:00Z"


def call(store: Store, process: str, values: list[Json]) -> Json:
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
        store.catalog.add(read_definition(id, file, document).replace(source=text))
    except (ModelFileError, ProcessError) as error:
        return ErrorValue(message=error.message)
    return None


def _migrate(store: Store, model: Model, force: Json) -> Json:
    try:
        migrate(store, model, force=force is True)
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


def _restore(store: Store, model: Model, name: str) -> None:
    _check_snapshot(store, model, name)
    store.database.write(f"DELETE FROM {quoted(model.table)}")
    store.database.write(f"INSERT INTO {quoted(model.table)} SELECT * FROM {quoted(name)}")


def _restore_by_rename(store: Store, model: Model, name: str) -> None:
    _check_snapshot(store, model, name)
    store.database.write(f"DROP TABLE {quoted(model.table)}")
    store.database.write(f"ALTER TABLE {quoted(name)} RENAME TO {quoted(model.table)}")


def _drop_snapshot(store: Store, model: Model, name: str) -> None:
    _check_snapshot(store, model, name)
    tables.drop(store.database, name)


def _check_snapshot(store: Store, model: Model, name: str) -> None:
    if not _has_snapshot(store, model, name):
        raise failed(f"the snapshot {name} does not exist")


def _has_snapshot(store: Store, model: Model, name: str) -> bool:
    if not name.startswith(f"{model.table}_snapshot_"):
        return False
    sql = "SELECT 1 FROM sqlite_master WHERE name = ? UNION SELECT 1 FROM sqlite_temp_master WHERE name = ?"
    return bool(store.database.read(sql, [name, name]))


def metadata(model: Model) -> dict[str, Json]:
    """The definition as scripts see it: the file with the columns that options add."""
    columns = [{**column.document, "name": column.name, "type": column.type} for column in model.columns]
    given = model.document.get("table")
    table = {**(given if isinstance(given, Mapping) else {}), "name": model.table}
    return {
        **model.document,
        "table": {"collation": "", "charset": "", "primarykeys": None, **table},
        "columns": columns,
        "mtime": _ZERO_TIME,
        "ctime": _ZERO_TIME,
    }


def _text(store: Store, model: Model) -> str:
    return model.source or json.dumps(dict(model.document), ensure_ascii=False)


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
    "read": (0, "", _text),
    "takesnapshot": (0, "any", _snapshot),
    "restoresnapshot": (1, "text=", _restore),
    "restoresnapshotbyrename": (1, "text=", _restore_by_rename),
    "dropsnapshot": (1, "text=", _drop_snapshot),
    "snapshotexists": (1, "text=", _has_snapshot),
}
"""By name in lower case. `load` and `exists` are answered by `call`: there may be no such model."""
