"""`models.<id>.<Method>`: the processes of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bindings.errors import ErrorValue, ProcessError, bad, failed
from bindings.models import reads, tables, writes
from bindings.models.databases import migrate
from bindings.models.definition import Model, ModelFileError, read_definition
from bindings.models.store import Store, UnknownColumnsError
from scripttest.typing_names import Json

_ZERO_TIME = "0001-01-01T00:00:00Z"


class Call:
    """The arguments that a script passed to a process of a model."""

    def __init__(self, store: Store, process: str, model: Model, values: list[Json]) -> None:
        self.store = store
        self.process = process
        self.model = model
        self.values = values

    def needs(self, count: int) -> None:
        """Raises ProcessError when there are fewer arguments."""
        if len(self.values) < count:
            raise bad(f"{self.process} Missing parameters, {count} parameters are required")

    def at(self, place: int) -> Json:
        """An argument, counted from 0; None when it is not there."""
        return self.values[place] if place < len(self.values) else None

    def record(self, place: int, default: Mapping[str, Json] | None = None) -> Mapping[str, Json]:
        """An argument that is an object. Raises ProcessError."""
        value = self.at(place)
        if isinstance(value, Mapping):
            return value
        if default is not None and value is None:
            return default
        raise bad(f"{self.process}: argument {place + 1} must be an object")

    def list(self, place: int) -> list[Json]:
        """An argument that is an array. Raises ProcessError."""
        value = self.at(place)
        if not isinstance(value, list):
            raise bad(f"{self.process}: argument {place + 1} must be an array")
        return value

    def whole(self, place: int, default: int) -> int:
        """An argument that is a number, or a text of one."""
        value = self.at(place)
        try:
            return default if value is None else int(float(value))
        except (TypeError, ValueError):
            raise bad(f"{self.process}: argument {place + 1} must be a number") from None

    def text(self, place: int, default: str) -> str:
        """An argument that is a text."""
        value = self.at(place)
        return default if value is None else str(value)


def knows(method: str) -> bool:
    """Whether there is such a method of models, in any case."""
    return method.lower() in _METHODS


def call(store: Store, process: str, values: list[Json]) -> Json:
    """Answers `models.<id>.<Method>`. Raises ProcessError."""
    _, _, rest = process.partition(".")
    id, _, method = rest.rpartition(".")
    known = _METHODS.get(method.lower())
    if known is None:
        raise ProcessError(f"{process} Handler -> models.{method} not found", 404, missing=True)
    if method.lower() == "exists":
        return store.catalog.find(id) is not None
    if method.lower() == "load":
        if not values:
            raise bad(f"{process} Missing parameters, 1 parameters are required")
        return load(store, id.lower(), values)
    function, least = known
    model = store.catalog.get(id.lower())
    if not model.answers(method):
        raise UnknownColumnsError(process, model.id)
    given = Call(store, process, model, values)
    given.needs(least)
    answer = function(given)
    if isinstance(answer, int) and not isinstance(answer, bool) and not _is_given(given, method):
        return (answer + (1 << 31)) % (1 << 32) - (1 << 31)  # as a number that is all of an answer reaches JavaScript
    return answer


def _is_given(given: Call, method: str) -> bool:
    """Whether the answer is the id that the given row has."""
    return method.lower() == "save" and given.record(0).get(given.model.primary) is not None


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


def _migrate(given: Call) -> Json:
    try:
        migrate(given.store, given.model, force=given.at(0) is True)
    except ProcessError as error:  # upstream answers with the error, and does not raise it
        return ErrorValue(message=error.message)
    return None


def _upsert(given: Call) -> Json:
    by = given.at(1)
    unique_by = [by] if isinstance(by, str) and by else by
    if not isinstance(unique_by, list) or not unique_by:
        raise bad(f"{given.process}: uniqueBy must be the name of a column or a list of them, not empty")
    columns = given.at(2)
    return writes.upsert(
        given.store,
        given.model,
        given.record(0),
        [str(name) for name in unique_by],
        [str(name) for name in columns] if isinstance(columns, list) and columns else None,
    )


def _insert(given: Call) -> None:
    rows = given.list(1)
    if not all(isinstance(row, list) for row in rows):
        raise bad(f"{given.process}: argument 2 must be an array of arrays")
    writes.insert(given.store, given.model, [str(name) for name in given.list(0)], rows)


def _snapshot(given: Call) -> str:
    database = given.store.database
    moment = database.now()
    name = f"{given.model.table}_snapshot_{moment:%Y%m%d%H%M%S}_{moment.microsecond // 1000:03}"
    temporary = "TEMPORARY " if given.at(0) is True else ""
    table = tables.quoted(given.model.table)
    database.write(f"CREATE {temporary}TABLE {tables.quoted(name)} AS SELECT * FROM {table}")
    return name


def _restore(given: Call) -> None:
    name, table = _snapshot_name(given), tables.quoted(given.model.table)
    database = given.store.database
    database.write(f"DELETE FROM {table}")
    database.write(f"INSERT INTO {table} SELECT * FROM {tables.quoted(name)}")


def _restore_by_rename(given: Call) -> None:
    name, table = _snapshot_name(given), tables.quoted(given.model.table)
    given.store.database.write(f"DROP TABLE {table}")
    given.store.database.write(f"ALTER TABLE {tables.quoted(name)} RENAME TO {table}")


def _drop_snapshot(given: Call) -> None:
    tables.drop(given.store.database, _snapshot_name(given))


def _snapshot_name(given: Call) -> str:
    name = given.text(0, "")
    if not _has_snapshot(given):
        raise failed(f"the snapshot {name} does not exist")
    return name


def _has_snapshot(given: Call) -> bool:
    name = given.text(0, "")
    if not name.startswith(f"{given.model.table}_snapshot_"):
        return False
    found = given.store.database.read(
        "SELECT 1 FROM sqlite_master WHERE name = ? UNION SELECT 1 FROM sqlite_temp_master WHERE name = ?", [name, name]
    )
    return bool(found)


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


def _read_text(given: Call) -> str:
    import json

    return given.model.source or json.dumps(dict(given.model.document), ensure_ascii=False)


Function = Callable[[Call], Json]
_METHODS: dict[str, tuple[Function, int]] = {
    "find": (lambda given: reads.find(given.store, given.model, given.at(0), _or_empty(given.at(1))), 2),
    "get": (lambda given: reads.get(given.store, given.model, given.record(0)), 1),
    "paginate": (
        lambda given: reads.paginate(
            given.store, given.model, given.record(0), given.whole(1, 1), given.whole(2, reads.PAGE_SIZE)
        ),
        3,
    ),
    "count": (lambda given: reads.count(given.store, given.model, given.record(0)), 1),
    "selectoption": (
        lambda given: reads.select_option(
            given.store, given.model, given.text(0, ""), given.text(1, "name"), given.text(2, "id"), given.whole(3, 20)
        ),
        0,
    ),
    "create": (lambda given: writes.create(given.store, given.model, given.record(0)), 1),
    "save": (lambda given: writes.save(given.store, given.model, given.record(0)), 1),
    "insert": (_insert, 2),
    "update": (lambda given: writes.update(given.store, given.model, given.at(0), given.record(1)), 2),
    "updatewhere": (lambda given: writes.update_where(given.store, given.model, given.record(0), given.record(1)), 2),
    "upsert": (_upsert, 2),
    "eachsave": (lambda given: writes.each_save(given.store, given.model, given.list(0), given.record(1, {})), 1),
    "eachsaveafterdelete": (
        lambda given: writes.each_save_after_delete(
            given.store, given.model, given.list(0), given.list(1), given.record(2, {})
        ),
        2,
    ),
    "delete": (lambda given: writes.delete(given.store, given.model, given.at(0)), 1),
    "deletewhere": (lambda given: writes.delete_where(given.store, given.model, given.record(0, {})), 0),
    "destroy": (lambda given: writes.destroy(given.store, given.model, given.at(0)), 1),
    "destroywhere": (lambda given: writes.destroy_where(given.store, given.model, given.record(0, {})), 0),
    "migrate": (_migrate, 0),
    "load": (lambda given: None, 1),
    "exists": (lambda given: True, 0),
    "reload": (lambda given: None, 0),
    "metadata": (lambda given: metadata(given.model), 0),
    "read": (_read_text, 0),
    "takesnapshot": (_snapshot, 0),
    "restoresnapshot": (_restore, 1),
    "restoresnapshotbyrename": (_restore_by_rename, 1),
    "dropsnapshot": (_drop_snapshot, 1),
    "snapshotexists": (_has_snapshot, 1),
}
"""Method in lower case → what answers it, and how many arguments it needs."""


def _or_empty(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
