"""The tables of models: how they are made, and changed when a model changes."""

from __future__ import annotations

from bindings.models.database import Database
from bindings.models.definition import Column, Model
from bindings.models.errors import failed
from scripttest.typing_names import Json


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


def create(database: Database, model: Model) -> None:
    """Makes the table of a model and its indexes. Raises ProcessError."""
    if not model.table:
        raise failed("missing table name")
    make(database, model.table, list(model.columns))
    for index in model.indexes:
        make_index(database, model.table, f"{model.table}_{index.name}", list(index.columns), index.type)


def make(database: Database, table: str, columns: list[Column]) -> None:
    """Makes a table with the indexes of its columns."""
    database.write(f"CREATE TABLE {quoted(table)} ({', '.join(column_sql(column) for column in columns)})")
    for column in columns:
        index_column(database, table, column)


def index_column(database: Database, table: str, column: Column) -> None:
    """Makes the indexes that a column asks for."""
    if column.index:
        make_index(database, table, f"{table}_{column.name}_index", [column.name], "index")
    if column.unique:
        make_index(database, table, f"{table}_{column.name}_unique", [column.name], "unique")


def make_index(database: Database, table: str, name: str, columns: list[str], type: str) -> None:
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
        text = f'column "{column.name}" of type {column.type} counts by itself, which only a primary key can'
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


def adapt(database: Database, model: Model) -> None:
    """Changes an existing table as the model says: adds new columns; columns that were removed get a name that
    begins with `__DEL__`. Types are not changed."""
    there = [row["name"] for row in database.read(f"PRAGMA table_info({quoted(model.table)})")]
    for column in model.columns:
        if column.name not in there:
            add_column(database, model.table, column)
    for name in there:
        if name not in model.by_name and not name.startswith("__DEL__"):
            remove_column(database, model.table, name)
    for index in model.indexes:
        make_index(database, model.table, f"{model.table}_{index.name}", list(index.columns), index.type)


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
