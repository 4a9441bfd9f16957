"""Calls of the C functions of a library, while the interpreter's lock is kept."""

from __future__ import annotations

from ctypes import (
    PyDLL,
    Structure,
    byref,
    c_char,
    c_char_p,
    c_int,
    c_longlong,
    c_size_t,
    c_uint,
    c_void_p,
    cast,
    sizeof,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Int", "Library", "Pointer", "Size", "Text", "UnsignedInt", "Value", "byref", "content", "sizeof"]

Pointer, Text, Size, Int, UnsignedInt = c_void_p, c_char_p, c_size_t, c_int, c_uint
"""An address, where None is the null pointer; bytes that end with a zero; `size_t`; `int`; `unsigned int`."""


class Value(Structure):
    """A `JSValue` of a 64-bit engine."""

    _fields_ = (("content", c_size_t), ("tag", c_longlong))


class Library:
    """The functions of a library that the interpreter has loaded."""

    def __init__(self, path: str) -> None:
        """Raises OSError."""
        self._library = PyDLL(path)

    def address(self, name: str) -> int:
        """Where a function is. Raises OSError when there is none of this name."""
        return cast(self._find(name), c_void_p).value or 0

    def function(self, name: str, result: type | None, *arguments: type) -> Callable[..., Any]:
        """A function with the types of its result and its arguments. Raises OSError when there is none of this name."""
        function = self._find(name)
        function.restype, function.argtypes = result, arguments
        called: Callable[..., Any] = function
        return called

    def _find(self, name: str) -> Any:
        try:
            return self._library[name]
        except AttributeError as error:
            raise OSError(str(error)) from error


def content(address: int, size: int) -> bytes:
    """The bytes at an address."""
    return bytes((c_char * size).from_address(address))
