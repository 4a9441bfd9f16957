"""Reads `.mod.yao` files: columns with their types, options, indexes and relations; and converts values of columns for
SQLite and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime

from bindings.errors import bad, failed
from scripttest.typing_names import Json
from scripttest.values import Value

RESTORE_DATA = "__restore_data"
DELETED_AT, CREATED_AT, UPDATED_AT = "deleted_at", "created_at", "updated_at"
PERMISSION = ("__yao_created_by", "__yao_updated_by", "__yao_team_id", "__yao_tenant_id")
_NOT_INDEXED = "__yao_updated_by"
_WITHOUT_ROWS = ("exists", "load", "metadata", "migrate", "read", "reload")
"""Methods that are about a model, and not about its rows."""


class ModelFileError(Exception):
    """The definition of a model cannot be used."""

    def __init__(self, file: str, problem: str, hint: str = "", at: tuple[str | int, ...] = ()) -> None:
        """`problem` and `hint` say what is wrong and what to do; `at` is where, as keys and indexes from the outermost
        value inwards."""
        super().__init__(problem)
        self.message = f"Cannot read model {file}: {problem}"
        self.problem = problem
        self.hint = hint
        self.at = at


class Column(Value):
    """One column of a model."""

    name: str
    type: str
    nullable: bool
    default: Json
    """None: it has none."""
    length: int
    precision: int
    scale: int
    option: tuple[str, ...]
    """The values of an enum."""
    index: bool
    unique: bool
    primary: bool
    crypt: str
    """`PASSWORD`, `AES` or nothing, in capitals."""
    validations: tuple[Mapping[str, Json], ...]
    document: Mapping[str, Json]
    """As written in the file."""

    @property
    def kind(self) -> str:
        """How its values are converted; see `column_types.TYPES`."""
        return TYPES[self.type].kind

    @property
    def is_key(self) -> bool:
        """Whether it counts rows by itself."""
        return self.kind == "id" or (self.kind == "counted" and self.primary)

    @property
    def declaration(self) -> str:
        """Its type in SQL."""
        return declaration(self.type, self.length, self.precision, self.scale)


class Index(Value):
    """An index over columns."""

    name: str
    columns: tuple[str, ...]
    type: str
    """`index`, `unique`, `primary`; others make nothing."""


class Relation(Value):
    """How rows of another model belong to rows of this one."""

    name: str
    type: str
    model: str
    key: str
    """Column of the related table."""
    foreign: str
    """Column of this table."""
    query: Mapping[str, Json]
    links: tuple[Relation, ...]


class Model(Value):
    """A model and its table."""

    id: str
    name: str
    table: str
    """Empty: the file names none."""
    columns: tuple[Column, ...]
    """With those that options add."""
    by_name: Mapping[str, Column]
    indexes: tuple[Index, ...]
    relations: Mapping[str, Relation]
    values: tuple[Mapping[str, Json], ...]
    """Rows of a new table."""
    primary: str
    timestamps: bool
    soft_deletes: bool
    file: str
    """As Yao names it, below the application: `/models/pet.mod.yao`."""
    document: Mapping[str, Json]
    source: str = ""
    """The text of the file; empty for what has none."""
    has_columns: bool = True
    """Whether its columns are known; of some built-in models only the name is, and they have no table."""

    @property
    def selected(self) -> tuple[Column, ...]:
        """The columns that a row has when none are selected."""
        return tuple(column for column in self.columns if column.name != RESTORE_DATA)

    def answers(self, method: str) -> bool:
        """Whether a method of it can be answered: where its columns are not known, only one that is not about rows."""
        return self.has_columns or method.lower() in _WITHOUT_ROWS

    def unique_columns(self) -> list[Column]:
        """The columns in a unique index or key."""
        names = [column.name for column in self.columns if column.unique or column.primary]
        names += [name for index in self.indexes if index.type == "unique" for name in index.columns]
        return [self.by_name[name] for name in dict.fromkeys(names) if name in self.by_name]


def read_definition(id: str, file: str, document: Json, table_prefix: str = "") -> Model:
    """Reads the model that a file defines. Raises ModelFileError.

    Args:
        id: id of the model, such as `user.pet`.
        file: name of the file, for messages and for scripts.
        document: the content of the file.
        table_prefix: prefix of the table's name, for models of agents and built-in models."""
    if not isinstance(document, Mapping):
        raise ModelFileError(
            file, "it is not an object", 'Write it as {"name": ..., "table": {"name": ...}, "columns": []}'
        )
    option = mapping(document.get("option"))
    columns = [_column(item, file, place) for place, item in enumerate(elements(document.get("columns")))]
    columns += _added(option)
    by_name = {column.name: column for column in columns}
    columns = list(by_name.values())
    indexes = tuple(read_index(item) for item in elements(document.get("indexes")) if mapping(item).get("name"))
    table = str(mapping(document.get("table")).get("name") or "")
    if table and table_prefix and not table.startswith(table_prefix):
        table = table_prefix + table
    return Model(
        id=id,
        name=str(document.get("name") or id),
        table=table,
        columns=tuple(columns),
        by_name=by_name,
        indexes=indexes,
        relations={name: _relation(name, mapping(item)) for name, item in mapping(document.get("relations")).items()},
        values=tuple(item for item in elements(document.get("values")) if isinstance(item, Mapping)),
        primary=_primary(columns, indexes),
        timestamps=bool(option.get("timestamps")),
        soft_deletes=bool(option.get("soft_deletes")),
        file=file,
        document=document,
    )


def _column(item: Json, file: str, place: int) -> Column:
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str) or not item["name"]:
        raise ModelFileError(file, "a column has no name", 'Each column needs "name" and "type"', ("columns", place))
    name, type_ = item["name"], str(item.get("type") or "string")
    if type_ not in TYPES:
        close = next((known for known in TYPES if known.lower() == type_.lower()), None)
        hint = f'Did you mean "{close}"?' if close else f"Types are {', '.join(TYPES)}"
        problem = f'column "{name}" has the type "{type_}", which does not exist'
        raise ModelFileError(file, problem, hint, ("columns", place, "type"))
    return Column(
        name=name,
        type=type_,
        nullable=bool(item.get("nullable")),
        default=item.get("default"),
        length=_whole(item.get("length")),
        precision=_whole(item.get("precision")),
        scale=_whole(item.get("scale")),
        option=tuple(str(value) for value in elements(item.get("option"))),
        index=bool(item.get("index")),
        unique=bool(item.get("unique")),
        primary=bool(item.get("primary")),
        crypt=str(item.get("crypt") or "").upper(),
        validations=tuple(rule for rule in elements(item.get("validations")) if isinstance(rule, Mapping)),
        document=item,
    )


def _added(option: Mapping[str, Json]) -> list[Column]:
    """The columns that options add."""
    stamp = {"type": "timestamp", "nullable": True, "index": True}
    documents: list[dict[str, Json]] = []
    if option.get("timestamps"):
        documents += [{"name": CREATED_AT, **stamp}, {"name": UPDATED_AT, **stamp}]
    if option.get("soft_deletes"):
        documents += [{"name": DELETED_AT, **stamp}, {"name": RESTORE_DATA, "type": "json", "nullable": True}]
    if option.get("permission"):
        documents += [
            {"name": name, "type": "string", "length": 128, "nullable": True, "index": name != _NOT_INDEXED}
            for name in PERMISSION
        ]
    return [_column(document, "", 0) for document in documents]


def read_index(item: Mapping[str, Json]) -> Index:
    """An index as it is written in a file."""
    return Index(
        name=str(item.get("name")),
        columns=tuple(str(name) for name in elements(item.get("columns"))),
        type=str(item.get("type") or ""),
    )


def _relation(name: str, item: Mapping[str, Json]) -> Relation:
    links = tuple(_relation(f"{name}.{link.get('model', '')}", mapping(link)) for link in elements(item.get("links")))
    return Relation(
        name=name,
        type=str(item.get("type") or ""),
        model=str(item.get("model") or ""),
        key=str(item.get("key") or ""),
        foreign=str(item.get("foreign") or ""),
        query=mapping(item.get("query")),
        links=links,
    )


def _primary(columns: list[Column], indexes: tuple[Index, ...]) -> str:
    name = "id"
    for column in columns:
        if column.is_key or column.primary:
            name = column.name
    for index in indexes:
        if index.type == "primary" and index.columns:
            name = index.columns[-1]
    return name


def mapping(value: Json) -> Mapping[str, Json]:
    """A value that is an object; else an empty one."""
    return value if isinstance(value, Mapping) else {}


def elements(value: Json) -> list[Json]:
    """A value that is a list; else an empty one."""
    return value if isinstance(value, list) else []


def _whole(value: Json) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


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
    default: tuple[int, ...]
    """Length, or precision and scale, if the file has none."""
    most: int
    """The greatest length."""


_SIZED: tuple[tuple[str, str, str, tuple[int, ...]], ...] = (
    ("ID id", "INTEGER", "id", ()),
    ("tinyIncrements smallIncrements increments bigIncrements", "INTEGER", "counted", ()),
    ("string", "VARCHAR({})", "text", (200,)),
    ("char", "CHARACTER({})", "text", (10,)),
    ("text", "TEXT", "text", ()),
    ("mediumText", "MEDIUMTEXT", "text", ()),
    ("longText", "LONGTEXT", "text", ()),
    ("json JSON jsonb JSONB", "TEXT", "json", ()),
    ("enum", "TEXT", "enum", ()),
    ("integer unsignedInteger", "INTEGER", "number", ()),
    ("tinyInteger unsignedTinyInteger", "TINYINT", "number", ()),
    ("smallInteger unsignedSmallInteger year", "SMALLINT", "number", ()),
    ("bigInteger", "BIGINT", "number", ()),
    ("unsignedBigInteger macAddress", "UNSIGNED BIG INT", "number", ()),
    ("ipAddress", "INTEGER", "number", ()),
    ("boolean Boolean", "BOOLEAN", "boolean", ()),
    ("decimal unsignedDecimal", "DECIMAL({})", "number", (10, 2)),
    ("float unsignedFloat", "FLOAT({})", "number", (10, 2)),
    ("double unsignedDouble", "DOUBLE({})", "number", (24, 2)),
    ("datetime", "DATETIME({})", "time", (0,)),
    ("timestamp", "TIMESTAMP({})", "time", (0,)),
    ("date", "DATE", "time", ()),
    ("time", "TIME({})", "time", (0,)),
    ("datetimeTz", "DATETIME({})", "zoned", (0,)),
    ("timestampTz", "TIMESTAMP({})", "zoned", (0,)),
    ("timeTz", "TIME({})", "zoned", (0,)),
    ("binary", "BLOB", "bytes", ()),
    ("uuid", "VARCHAR(36)", "text", ()),
)
"""Names of types, and the fields of `ColumnType`."""
TYPES = {
    name: ColumnType(sql=sql, kind=kind, default=default, most=30 if name == "char" else 65535)
    for names, sql, kind, default in _SIZED
    for name in names.split()
}
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


def stored(kind: str, value: Json) -> Json:
    """The form of a script's value in the database. Raises ProcessError."""
    if kind == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if value is None:
        return None
    if kind == "time":
        return _wall_clock(value)
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


def _wall_clock(value: Json) -> str:
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
