"""Reads `.mod.yao` files: columns, options, indexes and relations."""

from __future__ import annotations

from collections.abc import Mapping

from bindings.models.column_types import TYPES, declaration
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
    option = _mapping(document.get("option"))
    columns = [_column(item, file, place) for place, item in enumerate(_list(document.get("columns")))]
    columns += _added(option)
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        columns = list({column.name: column for column in columns}.values())
    indexes = tuple(_index(item) for item in _list(document.get("indexes")) if _mapping(item).get("name"))
    table = str(_mapping(document.get("table")).get("name") or "")
    if table and table_prefix and not table.startswith(table_prefix):
        table = table_prefix + table
    return Model(
        id=id,
        name=str(document.get("name") or id),
        table=table,
        columns=tuple(columns),
        by_name={column.name: column for column in columns},
        indexes=indexes,
        relations={name: _relation(name, _mapping(item)) for name, item in _mapping(document.get("relations")).items()},
        values=tuple(item for item in _list(document.get("values")) if isinstance(item, Mapping)),
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
        option=tuple(str(value) for value in _list(item.get("option"))),
        index=bool(item.get("index")),
        unique=bool(item.get("unique")),
        primary=bool(item.get("primary")),
        crypt=str(item.get("crypt") or "").upper(),
        validations=tuple(rule for rule in _list(item.get("validations")) if isinstance(rule, Mapping)),
        document=item,
    )


def _added(option: Mapping[str, Json]) -> list[Column]:
    """The columns that options add."""
    documents: list[dict[str, Json]] = []
    if option.get("timestamps"):
        documents += [
            {"name": CREATED_AT, "type": "timestamp", "nullable": True, "index": True},
            {"name": UPDATED_AT, "type": "timestamp", "nullable": True, "index": True},
        ]
    if option.get("soft_deletes"):
        documents += [
            {"name": DELETED_AT, "type": "timestamp", "nullable": True, "index": True},
            {"name": RESTORE_DATA, "type": "json", "nullable": True},
        ]
    if option.get("permission"):
        documents += [
            {"name": name, "type": "string", "length": 128, "nullable": True, "index": name != _NOT_INDEXED}
            for name in PERMISSION
        ]
    return [_column(document, "", 0) for document in documents]


def _index(item: Json) -> Index:
    return Index(
        name=str(item["name"]),
        columns=tuple(str(name) for name in _list(item.get("columns"))),
        type=str(item.get("type") or ""),
    )


def _relation(name: str, item: Mapping[str, Json]) -> Relation:
    links = tuple(_relation(f"{name}.{link.get('model', '')}", _mapping(link)) for link in _list(item.get("links")))
    return Relation(
        name=name,
        type=str(item.get("type") or ""),
        model=str(item.get("model") or ""),
        key=str(item.get("key") or ""),
        foreign=str(item.get("foreign") or ""),
        query=_mapping(item.get("query")),
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


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _whole(value: Json) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
