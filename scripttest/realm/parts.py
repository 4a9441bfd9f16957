"""The script half of the bindings: the core and the parts, as text and, for a worker with many tests, as bytecode."""

from __future__ import annotations

from scripttest.shortcuts import is_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripttest.shortcuts.bytecode import Bytecode

FEW_REALMS = 12
"""A worker that makes no more than these is done before bytecode has paid for itself."""


class Parts:
    """Reads each once."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._texts: dict[str, str] = {}
        self._compiled: dict[str, bytes] = {}
        self._realms = 0
        self._bytecode: Bytecode | None = None

    def text(self, name: str) -> str:
        """Source of an expression. Raises ValueError for what is no name."""
        text = self._texts.get(name)
        if text is None:
            if "/" in name:
                raise ValueError(f"{name} is not a part")
            with open(f"{self._folder}/{name}.js", encoding="utf-8") as file:
                text = self._texts[name] = file.read()
        return text

    def compiled(self, name: str, bytecode: Bytecode, prefix: str = "") -> bytes:
        """Bytecode of the expression after a prefix, always the same for a name. Raises BytecodeError."""
        code = self._compiled.get(name)
        if code is None:
            code = self._compiled[name] = bytecode.compile(prefix + self.text(name))
        return code

    def bytecode(self) -> Bytecode | None:
        """What runs bytecode in the next realm; None when it is to be made from text."""
        self._realms += 1
        if self._realms == FEW_REALMS and not is_off("bytecode"):
            from scripttest.shortcuts.bytecode import Bytecode, UnsupportedError

            try:
                self._bytecode = Bytecode()
            except UnsupportedError:
                self._bytecode = None
        return self._bytecode
