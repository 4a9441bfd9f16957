"""Addresses and query strings: `utils.url.`."""

from __future__ import annotations

from typing import Any

from bindings.processes.arguments import Arguments
from bindings.processes.go_text import display
from bindings.services import HostCall
from scripttest.typing_names import Json

_METHODS = ("where", "orwhere", "wherein", "orwherein")
_OPERATORS = ("eq", "gt", "lt", "ge", "le", "like", "match", "in", "null", "notnull")


def query_values(text: str) -> dict[str, list[str]]:
    """`a=1&b=2&a=3` as `{a: ["1", "3"], b: ["2"]}`; a leading `?` is fine."""
    from urllib.parse import parse_qs

    return parse_qs(text.removeprefix("?"), keep_blank_values=True)


def parse_query(given: Arguments, call: HostCall) -> Json:
    """`url.ParseQuery(text)`: names to arrays of strings."""
    return query_values(given.string(1))


def parse_url(given: Arguments, call: HostCall) -> Json:
    """`url.ParseURL(text)`: `{scheme, host, domain, path, port, query, url}`."""
    from urllib.parse import unquote, urlsplit

    text = given.string(1)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise given.error(f'"{text}" is not an address: {error}', 500) from error
    return {
        "scheme": parts.scheme,
        "host": parts.netloc.rpartition("@")[2],
        "domain": parts.hostname or "",
        "path": unquote(parts.path),
        "port": "" if port is None else str(port),
        "query": query_values(parts.query),
        "url": text,
    }


def query_param(given: Arguments, call: HostCall) -> Json:
    """`url.QueryParam(values)`: the query of a model out of `where.name.eq=x`, `select=a,b`, `order=id.desc`, `with=r`.

    Returns: `{select?, wheres?, orders?, withs?}` as model processes take it; an object without such names comes back
    empty.
    """
    values = given.record(1)
    param: dict[str, Any] = {}
    groups: dict[str, list[Json]] = {}
    for name, raw in values.items():
        texts = [display(item) for item in raw] if isinstance(raw, list) else [display(raw)]
        first = texts[0] if texts else ""
        group, dotted = _group(name)
        where = _where(dotted, texts[0] if len(texts) == 1 else texts)
        if name == "select":
            param["select"] = _list(first)
        elif name == "order":
            param["orders"] = [_order(column) for column in _list(first)]
        elif name == "with":
            for relation in _list(first):
                param.setdefault("withs", {}).setdefault(relation, {"name": relation, "query": {}})
        elif where is not None and group:
            groups.setdefault(group, []).append(where)
        elif where is not None:
            param.setdefault("wheres", []).append(where)
        elif name.endswith(".select"):
            relation = name.split(".")[0]
            entry = param.setdefault("withs", {}).setdefault(relation, {"name": relation, "query": {}})
            entry["query"]["select"] = _list(first)
    for wheres in groups.values():
        param.setdefault("wheres", []).append({"wheres": wheres})
    return param


def _group(name: str) -> tuple[str, str]:
    parts = name.split(".", 2)
    return (parts[1], parts[2]) if parts[0] == "group" and len(parts) == 3 else ("", name)


def _where(name: str, value: Json) -> Json:
    method, *path = name.split(".")
    operator = path.pop() if path else ""
    if method not in _METHODS or operator not in _OPERATORS or not path:
        return None
    where = {"column": path[-1], "value": value, "method": method, "op": operator}
    return {"rel": ".".join(path[:-1]), **where} if len(path) > 1 else where


def _order(text: str) -> Json:
    column, _, option = text.rpartition(".")
    if option not in ("asc", "desc") or not column:
        column, option = text, "asc"
    return {"column": column, "option": option}


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]
