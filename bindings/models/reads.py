"""Reading rows of models: `Get`, `Find`, `Paginate`, `Count`, with their relations."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bindings.errors import failed
from bindings.models.database import MAX_ROWS
from bindings.models.definition import DELETED_AT, Column, Model, Relation, elements, mapping
from bindings.models.store import Store
from bindings.models.tables import Condition, Row, compared, conditions, quoted, row_for_scripts
from scripttest.typing_names import Json
from scripttest.values import Value

LIMIT = 100
"""Rows of an answer whose query has no limit."""
PAGE_SIZE = 15
_SEPARATOR = "\x1f"
"""Between the parts of a name in answers of the database."""


class _Part(Value):
    """A table whose columns are part of the answer."""

    alias: str
    model: Model
    columns: tuple[Column, ...]
    nested: tuple[str, ...]
    """Their keys in the row."""
    raw: bool = False
    """Whether values are left as they are stored."""


class _Query:
    """One SELECT of a model with the tables that its relations join."""

    def __init__(self, store: Store, model: Model, param: Mapping[str, Json]) -> None:
        self.store = store
        self.model = model
        self.param = param
        self.alias = str(param.get("alias") or model.table)
        columns, raw = self._selected(model, param.get("select"), model.selected)
        self.parts = [_Part(alias=self.alias, model=model, columns=columns, nested=(), raw=raw)]
        self.joins: list[str] = []
        self.join_parameters: list[Json] = []
        self.deleted: list[str] = [f"{quoted(self.alias)}.{quoted(DELETED_AT)} IS NULL"] if model.soft_deletes else []
        self.places: dict[str, str] = {}
        """Relation → alias of its table."""
        self.many: list[tuple[Relation, Mapping[str, Json], str]] = []
        """Relations of lists, each with its query and the key of the value in the row that refers to them."""
        self._join_all(model, self.alias, mapping(param.get("withs")))

    def where(self, first: Condition | None = None) -> Condition:
        """The conditions, those on deleted rows appended at the same level, as upstream does."""
        given = first or conditions(self.param.get("wheres"), self.place, self.warn)
        parts = [given.sql] if given.sql else []
        return given.replace(sql=" AND ".join(parts + self.deleted))

    def place(self, column: str, relation: str) -> str | None:
        """The SQL name of a column in a condition."""
        alias = self.places.get(relation) if relation else self.alias
        if alias is None:
            return None
        return f"{quoted(alias)}.{quoted(column)}" if self.joins else quoted(column)

    def warn(self, message: str) -> None:
        """Called with warnings about things that do not work as they are written."""
        self.store.warn(f"models.{self.model.id}: {message}")

    def rows(self, where: Condition, limit: int, offset: int = 0) -> list[Row]:
        """The rows, without those of `many`."""
        columns = [
            f"{quoted(part.alias)}.{quoted(column.name)} AS {quoted(f'{at}{_SEPARATOR}{column.name}')}"
            for at, part in enumerate(self.parts)
            for column in part.columns
        ]
        sql = f"SELECT {', '.join(columns)} {self._from()}{_where(where)}{self._order()} LIMIT {limit} OFFSET {offset}"
        found = self.store.database.read(sql, (*self.join_parameters, *where.parameters))
        return [self._row(row) for row in found]

    def count(self, where: Condition) -> int:
        """How many rows there are."""
        sql = f"SELECT COUNT(*) AS n {self._from()}{_where(where)}"
        return int(self.store.database.read(sql, (*self.join_parameters, *where.parameters))[0]["n"])

    def add_many(self, rows: list[Row]) -> None:
        """Adds the lists of `hasMany`. A row without any has no such key."""
        for relation, query, foreign in self.many:
            related = self._related(relation)
            keys = list(dict.fromkeys(value for row in rows if (value := _at(row, foreign)) is not None))
            if not keys:
                continue
            select = query.get("select")
            if isinstance(select, list) and select:
                query = {**query, "select": list(dict.fromkeys([*select, relation.key]))}
            among = {"column": relation.key, "op": "in", "value": keys}
            wheres = query.get("wheres") or []
            given = {**query, "wheres": [among, {"wheres": wheres}] if wheres else [among]}
            children: dict[tuple[type, Json], list[Row]] = {}
            for child in get(self.store, related, given):
                children.setdefault(_kind_of(_at(child, relation.key)), []).append(child)
            for row in rows:
                found = children.get(_kind_of(_at(row, foreign)))
                if found:
                    row[relation.name] = found

    def _related(self, relation: Relation) -> Model:
        return self.store.catalog.with_columns(relation.model, f'withs "{relation.name}"')

    def _join_all(self, model: Model, alias: str, withs: Mapping[str, Json]) -> None:
        for name, given in withs.items():
            relation = model.relations.get(name)
            query = mapping(mapping(given).get("query"))
            if relation is None:
                self.warn(f'withs: "{name}" is left out: there is no such relation')
            elif relation.type == "hasOne":
                self._join(relation, alias, query, (relation.name,))
            elif relation.type == "hasMany":
                nested = self._need(alias, relation.foreign)
                self.many.append((relation, query, ".".join((*nested, relation.foreign))))
            elif relation.type == "hasOneThrough":
                self._join_through(relation, alias, query)
            else:
                self.warn(f'withs: "{name}" is left out: relations of type {relation.type} do nothing')

    def _join(self, relation: Relation, parent: str, query: Mapping[str, Json], nested: tuple[str, ...]) -> str:
        related = self._related(relation)
        alias = (
            "_".join(nested)
            if "_".join(nested) not in (self.alias, *self.places.values())
            else f"{parent}_{nested[-1]}"
        )
        source = quoted(related.table)
        given = query.get("wheres") or relation.query.get("wheres")
        if given:
            inner = conditions(given, lambda column, of: quoted(column) if not of else None, self.warn)
            if inner.sql:
                source = f"(SELECT * FROM {source} WHERE {inner.sql})"
                self.join_parameters += inner.parameters
        on = f"{quoted(alias)}.{quoted(relation.key)} = {quoted(parent)}.{quoted(relation.foreign)}"
        self.joins.append(f" LEFT JOIN {source} AS {quoted(alias)} ON {on}")
        columns, raw = self._selected(related, query.get("select") or relation.query.get("select"), related.selected)
        self.parts.append(_Part(alias=alias, model=related, columns=columns, nested=nested, raw=raw))
        self.places[".".join(nested)] = alias
        if related.soft_deletes:
            self.deleted.append(f"{quoted(alias)}.{quoted(DELETED_AT)} IS NULL")
        self._join_all(related, alias, mapping(query.get("withs")))
        return alias

    def _join_through(self, relation: Relation, parent: str, query: Mapping[str, Json]) -> None:
        for link in relation.links:
            is_last = link is relation.links[-1]
            nested = (relation.name,) if is_last else (relation.name, link.model)
            parent = self._join(link, parent, query if is_last else {}, nested)

    def _selected(self, model: Model, select: Json, all: tuple[Column, ...]) -> tuple[tuple[Column, ...], bool]:
        """The columns, and whether their values are left as they are stored: so it is when no name is known."""
        if not isinstance(select, list) or not select:
            return all, False
        columns = tuple(model.by_name[name] for name in select if isinstance(name, str) and name in model.by_name)
        unknown = [str(name) for name in select if not isinstance(name, str) or name not in (*model.by_name, "*")]
        if unknown:
            self.warn(f"select: {', '.join(unknown)} left out: no column of {model.id}")
        return (columns, False) if columns else (model.columns, True)

    def _need(self, alias: str, name: str) -> tuple[str, ...]:
        """Adds a column to the selected columns of a table. Returns the keys of its values in the row."""
        place = next(place for place, part in enumerate(self.parts) if part.alias == alias)
        part = self.parts[place]
        column = part.model.by_name.get(name)
        if column is not None and column not in part.columns:
            self.parts[place] = part.replace(columns=(*part.columns, column))
        return part.nested

    def _from(self) -> str:
        named = "" if self.alias == self.model.table else f" AS {quoted(self.alias)}"
        return f"FROM {quoted(self.model.table)}{named}{''.join(self.joins)}"

    def _order(self) -> str:
        parts, orders = [], self.param.get("orders") or []
        if not isinstance(orders, list):
            self.warn("orders is dropped: it must be a list of objects with column and option")
        for order in elements(orders):
            if not isinstance(order, Mapping):
                self.warn("an order is dropped: it must be an object with column and option")
                continue
            option = str(order.get("option") or "asc").lower()
            if option not in ("asc", "desc"):
                raise failed(f'the order of {order.get("column")} is "{order["option"]}": it must be asc or desc')
            place = self.place(str(order.get("column") or ""), str(order.get("rel") or ""))
            if place is not None:
                parts.append(f"{place} {option.upper()}")
        return f" ORDER BY {', '.join(parts)}" if parts else ""

    def _row(self, found: Row) -> Row:
        row: Row = {}
        for at, part in enumerate(self.parts):
            prefix = f"{at}{_SEPARATOR}"
            if part.raw:
                values = {column.name: found[prefix + column.name] for column in part.columns}
            else:
                values = row_for_scripts(part.columns, found, prefix)
            if part.nested:
                place = row
                for key in part.nested[:-1]:
                    place = place.setdefault(key, {})
                place.setdefault(part.nested[-1], {}).update(values)
            else:
                row.update(values)
        return row


def get(store: Store, model: Model, param: Mapping[str, Json]) -> list[Row]:
    """`Get`: at most 100 rows if there is no limit. If that cuts the answer, there is a warning."""
    query = _Query(store, model, param)
    where = query.where()
    limit = limit_of(param)
    rows = query.rows(where, limit or LIMIT + 1)
    if not limit and len(rows) > LIMIT:
        query.warn(f"Get returns the first {LIMIT} rows, since there is no limit; there are more")
        rows = rows[:LIMIT]
    query.add_many(rows)
    return rows


def find(store: Store, model: Model, id: Json, param: Mapping[str, Json]) -> Row:
    """`Find`. Raises ProcessError if the row does not exist."""
    query = _Query(store, model, {**param, "wheres": []})
    key = compared(query.place(model.primary, "") or "", "=", id, lambda: None)
    rows = query.rows(query.where(key), 1)
    if not rows:
        raise failed(f"ID={_number_text(id)}的数据不存在")
    query.add_many(rows)
    return rows[0]


def paginate(store: Store, model: Model, param: Mapping[str, Json], page: int, size: int) -> Row:
    """`Paginate`."""
    query = _Query(store, model, param)
    where = query.where()
    page, size = max(page, 1), size if size > 0 else PAGE_SIZE
    total = query.count(where)
    pages = math.ceil(total / size)
    rows = query.rows(where, size, (page - 1) * size)
    query.add_many(rows)
    return {
        "data": rows,
        "page": page,
        "pagesize": size,
        "pagecnt": pages,
        "next": page + 1 if page < pages else -1,
        "prev": page - 1 if page > 1 else -1,
        "total": total,
    }


def count(store: Store, model: Model, param: Mapping[str, Json]) -> int:
    """`Count`."""
    query = _Query(store, model, param)
    return query.count(query.where())


def all_rows(store: Store, model: Model, wheres: list[Json], *, deleted: bool) -> list[Row]:
    """The rows of a model by key, as `Get` shows them; with `deleted` those too that are deleted softly."""
    query = _Query(store, model, {"wheres": wheres, "orders": [{"column": model.primary}]})
    if deleted:
        query.deleted.clear()
    return query.rows(query.where(), MAX_ROWS)


def select_option(store: Store, model: Model, keyword: str, name: str, value: str, limit: int) -> list[Row]:
    """`SelectOption`: `[{name, id}]`."""
    param = {
        "select": [name, value],
        "wheres": [{"column": name, "op": "like", "value": f"%{keyword}%"}] if keyword else [],
        "limit": limit,
    }
    return [{"name": row.get(name), "id": row.get(value)} for row in get(store, model, param)]


def limit_of(param: Mapping[str, Json]) -> int:
    """The limit of a query; 0: it has none."""
    limit = param.get("limit")
    return max(0, int(limit)) if isinstance(limit, (int, float)) and not isinstance(limit, bool) else 0


def _where(condition: Condition) -> str:
    return f" WHERE {condition.sql}" if condition.sql else ""


def _at(row: Mapping[str, Json], name: str) -> Json:
    value: Json = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _kind_of(value: Json) -> tuple[type, Json]:
    return (float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value), value)


def _number_text(value: Json) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
