"""`session.`: values kept for one test, in `call.world.session`; `sandbox.`: what `ctx.workspace` and `ctx.computer` of
scripts ask.

Another session's id as the last argument reaches values of that session, also kept for the test. Lifetimes are seconds
of the test's clock.

Commands are answered by mocks, in the realm. What comes here has none: it runs in a jail when `--allow-exec` names its
program, and is refused otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes.arguments import Arguments, Row, host_functions
from bindings.workspace import Workspace, workspace_of
from scripttest.typing_names import Json

DEFAULT_ID = "test-session"
MAX_VALUE = 1_000_000
"""Characters of one value, as JSON, or bytes."""
MAX_NAMES = 200
"""Values of one test."""
_ENDS = "\0ends"
"""Where `call.world.session` keeps when values end: `name → seconds since 1970`."""


def _id(call: HostCall) -> Json:
    return call.authorized.get("session_id") or DEFAULT_ID


def _prefix(given: Arguments, call: HostCall, position: int) -> str:
    """What the keys of the session named by an argument start with; nothing for the test's own session."""
    own = str(_id(call))
    other = given.string(position, own)
    return "" if other == own else f"\0{other}\0"


def _value(call: HostCall, name: str) -> Json:
    """A value, unless its time is over."""
    ends: dict[str, float] = call.world.session.get(_ENDS) or {}
    if name in ends and ends[name] <= call.world.clock.seconds:
        del ends[name]
        call.world.session.pop(name, None)
    return call.world.session.get(name)


def _keep(given: Arguments, call: HostCall, values: dict[str, Json], seconds: int) -> None:
    """Keeps values for some seconds, 0 for the rest of the test, within bounds: they lie in the process that serves all
    tests."""
    for value in values.values():
        if len(value if isinstance(value, bytes) else json.dumps(value)) > MAX_VALUE:
            raise given.error(f"a value cannot have more than {MAX_VALUE} characters as JSON", 413)
    if len(call.world.session.keys() | values.keys()) > MAX_NAMES:
        raise given.error(f"a session cannot have more than {MAX_NAMES} values", 413)
    call.world.session.update(values)
    ends: dict[str, float] = call.world.session.setdefault(_ENDS, {})
    for name in values:
        ends.pop(name, None)
        if seconds > 0:
            ends[name] = call.world.clock.seconds + seconds


def _set(given: Arguments, call: HostCall, name: str, value: Json, seconds: int) -> None:
    _keep(given, call, {_prefix(given, call, 4) + name: value}, seconds)


def _set_many(given: Arguments, call: HostCall, values: dict[str, Json], seconds: int) -> None:
    prefix = _prefix(given, call, 3)
    _keep(given, call, {prefix + name: value for name, value in values.items()}, seconds)


def _delete(given: Arguments, call: HostCall, names: list[str]) -> None:
    prefix = _prefix(given, call, 2)
    for name in names:
        call.world.session.pop(prefix + name, None)


def _dump(given: Arguments, call: HostCall) -> Json:
    prefix = _prefix(given, call, 1)
    names = [name for name in call.world.session if name.startswith(prefix) and "\0" not in name[len(prefix) :]]
    found = {name[len(prefix) :]: _value(call, name) for name in names}
    return {name: value for name, value in found.items() if prefix + name in call.world.session}


def _values(given: Arguments, call: HostCall, names: list[str]) -> dict[str, Json]:
    prefix = _prefix(given, call, 2)
    return {name: _value(call, prefix + name) for name in names}


FUNCTIONS = host_functions(
    "session",
    {
        "ID": ("call", _id),
        "Get": ("given call string", lambda given, call, name: _values(given, call, [name])[name]),
        "GetMany": ("given call strings", _values),
        "Set": ("given call string any integer=0", _set),
        "SetMany": ("given call record integer=0", _set_many),
        "Del": ("given call string", lambda given, call, name: _delete(given, call, [name])),
        "DelMany": ("given call strings", _delete),
        "Dump": ("given call", _dump),
    },
)


_OF_WORKSPACE: dict[str, Row] = {
    "ReadFile": ("string", Workspace.read),
    "WriteFile": ("string string", Workspace.write),
    "Exists": ("string", Workspace.exists),
    "ReadDir": ("string", Workspace.read_folder),
    "Stat": ("string", Workspace.stat),
    "MkdirAll": ("string", Workspace.make_folders),
    "Remove": ("string", Workspace.remove),
    "RemoveAll": ("string", Workspace.remove_all),
    "Rename": ("string string", Workspace.rename),
    "Copy": ("string string", Workspace.copy),
}


def _workspace(call: HostCall) -> Workspace:
    return workspace_of(call.world, lambda: call.app_root / "data" / call.scratch()[1:])


def _on_workspace(form: str, method: Callable[..., Json]) -> Row:
    return f"call {form}", lambda call, *paths: method(_workspace(call), *paths)


def _exec(call: HostCall, parts: list[Json]) -> Json:
    command = [str(part) for part in parts]
    shown = " ".join(command)
    if not command:
        raise ProcessError("Exec requires a command argument", 400)
    if command[0] not in call.policy.allow_exec:
        raise ProcessError(
            f'Exec failed: "{shown}" is not run here: answer it with {call.world.mock("exec", shown)}, '
            f"or run it in a jail with --allow-exec={command[0]}",
            403,
            missing=True,
        )
    from scripttest import ScriptError, run_jailed

    try:
        result = run_jailed(command, _workspace(call).root)
    except ScriptError as error:
        raise ProcessError(f"Exec failed: {error.message}") from error
    return {"stdout": result.stdout, "stderr": result.stderr, "exit_code": result.exit_code}


SANDBOX = host_functions(
    "sandbox",
    {
        **{f"workspace.{name}": _on_workspace(*row) for name, row in _OF_WORKSPACE.items()},
        "computer.Exec": ("call array", _exec),
    },
)
