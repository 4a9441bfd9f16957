"""The types of columns: how SQLite declares them, and how values go in and come out."""

from __future__ import annotations

import json
import re
from datetime import datetime

from bindings.errors import bad, failed
from scripttest.typing_names import Json
from scripttest.values import Value

_FORMS = (
    re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"),
    re.compile(r"(\d{4})-(\d\d)-(\d\d)"),
    re.compile(r"()()()(\d\d):(\d\d):(\d\d)"),
)


class ColumnType(Value):
    """A type that model files know."""

    sql: str
    """Its declaration; `{}` is replaced by a length or by `precision,scale`."""
    kind: str
    """How its values are converted: `id`, `counted` (the same, in a primary key), `text`, `json`, `enum`, `number`,
    `boolean`, `time` (parsed, written in one form), `zoned` (left as given) or `bytes`."""
    default: tuple[int, ...] = ()
    """Length, or precision and scale, if the file has none."""
    most: int = 65535
    """The greatest length."""


def _types() -> dict[str, ColumnType]:
    made: dict[str, ColumnType] = {}

    def add(names: str, sql: str, kind: str, *default: int, most: int = 65535) -> None:
        for name in names.split():
            made[name] = ColumnType(sql=sql, kind=kind, default=default, most=most)

    add("ID id", "INTEGER", "id")
    add("tinyIncrements smallIncrements increments bigIncrements", "INTEGER", "counted")
    add("string", "VARCHAR({})", "text", 200)
    add("char", "CHARACTER({})", "text", 10, most=30)
    add("text", "TEXT", "text")
    add("mediumText", "MEDIUMTEXT", "text")
    add("longText", "LONGTEXT", "text")
    add("json JSON jsonb JSONB", "TEXT", "json")
    add("enum", "TEXT", "enum")
    add("integer unsignedInteger", "INTEGER", "number")
    add("tinyInteger unsignedTinyInteger", "TINYINT", "number")
    add("smallInteger unsignedSmallInteger year", "SMALLINT", "number")
    add("bigInteger", "BIGINT", "number")
    add("unsignedBigInteger macAddress", "UNSIGNED BIG INT", "number")
    add("ipAddress", "INTEGER", "number")
    add("boolean Boolean", "BOOLEAN", "boolean")
    add("decimal unsignedDecimal", "DECIMAL({})", "number", 10, 2)
    add("float unsignedFloat", "FLOAT({})", "number", 10, 2)
    add("double unsignedDouble", "DOUBLE({})", "number", 24, 2)
    add("datetime", "DATETIME({})", "time", 0)
    add("timestamp", "TIMESTAMP({})", "time", 0)
    add("date", "DATE", "time")
    add("time", "TIME({})", "time", 0)
    add("datetimeTz", "DATETIME({})", "zoned", 0)
    add("timestampTz", "TIMESTAMP({})", "zoned", 0)
    add("timeTz", "TIME({})", "zoned", 0)
    add("binary", "BLOB", "bytes")
    add("uuid", "VARCHAR(36)", "text")
    return made


TYPES = _types()
"""By name; exact case matters."""


def declaration(type: str, length: int, precision: int, scale: int) -> str:
    """A column's type in SQL."""
    known = TYPES[type]
    if len(known.default) == 2:
        return known.sql.format(f"{precision or known.default[0]},{scale if precision else known.default[1]}")
    if known.default == (0,):
        return known.sql.format(length)
    if known.default:
        return known.sql.format(known.default[0] if not 0 < length <= known.most else length)
    return known.sql


def stored(kind: str, column: str, value: Json) -> Json:
    """The form of a script's value in the database. Raises ProcessError."""
    if kind == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if value is None:
        return None
    if kind == "time":
        return wall_clock(value)
    return bound(value)


def bound(value: Json) -> Json:
    """A value of a script as a parameter of SQL. Numbers of scripts are floating."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return float(value) if abs(value) <= 1 << 53 else value
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


def wall_clock(value: Json) -> str:
    """A time as it is stored. Offsets are dropped, and the clock on the wall is kept. Raises ProcessError."""
    matched = None
    if isinstance(value, str):
        matched = next((match for form in _FORMS if (match := form.fullmatch(value))), None)
    if matched is None:
        raise failed("the given value is not time format")
    has_day = bool(matched[1])
    given = [int(part or 0) for part in (*matched.groups(), "0", "0", "0")][:6]
    year, month, day = given[:3] if has_day else (0, 1, 1)
    clock = given[3:]
    try:
        datetime(year or 1, month, day, clock[0], clock[1], clock[2])
    except ValueError:
        raise failed("the given value is not time format") from None
    return f"{year:04}-{month:02}-{day:02} {clock[0]:02}:{clock[1]:02}:{clock[2]:02}"


def read(kind: str, type: str, column: str, value: Json) -> Json:
    """The form of a database value for a script. Raises ProcessError for JSON that is none."""
    if value is None:
        return None
    if kind == "json":
        try:
            return json.loads(value)
        except (ValueError, TypeError):
            raise bad(f"the value of {column} is not JSON") from None
    if kind == "boolean":
        return bool(value)
    if type == "date" and isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d( .*)?", value):
        return f"{value[:10]}T{value[11:] or '00:00:00'}Z"
    return value
