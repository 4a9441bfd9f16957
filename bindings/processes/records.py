"""Arrays, objects and trees, addresses and query strings: `utils.arr.`, `utils.map.`, `utils.tree.`, `utils.url.`.

Arguments are copies, so changing them changes nothing in the script. Keys keep their order, where Go's is random."""

from __future__ import annotations

from typing import Any

from bindings.policy import HostCall
from bindings.processes.arguments import Arguments
from bindings.processes.go_text import display
from scripttest.typing_names import Json

_METHODS = ("where", "orwhere", "wherein", "orwherein")
_OPERATORS = ("eq", "gt", "lt", "ge", "le", "like", "match", "in", "null", "notnull")


def array_get(given: Arguments, call: HostCall) -> Json:
    """`arr.Get(array, index)`: null outside the array."""
    items, index = given.array(1), given.integer(2)
    return items[index] if 0 <= index < len(items) else None


def array_indexes(given: Arguments, call: HostCall) -> Json:
    """`arr.Indexes(array)`: `[0, 1, ...]`."""
    return list(range(len(given.array(1))))


def array_column(given: Arguments, call: HostCall) -> Json:
    """`arr.Column(records, name)`: the field of each record, null where it is missing."""
    name = given.string(2)
    return [record.get(name) for record in given.records(1)]


def array_keep(given: Arguments, call: HostCall) -> Json:
    """`arr.Keep(records, names)`: records with these fields only, null where one is missing."""
    names = given.strings(2)
    return [{name: record.get(name) for name in names} for record in given.records(1)]


def array_split(given: Arguments, call: HostCall) -> Json:
    """`arr.Split(records)`: `{columns, values}`; the columns are the fields of the first record."""
    records = given.records(1)
    columns = list(records[0]) if records else []
    return {"columns": columns, "values": [[record.get(name) for name in columns] for record in records]}


def array_pluck(given: Arguments, call: HostCall) -> Json:
    """`arr.Pluck(columns, {column: {key, value, items}})`: joins several lists of records on their key."""
    columns, sources = given.strings(1), given.record(2)
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


def array_tree(given: Arguments, call: HostCall) -> Json:
    """`arr.Tree(records, {primary, parent, children, empty}?)`: nests records below their parents.

    Roots are records whose parent is `empty` (0 by default) or is not in the list. Records without the field of the
    primary key or of the parent are left out, and so are records that are their own ancestors."""
    records, option = given.records(1), given.record(2, {})
    primary, parent, children = (
        _name(given, option, name, default)
        for name, default in (("primary", "id"), ("parent", "parent"), ("children", "children"))
    )
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


def array_unique(given: Arguments, call: HostCall) -> Json:
    """`arr.Unique(array)`: the first of all items that print alike (1 and "1" do)."""
    first: dict[str, Json] = {}
    for item in given.array(1):
        first.setdefault(display(item), item)
    return list(first.values())


def array_map_set(given: Arguments, call: HostCall) -> Json:
    """`arr.MapSet(records, key, value)`: records with the field set."""
    key, value = given.string(2), given.any(3)
    return [{**record, key: value} for record in given.records(1)]


def map_get(given: Arguments, call: HostCall) -> Json:
    """`map.Get(object, key)`: the key itself, else as a path (`a.b[0]`); null when missing."""
    from bindings.json_path import find

    record, key = given.record(1), given.string(2)
    if key in record:
        return record[key]
    found = find(record, key) if key else []
    return found[0] if found else None


def map_set(given: Arguments, call: HostCall) -> Json:
    """`map.Set(object, key, value)`: the object with the key set; dots in the key mean nothing."""
    return {**given.record(1), given.string(2): given.any(3)}


def map_delete(given: Arguments, call: HostCall) -> Json:
    """`map.Del(object, key)`: the object without the key."""
    record, key = given.record(1), given.string(2)
    return {name: value for name, value in record.items() if name != key}


def map_delete_many(given: Arguments, call: HostCall) -> Json:
    """`map.DelMany(object, key, ...)`: the object without the keys; an array of keys is fine too."""
    record = given.record(1)
    keys: list[str] = []
    for position in range(2, len(given) + 1):
        keys += given.strings(position) if isinstance(given.any(position), list) else [given.string(position)]
    return {name: value for name, value in record.items() if name not in keys}


def map_keys(given: Arguments, call: HostCall) -> Json:
    """`map.Keys(object)`."""
    return list(given.record(1))


def map_values(given: Arguments, call: HostCall) -> Json:
    """`map.Values(object)`."""
    return list(given.record(1).values())


def map_array(given: Arguments, call: HostCall) -> Json:
    """`map.Array(object)`: `[{key, value}]`."""
    return [{"key": key, "value": value} for key, value in given.record(1).items()]


def tree_flatten(given: Arguments, call: HostCall) -> Json:
    """`tree.Flatten(array, {primary, children, parent}?)`: parents before children, each with the id of its parent."""
    nodes, option = given.array(1), given.record(2, {})
    primary, parent, children = (
        _name(given, option, name, default)
        for name, default in (("primary", "id"), ("parent", "parent"), ("children", "children"))
    )
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


def _name(given: Arguments, option: dict[str, Json], name: str, default: str) -> str:
    value = option.get(name, default)
    if not isinstance(value, str):
        raise given.error(f'argument 2 must have a string as "{name}"')
    return value


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
    """`url.QueryParam(values)`: the query of a model out of `where.name.eq=x`, `select=a,b`, `order=id.desc`,
    `with=r`. Returns `{select?, wheres?, orders?, withs?}` as model processes take it; an object without such names
    comes back empty."""
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
