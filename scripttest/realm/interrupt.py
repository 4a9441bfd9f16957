"""Stops code that an engine runs, so that no `catch` or `finally` of it sees that.

The engine asks a handler now and then whether it is to go on: at jumps backwards, at calls, in regular expressions. Its
Python package lets nobody set one, but its library exports the engine's C interface (`quickjs.h`), see `bytecode`. A
handler may be set while another thread runs code: it is one pointer. Code that does not ask, such as a sort of a long
list, goes on.
"""

from __future__ import annotations

import ctypes

import _quickjs

from scripttest.shortcuts.bytecode import PLAIN, UnsupportedError, Value, function_of, pointers

_CALLABLE_SIZE = 40
"""Of the package's `Object`, which ends with a value of the engine."""

_Pointer = ctypes.c_void_p


class Interrupts:
    """Sets and removes handlers."""

    def __init__(self) -> None:
        """Raises UnsupportedError."""
        if _quickjs.Object.__basicsize__ != _CALLABLE_SIZE:
            raise UnsupportedError
        try:
            library = ctypes.PyDLL(_quickjs.__file__)
            # It answers an address, which is never 0: the engine takes that for "stop".
            self._stop = ctypes.cast(library.JS_GetRuntimeOpaque, _Pointer)
            self._handle = function_of(library.JS_SetInterruptHandler, None, _Pointer, _Pointer, _Pointer)
            self._new_error = function_of(library.JS_NewError, Value, _Pointer)
            self._class_of = function_of(library.JS_GetClassID, ctypes.c_uint32, Value)
            self._new_of_class = function_of(library.JS_NewObjectClass, Value, _Pointer, ctypes.c_uint32)
            self._free = function_of(library.JS_FreeValue, None, _Pointer, Value)
            self._uncatchable = function_of(library.JS_SetUncatchableError, None, _Pointer, Value)
            self._define = function_of(
                library.JS_DefinePropertyValueStr, ctypes.c_int, _Pointer, Value, ctypes.c_char_p, Value, ctypes.c_int
            )
        except (AttributeError, OSError) as error:
            raise UnsupportedError from error

    def stop(self, context: _quickjs.Context) -> None:
        """Has the code of a context stopped from now on, each time that it asks. From any thread."""
        self._handle(pointers(context)[0], self._stop, None)

    def allow(self, context: _quickjs.Context) -> None:
        """Lets code run again."""
        self._handle(pointers(context)[0], None, None)

    def lend_error(self, context: _quickjs.Context, callable: object) -> None:
        """Makes an error that no code can catch the property `part` of a function. It has no stack before it is
        thrown."""
        holder = pointers(context)[1]
        model = self._new_error(holder)  # which has a stack already
        error = self._new_of_class(holder, self._class_of(model))
        self._free(holder, model)
        self._uncatchable(holder, error)
        self._define(
            holder, Value.from_address(id(callable) + _CALLABLE_SIZE - ctypes.sizeof(Value)), b"part", error, PLAIN
        )
