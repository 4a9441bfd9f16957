"""`session.`: values kept for one test, in `call.world.session`.

Another session's id as the last argument reaches values of that session, also kept for the test. Lifetimes are seconds
of the test's clock."""

from __future__ import annotations

import json

from bindings.policy import HostCall
from bindings.processes.arguments import Arguments, host_functions
from scripttest.typing_names import Json

DEFAULT_ID = "test-session"
MAX_VALUE = 1_000_000
"""Characters of one value, as JSON, or bytes."""
MAX_NAMES = 200
"""Values of one test."""
_ENDS = "\0ends"
"""Where `call.world.session` keeps when values end: `name → seconds since 1970`."""


def _id(given: Arguments, call: HostCall) -> Json:
    return call.authorized.get("session_id") or DEFAULT_ID


def _prefix(given: Arguments, call: HostCall, position: int) -> str:
    """What the keys of the session named by an argument start with; nothing for the test's own session."""
    own = str(_id(given, call))
    other = given.string(position, own)
    return "" if other == own else f"\0{other}\0"


def _value(call: HostCall, name: str) -> Json:
    """A value, unless its time is over."""
    ends: dict[str, float] = call.world.session.get(_ENDS) or {}
    if name in ends and ends[name] <= call.world.clock.seconds:
        del ends[name]
        call.world.session.pop(name, None)
    return call.world.session.get(name)


def _get_many(given: Arguments, call: HostCall) -> Json:
    prefix = _prefix(given, call, 2)
    return {name: _value(call, prefix + name) for name in given.strings(1)}


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


def _set(given: Arguments, call: HostCall) -> Json:
    name, value = given.string(1), given.any(2)
    _keep(given, call, {_prefix(given, call, 4) + name: value}, given.integer(3, 0))
    return None


def _set_many(given: Arguments, call: HostCall) -> Json:
    values = given.record(1)
    prefix = _prefix(given, call, 3)
    _keep(given, call, {prefix + name: value for name, value in values.items()}, given.integer(2, 0))
    return None


def _del(given: Arguments, call: HostCall) -> Json:
    call.world.session.pop(_prefix(given, call, 2) + given.string(1), None)
    return None


def _del_many(given: Arguments, call: HostCall) -> Json:
    prefix = _prefix(given, call, 2)
    for name in given.strings(1):
        call.world.session.pop(prefix + name, None)
    return None


def _dump(given: Arguments, call: HostCall) -> Json:
    prefix = _prefix(given, call, 1)
    names = [name for name in call.world.session if name.startswith(prefix) and "\0" not in name[len(prefix) :]]
    found = {name[len(prefix) :]: _value(call, name) for name in names}
    return {name: value for name, value in found.items() if prefix + name in call.world.session}


FUNCTIONS = host_functions(
    "session",
    {
        "ID": _id,
        "Get": lambda given, call: _value(call, _prefix(given, call, 2) + given.string(1)),
        "GetMany": _get_many,
        "Set": _set,
        "SetMany": _set_many,
        "Del": _del,
        "DelMany": _del_many,
        "Dump": _dump,
    },
)
