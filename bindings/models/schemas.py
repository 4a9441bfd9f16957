"""`schemas.<connector>.*`: tables without models. The name of the connector makes no difference."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bindings.errors import bad, failed
from bindings.models import tables
from bindings.models.database import Database
from bindings.models.definition import (
    CREATED_AT,
    DELETED_AT,
    RESTORE_DATA,
    TYPES,
    UPDATED_AT,
    Column,
    Index,
    ModelFileError,
    read_definition,
    read_index,
)
from bindings.models.store import Method, Store, arguments, method_of
from scripttest.typing_names import Json

_SIZED = re.compile(r"(\w++(?: ++\w++|(?!))*+)\s*+(?:\((\d+)(?:,(\d+))?\))?")
_READ_TYPES = {
    type.sql.partition("(")[0]: name for name, type in reversed(TYPES.items()) if type.kind not in ("id", "counted")
}
"""Declaration of a column, without its size → the first type of models that has it."""
_CHECK = re.compile(r"CONSTRAINT `((?:[^`]|``)+)` CHECK\(`(?:[^`]|``)+` IN \(((?:'(?:[^']|'')*',?)+)\)\)")


def call(store: Store, process: str, values: list[Json]) -> Json:
    """Answers `schemas.<connector>.<Method>`. Raises ProcessError."""
    method = method_of(METHODS, process, "schemas")
    return method[2](store.database, *arguments(method, process, values))


def blueprint_of(database: Database, table: str) -> dict[str, Json]:
    """The columns, indexes and options of a table. Raises ProcessError."""
    found = database.read("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", [table])
    if not found:
        raise failed(f"the table {table} does not exists")
    checks = {
        name.replace("``", "`"): [value.replace("''", "'") for value in re.findall(r"'((?:[^']|'')*)'", values)]
        for name, values in _CHECK.findall(found[0]["sql"] or "")
    }
    single, several = _indexes(database, table)
    columns = [
        _column_of(row, checks, single, is_counted="AUTOINCREMENT" in (found[0]["sql"] or "").upper())
        for row in tables.columns_of(database, table).values()
    ]
    names = [column["name"] for column in columns]
    option = {}
    if CREATED_AT in names and UPDATED_AT in names:
        option["timestamps"] = True
    if DELETED_AT in names:
        option["soft_deletes"] = True
    folded = {CREATED_AT, UPDATED_AT} if option.get("timestamps") else set()
    folded |= {DELETED_AT, RESTORE_DATA} if option.get("soft_deletes") else set()
    return {
        "columns": [column for column in columns if column["name"] not in folded],
        "indexes": several,
        "option": option,
    }


def _indexes(database: Database, table: str) -> tuple[dict[str, str], list[dict[str, Json]]]:
    """Column → `index` or `unique`, and the indexes over several columns."""
    single: dict[str, str] = {}
    several = []
    for row in database.read(f"PRAGMA index_list({tables.quoted(table)})"):
        if row["origin"] == "pk":
            continue
        columns = [part["name"] for part in database.read(f"PRAGMA index_info({tables.quoted(row['name'])})")]
        kind = "unique" if row["unique"] else "index"
        if len(columns) == 1:
            single[columns[0]] = kind
        else:
            name = str(row["name"]).removeprefix(f"{table}_")
            several.append({"name": name, "columns": columns, "type": kind})
    return single, sorted(several, key=lambda index: str(index["name"]))


def _column_of(
    row: Mapping[str, Json], checks: Mapping[str, list[str]], single: Mapping[str, str], *, is_counted: bool
) -> dict[str, Json]:
    matched = _SIZED.fullmatch(row["type"] or "TEXT")
    base, size, scale = matched.groups() if matched else (row["type"], None, None)
    name = row["name"]
    type = _READ_TYPES.get(base.upper(), "text")
    found: dict[str, Json] = {"name": name, "label": name.upper(), "type": type}
    if row["pk"] and is_counted:
        return {**found, "type": "ID", "primary": True}
    if name in checks:
        found |= {"type": "enum", "option": checks[name]}
    if size is not None and type in ("decimal", "float", "double"):
        found |= {"precision": int(size), "scale": int(scale or 0)}
    elif size is not None and int(size):
        found["length"] = int(size)
    if not row["notnull"] and not row["pk"]:
        found["nullable"] = True
    if row["dflt_value"] is not None:
        found["default"] = _default(row["dflt_value"])
    if row["pk"]:
        found["primary"] = True
    if name in single:
        found[single[name]] = True
    return found


def _default(sql: str) -> Json:
    if sql.startswith("'"):
        return sql[1:-1].replace("''", "'")
    try:
        return int(sql)
    except ValueError:
        try:
            return float(sql)
        except ValueError:
            return sql


def _columns(table: str, blueprint: Json) -> tuple[list[Column], list[Index]]:
    """The columns and indexes that a blueprint asks for; `created_at` is added to every table."""
    if not isinstance(blueprint, Mapping):
        raise bad(f"the blueprint of {table} must be an object")
    try:
        model = read_definition(table, f"of the table {table}", {**blueprint, "table": {"name": table}})
    except ModelFileError as error:
        raise failed(error.message) from error
    columns = list(model.columns)
    if CREATED_AT not in model.by_name:
        columns.append(_one_column({"name": CREATED_AT, "type": "timestamp", "default": "now()"}))
    return columns, [index.replace(type=index.type or "index") for index in model.indexes]


def _one_column(document: Json) -> Column:
    try:
        return read_definition("", "of a table", {"columns": [document]}).columns[0]
    except ModelFileError as error:
        raise failed(error.message) from error


def _save(database: Database, table: str, blueprint: Json) -> None:
    change = tables.adapt if tables.exists(database, table) else tables.make
    change(database, table, *_columns(table, blueprint))


def _add_index(database: Database, table: str, document: Json) -> None:
    index = read_index(document)
    tables.add_indexes(database, table, [index.replace(type=index.type or "index")])


def _alter(database: Database, table: str, document: Json) -> None:
    """Changes the indexes of a column; SQLite cannot change its type."""
    column = _one_column(document)
    if column.name not in tables.columns_of(database, table):
        raise failed(f"the column {column.name} does not exist in the table {table}")
    for kind in ("index", "unique"):
        database.write(f"DROP INDEX IF EXISTS {tables.quoted(f'{table}_{column.name}_{kind}')}")
    tables.index_column(database, table, column)


def _diff(database: Database, one: str, other: str) -> dict[str, Json]:
    """The changes that turn the first table into the second."""
    first, second = blueprint_of(database, one), blueprint_of(database, other)
    return {
        "Columns": _changes(first["columns"], second["columns"]),
        "Indexes": _changes(first["indexes"], second["indexes"]),
        "Option": {
            name: bool(second["option"].get(name))
            for name in sorted({*first["option"], *second["option"]})
            if first["option"].get(name) != second["option"].get(name)
        },
    }


def _changes(first: list[Json], second: list[Json]) -> dict[str, Json]:
    one, other = ({item["name"]: item for item in items} for items in (first, second))
    return {
        "Add": [item for name, item in other.items() if name not in one],
        "Del": [item for name, item in one.items() if name not in other],
        "Alt": [item for name, item in other.items() if name in one and one[name] != item],
    }


def _rename(database: Database, table: str, new: str) -> None:
    database.write(f"ALTER TABLE {tables.quoted(table)} RENAME TO {tables.quoted(new)}")


def _drop_index(database: Database, table: str, name: str) -> None:
    database.write(f"DROP INDEX {tables.quoted(f'{table}_{name}')}")


METHODS: dict[str, Method] = {
    "tableget": (1, "text", blueprint_of),
    "tables": (0, "text=", lambda database, start: [one for one in tables.names(database) if one.startswith(start)]),
    "tableexists": (1, "text", tables.exists),
    "tablecreate": (
        2,
        "text any",
        lambda database, table, given: tables.make(database, table, *_columns(table, given)),
    ),
    "tablesave": (2, "text any", _save),
    "tabledrop": (1, "text", tables.drop),
    "tablerename": (2, "text text", _rename),
    "tablediff": (2, "text text", _diff),
    "columnadd": (2, "text any", lambda database, table, given: tables.add_column(database, table, _one_column(given))),
    "columnalt": (2, "text any", _alter),
    "columndel": (2, "text text", tables.remove_column),
    "indexadd": (2, "text record", _add_index),
    "indexdel": (2, "text text", _drop_index),
    "create": (0, "", lambda database: None),
    "drop": (0, "", lambda database: None),
}
"""By name in lower case."""
