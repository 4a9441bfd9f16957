"""Calls the C functions of a library, through the private module that `ctypes` uses.

Each worker has to load this before it is closed, whether it compiles or not: what stops a script needs it too. The
public `ctypes` takes 1.4 ms to import at best, `_ctypes` 0.3 ms (Python 3.11).
"""

from __future__ import annotations

from _ctypes import FUNCFLAG_CDECL, FUNCFLAG_PYTHONAPI, CFuncPtr, Structure, _SimpleCData, byref, dlopen, dlsym, sizeof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Int", "Library", "Pointer", "Size", "Text", "UnsignedInt", "Value", "byref", "content", "sizeof"]

_AT_ONCE = 2
"""`RTLD_NOW`: the library's own names are resolved while it is opened."""


class Pointer(_SimpleCData):  # type: ignore[type-arg]
    """An address; None is the null pointer."""

    _type_ = "P"


class Text(_SimpleCData):  # type: ignore[type-arg]
    """Bytes that end with a zero."""

    _type_ = "z"


class Size(_SimpleCData):  # type: ignore[type-arg]
    """A `size_t`."""

    _type_ = "L"


class Int(_SimpleCData):  # type: ignore[type-arg]
    """An `int`."""

    _type_ = "i"


class UnsignedInt(_SimpleCData):  # type: ignore[type-arg]
    """An `unsigned int`."""

    _type_ = "I"


class _Byte(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "c"


class _Long(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "q"


class Value(Structure):
    """A `JSValue` of a 64-bit engine."""

    _fields_ = (("content", Size), ("tag", _Long))


class Library:
    """The functions of a library that the interpreter has loaded."""

    def __init__(self, path: str) -> None:
        """Raises OSError."""
        self._handle = dlopen(path, _AT_ONCE)

    def address(self, name: str) -> int:
        """Where a function is. Raises OSError when there is none of this name."""
        return dlsym(self._handle, name)

    def function(self, name: str, result: type | None, *arguments: type) -> Callable[..., Any]:
        """A function with the types of its result and its arguments; the interpreter's lock is kept while it runs.
        Raises OSError when there is none of this name."""

        class Function(CFuncPtr):
            _flags_ = FUNCFLAG_CDECL | FUNCFLAG_PYTHONAPI
            _restype_ = result
            _argtypes_ = arguments

        return Function(self.address(name))


def content(address: int, size: int) -> bytes:
    """The bytes at an address."""
    return bytes((_Byte * size).from_address(address))
