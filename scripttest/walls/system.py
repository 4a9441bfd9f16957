"""Calls of the C library."""

from __future__ import annotations

import os
from ctypes import CDLL, c_long, get_errno

NO_NEW_PRIVILEGES = 38
GET_DUMPABLE, SET_DUMPABLE = 3, 4
_DROP_OF_BOUNDING_SET = 24
_LIBRARY = CDLL(None, use_errno=True)
_CAPABILITIES = (0x20080522).to_bytes(4, "little") + bytes(4)
"""The version of the header of `capset`, and this process."""


def prctl(option: int, value: int = 0) -> int:
    """Asks something of this process, or of this thread. Raises OSError."""
    return _called("prctl", option, value, 0, 0, 0)


def syscall(number: int, *arguments: int | bytes) -> int:
    """Makes a call of the system by its number; bytes are passed by their address. Raises OSError."""
    return _called("syscall", number, *arguments)


def give_up_privileges() -> None:
    """Leaves this process, and what it becomes, no capability, also when it is root. Raises OSError."""
    try:
        for capability in range(64):
            prctl(_DROP_OF_BOUNDING_SET, capability)
    except OSError:  # it may not, as an ordinary user; or there is none of that number
        pass
    _called("capset", _CAPABILITIES, bytes(24))


def _called(name: str, *arguments: int | bytes) -> int:
    try:
        function = _LIBRARY[name]
    except AttributeError as error:  # a C library of another system
        raise OSError(38, f"the C library has no {name}") from error
    function.restype = c_long
    result: int = function(*(c_long(value) if isinstance(value, int) else value for value in arguments))
    if result == -1:
        number = get_errno()
        raise OSError(number, os.strerror(number))
    return result
