"""`query.<engine>.*`: what `new Query(engine)` of scripts asks."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bindings.errors import ProcessError
from bindings.models.definition import bound
from bindings.models.query_sql import Select, Writer, wrong
from bindings.models.store import Store, UnknownColumnsError, no_method
from bindings.models.tables import Row
from scripttest.typing_names import Json

ENGINES = ("default",)
LIMIT = 100
PAGE_SIZE = 20
_SETS_LIMIT = re.compile("limit|offset")
_NO_TABLE = "no such table: "
"""SQLite's message for that; the name follows."""
_SELECT, _FROM = re.compile(r"\bselect\b"), re.compile(r"\bfrom\b")
_TEXT_OR_LIST = {"type": ["string", "array"]}
_COUNT = {"type": ["integer", "string"]}
SCHEMA: dict[str, Json] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "select": _TEXT_OR_LIST,
        "from": {"type": "string"},
        "wheres": {"type": "array", "items": {"type": "object"}},
        "joins": {"type": "array", "items": {"type": "object"}},
        "groups": _TEXT_OR_LIST,
        "havings": {"type": "array", "items": {"type": "object"}},
        "orders": _TEXT_OR_LIST,
        "unions": {"type": "array", "items": {"type": "object"}},
        "query": {"type": "object"},
        "name": {"type": "string"},
        "limit": _COUNT,
        "offset": _COUNT,
        "page": _COUNT,
        "pagesize": _COUNT,
        "first": {"type": ["boolean", "integer"]},
        "sql": {
            "type": "object",
            "properties": {"stmt": {"type": "string"}, "args": {"type": "array"}, "comment": {"type": "string"}},
            "required": ["stmt"],
        },
        "comment": {"type": "string"},
        "debug": {"type": "boolean"},
    },
    "anyOf": [{"required": ["sql"]}, {"required": ["select", "from"]}, {"required": ["select", "query"]}],
}
"""JSON Schema of a query."""
_TRANSACTIONS = {"START TRANSACTION": "BEGIN", "BEGIN": "BEGIN", "COMMIT": "COMMIT", "ROLLBACK": "ROLLBACK"}


def call(store: Store, process: str, values: list[Json]) -> Json:
    """Answers `query.<engine>.<Method>`. Raises ProcessError."""
    engine, _, method = process.partition(".")[2].rpartition(".")
    if method.lower() == "open" and engine.lower() in ENGINES:
        return None
    if engine.lower() not in ENGINES:
        text = f"Query Engine {engine} does not loaded: here is only {', '.join(ENGINES)}"
        raise ProcessError(text, 400, missing=True)
    function = METHODS.get(method.lower())
    if function is None:
        raise no_method(process, f"query.{method}")
    dsl = values[0] if values else None
    return function(store, dsl) if function in _ON_TEXTS or isinstance(dsl, Mapping) else None


def _get(store: Store, dsl: Mapping[str, Json]) -> Json:
    if dsl.get("sql"):
        return _sql(store, dsl)
    writer = _writer(store, dsl)
    limit, offset = writer.whole("limit"), writer.whole("offset")
    bounds = f" LIMIT {LIMIT if limit is None else limit}" + (f" OFFSET {offset}" if offset else "")
    rows = _rows(store, writer.select(limit=bounds))
    if limit is None and len(rows) == LIMIT:
        store.warn(f"Query: Get returns the first {LIMIT} rows, since there is no limit; there may be more")
    return rows


def _first(store: Store, dsl: Mapping[str, Json]) -> Json:
    rows = _sql(store, dsl) if dsl.get("sql") else _get(store, {**dsl, "limit": 1})
    return rows[0] if rows else None


def _paginate(store: Store, dsl: Mapping[str, Json]) -> Json:
    writer = _writer(store, dsl)
    page, size = max(1, writer.whole("page") or 1), writer.whole("pagesize") or PAGE_SIZE
    if dsl.get("sql"):
        stmt, args = _statement(store, dsl)
        selects = _SELECT.search(stmt)
        total = _total(store, stmt, args) if selects and _FROM.search(stmt, selects.end()) else -1
        rows = _asked(store, f"{stmt} LIMIT {size} OFFSET {(page - 1) * size}", args)
    else:
        select = writer.select()
        total = _total(store, select.sql, select.parameters)
        rows = _rows(store, select.replace(sql=f"{select.sql} LIMIT {size} OFFSET {(page - 1) * size}"))
    pages = math.ceil(total / size) if total > 0 else -1
    return {
        "items": rows,
        "total": total,
        "page": page,
        "pagesize": size,
        "pagecnt": pages,
        "next": page + 1 if page < pages or pages == -1 else -1,
        "prev": page - 1 if page > 1 else -1,
    }


def _run(store: Store, dsl: Mapping[str, Json]) -> Json:
    if dsl.get("page") or dsl.get("pagesize"):
        return _paginate(store, dsl)
    if dsl.get("first"):
        return _first(store, dsl)
    if not dsl.get("sql"):
        return _get(store, dsl)
    rows = _sql(store, dsl)
    if rows:
        store.warn("Query: Run returns no rows of a SELECT: use Get")
    return {}


def _sql(store: Store, dsl: Mapping[str, Json]) -> list[Row]:
    stmt, args = _statement(store, dsl)
    words = stmt.strip().rstrip(";").strip()
    known = _TRANSACTIONS.get(words.upper())
    if known is not None:
        return _asked(store, known)
    writer = _writer(store, dsl)
    limit, offset = writer.whole("limit"), writer.whole("offset")
    if limit is not None and not _SETS_LIMIT.search(words):
        words += f" LIMIT {limit}" + (f" OFFSET {offset}" if offset else "")
    return _asked(store, words, args)


def _statement(store: Store, dsl: Mapping[str, Json]) -> tuple[str, list[Json]]:
    sql = dsl["sql"]
    if not isinstance(sql, Mapping) or not isinstance(sql.get("stmt"), str):
        raise wrong("sql.stmt must be a string")
    args = sql.get("args")
    writer = _writer(store, dsl)
    return sql["stmt"], [bound(writer.value(arg)) for arg in args] if isinstance(args, list) else []


def _writer(store: Store, dsl: Mapping[str, Json]) -> Writer:
    return Writer(dsl, lambda id: store.catalog.get(id).table)


def _rows(store: Store, select: Select) -> list[Row]:
    rows = _asked(store, select.sql, select.parameters)
    for row in rows if select.parsed else ():
        for key in select.parsed:
            try:
                row[key] = json.loads(row[key]) if isinstance(row[key], str) else row[key]
            except ValueError:
                raise wrong(f"the value of {key} is not JSON", 500) from None
    return rows


def _total(store: Store, sql: str, parameters: Any) -> int:
    found = _asked(store, f"SELECT COUNT(*) AS n FROM ({sql})", parameters)
    return int(found[0]["n"])


def _asked(store: Store, sql: str, parameters: Sequence[Json] = ()) -> list[Row]:
    """The rows of a statement of a script. Raises ProcessError."""
    try:
        return store.database.run_foreign(sql, parameters)
    except ProcessError as error:
        table = error.message.partition(_NO_TABLE)[2].lower()
        for model in store.catalog.all() if table else ():
            if not model.has_columns and model.table.lower() == table:
                raise UnknownColumnsError("Query", model.id) from error
        raise ProcessError(f"Query: {error.message}", error.code, missing=bool(table)) from error


def _lint(store: Store, text: Json) -> Json:
    try:
        dsl = json.loads(text) if isinstance(text, str) else text
    except ValueError as error:
        return {"valid": False, "diagnostics": [{"severity": "error", "message": str(error)}]}
    found = _validate(store, dsl)
    if found["valid"]:
        return {"valid": True, "diagnostics": [], "dsl": dsl}
    return {"valid": False, "diagnostics": [{"severity": "error", "message": found["error"]}]}


def _validate(store: Store, dsl: Json) -> dict[str, Json]:
    try:
        if not isinstance(dsl, Mapping):
            raise wrong("a query is an object")
        if dsl.get("sql"):
            _statement(store, dsl)
        else:
            _writer(store, dsl).select()
    except ProcessError as error:
        return {"valid": False, "error": error.message}
    return {"valid": True}


def _schema(store: Store, form: Json) -> Json:
    return json.dumps(SCHEMA) if form == "json" else SCHEMA


_ON_TEXTS = (_lint, _validate, _schema)
"""What takes more than objects."""
METHODS: dict[str, Callable[[Store, Any], Json]] = {
    "get": _get,
    "first": _first,
    "paginate": _paginate,
    "run": _run,
    "lint": _lint,
    "validate": _validate,
    "schema": _schema,
}
