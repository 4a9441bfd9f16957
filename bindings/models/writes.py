"""Writing rows of models: `Create`, `Save`, `Insert`, `Update`, `Delete` and their relatives; and the tables of
models, with their first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bindings.errors import ProcessError, bad, failed
from bindings.models.definition import CREATED_AT, DELETED_AT, UPDATED_AT, Model, bound
from bindings.models.reads import find, limit_of
from bindings.models.store import Store
from bindings.models.tables import (
    Condition,
    Row,
    adapt,
    conditions,
    drop,
    exists,
    make,
    plain_place,
    quoted,
    stored_value,
)
from bindings.models.validation import check, check_all, dead_rules, strict_problem
from scripttest.typing_names import Json

_INDEX_TYPES = ("index", "unique", "primary", "fulltext")
"""Types of indexes; the last two make nothing here."""


def create(store: Store, model: Model, row: Mapping[str, Json]) -> int:
    """`Create`: the new row's number."""
    return _insert(store, model, row)


def save(store: Store, model: Model, row: Mapping[str, Json]) -> Json:
    """`Save`: the id. A row with its key changes that row, be it there or not; any other is new."""
    id = row.get(model.primary)
    if id is None:
        return _insert(store, model, _without(row, UPDATED_AT, DELETED_AT))
    changes = _without(row, CREATED_AT, DELETED_AT, model.primary)
    if not _change(store, model, changes, _is(model, id)):
        store.warn(f"models.{model.id}: Save changed nothing: there is no row with the {model.primary} passed")
    return id


def insert(store: Store, model: Model, columns: Sequence[str], rows: Sequence[Sequence[Json]]) -> None:
    """`Insert`: all rows, or none."""
    for at, values in enumerate(rows):
        if len(values) > len(columns):
            raise bad(f"row {at} has {len(values)} values for {len(columns)} columns")
        if len(values) < len(columns):
            raise failed(f"runtime error: index out of range [{len(values)}] with length {len(values)}")
    given = [dict(zip(columns, values, strict=True)) for values in rows]
    _tell_dead_rules(store, model)
    check_all(model, list(given))
    names = [name for name in columns if not (model.timestamps and name == CREATED_AT)]
    stored: list[list[Json]] = []
    for one in given:
        row = {name: _value(store, model, name, one[name]) for name in names}
        if store.strict:
            _refuse(model, {name: value for name, value in row.items() if name in model.by_name}, is_new=True)
        stored.append(list(row.values()))
    if model.timestamps:
        names.append(CREATED_AT)
        stored = [[*values, store.database.timestamp()] for values in stored]
    if not rows:  # upstream writes one row of defaults
        store.warn(f"models.{model.id}: Insert without rows inserts one row of defaults")
        store.database.write(f"INSERT INTO {quoted(model.table)} DEFAULT VALUES")
        return
    store.database.write_many(_insert_sql(model, names), stored)


def update(store: Store, model: Model, id: Json, row: Mapping[str, Json]) -> None:
    """`Update`. Raises ProcessError when no row is changed."""
    if not _change(store, model, row, _is(model, id)):
        raise failed("没有数据被更新")


def update_where(store: Store, model: Model, param: Mapping[str, Json], row: Mapping[str, Json]) -> int:
    """`UpdateWhere`: how many rows were changed."""
    return _change(store, model, row, _chosen(store, model, param, deleted=False), limit_of(param))


def upsert(
    store: Store, model: Model, row: Mapping[str, Json], unique_by: Sequence[str], update_columns: Sequence[str] | None
) -> int:
    """`Upsert`: how many rows were written. Without `update_columns` every column is taken from the new row."""
    values = _columns(store, model, row, UPDATED_AT)
    if update_columns is None:
        store.warn(
            f"models.{model.id}: Upsert without updateColumns takes every column from the new row: missing ones "
            f"are set to their default or null, and {model.primary} changes"
        )
    changed = update_columns or [column.name for column in model.columns]
    sets = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in changed)
    targets = ", ".join(map(quoted, unique_by))
    sql = f"{_insert_sql(model, list(values))} ON CONFLICT ({targets}) DO UPDATE SET {sets}"
    return store.database.write(sql, list(values.values())).rowcount


def each_save(store: Store, model: Model, rows: Sequence[Json], each: Mapping[str, Json]) -> list[Json]:
    """`EachSave`: the ids in order. Errors are raised after the other rows are written; for invalid rows at once."""
    ids: list[Json] = []
    problems = []
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise bad(f"rows[{at}] must be an object")
        given = {**row, **{name: float(at) if value == "$index" else value for name, value in each.items()}}
        _check(store, model, given)
        try:
            ids.append(_save_or_create(store, model, given))
        except ProcessError as error:
            problems.append(f"rows[{at}]: {error.message}")
    if problems:
        raise failed(f"[{' '.join(problems)}]")
    return ids


def each_save_after_delete(
    store: Store, model: Model, ids: Sequence[Json], rows: Sequence[Json], each: Mapping[str, Json]
) -> list[Json]:
    """`EachSaveAfterDelete`: rows with these ids go first."""
    if ids:
        delete_where(store, model, {"wheres": [{"column": "id", "op": "in", "value": list(ids)}]})
    return each_save(store, model, rows, each)


def delete(store: Store, model: Model, id: Json) -> None:
    """`Delete`. A missing row is not an error."""
    if model.soft_deletes:
        _soft_delete(store, model, _is(model, id))
    else:
        destroy(store, model, id)


def delete_where(store: Store, model: Model, param: Mapping[str, Json]) -> int:
    """`DeleteWhere`: returns how many rows were deleted."""
    if not model.soft_deletes:
        return destroy_where(store, model, param)
    return _soft_delete(store, model, _chosen(store, model, param, deleted=False), limit_of(param))


def destroy(store: Store, model: Model, id: Json) -> None:
    """`Destroy`: removes the row for good."""
    _remove(store, model, _is(model, id))


def destroy_where(store: Store, model: Model, param: Mapping[str, Json]) -> int:
    """`DestroyWhere`: returns how many rows were removed, including rows that were deleted before."""
    return _remove(store, model, _chosen(store, model, param, deleted=True))


def _remove(store: Store, model: Model, where: Condition) -> int:
    sql = f"DELETE FROM {quoted(model.table)}{_where(model, where)}"
    return store.database.write(sql, where.parameters).rowcount


def _without(row: Mapping[str, Json], *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _save_or_create(store: Store, model: Model, row: Mapping[str, Json]) -> Json:
    id = row.get(model.primary)
    if id is not None:
        try:
            find(store, model, id, {"select": [model.primary]})
        except ProcessError:
            return _insert(store, model, row)
    return save(store, model, row)


def _insert(store: Store, model: Model, row: Mapping[str, Json]) -> int:
    values = _columns(store, model, row, CREATED_AT)
    cursor = store.database.write(_insert_sql(model, list(values)), list(values.values()))
    return int(cursor.lastrowid or 0)


def _columns(store: Store, model: Model, row: Mapping[str, Json], stamp: str, *, is_new: bool = True) -> Row:
    """The columns of a row that is written, checked; `stamp` is the column that gets the time."""
    _check(store, model, row)
    values = _kept(store, model, row)
    if model.timestamps:
        values[stamp] = store.database.timestamp()
    if store.strict:
        _refuse(model, values, is_new=is_new)
    return values


def _insert_sql(model: Model, names: Sequence[str]) -> str:
    columns = ", ".join(map(quoted, names))
    return f"INSERT INTO {quoted(model.table)} ({columns}) VALUES ({', '.join('?' * len(names))})"


def _change(store: Store, model: Model, row: Mapping[str, Json], where: Condition, limit: int = 0) -> int:
    values = _columns(store, model, row, UPDATED_AT, is_new=False)
    sets = ", ".join(f"{quoted(name)} = ?" for name in values)
    sql = f"UPDATE {quoted(model.table)} SET {sets}{_where(model, where, limit)}"
    return store.database.write(sql, (*values.values(), *where.parameters)).rowcount


def _soft_delete(store: Store, model: Model, where: Condition, limit: int = 0) -> int:
    """Marks rows, and gives texts in unique columns another value, so that they can be used again."""
    sets, parameters = [f"{quoted(DELETED_AT)} = ?"], [store.database.timestamp()]
    nanoseconds = store.database.nanoseconds()
    for at, column in enumerate(column for column in model.unique_columns() if column.type == "string"):
        suffix = f"_{nanoseconds}_{at}"
        most = int(column.declaration.partition("(")[2].rstrip(")") or 0)
        name = quoted(column.name)
        kept = f"substr({name}, 1, {max(0, most - len(suffix))})" if most else name
        sets.append(f"{name} = {kept} || ?")
        parameters.append(suffix)
    sql = f"UPDATE {quoted(model.table)} SET {', '.join(sets)}{_where(model, where, limit)}"
    return store.database.write(sql, (*parameters, *where.parameters)).rowcount


def _check(store: Store, model: Model, row: Mapping[str, Json]) -> None:
    """Raises ProcessError for a row that breaks rules."""
    _tell_dead_rules(store, model)
    check(model, row)


def _tell_dead_rules(store: Store, model: Model) -> None:
    """Warns of rules that nothing checks, once for each model."""
    if model.id in store.checked:
        return
    store.checked.add(model.id)
    for method, columns in dead_rules(model).items():
        store.warn(
            f"models.{model.id}: the validation {method} of {', '.join(columns)} never runs, because Yao skips it"
        )


def _kept(store: Store, model: Model, row: Mapping[str, Json]) -> Row:
    if extra := [name for name in row if name not in model.by_name]:
        store.warn(
            f"models.{model.id}: {', '.join(extra)} {'is not a column' if len(extra) == 1 else 'are not columns'}: "
            "left out"
        )
    columns = model.by_name
    return {name: stored_value(columns[name], value, store.salt) for name, value in row.items() if name in columns}


def _refuse(model: Model, values: Mapping[str, Json], *, is_new: bool) -> None:
    problem = strict_problem(model, values, is_new=is_new)
    if problem is not None:
        raise failed(f"{problem} (--strict-db rejects what MySQL rejects)")


def _value(store: Store, model: Model, name: str, value: Json) -> Json:
    column = model.by_name.get(name)
    return bound(value) if column is None else stored_value(column, value, store.salt)


def _is(model: Model, id: Json) -> Condition:
    return Condition(sql=f"{quoted(model.primary)} = ?", parameters=(id,))


def _chosen(store: Store, model: Model, param: Mapping[str, Json], *, deleted: bool) -> Condition:
    """The rows that a query chooses; those that were deleted before only where they count."""
    where = conditions(param.get("wheres"), plain_place, lambda message: store.warn(f"models.{model.id}: {message}"))
    if deleted or not model.soft_deletes:
        return where
    living = f"{quoted(DELETED_AT)} IS NULL"
    return where.replace(sql=f"{where.sql} AND {living}" if where.sql else living)


def _where(model: Model, where: Condition, limit: int = 0) -> str:
    chosen = f" WHERE {where.sql}" if where.sql else ""
    if not limit:
        return chosen
    return f" WHERE rowid IN (SELECT rowid FROM {quoted(model.table)}{chosen} LIMIT {limit})"


def migrate_all(store: Store) -> None:
    """Makes the tables of all models, with their first rows. A table that cannot be made is a warning."""
    for model in store.catalog.all():
        if not model.table or not model.has_columns:
            continue
        try:
            migrate(store, model)
        except ProcessError as error:
            if not model.values or not exists(store.database, model.table):
                store.warn(f"{model.file}: the table {model.table} cannot be created: {error.message}")


def migrate(store: Store, model: Model, *, force: bool = False) -> None:
    """Makes the table of a model with its first rows, or changes it as the model says. A model of which only the
    name is known has none. Raises ProcessError."""
    if not model.table:
        raise bad("missing table name")
    if not model.has_columns:
        return
    if force:
        drop(store.database, model.table)
    if exists(store.database, model.table):
        adapt(store.database, model.table, model.columns, model.indexes)
        return
    make(store.database, model.table, model.columns, model.indexes)
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
