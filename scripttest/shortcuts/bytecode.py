"""Runs the bindings from bytecode, which takes a seventh of the time of parsing them.

The engine's Python package has no call for this. But its library exports the engine's C interface (`quickjs.h`), which
works on the context in the package's object. The package is pinned to one version; if its library or its object is not
as expected, bytecode is not used. Code that runs this way must not call Python, which is possible only inside the
package's own `eval`.
"""

from __future__ import annotations

import _quickjs

from scripttest.shortcuts.library import Int, Library, Pointer, Size, Text, Value, byref, content, sizeof

_OBJECT_SIZE = 80
"""Bytes of the package's `Context`, which begins with the runtime and the context of the engine."""
_ADDRESS_SIZE = 8
"""Bytes of an address; other engines lay out a value in another way."""

# names of `quickjs.h`
_COMPILE_ONLY = 1 << 5  # JS_EVAL_FLAG_COMPILE_ONLY
_WRITE_BYTECODE = 1 << 0  # JS_WRITE_OBJ_BYTECODE
_WITHOUT_SOURCE = 1 << 4  # JS_WRITE_OBJ_STRIP_SOURCE
_WITHOUT_LINES = 1 << 5  # JS_WRITE_OBJ_STRIP_DEBUG
_READ_BYTECODE = 1 << 0  # JS_READ_OBJ_BYTECODE
_EXCEPTION = 6  # JS_TAG_EXCEPTION
_CONFIGURABLE, _WRITABLE, _ENUMERABLE = 1 << 0, 1 << 1, 1 << 2  # JS_PROP_...
PLAIN = _CONFIGURABLE | _WRITABLE | _ENUMERABLE
"""A property that can be read, replaced and deleted."""
_DEFINED = 1
"""What defining a property answers when it is done; 0 and -1 when it is not."""


class UnsupportedError(Exception):
    """The engine that is installed is not the one that this module knows."""


class BytecodeError(Exception):
    """The engine could not run a piece of code."""


class Bytecode:
    """Compiles code, and runs it in any context of this process."""

    def __init__(self) -> None:
        """Raises UnsupportedError."""
        if _quickjs.Context.__basicsize__ != _OBJECT_SIZE or sizeof(Pointer) != _ADDRESS_SIZE:
            raise UnsupportedError
        try:
            engine = Library(_quickjs.__file__)
            self._runtime_of = engine.function("JS_GetRuntime", Pointer, Pointer)
            self._eval = engine.function("JS_Eval", Value, Pointer, Text, Size, Text, Int)
            self._write = engine.function("JS_WriteObject", Pointer, Pointer, Pointer, Value, Int)
            self._read = engine.function("JS_ReadObject", Value, Pointer, Text, Size, Int)
            self._run = engine.function("JS_EvalFunction", Value, Pointer, Value)
            self._define = engine.function("JS_DefinePropertyValueStr", Int, Pointer, Value, Text, Value, Int)
            self._exception = engine.function("JS_GetException", Value, Pointer)
            self._free = engine.function("JS_FreeValue", None, Pointer, Value)
            self._free_memory = engine.function("js_free", None, Pointer, Pointer)
        except OSError as error:
            raise UnsupportedError from error
        self._compiler = _quickjs.Context()
        runtime, context = pointers(self._compiler)
        if self._runtime_of(context) != runtime:
            raise UnsupportedError

    def compile(self, source: str) -> bytes:
        """The bytecode of a script. Raises BytecodeError."""
        context = pointers(self._compiler)[1]
        text = source.encode()
        function = self._sound(context, self._eval(context, text, len(text), b"<input>", _COMPILE_ONLY))
        size = Size()
        written = self._write(context, byref(size), function, _WRITE_BYTECODE | _WITHOUT_SOURCE | _WITHOUT_LINES)
        self._free(context, function)
        if not written:
            raise BytecodeError
        code = content(written, size.value)
        self._free_memory(context, written)
        return code

    def run(self, holder: _quickjs.Context, code: bytes) -> Value:
        """Runs bytecode in a context. The value is valid while something in that context refers to it. Raises
        BytecodeError."""
        context = pointers(holder)[1]
        value = self._evaluated(context, code)
        self._free(context, value)
        return value

    def define(self, holder: _quickjs.Context, target: Value, name: bytes, code: bytes) -> None:
        """Makes the value of bytecode a property of an object. Raises BytecodeError."""
        context = pointers(holder)[1]
        if self._define(context, target, name, self._evaluated(context, code), PLAIN) != 1:
            self._failed(context)

    def _evaluated(self, context: int, code: bytes) -> Value:
        function = self._sound(context, self._read(context, code, len(code), _READ_BYTECODE))
        return self._sound(context, self._run(context, function))

    def _sound(self, context: int, value: Value) -> Value:
        if value.tag == _EXCEPTION:
            self._failed(context)
        return value

    def _failed(self, context: int) -> None:
        self._free(context, self._exception(context))
        raise BytecodeError


def pointers(holder: _quickjs.Context) -> tuple[int, int]:
    """The runtime and the context of the engine that a context of the package holds."""
    begin = id(holder) + object.__basicsize__
    return Size.from_address(begin).value, Size.from_address(begin + _ADDRESS_SIZE).value
