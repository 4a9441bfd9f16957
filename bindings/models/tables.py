"""The tables of models in SQL: how they are made, and changed when a model changes; their rows, converted between
scripts and tables when they are written and read; and conditions, `wheres`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence

from bindings.errors import ProcessError, bad, failed
from bindings.models.database import Database
from bindings.models.definition import Column, Index, bound, read, stored
from scripttest import install_command
from scripttest.typing_names import Json
from scripttest.values import Value

Row = dict[str, Json]
Salt = Callable[[], bytes]
"""Draws 16 bytes for the hash of a password."""
_SALT_LETTERS = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
)
"""Translates base64 to the alphabet of bcrypt."""
_SIGNS = ("<>", ">", ">=", "<", "<=")
_COMPARISONS = dict(zip(("ne", "gt", "ge", "lt", "le"), _SIGNS, strict=True)) | dict(zip(_SIGNS, _SIGNS, strict=True))
_KNOWN = {"", "=", "eq", "like", "match", "in", "null", "notnull", *_COMPARISONS}
FindColumn = Callable[[str, str], str | None]
"""(column, relation or nothing) → the column as SQL names it; None: this query has no such relation."""
Warn = Callable[[str], None]


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return "`" + name.replace("`", "``") + "`"


def literal(value: Json) -> str:
    """A value as SQL has it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def make(database: Database, table: str, columns: Sequence[Column], indexes: Sequence[Index]) -> None:
    """Makes a table with its indexes, and those of its columns."""
    database.write(f"CREATE TABLE {quoted(table)} ({', '.join(column_sql(column) for column in columns)})")
    for column in columns:
        index_column(database, table, column)
    add_indexes(database, table, indexes)


def add_indexes(database: Database, table: str, indexes: Sequence[Index]) -> None:
    """Makes indexes that are declared beside the columns."""
    for index in indexes:
        make_index(database, table, f"{table}_{index.name}", index.columns, index.type)


def index_column(database: Database, table: str, column: Column) -> None:
    """Makes the indexes that a column asks for."""
    if column.index:
        make_index(database, table, f"{table}_{column.name}_index", (column.name,), "index")
    if column.unique:
        make_index(database, table, f"{table}_{column.name}_unique", (column.name,), "unique")


def make_index(database: Database, table: str, name: str, columns: Sequence[str], type: str) -> None:
    """Makes an index; other types than `index` and `unique` make nothing."""
    if type in ("index", "unique") and columns:
        unique = "UNIQUE " if type == "unique" else ""
        listed = ", ".join(map(quoted, columns))
        database.write(f"CREATE {unique}INDEX IF NOT EXISTS {quoted(name)} ON {quoted(table)} ({listed})")


def column_sql(column: Column) -> str:
    """A column of CREATE TABLE."""
    if column.is_key:
        return f"{quoted(column.name)} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"
    if column.kind == "counted":
        text = f'column "{column.name}" of type {column.type} is auto-incremented, which only a primary key can be'
        raise failed(f'{text}: add "primary": true, or take the type ID')
    parts = [quoted(column.name), column.declaration]
    if column.kind == "enum" and column.option:
        values = ",".join(literal(value) for value in column.option)
        parts.append(f"CONSTRAINT {quoted(column.name)} CHECK({quoted(column.name)} IN ({values}))")
    default = default_sql(column)
    parts += [] if column.nullable or not default else ["NOT NULL"]
    parts += [f"DEFAULT {default}"] if default else []
    parts += ["PRIMARY KEY"] if column.primary else []
    return " ".join(parts)


def default_sql(column: Column) -> str:
    """The default of a column in SQL; empty: it has none. A time that may not be null is now."""
    if column.type.lower().startswith("timestamp") and not column.nullable and column.default in (None, "now()"):
        return "CURRENT_TIMESTAMP"
    if isinstance(column.default, str) and column.default.lower() == "now()":
        return "CURRENT_TIMESTAMP"
    if column.default is None or isinstance(column.default, (dict, list)):
        return ""
    return literal(column.default)


def names(database: Database) -> list[str]:
    """All tables, in the order in which they were made."""
    rows = database.read("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    return [row["name"] for row in rows]


def exists(database: Database, table: str) -> bool:
    """Whether there is a table of this name."""
    return bool(database.read("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [table]))


def drop(database: Database, table: str) -> None:
    """Removes a table, be it there or not."""
    database.write(f"DROP TABLE IF EXISTS {quoted(table)}")


def adapt(database: Database, table: str, columns: Sequence[Column], indexes: Sequence[Index]) -> None:
    """Changes an existing table: adds new columns; columns that were removed get a name that begins with `__DEL__`.
    Types are not changed."""
    there, wanted = columns_of(database, table), {column.name for column in columns}
    for column in columns:
        if column.name not in there:
            add_column(database, table, column)
    for name in there:
        if name not in wanted and not name.startswith("__DEL__"):
            remove_column(database, table, name)
    add_indexes(database, table, indexes)


def columns_of(database: Database, table: str) -> dict[str, Row]:
    """What SQLite says of the columns of a table, by name."""
    return {row["name"]: row for row in database.read(f"PRAGMA table_info({quoted(table)})")}


def add_column(database: Database, table: str, column: Column) -> None:
    """Adds a column. What SQLite cannot add with a default that is computed, it adds without."""
    sql = column_sql(column).replace(" DEFAULT CURRENT_TIMESTAMP", "").replace(" PRIMARY KEY", "")
    if "DEFAULT" not in sql:
        sql = sql.replace(" NOT NULL", "")
    database.write(f"ALTER TABLE {quoted(table)} ADD COLUMN {sql}")
    index_column(database, table, column)


def remove_column(database: Database, table: str, name: str) -> None:
    """Renames a column to `__DEL__<name>`, as upstream does."""
    database.write(f"ALTER TABLE {quoted(table)} RENAME COLUMN {quoted(name)} TO {quoted('__DEL__' + name)}")


def stored_value(column: Column, value: Json, salt: Salt) -> Json:
    """One value as the table has it. Passwords are hashed each time that they are written. Raises ProcessError."""
    if column.crypt == "PASSWORD" and value is not None:
        return _hashed(column.name, value, salt)
    return stored(column.kind, value)


def row_for_scripts(columns: Iterable[Column], row: Mapping[str, Json], prefix: str = "") -> Row:
    """A row as scripts get it. In the answer of the database, the names begin with `prefix`."""
    found: Row = {}
    for column in columns:
        value = read(column.kind, column.type, column.name, row[prefix + column.name])
        *folders, last = column.name.split(".")
        place = found
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return found


def _hashed(name: str, value: Json, salt: Salt) -> str:
    if not isinstance(value, str):
        raise bad(f"{name}数值格式不是字符型")
    try:
        import bcrypt
    except ImportError as error:
        text = f'{name}: the package "bcrypt" is not installed: {install_command("crypto", "bcrypt")}'
        raise ProcessError(text, 500, missing=True) from error
    letters = b64encode(salt()).decode().rstrip("=").translate(_SALT_LETTERS)
    return bcrypt.hashpw(value.encode("utf-8", "surrogatepass")[:72], f"$2b$04${letters}".encode()).decode()


class Condition(Value):
    """SQL with its parameters; empty SQL: there is no condition."""

    sql: str
    parameters: tuple[Json, ...] = ()


def conditions(wheres: Json, place: FindColumn, warn: Warn) -> Condition:
    """The conditions of a list of wheres. `warn` is told of those that are dropped or that mean something else than
    they say."""
    sql = ""
    parameters: list[Json] = []
    if wheres is not None and not isinstance(wheres, list):
        warn("wheres is dropped: it must be a list of conditions")
    for item in wheres if isinstance(wheres, list) else []:
        if not isinstance(item, Mapping):
            warn("a condition is dropped: it must be an object")
            continue
        method = str(item.get("method") or "where").lower()
        if method not in ("where", "orwhere"):
            warn(f'the condition on {item.get("column")} is dropped: unknown method "{item["method"]}"')
            continue
        one = _condition(item, place, warn)
        if one is None or not one.sql:
            continue
        joint = (" OR " if method == "orwhere" else " AND ") if sql else ""
        sql += joint + one.sql
        parameters += one.parameters
    return Condition(sql=sql, parameters=tuple(parameters))


def _condition(item: Mapping[str, Json], place: FindColumn, warn: Warn) -> Condition | None:
    if isinstance(item.get("wheres"), list):
        group = conditions(item["wheres"], place, warn)
        return group.replace(sql=f"({group.sql})") if group.sql else None
    column = str(item.get("column") or "")
    relation = str(item.get("rel") or "")
    name = place(column, relation)
    if name is None:
        warn(f'the condition on {column} is dropped: "{relation}" is not among the relations of withs')
        return None
    op = str(item.get("op") or "").lower()
    if op not in _KNOWN:
        warn(f'the condition on {column} compares with "=": unknown op "{item["op"]}"')
    if isinstance(item.get("value"), list) and op not in ("in", "like", "match", "null", "notnull"):
        warn(f"the condition on {column} only compares with the first value of its list: use op in for all")
    return compared(
        name, op, item.get("value"), lambda: warn(f"the condition on {column} is dropped: its value is not a string")
    )


def compared(name: str, op: str, value: Json, dropped: Callable[[], None]) -> Condition | None:
    """One comparison; None: it is dropped."""
    if op == "null":
        return Condition(sql=f"{name} IS NULL")
    if op == "notnull":
        return Condition(sql=f"{name} IS NOT NULL")
    if op == "in":
        return _among(name, value)
    if op == "match":
        if not isinstance(value, str):
            dropped()
            return None
        return Condition(sql=f"{name} LIKE ?", parameters=(f"%{value}%",))
    if value is None:
        return Condition(sql=f"{name} IS NOT NULL" if op in _COMPARISONS else f"{name} IS NULL")
    if op == "like":
        return Condition(sql=f"{name} LIKE ?", parameters=(bound(value),))
    if isinstance(value, list):
        value = value[0] if value else None
    return Condition(sql=f"{name} {_COMPARISONS.get(op, '=')} ?", parameters=(bound(value),))


def _among(name: str, value: Json) -> Condition:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, Sequence) or not value:
        return Condition(sql="0 = 1")
    return Condition(sql=f"{name} IN ({', '.join('?' * len(value))})", parameters=tuple(map(bound, value)))


def plain_place(column: str, relation: str) -> str | None:
    """Columns of one table alone."""
    return quoted(column) if not relation else None
