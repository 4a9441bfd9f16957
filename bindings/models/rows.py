"""Converts rows between scripts and tables, when they are written and when they are read."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping

from bindings.errors import ProcessError
from bindings.models.column_types import read, stored
from bindings.models.definition import Column, Model
from bindings.models.errors import bad
from scripttest import install_command
from scripttest.typing_names import Json

Row = dict[str, Json]


Salt = Callable[[], bytes]
"""Draws 16 bytes for the hash of a password."""
_SALT_LETTERS = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
)
"""Translates base64 to the alphabet of bcrypt."""


def written(model: Model, row: Mapping[str, Json], salt: Salt) -> Row:
    """The values of a row as the table has them, without keys that are no columns. Raises ProcessError."""
    kept: Row = {}
    for name, value in row.items():
        column = model.by_name.get(name)
        if column is not None:
            kept[name] = stored_value(column, value, salt)
    return kept


def stored_value(column: Column, value: Json, salt: Salt) -> Json:
    """One value as the table has it. Passwords are hashed each time that they are written. Raises ProcessError."""
    if column.crypt == "PASSWORD" and value is not None:
        return _hashed(column.name, value, salt)
    return stored(column.kind, column.name, value)


def unknown(model: Model, row: Mapping[str, Json]) -> list[str]:
    """Keys of a row that are not columns."""
    return [name for name in row if name not in model.by_name]


def shown(columns: Iterable[Column], row: Mapping[str, Json], prefix: str = "") -> Row:
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
