"""Stops the running code of an engine, so that neither `catch` nor `finally` in it runs.

The engine calls an interrupt handler from time to time: at jumps backwards, at calls, and in regular expressions. The
Python package has no way to set one, but its library exports the engine's C interface (`quickjs.h`), see `library`. The
handler is one pointer, so it may be set while another thread runs code. Code that never calls the handler, such as
sorting a long list, continues.
"""

from __future__ import annotations

import _quickjs

from scripttest.shortcuts.bytecode import PLAIN, UnsupportedError, pointers
from scripttest.shortcuts.library import Int, Library, Pointer, Text, UnsignedInt, Value, sizeof

_CALLABLE_SIZE = 40
"""Size in bytes of the package's `Object`, which ends with a value of the engine."""


class Interrupts:
    """Stops code in engine contexts, and lets it run again."""

    def __init__(self) -> None:
        """Raises UnsupportedError when the installed engine does not fit."""
        if _quickjs.Object.__basicsize__ != _CALLABLE_SIZE:
            raise UnsupportedError
        try:
            engine = Library(_quickjs.__file__)
            # It answers an address, which is never 0: the engine takes that for "stop".
            self._stop = engine.address("JS_GetRuntimeOpaque")
            self._handle = engine.function("JS_SetInterruptHandler", None, Pointer, Pointer, Pointer)
            self._new_error = engine.function("JS_NewError", Value, Pointer)
            self._class_of = engine.function("JS_GetClassID", UnsignedInt, Value)
            self._new_of_class = engine.function("JS_NewObjectClass", Value, Pointer, UnsignedInt)
            self._free = engine.function("JS_FreeValue", None, Pointer, Value)
            self._uncatchable = engine.function("JS_SetUncatchableError", None, Pointer, Value)
            self._define = engine.function("JS_DefinePropertyValueStr", Int, Pointer, Value, Text, Value, Int)
        except OSError as error:
            raise UnsupportedError from error

    def stop(self, context: _quickjs.Context) -> None:
        """Stops the code of a context from now on, whenever the engine calls the handler. From any thread."""
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
        self._define(holder, Value.from_address(id(callable) + _CALLABLE_SIZE - sizeof(Value)), b"part", error, PLAIN)
