"""The C interface of the engine, `quickjs.h`: bytecode, stopping code, and what scripts cannot see of objects.

The engine's Python package has no calls for these. But its library exports the interface, which works on the runtime
and the context in the package's object. The package is pinned to one version. Code that runs from bytecode must not
call Python, which is possible only inside the package's own `eval`. It takes a seventh of the time of parsing the text.

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
    from typing import Any


class Value(Structure):
    """A `JSValue` of a 64-bit engine."""

    _fields_ = (("content", c_size_t), ("tag", c_longlong))


_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "JS_DefinePropertyValueStr": (c_int, c_void_p, Value, c_char_p, Value, c_int),
    "JS_Eval": (Value, c_void_p, c_char_p, c_size_t, c_char_p, c_int),
    "JS_EvalFunction": (Value, c_void_p, Value),
    "JS_FreeValue": (None, c_void_p, Value),
    "JS_GetClassID": (c_uint, Value),
    "JS_GetException": (Value, c_void_p),
    "JS_GetGlobalObject": (Value, c_void_p),
    "JS_GetPropertyStr": (Value, c_void_p, Value, c_char_p),
    "JS_GetRuntimeOpaque": (c_void_p, c_void_p),
    "JS_IsProxy": (c_bool, Value),
    "JS_NewArrayBuffer": (Value, c_void_p, c_void_p, c_size_t, c_size_t, c_void_p, c_void_p, c_int),
    "JS_NewError": (Value, c_void_p),
    "JS_NewObjectClass": (Value, c_void_p, c_uint),
    "JS_PromiseResult": (Value, c_void_p, Value),
    "JS_PromiseState": (c_int, c_void_p, Value),
    "JS_ReadObject": (Value, c_void_p, c_char_p, c_size_t, c_int),
    "JS_SetInterruptHandler": (None, c_void_p, c_void_p, c_void_p),
    "JS_SetUncatchableError": (None, c_void_p, Value),
    "JS_WriteObject": (c_void_p, c_void_p, c_void_p, Value, c_int),
    "js_free": (None, c_void_p, c_void_p),
    "labs": (None,),
}
"""Function → the types of its result and of its arguments; `labs`, of the C library, takes a number and does
nothing."""
_CONTEXT_SIZE, _OBJECT_SIZE = 80, 40
"""Bytes of the package's `Context`, which begins with the runtime and the context of the engine, and of its `Object`,
which ends with a value of the engine."""
_ADDRESS_SIZE = 8
"""Bytes of an address; other engines lay out a value in another way."""
# names of `quickjs.h`
_COMPILE_ONLY = 1 << 5  # JS_EVAL_FLAG_COMPILE_ONLY
_WRITE_BYTECODE = 1 << 0  # JS_WRITE_OBJ_BYTECODE
_WITHOUT_SOURCE = 1 << 4  # JS_WRITE_OBJ_STRIP_SOURCE
_WITHOUT_LINES = 1 << 5  # JS_WRITE_OBJ_STRIP_DEBUG
_READ_BYTECODE = 1 << 0  # JS_READ_OBJ_BYTECODE
_EXCEPTION = 6  # JS_TAG_EXCEPTION
_PLAIN = 1 << 0 | 1 << 1 | 1 << 2  # JS_PROP_C_W_E
_DEFINED = 1
"""What defining a property answers when it is done; 0 and -1 when it is not."""
_STATES = {0: "pending", 1: "fulfilled", 2: "rejected"}  # JS_PROMISE_...


class BytecodeError(Exception):
    """The engine could not run a piece of code."""


class Interface:
    """Calls the functions for contexts of the package, in this process."""

    def __init__(self) -> None:
        """Raises OSError where the engine is another one than this module knows."""
        sizes = _quickjs.Context.__basicsize__, _quickjs.Object.__basicsize__, sizeof(c_void_p)
        if sizes != (_CONTEXT_SIZE, _OBJECT_SIZE, _ADDRESS_SIZE):
            raise OSError("The JavaScript engine is another one than this package needs: install yao-test again")
        self._library: Any = PyDLL(_quickjs.__file__)
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self._compiler: _quickjs.Context | None = None
        """Made by the first thread that compiles, since a context belongs to a thread."""

    def compile(self, source: str) -> bytes:
        """The bytecode of a script. Raises BytecodeError."""
        self._compiler = self._compiler or _quickjs.Context()
        context, library = _pointers(self._compiler)[1], self._library
        text = source.encode()
        function = self._sound(context, library.JS_Eval(context, text, len(text), b"<input>", _COMPILE_ONLY))
        size, kinds = c_size_t(), _WRITE_BYTECODE | _WITHOUT_SOURCE | _WITHOUT_LINES
        written = library.JS_WriteObject(context, byref(size), function, kinds)
        library.JS_FreeValue(context, function)
        if not written:
            raise BytecodeError
        code = bytes((c_char * size.value).from_address(written))
        library.js_free(context, written)
        return code

    def run(self, holder: _quickjs.Context, code: bytes) -> Value:
        """Runs bytecode in a context. The value is valid while something in that context refers to it. Raises
        BytecodeError."""
        context = _pointers(holder)[1]
        value = self._evaluated(context, code)
        self._library.JS_FreeValue(context, value)
        return value

    def define(self, holder: _quickjs.Context, target: Value, name: bytes, code: bytes) -> None:
        """Makes the value of bytecode a property of an object. Raises BytecodeError."""
        context = _pointers(holder)[1]
        if self._set(context, target, name, self._evaluated(context, code)) != _DEFINED:
            self._failed(context)

    def look(self, holder: _quickjs.Context, callable: object) -> str:
        """What the property `part` of a function is: `proxy`; of a promise `pending`, `fulfilled` or `rejected`, and
        then its result takes its place; empty: something else. No code of scripts runs."""
        context, target, library = _pointers(holder)[1], _value_of(callable), self._library
        value = library.JS_GetPropertyStr(context, target, b"part")
        said = "proxy" if library.JS_IsProxy(value) else _STATES.get(library.JS_PromiseState(context, value), "")
        if said in ("fulfilled", "rejected"):
            self._set(context, target, b"part", library.JS_PromiseResult(context, value))
        library.JS_FreeValue(context, value)
        return said

    def stop(self, holder: _quickjs.Context) -> None:
        """Stops the code of a context from now on, from any thread, so that neither `catch` nor `finally` in it runs.

        The engine calls an interrupt handler from time to time: at jumps backwards, at calls, and in regular
        expressions. The handler is one pointer, so it may be set while another thread runs code. Code that never calls
        it, such as sorting a long list, continues."""
        # This function answers an address, which is never 0: the engine takes that for "stop".
        stop = cast(self._library.JS_GetRuntimeOpaque, c_void_p)
        self._library.JS_SetInterruptHandler(_pointers(holder)[0], stop, None)

    def allow(self, holder: _quickjs.Context) -> None:
        """Lets code run again."""
        self._library.JS_SetInterruptHandler(_pointers(holder)[0], None, None)

    def lend_error(self, holder: _quickjs.Context, callable: object) -> None:
        """Makes an error that no code can catch the property `part` of a function. It has no stack before it is
        thrown."""
        context, library = _pointers(holder)[1], self._library
        model = library.JS_NewError(context)  # which has a stack already
        error = library.JS_NewObjectClass(context, library.JS_GetClassID(model))
        library.JS_FreeValue(context, model)
        library.JS_SetUncatchableError(context, error)
        self._set(context, _value_of(callable), b"part", error)

    def share(self, holder: _quickjs.Context, name: bytes, address: int, size: int) -> None:
        """Makes memory of the process a global of a context, as an `ArrayBuffer`; nobody frees it."""
        context, library = _pointers(holder)[1], self._library
        nothing = cast(library.labs, c_void_p)  # what frees it must not be a Python function
        memory = library.JS_NewArrayBuffer(context, address, size, 0, nothing, None, 0)
        target = library.JS_GetGlobalObject(context)
        self._set(context, target, name, memory)
        library.JS_FreeValue(context, target)

    def _set(self, context: int, target: Value, name: bytes, value: Value) -> int:
        answer: int = self._library.JS_DefinePropertyValueStr(context, target, name, value, _PLAIN)
        return answer

    def _evaluated(self, context: int, code: bytes) -> Value:
        function = self._sound(context, self._library.JS_ReadObject(context, code, len(code), _READ_BYTECODE))
        return self._sound(context, self._library.JS_EvalFunction(context, function))

    def _sound(self, context: int, value: Value) -> Value:
        if value.tag == _EXCEPTION:
            self._failed(context)
        return value

    def _failed(self, context: int) -> None:
        self._library.JS_FreeValue(context, self._library.JS_GetException(context))
        raise BytecodeError


_found: list[Interface] = []


def interface() -> Interface:
    """The interface of the engine. From any thread. Raises OSError."""
    if not _found:
        _found.append(Interface())
    return _found[0]


def _pointers(holder: _quickjs.Context) -> tuple[int, int]:
    """The runtime and the context of the engine that a context of the package holds."""
    begin = id(holder) + object.__basicsize__
    return c_size_t.from_address(begin).value, c_size_t.from_address(begin + _ADDRESS_SIZE).value


def _value_of(callable: object) -> Value:
    """The value of the engine in the package's `Object`."""
    return Value.from_address(id(callable) + _OBJECT_SIZE - sizeof(Value))
