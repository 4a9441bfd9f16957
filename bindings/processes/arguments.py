"""Checks the arguments of a process, and makes a `HostFunction` from its implementation.

A module of a namespace has implementations `(given, call) -> result` in a table. `host_functions` wraps each of them,
so that error messages take the names from the table, and scripts never get a Python exception. Positions are counted
from 1, as in the messages: `text.Extract: argument 1 must be a string, got null`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bindings.errors import ProcessError
from bindings.policy import HostCall, HostFunction
from scripttest import install_command
from scripttest.typing_names import Json

_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    ((int, float), "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (bytes, "Uint8Array"),
)


class Arguments:
    """The arguments that a script passed to one call of a process."""

    def __init__(self, process: str, values: list[Json]) -> None:
        self.process = process
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def has(self, position: int) -> bool:
        """True when the argument is there and not null."""
        return position <= len(self.values) and self.values[position - 1] is not None

    def any(self, position: int) -> Json:
        """The argument, whatever it is; null is fine, leaving it out is not."""
        if position > len(self.values):
            raise self.error(f"argument {position} is missing")
        return self.values[position - 1]

    def optional(self, position: int) -> Json:
        """The argument, or None when it was left out."""
        return self.values[position - 1] if position <= len(self.values) else None

    def string(self, position: int, default: str | None = None) -> str:
        """A string. Without a default it is required; with one, null and a missing argument mean the default."""
        if default is not None and not self.has(position):
            return default
        value = self.optional(position)
        if not isinstance(value, str):
            raise self.wrong(position, "a string")
        return value

    def integer(self, position: int, default: int | None = None) -> int:
        """A whole number; `3.0` counts as one."""
        if default is not None and not self.has(position):
            return default
        value = self.optional(position)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(position, "a whole number")
        return value

    def boolean(self, position: int, default: bool | None = None) -> bool:
        """true or false."""
        if default is not None and not self.has(position):
            return default
        value = self.optional(position)
        if not isinstance(value, bool):
            raise self.wrong(position, "a boolean")
        return value

    def array(self, position: int) -> list[Json]:
        """An array."""
        value = self.optional(position)
        if not isinstance(value, list):
            raise self.wrong(position, "an array")
        return value

    def strings(self, position: int) -> list[str]:
        """An array of strings."""
        value = self.array(position)
        if not all(isinstance(item, str) for item in value):
            raise self.wrong(position, "an array of strings")
        return value

    def records(self, position: int) -> list[dict[str, Json]]:
        """An array of objects."""
        value = self.array(position)
        if not all(isinstance(item, dict) for item in value):
            raise self.wrong(position, "an array of objects")
        return value

    def record(self, position: int, default: dict[str, Json] | None = None) -> dict[str, Json]:
        """An object."""
        if default is not None and not self.has(position):
            return default
        value = self.optional(position)
        if not isinstance(value, dict):
            raise self.wrong(position, "an object")
        return value

    def data(self, position: int) -> bytes:
        """Bytes, that is, a `Uint8Array` of the script."""
        value = self.optional(position)
        if not isinstance(value, bytes):
            raise self.wrong(position, "a Uint8Array")
        return value

    def wrong(self, position: int, expected: str) -> ProcessError:
        """The error for an argument of the wrong kind."""
        got = kind(self.values[position - 1]) if position <= len(self.values) else "nothing"
        return self.error(f"argument {position} must be {expected}, got {got}")

    def error(self, detail: str, code: int = 400) -> ProcessError:
        """An error that names this process."""
        return ProcessError(f"{self.process}: {detail}", code)

    def needs(self, package: str, extra: str) -> ProcessError:
        """The error for a library that is not installed."""
        error = self.error(f'the package "{package}" is not installed: {install_command(extra, package)}', 500)
        error.missing = True
        return error


Implementation = Callable[[Arguments, HostCall], Json]


def host_functions(namespace: str, table: Mapping[str, Implementation]) -> dict[str, HostFunction]:
    """The `FUNCTIONS` of a namespace; keys of the table are names without the namespace."""
    return {name: _host_function(f"{namespace}.{name}", implementation) for name, implementation in table.items()}


def kind(value: Json) -> str:
    """What a script would call this value: `null`, `boolean`, `number`, `string`, `array`, `object`, `Uint8Array`."""
    if value is None:
        return "null"
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return type(value).__name__


def _host_function(process: str, implementation: Implementation) -> HostFunction:
    def run(args: list[Json], call: HostCall) -> Json:
        given = Arguments(process, args)
        try:
            given.values = [_whole(value) for value in args]
            return implementation(given, call)
        except ProcessError:
            raise
        except RecursionError as error:
            raise given.error("the value is nested too deeply", 500) from error
        except OSError as error:  # its text names files of this machine
            raise given.error((error.strerror or type(error).__name__).lower(), 500) from error
        except Exception as error:
            raise given.error(str(error) or type(error).__name__, 500) from error

    return run


def _whole(value: Json) -> Json:
    """A value with U+FFFD in place of halves of surrogate pairs, which Go, and so a process of Yao, does not have."""
    if isinstance(value, str):
        return value if value.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
