"""A query, an object of the query language, as SQL; its expressions: columns, functions, values, with their aliases."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bindings.errors import ProcessError
from bindings.models.definition import bound, elements
from bindings.models.tables import quoted
from scripttest.typing_names import Json
from scripttest.values import Value

_OPS = {"=", ">", ">=", "<", "<=", "<>", "!=", "like", "match", "in", "is"}
_ALONE = re.compile(r"\s*(?:\?:([\w.]+)|\{\{\s*([\w.]+)\s*\}\})\s*")
_WITHIN = re.compile(r"\?:([\w.]+)|\{\{\s*([\w.]+)\s*\}\}")
_OTHER_COLUMN = re.compile(r"\{([^{}]+)\}")
_ALIAS = re.compile(r"(.*\S)\s+as\s+([\w$@.]+)\s*", re.IGNORECASE | re.DOTALL)
_TYPE_NOTE = re.compile(r"(?<!\s)\s*+\(\s*+[a-zA-Z]++(?:\s[\d,\s]++|(?!))?+\)\s*+$")
_AGGREGATE = re.compile(r"(?:AVG|COUNT|MAX|MIN|SUM)\s*\(.*\)", re.IGNORECASE | re.DOTALL)
_FUNCTION = re.compile(r":(\w+)\s*\((.*)\)", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_BINDING = re.compile(r"\?:([\w.]+)")
_COLUMN = re.compile(
    r"(?:(?P<owner>\$?[\w.]*\w)\.)?(?P<name>\*|[\w]+)(?P<mark>[$@*])?(?P<path>(?:\.\w+|\[\d+\])+)?", re.DOTALL
)
_LONGEST = 2000
"""Characters of a column, with its owner and its path."""
_MODEL = re.compile(r"[a-zA-Z_.]+")
TableOf = Callable[[str], str]
"""Model id → its table; raises ProcessError."""


class Select(Value):
    """A SELECT statement."""

    sql: str
    parameters: tuple[Json, ...]
    parsed: frozenset[str]
    """Keys whose values are JSON that is parsed."""


class Writer:
    """Writes the SQL of one query."""

    def __init__(self, dsl: Mapping[str, Json], table_of: TableOf, variables: Mapping[str, Json] | None = None) -> None:
        self._dsl = dsl
        self._table_of = table_of
        self._variables = dsl if variables is None else variables
        self._parameters: list[Json] = []

    def select(self, *, limit: str = "") -> Select:
        """The whole statement; `limit` is appended. Raises ProcessError."""
        body, parsed = self._body()
        for union in elements(self._dsl.get("unions")):
            other = Writer(_object(union, "unions"), self._table_of, self._variables)
            inner = other.select()
            body += f" UNION ALL {inner.sql}"
            self._parameters += inner.parameters
        return Select(sql=body + limit, parameters=tuple(self._parameters), parsed=parsed)

    def value(self, given: Json) -> Json:
        """A value with its bindings in place."""
        if not isinstance(given, str):
            return given
        alone = _ALONE.fullmatch(given)
        if alone:
            return self._variables.get(alone[1] or alone[2])
        return _WITHIN.sub(lambda found: str(self._variables.get(found[1] or found[2], "")), given)

    def whole(self, name: str) -> int | None:
        """A number of the query, such as `limit`; None: it has none."""
        value = self.value(self._dsl.get(name))
        if value is None or value == "":
            return None
        try:
            return int(float(value))
        except (TypeError, ValueError):
            raise wrong(f"{name} must be a number") from None

    def _body(self) -> tuple[str, frozenset[str]]:
        fields = [expression(str(field), self._table_of) for field in self._listed("select")]
        if not fields:
            raise wrong("select is missing")
        for field in fields:
            self._bind(field)
        source = self._source()
        joins = "".join(self._join(_object(join, "joins")) for join in elements(self._dsl.get("joins")))
        where = self._conditions(self._dsl.get("wheres"))
        groups = self._groups(fields)
        having = self._conditions(_checked_havings(self._dsl.get("havings"))) if groups else ""
        order = self._orders()
        sql = f"SELECT {', '.join(field.sql for field in fields)} FROM {source}{joins}"
        sql += f" WHERE {where}" if where else ""
        sql += f" GROUP BY {groups}" if groups else ""
        sql += f" HAVING {having}" if having else ""
        sql += f" ORDER BY {order}" if order else ""
        return sql, frozenset(field.key for field in fields if field.parsed)

    def _listed(self, name: str) -> list[Json]:
        """A list of the query, which may be written as a text with commas."""
        given = self._dsl.get(name)
        return split(given) if isinstance(given, str) else elements(given)

    def _bind(self, given: Expression) -> str:
        self._parameters += [bound(self._variables.get(name)) for name in given.bindings]
        return given.sql

    def _operand(self, text: Json) -> str:
        return self._bind(operand(str(text), self._table_of))

    def _source(self) -> str:
        if self._dsl.get("query"):
            name = str(self._dsl.get("name") or "_SUB_")
            return f"({self._sub_query(self._dsl['query'])}) AS {quoted(name)}"
        source = self._dsl.get("from")
        if not isinstance(source, str) or not source.strip():
            raise wrong("from is missing")
        return self._table(source, models=True)

    def _table(self, text: str, *, models: bool) -> str:
        name, _, alias = re.sub(r"(?<!\s)\s++as\s++", " ", text.strip(), flags=re.IGNORECASE).partition(" ")
        if name.startswith("$") and models:
            name = table_name(name[1:], self._table_of)
        return f"{quoted(name)} AS {quoted(alias.strip())}" if alias.strip() else quoted(name)

    def _sub_query(self, given: Json) -> str:
        inner = Writer(_object(given, "query"), self._table_of, self._variables)
        limit = inner.whole("limit")
        select = inner.select(limit=f" LIMIT {limit}" if limit is not None else "")
        self._parameters += select.parameters
        return select.sql

    def _join(self, join: Mapping[str, Json]) -> str:
        kind = "LEFT JOIN" if join.get("left") else "RIGHT JOIN" if join.get("right") else "JOIN"
        table = self._table(str(join.get("from") or ""), models=False)
        on = f"{self._operand(join.get('key') or '')} = {self._operand(join.get('foreign') or '')}"
        return f" {kind} {table} ON {on}"

    def _conditions(self, given: Json) -> str:
        sql = ""
        for item in elements(given):
            one, is_or = self._condition(_object(item, "wheres"))
            if one:
                sql += (" OR " if is_or else " AND ") + one if sql else one
        return sql

    def _condition(self, item: Mapping[str, Json]) -> tuple[str, bool]:
        is_or = bool(item.get("or"))
        if item.get("wheres"):
            group = self._conditions(item["wheres"])
            return f"({group})" if group else "", is_or
        key = next((key for key in item if key.lstrip().startswith(":") or key.lstrip().startswith("or :")), None)
        if key is not None:
            is_or = is_or or key.lstrip().startswith("or ")
            field = key.lstrip().removeprefix("or ").lstrip()[1:]
            op = next((name for name in item if name != key and name in _OPS - {"!="}), None)
            if op is None:
                op, value = "=", item.get("value")
            else:
                value = item[op]
        elif "field" in item:
            field, op, value = str(item["field"]), str(item.get("op") or "=").lower(), item.get("value")
            if "query" in item:
                value = {"query": item["query"]}
        else:
            raise wrong("a condition names no field")
        if field.startswith("("):
            raise wrong(f"the field {field} cannot be read")
        return self._compared(self._operand(field), op if op in _OPS else "=", value), is_or

    def _compared(self, name: str, op: str, value: Json) -> str:
        if isinstance(value, Mapping) and "query" in value:
            sub = f"({self._sub_query(value['query'])})"
            return f"{name} {'IN' if op == 'in' else self._sign(op)} {sub}"
        if op == "is":
            return f"{name} IS {'NOT ' if str(value).strip().lower() == 'not null' else ''}NULL"
        if op == "in":
            if not isinstance(value, list) or not value:
                return "0 = 1"
            self._parameters += [bound(self.value(one)) for one in value]
            return f"{name} IN ({', '.join('?' * len(value))})"
        value = self.value(value)
        if isinstance(value, str) and (column := _OTHER_COLUMN.fullmatch(value.strip())):
            return f"{name} {self._sign(op)} {self._operand(column[1])}"
        if value is None:
            return f"{name} IS NULL"
        if op in ("like", "match"):
            self._parameters.append(f"%{value}%" if op == "match" else bound(value))
            return f"{name} LIKE ?"
        self._parameters.append(bound(value))
        return f"{name} {self._sign(op)} ?"

    def _sign(self, op: str) -> str:
        return {"!=": "<>", "like": "LIKE", "match": "LIKE", "is": "IS"}.get(op, op)

    def _groups(self, fields: list[Expression]) -> str:
        names = []
        known = {field.key for field in fields}
        for part in self._listed("groups"):
            if isinstance(part, Mapping):
                text, rollup = str(part.get("field") or ""), part.get("rollup")
            else:
                text, _, rollup = re.sub(r"(?<!\s)\s++rollup\s++", "\0", str(part).strip()).partition("\0")
            if rollup:
                raise wrong("rollup is not available on SQLite")
            found = operand(text, self._table_of)
            if (found.key or text.strip()) not in known:
                raise wrong(f"{text.strip()} 不在 SELECT 列表中")
            names.append(self._bind(found))
        return ", ".join(names)

    def _orders(self) -> str:
        parts = []
        for item in self._listed("orders"):
            if isinstance(item, Mapping):
                field, sort = str(item.get("field") or ""), str(item.get("sort") or "asc")
            else:
                field, _, sort = str(item).strip().partition(" ")
            sort = sort.strip() or "asc"
            if sort not in ("asc", "desc"):
                raise wrong(f"the order of {field} is {sort}: it must be asc or desc")
            parts.append(f"{self._operand(field)} {sort.upper()}")
        return ", ".join(parts)


def _checked_havings(given: Json) -> Json:
    for item in elements(given):
        refused = next((key for key in ("in", "is", "wheres") if key in _object(item, "havings")), None)
        refused = refused or next((op for op in ("in", "is") if item.get("op") == op), None)
        if refused is not None:
            raise wrong(f"havings cannot have {refused}")
    return given


def _object(value: Json, where: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise wrong(f"{where}: an object is missing")
    return value


class Expression(Value):
    """An expression as SQL."""

    sql: str
    key: str
    """The key of its value in a row; empty: the database names it."""
    parsed: bool = False
    """Whether its value is JSON that is parsed."""
    bindings: tuple[str, ...] = ()
    """Names of values for the question marks, in order."""


def wrong(message: str, code: int = 400) -> ProcessError:
    """An error of the query language: here the head of exceptions stays in the message."""
    return ProcessError(f"Query: Exception|{code}: {message}", code)


def table_name(model: str, table_of: TableOf) -> str:
    """The table of `$model`. Raises ProcessError."""
    if not _MODEL.fullmatch(model):
        raise wrong(f"the name of the model {model} may have letters and dots only")
    return table_of(model)


def expression(text: str, table_of: TableOf) -> Expression:
    """Reads one expression. Raises ProcessError."""
    text = text.strip()
    alias = ""
    found = _ALIAS.fullmatch(text)
    if found:
        text, alias = found[1], found[2]
    if not text.startswith(":"):
        text = _TYPE_NOTE.sub("", text)
    inner = _plain(text, table_of)
    key = alias or inner.key
    return inner.replace(sql=f"{inner.sql} AS {quoted(key)}" if key else inner.sql, key=key)


def operand(text: str, table_of: TableOf) -> Expression:
    """The same without an alias, for conditions, groups and orders. An aggregate needs no colon here, because the key
    of a condition has one: `{":COUNT(id)": "", ">": 1}`."""
    text = text.strip()
    if _AGGREGATE.fullmatch(text):
        text = f":{text}"
    return _plain(text if text.startswith(":") else _TYPE_NOTE.sub("", text), table_of)


def _plain(text: str, table_of: TableOf) -> Expression:
    function = _FUNCTION.fullmatch(text)
    if function:
        args = [_plain(part.strip(), table_of) for part in split(function[2])] if function[2].strip() else []
        return Expression(
            sql=f"{function[1].upper()}({', '.join(arg.sql for arg in args)})",
            key="",
            bindings=tuple(name for arg in args for name in arg.bindings),
        )
    if _NUMBER.fullmatch(text) or _TEXT.fullmatch(text):
        return Expression(sql=text, key="")
    binding = _BINDING.fullmatch(text)
    if binding:
        return Expression(sql="?", key="", bindings=(binding[1],))
    column = _COLUMN.fullmatch(text) if len(text) <= _LONGEST else None
    if not column:
        raise wrong(f"the expression {text} cannot be read")
    return _column(column, table_of)


def _column(found: re.Match[str], table_of: TableOf) -> Expression:
    owner, name, mark, path = found["owner"], found["name"], found["mark"], found["path"]
    table = ""
    if owner:
        table = table_name(owner[1:], table_of) if owner.startswith("$") else owner
        table = f"{quoted(table)}."
    if name == "*":
        return Expression(sql=f"{table}*", key="")
    sql = f"{table}{quoted(name)}"
    if mark == "*":
        sql = f"AES_DECRYPT({sql})"
    if path:
        return Expression(sql=f"JSON_EXTRACT({sql}, '${path}')", key=name)
    return Expression(sql=sql, key=name, parsed=mark in ("$", "@"))


def split(text: str) -> list[str]:
    """Splits a list at commas that are outside brackets and quotes."""
    parts, depth, start, quote = [], 0, 0, False
    for at, letter in enumerate(text):
        if letter == "'":
            quote = not quote
        elif quote:
            continue
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
