"""Arrays, objects and trees, addresses and query strings: `utils.arr.`, `utils.map.`, `utils.tree.`, `utils.url.`.

Arguments are copies, so changing them changes nothing in the script. Keys keep their order, where Go's is random."""

from __future__ import annotations

from typing import Any

from bindings.processes.arguments import Arguments, Row
from bindings.processes.go_text import display
from scripttest.typing_names import Json

_METHODS = ("where", "orwhere", "wherein", "orwherein")
_OPERATORS = ("eq", "gt", "lt", "ge", "le", "like", "match", "in", "null", "notnull")


def array_split(records: list[dict[str, Json]]) -> Json:
    """`arr.Split(records)`: `{columns, values}`; the columns are the fields of the first record."""
    columns = list(records[0]) if records else []
    return {"columns": columns, "values": [[record.get(name) for name in columns] for record in records]}


def array_pluck(given: Arguments, columns: list[str], sources: dict[str, Json]) -> Json:
    """`arr.Pluck(columns, {column: {key, value, items}})`: joins several lists of records on their key."""
    if len(columns) < 2:
        raise given.error("argument 1 must have at least two columns")
    rows: dict[str, dict[str, Json]] = {}
    for column, source in sources.items():
        if not isinstance(source, dict) or not isinstance(source.get("items", []), list):
            raise given.error(f'argument 2 must have {{key, value, items}} as "{column}"')
        for item in source.get("items", []):
            if isinstance(item, dict) and source.get("key") in item:
                key = item[source["key"]]
                row = rows.setdefault(f"{type(key).__name__} {display(key)}", {columns[0]: key})
                row[column] = item.get(source.get("value"))
    return [row | {column: None for column in sources if column not in row} for row in rows.values()]


def array_tree(given: Arguments, records: list[dict[str, Json]], option: dict[str, Json]) -> Json:
    """`arr.Tree(records, {primary, parent, children, empty}?)`: nests records below their parents.

    Roots are records whose parent is `empty` (0 by default) or is not in the list. Records without the field of the
    primary key or of the parent are left out, and so are records that are their own ancestors."""
    primary, parent, children = _names(given, option)
    empty = display(option.get("empty", 0))
    nodes = {display(record[primary]): {children: [], **record} for record in records if primary in record}
    roots = []
    for key, node in nodes.items():
        above = display(node.get(parent))
        if above == empty or above not in nodes:
            if parent in node:
                roots.append(node)
        elif not _is_below(nodes, above, key, parent):
            siblings = nodes[above].get(children)
            nodes[above][children] = [*siblings, node] if isinstance(siblings, list) else [node]
    return roots


def _is_below(nodes: dict[str, dict[str, Any]], key: str, top: str, parent: str) -> bool:
    for _ in nodes:
        if key == top:
            return True
        if key not in nodes:
            return False
        key = display(nodes[key].get(parent))
    return True


def array_unique(items: list[Json]) -> Json:
    """`arr.Unique(array)`: the first of all items that print alike (1 and "1" do)."""
    first: dict[str, Json] = {}
    for item in items:
        first.setdefault(display(item), item)
    return list(first.values())


def map_get(record: dict[str, Json], key: str) -> Json:
    """`map.Get(object, key)`: the key itself, else as a path (`a.b[0]`); null when missing."""
    from bindings.json_path import find

    if key in record:
        return record[key]
    found = find(record, key) if key else []
    return found[0] if found else None


def map_delete_many(given: Arguments, record: dict[str, Json]) -> Json:
    """`map.DelMany(object, key, ...)`: the object without the keys; an array of keys is fine too."""
    keys: list[str] = []
    for position in range(2, len(given) + 1):
        keys += given.strings(position) if isinstance(given.any(position), list) else [given.string(position)]
    return {name: value for name, value in record.items() if name not in keys}


def tree_flatten(given: Arguments, nodes: list[Json], option: dict[str, Json]) -> Json:
    """`tree.Flatten(array, {primary, children, parent}?)`: parents before children, each with the id of its parent."""
    primary, parent, children = _names(given, option)
    rows: list[Json] = []
    waiting = [(node, None) for node in reversed(nodes)]
    while waiting:
        node, above = waiting.pop()
        if isinstance(node, dict):
            rows.append({name: value for name, value in node.items() if name != children} | {parent: above})
            below = node.get(children)
            if isinstance(below, list):
                waiting += [(child, node.get(primary)) for child in reversed(below)]
    return rows


def _names(given: Arguments, option: dict[str, Json]) -> list[str]:
    """The fields of the key, of the key of the parent, and of the children."""
    names = {"primary": "id", "parent": "parent", "children": "children"}
    names |= {name: option[name] for name in names if name in option}
    for name, value in names.items():
        if not isinstance(value, str):
            raise given.error(f'argument 2 must have a string as "{name}"')
    return list(names.values())


def query_values(text: str) -> dict[str, list[str]]:
    """`a=1&b=2&a=3` as `{a: ["1", "3"], b: ["2"]}`; a leading `?` is fine."""
    from urllib.parse import parse_qs

    return parse_qs(text.removeprefix("?"), keep_blank_values=True)


def parse_url(given: Arguments, text: str) -> Json:
    """`url.ParseURL(text)`: `{scheme, host, domain, path, port, query, url}`."""
    from urllib.parse import unquote, urlsplit

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


def query_param(values: dict[str, Json]) -> Json:
    """`url.QueryParam(values)`: the query of a model out of `where.name.eq=x`, `select=a,b`, `order=id.desc`,
    `with=r`. Returns `{select?, wheres?, orders?, withs?}` as model processes take it; an object without such names
    comes back empty."""
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


TABLE: dict[str, Row] = {
    "arr.Get": ("array integer", lambda items, index: items[index] if 0 <= index < len(items) else None),
    "arr.Indexes": ("array", lambda items: list(range(len(items)))),
    "arr.Pluck": ("given strings record", array_pluck),
    "arr.Split": ("records", array_split),
    "arr.Column": ("records string", lambda records, name: [record.get(name) for record in records]),
    "arr.Keep": (
        "records strings",
        lambda records, names: [{name: one.get(name) for name in names} for one in records],
    ),
    "arr.Tree": ("given records record={}", array_tree),
    "arr.Unique": ("array", array_unique),
    "arr.MapSet": ("records string any", lambda records, key, value: [{**record, key: value} for record in records]),
    "map.Get": ("record string", map_get),
    "map.Set": ("record string any", lambda record, key, value: {**record, key: value}),
    "map.Del": ("record string", lambda record, key: {name: record[name] for name in record if name != key}),
    "map.DelMany": ("given record", map_delete_many),
    "map.Keys": ("record", list),
    "map.Values": ("record", lambda record: list(record.values())),
    "map.Array": ("record", lambda record: [{"key": key, "value": value} for key, value in record.items()]),
    "tree.Flatten": ("given array record={}", tree_flatten),
    "url.ParseQuery": ("string", query_values),
    "url.QueryParam": ("record", query_param),
    "url.ParseURL": ("given string", parse_url),
}
"""Processes of `utils.`. Dots in the key of `map.Set` mean nothing; what is not there is null."""
