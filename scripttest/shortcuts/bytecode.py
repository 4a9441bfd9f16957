"""Runs the bindings from bytecode, which takes a seventh of the time that parsing takes.

The engine's Python package has no call for it, but its library exports the engine's C interface (`quickjs.h`), which
works on the context that the package's object holds. The package is pinned to one version; where its library or its
object is another than expected, there is no bytecode. Code that is run here must not call Python, which can be done
only below the package's own `eval`.
"""

from __future__ import annotations

import ctypes

import _quickjs

_OBJECT_SIZE = 80
"""Of the package's `Context`, which begins with the runtime and the context of the engine."""
_COMPILE_ONLY = 1 << 5
_WRITE = 1 | 1 << 4 | 1 << 5
"""Bytecode, without source texts."""
_READ = 1
_EXCEPTION = 6
PLAIN = 7
"""A property that can be read, replaced and deleted."""

_Pointer = ctypes.c_void_p
_Text = ctypes.c_char_p
_Size = ctypes.c_size_t


class Value(ctypes.Structure):
    """A `JSValue` of a 64-bit engine."""

    _fields_ = (("content", ctypes.c_uint64), ("tag", ctypes.c_int64))


class UnsupportedError(Exception):
    """The engine that is installed is not the one that this module knows."""


class BytecodeError(Exception):
    """The engine could not run a piece of code."""


class Bytecode:
    """Compiles code, and runs it in any context of this process."""

    def __init__(self) -> None:
        """Raises UnsupportedError."""
        if _quickjs.Context.__basicsize__ != _OBJECT_SIZE or ctypes.sizeof(_Pointer) != 8:
            raise UnsupportedError
        try:
            library = ctypes.PyDLL(_quickjs.__file__)
            self._runtime_of = function_of(library.JS_GetRuntime, _Pointer, _Pointer)
            self._eval = function_of(library.JS_Eval, Value, _Pointer, _Text, _Size, _Text, ctypes.c_int)
            self._write = function_of(
                library.JS_WriteObject, _Pointer, _Pointer, ctypes.POINTER(_Size), Value, ctypes.c_int
            )
            self._read = function_of(library.JS_ReadObject, Value, _Pointer, _Text, _Size, ctypes.c_int)
            self._run = function_of(library.JS_EvalFunction, Value, _Pointer, Value)
            self._define = function_of(
                library.JS_DefinePropertyValueStr, ctypes.c_int, _Pointer, Value, _Text, Value, ctypes.c_int
            )
            self._exception = function_of(library.JS_GetException, Value, _Pointer)
            self._free = function_of(library.JS_FreeValue, None, _Pointer, Value)
            self._free_memory = function_of(library.js_free, None, _Pointer, _Pointer)
        except (AttributeError, OSError) as error:
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
        size = _Size()
        written = self._write(context, ctypes.byref(size), function, _WRITE)
        self._free(context, function)
        if not written:
            raise BytecodeError
        code = ctypes.string_at(written, size.value)
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
        function = self._sound(context, self._read(context, code, len(code), _READ))
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
    runtime, context = (ctypes.c_size_t * 2).from_address(id(holder) + object.__basicsize__)
    return runtime, context


def function_of(function: ctypes._NamedFuncPointer, result: type | None, *arguments: type) -> ctypes._NamedFuncPointer:
    """A function of the library, with the types of its result and its arguments."""
    function.restype = result
    function.argtypes = arguments
    return function
