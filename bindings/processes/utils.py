"""`utils.*`: strings, times, arrays, objects, addresses, schemas, environment, exceptions; and as `xiang.*` and
`yao.*` the old names of processes that are now there and in `crypto.*`.

`str.Pinyin` is missing, and so are the parts of `flow.*` that run other processes.

`env.*` sees the variables that the policy allows, and those that the test has set: `env.Set` lasts for one test and
never changes the environment of the host. `fmt.*` writes to the logger `yao_test.scripts`."""

from __future__ import annotations

from typing import NoReturn

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes import codes, crypto, records, schemas
from bindings.processes.arguments import Arguments, Row, host_functions
from bindings.processes.go_text import display, sprintf
from scripttest.typing_names import Json

ENVIRONMENT_KEY = "\0env"
"""Where `call.world.session` keeps what `env.Set` set; `session.*` does not show keys with a NUL."""

MAX_SLEEP_MS = 600_000


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
    from bindings.json_path import find

    if not isinstance(value, dict):
        return False
    keys = [key for rule in rules for name, key in rule.items() if name == "haskey"]
    return all(isinstance(key, str) and (key in value or bool(find(value, key))) for key in keys)


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
    **records.TABLE,
    **codes.TABLE,
}
_FROM_CRYPTO: dict[str, Row] = {
    name: crypto.TABLE[name.removeprefix("crypto.")] for name in ("crypto.Hash", "crypto.Hmac")
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
