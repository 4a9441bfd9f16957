"""The script half of the bindings: the core and the parts, as text and, for a worker with many tests, as bytecode."""

from __future__ import annotations

import os

from scripttest.shortcuts import is_off
from scripttest.shortcuts.bytecode import Bytecode, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.realm.counting import Counters

FEW_REALMS = 12
"""A worker that makes at most this many realms gains nothing by compiling bytecode."""


class Parts:
    """Reads all parts when it is created, since a worker cannot open files later."""

    def __init__(self, folder: str, counters: Counters | None = None) -> None:
        self.counters = counters
        """Gives realms their counters, if coverage is measured."""
        self._read = {name[:-3]: _content(f"{folder}/{name}") for name in os.listdir(folder) if name.endswith(".js")}
        self._texts: dict[str, str] = {}
        self._compiled: dict[str, bytes] = {}
        self._realms = 0
        self._bytecode: Bytecode | None = None

    def text(self, name: str) -> str:
        """The source of a part, which is an expression. Raises ValueError for an unknown name."""
        text = self._texts.get(name)
        if text is None:
            if name not in self._read:
                raise ValueError(f"{name} is not a part")
            text = self._texts[name] = self._read[name].decode()
        return text

    def compiled(self, name: str, bytecode: Bytecode, prefix: str = "") -> bytes:
        """The bytecode of the expression after a prefix, which must be the same for each call with this name. Raises
        BytecodeError."""
        code = self._compiled.get(name)
        if code is None:
            code = self._compiled[name] = bytecode.compile(prefix + self.text(name))
        return code

    def bytecode(self) -> Bytecode | None:
        """Runs bytecode in the next realm; None when that realm is made from text."""
        self._realms += 1
        if self._realms == FEW_REALMS and not is_off("bytecode"):
            try:
                self._bytecode = Bytecode()
            except UnsupportedError:
                self._bytecode = None
        return self._bytecode


def _content(path: str) -> bytes:
    """Reads a small file, in a third of the time that a file object takes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)
