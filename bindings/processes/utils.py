"""`utils.*`: strings, times, arrays, objects, addresses, schemas, environment, exceptions.

`str.Pinyin` is missing, and so are the parts of `flow.*` that run other processes.

`env.*` sees the variables that the policy allows, and those that the test has set: `env.Set` lasts for one test and
never changes the environment of the host. `fmt.*` writes to the logger `yao_test.scripts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes import codes, records, schemas
from bindings.processes.arguments import Arguments, Implementation, host_functions
from bindings.processes.go_text import display, sprintf
from scripttest.typing_names import Json

ENVIRONMENT_KEY = "\0env"
"""Where `call.world.session` keeps what `env.Set` set; `session.*` does not show keys with a NUL."""

MAX_SLEEP_MS = 600_000


def join(given: Arguments, call: HostCall) -> Json:
    """`str.Join(array, separator)`."""
    return given.string(2).join(map(display, given.array(1)))


def join_path(given: Arguments, call: HostCall) -> Json:
    """`str.JoinPath(part, ...)`: joined with `/` and cleaned of empty parts, `.` and `..`."""
    from posixpath import normpath

    parts = [text for text in (display(given.any(position)) for position in range(1, max(len(given), 2) + 1)) if text]
    return normpath("/".join(parts)).replace("//", "/") if parts else ""


def concat(given: Arguments, call: HostCall) -> Json:
    """`str.Concat(value, ...)`: at least two values."""
    given.any(2)
    return "".join(map(display, given.values))


def to_hex(given: Arguments, call: HostCall) -> Json:
    """`str.Hex(text or Uint8Array)`; null for anything else."""
    value = given.any(1)
    if isinstance(value, str):
        value = value.encode()
    return value.hex() if isinstance(value, bytes) else None


def uuid(given: Arguments, call: HostCall) -> Json:
    """`str.UUID()`: a random UUID; that of its seed in a test that has one."""
    return codes.random_uuid(call)


def _now(form: str) -> Implementation:
    def run(given: Arguments, call: HostCall) -> Json:
        import time

        return time.strftime(form, time.localtime(call.world.clock.seconds))

    return run


def _timestamp(per_second: int) -> Implementation:
    def run(given: Arguments, call: HostCall) -> Json:
        return int(call.world.clock.milliseconds * per_second / 1000)

    return run


def sleep(given: Arguments, call: HostCall) -> Json:
    """`time.Sleep(milliseconds)`: blocks, ten minutes at most; moves a clock that is stopped, and returns at once."""
    milliseconds = given.integer(1)
    if not 0 <= milliseconds <= MAX_SLEEP_MS:
        raise given.error(f"argument 1 must be from 0 to {MAX_SLEEP_MS} milliseconds, got {milliseconds}")
    if not call.world.clock.sleep(milliseconds):
        import time

        time.sleep(milliseconds / 1000)
    return None


def _variable(name: str, call: HostCall) -> str:
    changed: dict[str, str] = call.world.session.get(ENVIRONMENT_KEY) or {}
    if name not in changed and name in call.policy.environment:
        call.world.variables.add(name)
    return changed.get(name, call.policy.environment.get(name, ""))


def env_get(given: Arguments, call: HostCall) -> Json:
    """`env.Get(name)`: an empty string when the name is missing or not shown to scripts."""
    return _variable(given.string(1), call)


def env_get_many(given: Arguments, call: HostCall) -> Json:
    """`env.GetMany(name, ...)`: `{name: value}`."""
    names = [given.string(position) for position in range(1, max(len(given), 1) + 1)]
    return {name: _variable(name, call) for name in names}


def env_set(given: Arguments, call: HostCall) -> Json:
    """`env.Set(name, value)`, for the rest of the test."""
    name, value = given.string(1), given.string(2)
    call.world.session.setdefault(ENVIRONMENT_KEY, {})[name] = value
    return None


def env_set_many(given: Arguments, call: HostCall) -> Json:
    """`env.SetMany({name: value})`, for the rest of the test."""
    values = {name: display(value) for name, value in given.record(1).items()}
    call.world.session.setdefault(ENVIRONMENT_KEY, {}).update(values)
    return None


def _throw(default: str, code: int) -> Implementation:
    def run(given: Arguments, call: HostCall) -> NoReturn:
        raise ProcessError(given.string(1, default), code)

    return run


def throw(given: Arguments, call: HostCall) -> NoReturn:
    """`throw.Exception(message, code)`."""
    raise ProcessError(given.string(1), given.integer(2))


def print_values(given: Arguments, call: HostCall) -> Json:
    """`fmt.Print(value, ...)`."""
    given.any(1)
    return _log(" ".join(map(display, given.values)))


def printf(given: Arguments, call: HostCall) -> Json:
    """`fmt.Printf(format, value, ...)`."""
    template = given.string(1)
    return _log(sprintf(template, given.values[1:]) if len(given) > 1 else template)


def color_printf(given: Arguments, call: HostCall) -> Json:
    """`fmt.ColorPrintf(color, format, value, ...)`; the color is dropped."""
    given.string(1)
    return _log(sprintf(given.string(2), given.values[2:]))


def _log(text: str) -> None:
    import logging

    logging.getLogger("yao_test.scripts").info("%s", text)


def validate_rules(given: Arguments, call: HostCall) -> Json:
    """`json.Validate(value, [{haskey: path}])`: false for a value that is not an object."""
    from bindings.json_path import find

    value, rules = given.any(1), given.records(2)
    if not isinstance(value, dict):
        return False
    keys = [key for rule in rules for name, key in rule.items() if name == "haskey"]
    return all(isinstance(key, str) and (key in value or bool(find(value, key))) for key in keys)


def validate_schema(given: Arguments, call: HostCall) -> Json:
    """`jsonschema.ValidateSchema(schema)`: null, or what is wrong."""
    return schemas.schema_problem(given.any(1))


def validate_value(given: Arguments, call: HostCall) -> Json:
    """`jsonschema.Validate(schema, value)`: null, or what is wrong. `json.Validate` has them the other way round."""
    found = schemas.misfit(given.any(2), given.any(1))
    return found and found.text


def return_values(given: Arguments, call: HostCall) -> Json:
    """`flow.Return(value, ...)`: the values as an array."""
    return given.values


_TABLE: dict[str, Callable[[Arguments, HostCall], Json]] = {
    "str.Join": join,
    "str.JoinPath": join_path,
    "str.UUID": uuid,
    "str.Concat": concat,
    "str.Hex": to_hex,
    "now.Time": _now("%H:%M:%S"),
    "now.Date": _now("%Y-%m-%d"),
    "now.DateTime": _now("%Y-%m-%d %H:%M:%S"),
    "now.Timestamp": _timestamp(1),
    "now.Timestampms": _timestamp(1000),
    "arr.Get": records.array_get,
    "arr.Indexes": records.array_indexes,
    "arr.Pluck": records.array_pluck,
    "arr.Split": records.array_split,
    "arr.Column": records.array_column,
    "arr.Keep": records.array_keep,
    "arr.Tree": records.array_tree,
    "arr.Unique": records.array_unique,
    "arr.MapSet": records.array_map_set,
    "map.Get": records.map_get,
    "map.Set": records.map_set,
    "map.Del": records.map_delete,
    "map.DelMany": records.map_delete_many,
    "map.Keys": records.map_keys,
    "map.Values": records.map_values,
    "map.Array": records.map_array,
    "tree.Flatten": records.tree_flatten,
    "url.ParseQuery": records.parse_query,
    "url.QueryParam": records.query_param,
    "url.ParseURL": records.parse_url,
    "json.Validate": validate_rules,
    "jsonschema.Validate": validate_value,
    "jsonschema.ValidateSchema": validate_schema,
    "env.Get": env_get,
    "env.GetMany": env_get_many,
    "env.Set": env_set,
    "env.SetMany": env_set_many,
    "time.Sleep": sleep,
    "throw.BadRequest": _throw("Bad Request", 400),
    "throw.Unauthorized": _throw("Authentication required", 401),
    "throw.Forbidden": _throw("Access denied", 403),
    "throw.NotFound": _throw("Resource not found", 404),
    "throw.InternalError": _throw("Internal Error", 500),
    "throw.Exception": throw,
    "fmt.Print": print_values,
    "fmt.Printf": printf,
    "fmt.ColorPrintf": color_printf,
    "flow.Throw": throw,
    "flow.Return": return_values,
    "jwt.Make": codes.make_jwt,
    "jwt.Verify": codes.verify_jwt,
    "pwd.Verify": codes.verify_password,
    **codes.TABLE,
}

FUNCTIONS = host_functions("utils", _TABLE)
