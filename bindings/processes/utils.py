"""`utils.*`: strings, times, arrays, objects, addresses, schemas, environment, exceptions; and as `xiang.*` and
`yao.*` the old names of processes that are now there and in `crypto.*`.

`str.Pinyin` is missing, and so are the parts of `flow.*` that run other processes.

Arrays and objects are copies, so changing them changes nothing in the script. Keys keep their order, where Go's is
random. What is not there is null. `env.*` sees the variables that the policy allows, and those that the test has set:
`env.Set` lasts for one test and never changes the environment of the host. `fmt.*` writes to the logger
`yao_test.scripts`."""

from __future__ import annotations

from typing import Any, NoReturn

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes import codes, encoding, schemas
from bindings.processes.arguments import Arguments, Row, display, host_functions, sprintf
from scripttest.typing_names import Json

ENVIRONMENT_KEY = "\0env"
"""Where `call.world.session` keeps what `env.Set` set; `session.*` does not show keys with a NUL."""

MAX_SLEEP_MS = 600_000
_METHODS = ("where", "orwhere", "wherein", "orwherein")
_OPERATORS = ("eq", "gt", "lt", "ge", "le", "like", "match", "in", "null", "notnull")


def join_path(given: Arguments) -> Json:
    """`str.JoinPath(part, ...)`: joined with `/` and cleaned of empty parts, `.` and `..`."""
    from posixpath import normpath

    parts = [text for text in (display(given.any(position)) for position in range(1, max(len(given), 2) + 1)) if text]
    return normpath("/".join(parts)).replace("//", "/") if parts else ""


def concat(given: Arguments) -> Json:
    """`str.Concat(value, ...)`: at least two values."""
    given.any(2)
    return "".join(map(display, given.values))


def to_hex(value: Json) -> Json:
    """`str.Hex(text or Uint8Array)`; null for anything else."""
    if isinstance(value, str):
        value = value.encode()
    return value.hex() if isinstance(value, bytes) else None


def _now(form: str) -> Row:
    def run(call: HostCall) -> Json:
        import time

        return time.strftime(form, time.localtime(call.world.clock.seconds))

    return "call", run


def sleep(given: Arguments, call: HostCall, milliseconds: int) -> None:
    """`time.Sleep(milliseconds)`: blocks, ten minutes at most; moves a clock that is stopped, and returns at once."""
    if not 0 <= milliseconds <= MAX_SLEEP_MS:
        raise given.error(f"argument 1 must be from 0 to {MAX_SLEEP_MS} milliseconds, got {milliseconds}")
    if not call.world.clock.sleep(milliseconds):
        import time

        time.sleep(milliseconds / 1000)


def env_get(call: HostCall, name: str) -> str:
    """`env.Get(name)`: an empty string when the name is missing or not shown to scripts."""
    changed: dict[str, str] = call.world.session.get(ENVIRONMENT_KEY) or {}
    if name not in changed and name in call.policy.environment:
        call.world.variables.add(name)
    return changed.get(name, call.policy.environment.get(name, ""))


def env_get_many(given: Arguments, call: HostCall) -> Json:
    """`env.GetMany(name, ...)`: `{name: value}`."""
    names = [given.string(position) for position in range(1, max(len(given), 1) + 1)]
    return {name: env_get(call, name) for name in names}


def env_set(call: HostCall, values: dict[str, Json]) -> None:
    """`env.SetMany({name: value})`, for the rest of the test."""
    changed = {name: display(value) for name, value in values.items()}
    call.world.session.setdefault(ENVIRONMENT_KEY, {}).update(changed)


def _throw(default: str, code: int) -> Row:
    def run(given: Arguments) -> NoReturn:
        raise ProcessError(given.string(1, default), code)

    return "given", run


def throw(message: str, code: int) -> NoReturn:
    """`throw.Exception(message, code)`."""
    raise ProcessError(message, code)


def print_values(given: Arguments) -> None:
    """`fmt.Print(value, ...)`."""
    given.any(1)
    _log(" ".join(map(display, given.values)))


def printf(given: Arguments, template: str) -> None:
    """`fmt.Printf(format, value, ...)`."""
    _log(sprintf(template, given.values[1:]) if len(given) > 1 else template)


def _log(text: str) -> None:
    import logging

    logging.getLogger("yao_test.scripts").info("%s", text)


def validate_rules(value: Json, rules: list[dict[str, Json]]) -> Json:
    """`json.Validate(value, [{haskey: path}])`: false for a value that is not an object."""
    from bindings.patterns import find

    if not isinstance(value, dict):
        return False
    keys = [key for rule in rules for name, key in rule.items() if name == "haskey"]
    return all(isinstance(key, str) and (key in value or bool(find(value, key))) for key in keys)


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
    from bindings.patterns import find

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


_ENVIRONMENT: dict[str, Row] = {
    "env.Get": ("call string", env_get),
    "env.GetMany": ("given call", env_get_many),
    "env.Set": ("call string string", lambda call, name, value: env_set(call, {name: value})),
    "env.SetMany": ("call record", env_set),
}
_TABLE: dict[str, Row] = {
    "str.Join": ("array string", lambda items, separator: separator.join(map(display, items))),
    "str.JoinPath": ("given", join_path),
    "str.UUID": ("call", codes.random_uuid),
    "str.Concat": ("given", concat),
    "str.Hex": ("any", to_hex),
    "now.Time": _now("%H:%M:%S"),
    "now.Date": _now("%Y-%m-%d"),
    "now.DateTime": _now("%Y-%m-%d %H:%M:%S"),
    "now.Timestamp": ("call", lambda call: int(call.world.clock.seconds)),
    "now.Timestampms": ("call", lambda call: int(call.world.clock.milliseconds)),
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
    "json.Validate": ("any records", validate_rules),
    "jsonschema.Validate": ("any any", lambda schema, value: schemas.validate(value, schema)),
    "jsonschema.ValidateSchema": ("any", schemas.schema_problem),
    "time.Sleep": ("given call integer", sleep),
    "throw.BadRequest": _throw("Bad Request", 400),
    "throw.Unauthorized": _throw("Authentication required", 401),
    "throw.Forbidden": _throw("Access denied", 403),
    "throw.NotFound": _throw("Resource not found", 404),
    "throw.InternalError": _throw("Internal Error", 500),
    "throw.Exception": ("string integer", throw),
    "fmt.Print": ("given", print_values),
    "fmt.Printf": ("given string", printf),
    # the color is dropped
    "fmt.ColorPrintf": ("given string string", lambda given, _, form: _log(sprintf(form, given.values[2:]))),
    "flow.Throw": ("string integer", throw),
    "flow.Return": ("given", lambda given: given.values),
    **_ENVIRONMENT,
    **codes.TABLE,
}
_FROM_CRYPTO: dict[str, Row] = {
    name: encoding.CRYPTO_TABLE[name.removeprefix("crypto.")] for name in ("crypto.Hash", "crypto.Hmac")
}
_OLD_NAMES = """
    helper.ArrayGet arr.Get helper.ArrayIndexes arr.Indexes helper.ArrayPluck arr.Pluck helper.ArraySplit arr.Split
    helper.ArrayColumn arr.Column helper.ArrayKeep arr.Keep helper.ArrayTree arr.Tree helper.ArrayUnique arr.Unique
    helper.ArrayMapSet arr.MapSet helper.MapKeys map.Keys helper.MapValues map.Values helper.MapToArray map.Array
    helper.MapGet map.Get helper.MapSet map.Set helper.MapDel map.Del helper.MapMultiDel map.DelMany
    helper.StrConcat str.Concat helper.HexToString str.Hex helper.EnvGet env.Get helper.EnvSet env.Set
    helper.EnvMultiGet env.GetMany helper.EnvMultiSet env.SetMany helper.JwtMake jwt.Make helper.JwtValidate jwt.Verify
    helper.PasswordValidate pwd.Verify helper.Captcha captcha.Make helper.CaptchaValidate captcha.Verify
    helper.Print fmt.Print helper.Throw throw.Exception helper.Return flow.Return
    env.Get env.Get env.Set env.Set env.MultiGet env.GetMany env.MultiSet env.SetMany
    flow.Sleep time.Sleep flow.Throw flow.Throw flow.Return flow.Return sys.Sleep time.Sleep sys.Print fmt.Print
""".split()
"""Name from before Yao 0.10, below `xiang.`, and the one below `utils.` that it has now, in turn."""

FUNCTIONS = host_functions("utils", _TABLE)
XIANG = host_functions("xiang", {old: _TABLE[new] for old, new in zip(_OLD_NAMES[::2], _OLD_NAMES[1::2], strict=True)})
YAO = host_functions("yao", {**_FROM_CRYPTO, **_ENVIRONMENT})
