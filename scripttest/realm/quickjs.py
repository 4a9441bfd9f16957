"""The C interface of the engine, `quickjs.h`: bytecode, and stopping code that runs.

The engine's Python package has no calls for these. But its library exports the interface, which works on the runtime
and the context in the package's object. The package is pinned to one version; if its library or its objects are not as
expected, nothing here is used. Code that runs from bytecode must not call Python, which is possible only inside the
package's own `eval`. It takes a seventh of the time of parsing the text.

Functions of the library are called while the interpreter's lock is kept."""

from __future__ import annotations

from ctypes import (
    PyDLL,
    Structure,
    byref,
    c_bool,
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

import _quickjs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


__all__ = ["Int", "Library", "Pointer", "Size", "Text", "UnsignedInt", "Value", "byref", "content", "sizeof"]

Pointer, Text, Size, Int, UnsignedInt = c_void_p, c_char_p, c_size_t, c_int, c_uint
"""An address, where None is the null pointer; bytes that end with a zero; `size_t`; `int`; `unsigned int`."""
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
_STATES = {0: "pending", 1: "fulfilled", 2: "rejected"}  # JS_PROMISE_...
_CALLABLE_SIZE = 40
"""Size in bytes of the package's `Object`, which ends with a value of the engine."""


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


class Looks:
    """Tells what scripts cannot see of an object without running its code."""

    def __init__(self) -> None:
        """Raises UnsupportedError when the installed engine does not fit."""
        if _quickjs.Object.__basicsize__ != _CALLABLE_SIZE:
            raise UnsupportedError
        try:
            engine = Library(_quickjs.__file__)
            self._get = engine.function("JS_GetPropertyStr", Value, Pointer, Value, Text)
            self._define = engine.function("JS_DefinePropertyValueStr", Int, Pointer, Value, Text, Value, Int)
            self._free = engine.function("JS_FreeValue", None, Pointer, Value)
            self._is_proxy = engine.function("JS_IsProxy", c_bool, Value)
            self._state = engine.function("JS_PromiseState", Int, Pointer, Value)
            self._result = engine.function("JS_PromiseResult", Value, Pointer, Value)
        except OSError as error:
            raise UnsupportedError from error

    def look(self, context: _quickjs.Context, callable: object) -> str:
        """What the property `part` of a function is: `proxy`; of a promise `pending`, `fulfilled` or `rejected`, and
        then its result takes its place; empty: something else."""
        holder, target = pointers(context)[1], _value_of(callable)
        value = self._get(holder, target, b"part")
        said = "proxy" if self._is_proxy(value) else _STATES.get(self._state(holder, value), "")
        if said in ("fulfilled", "rejected"):
            self._define(holder, target, b"part", self._result(holder, value), PLAIN)
        self._free(holder, value)
        return said


def _value_of(callable: object) -> Value:
    """The value of the engine in the package's `Object`."""
    return Value.from_address(id(callable) + _CALLABLE_SIZE - sizeof(Value))


class Interrupts:
    """Stops code in engine contexts, so that neither `catch` nor `finally` in it runs, and lets it run again.

    The engine calls an interrupt handler from time to time: at jumps backwards, at calls, and in regular expressions.
    The handler is one pointer, so it may be set while another thread runs code. Code that never calls the handler, such
    as sorting a long list, continues."""

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
        self._define(holder, _value_of(callable), b"part", error, PLAIN)
