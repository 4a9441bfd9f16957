"""Conditions of models, `wheres`, as SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bindings.models.column_types import bound
from bindings.models.tables import quoted
from scripttest.typing_names import Json
from scripttest.values import Value

_SIGNS = ("<>", ">", ">=", "<", "<=")
_COMPARISONS = dict(zip(("ne", "gt", "ge", "lt", "le"), _SIGNS, strict=True)) | dict(zip(_SIGNS, _SIGNS, strict=True))
_KNOWN = {"", "=", "eq", "like", "match", "in", "null", "notnull", *_COMPARISONS}


class Condition(Value):
    """SQL with its parameters; empty SQL: there is no condition."""

    sql: str
    parameters: tuple[Json, ...] = ()


FindColumn = Callable[[str, str], str | None]
"""(column, relation or nothing) → the column as SQL names it; None: this query has no such relation."""
Warn = Callable[[str], None]


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
            warn(f'the condition on {item.get("column")} is dropped: there is no method "{item["method"]}"')
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
        warn(f'the condition on {column} compares with "=": there is no op "{item["op"]}"')
    if isinstance(item.get("value"), list) and op not in ("in", "like", "match", "null", "notnull"):
        warn(f"the condition on {column} compares with the first value of its list alone: op in takes all")
    return compared(
        name, op, item.get("value"), lambda: warn(f"the condition on {column} is dropped: its value is not a text")
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
