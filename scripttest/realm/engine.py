"""One QuickJS context, and the script half of the bindings that is loaded into it. Only this module uses the engine.
Scripts run only in worker processes.

What this file has to consider about the engine:

- A context belongs to the thread that made it.
- A Python callable that raises breaks the interpreter. So host bridges never raise; one that returns None makes its
  caller wait until it is stopped.
- Numbers from Python are cut to 32 bits. So only text is passed.
- A Python object that the context refers to and that refers to the context is never freed. So a host bridge must not
  refer to its engine.
- `_quickjs` is imported without its package, which would load a thread pool (30 ms)."""

from __future__ import annotations

import os

import _quickjs

from scripttest.realm.quickjs import BytecodeError, interface
from scripttest.shortcuts import is_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from scripttest.realm.counting import Counters
    from scripttest.realm.quickjs import Interface, Value

    HostBridge = Callable[[str, str, str], str | None]
    Dispatch = Callable[..., str | int | float | None]


MEMORY_LIMIT = 256 * 1024 * 1024
"""Bytes that one realm may allocate."""
STACK_LIMIT = 16 * 1024 * 1024
"""Bytes of C stack that one realm may use, about 10 000 JavaScript frames."""

EngineError = _quickjs.JSException
"""An exception that reached the border; its text is the engine's, `Name: message` and the stack."""
FEW_REALMS = 6
"""A worker that makes at most this many realms gains nothing by compiling bytecode."""
PACK = "intl.pack"
"""The file in the folder of the parts, made by `bindings/src/intl/pack.mjs`."""
_INDEX_SIZE = 1 << 17
"""More bytes than the first line of the file has, which says what is in it."""
_ZONES = "/zoneinfo/"
_ALL_ZONES = "/usr/share/zoneinfo"


def evaluate_apart(source: str, **functions: Callable[[str], str]) -> Callable[[str], str]:
    """Evaluates a source to a function, in its own context, in which some other functions are globals. Raises
    EngineError."""
    context = _limited()
    for name, function in functions.items():
        context.add_callable(f"${name}", function)
    value: Callable[[str], str] = context.eval(source)
    return value


def _limited() -> _quickjs.Context:
    context = _quickjs.Context()
    context.set_memory_limit(MEMORY_LIMIT)
    context.set_max_stack_size(STACK_LIMIT)
    return context


class Engine:
    """One engine context in which the core of the bindings is loaded."""

    def __init__(self, parts: ScriptParts, host_bridge: HostBridge) -> None:
        context = _limited()
        context.add_callable("$bridge", host_bridge)
        if parts.counters is not None:
            parts.counters.give(context)
        self._context, self._parts = context, parts
        self.run_job: Callable[[], bool] = context.execute_pending_job
        """Runs a promise job, and returns whether there was one. Raises EngineError when it throws."""
        self._bytecode: Interface | None = parts.bytecode()
        self._dispatched: Value | None = None
        self.dispatch: Dispatch
        """The function that `bindings/src/core.ts` describes."""
        if self._bytecode is None:
            self.dispatch = context.eval(parts.text("core"))
        else:
            self._dispatched = self._bytecode.run(context, parts.compiled("core", self._bytecode, "$dispatch="))
            self.dispatch = context.get("$dispatch")

    def part(self, name: str) -> str:
        """The source of a part of the bindings; empty when the part was set on `dispatch` as its property `part`
        instead."""
        if self._bytecode is not None and self._dispatched is not None:
            try:
                code = self._parts.compiled(name, self._bytecode)
                self._bytecode.define(self._context, self._dispatched, b"part", code)
                return ""
            except BytecodeError:
                pass
        return self._parts.text(name)

    def look(self) -> str:
        """What an object is that scripts hold in the property `part` of `dispatch`, see `Interface.look`."""
        return interface().look(self._context, self.dispatch)

    def stop(self) -> None:
        """Stops the code in this context, from any thread: EngineError is raised, even if the code catches
        everything."""
        interface().stop(self._context)

    def allow(self) -> None:
        """Lets its code run again after `stop`."""
        interface().allow(self._context)

    def lend_error(self) -> None:
        """Sets an error that no code can catch as the property `part` of `dispatch`."""
        interface().lend_error(self._context, self.dispatch)

    def eval(self, source: str) -> None:
        """Evaluates a script in global scope. Raises EngineError."""
        self._context.eval(source)


class ScriptParts:
    """The core and the parts of the bindings, as text and, for a worker with many tests, as bytecode. All are read when
    it is created, since a worker cannot open files later."""

    def __init__(self, folder: str, counters: Counters | None = None) -> None:
        self.counters = counters
        """Gives realms their counters, if coverage is measured."""
        self._read = {name[:-3]: _content(f"{folder}/{name}") for name in os.listdir(folder) if name.endswith(".js")}
        self._texts: dict[str, str] = {}
        self._compiled: dict[str, bytes] = {}
        self._left = FEW_REALMS - 1
        """How many realms are still made from text."""
        self._compiles = not is_off("bytecode")

    def text(self, name: str) -> str:
        """The source of a part, which is an expression. Raises ValueError for an unknown name."""
        text = self._texts.get(name)
        if text is None:
            if name not in self._read:
                raise ValueError(f"{name} is not a part")
            text = self._texts[name] = self._read[name].decode()
        return text

    def compiled(self, name: str, bytecode: Interface, prefix: str = "") -> bytes:
        """The bytecode of the expression after a prefix, which must be the same for each call with this name. Raises
        BytecodeError."""
        code = self._compiled.get(name)
        if code is None:
            code = self._compiled[name] = bytecode.compile(prefix + self.text(name))
        return code

    def bytecode(self) -> Interface | None:
        """Runs bytecode in the next realm; None when that realm is made from text."""
        self._left -= 1
        return interface() if self._compiles and self._left < 0 else None


def _content(path: str) -> bytes:
    """Reads a small file, in a third of the time that a file object takes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


class Formatting:
    """Answers the calls of `Intl` that realms make, in a context of its own with FormatJS in it.

    It is made when a realm first asks, and lives as long as the worker. Its code and the data of locales are pieces of
    one file, which is opened before the worker may open nothing any more, and read piece by piece."""

    def __init__(self, folder: str) -> None:
        """Opens the file without reading it."""
        self._pack = _Pack(f"{folder}/{PACK}")
        self._answer: Callable[[str], str] | None = None

    def answer(self, request: str) -> str:
        """The answer to a call as JSON; see `bindings/src/intl/core.ts`."""
        try:
            if self._answer is None:
                self._answer = evaluate_apart(self._pack.read("core"), read=self._pack.read)
            return str(self._answer(request))
        except EngineError as error:
            self._answer = None
            reason = "".join(letter if letter >= " " and letter not in '"\\' else " " for letter in str(error))
            return f'{{"error":"Error","message":"Intl cannot format this: {reason}"}}'


class _Pack:
    """Reads the file. It is separate from the formatters, because it must not refer to them."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._zone = _time_zone()
        self._pieces: dict[str, tuple[int, int]] = {}

    def read(self, name: str) -> str:
        """Reads a piece of the file, or the time zone of this machine as `zone`; empty when there is no such piece."""
        if name == "zone":
            return self._zone
        if not self._pieces:
            self._pieces = self._index()
        offset, size = self._pieces.get(name, (0, 0))
        return os.pread(self._file, size, offset).decode()

    def _index(self) -> dict[str, tuple[int, int]]:
        line = os.pread(self._file, _INDEX_SIZE, 0).partition(b"\n")[0]
        words = line.decode().split(" ")
        offset, pieces = len(line) + 1, {}
        for name, size in zip(words[0::2], map(int, words[1::2]), strict=True):
            pieces[name] = offset, size
            offset += size
        return pieces


def _time_zone() -> str:
    """The name of the time zone that the variable `TZ` names, else of this machine's; `UTC` when that is no name."""
    named = os.environ.get("TZ", "").removeprefix(":")
    place = os.path.realpath(os.path.join(_ALL_ZONES, named) if named else "/etc/localtime")
    _, mark, name = place.rpartition(_ZONES)
    return name if mark and os.path.exists(place) else "UTC"
