"""Finds and compiles scripts that other scripts call with `Process("scripts.a.b.Fn")`, each once, and sends them to the
workers that ask for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scripttest.compile.builds import Source
from scripttest.compile.compiler import Compiled, Compiler
from scripttest.errors import CompileError, ScriptError

Answer = Callable[[list[str]], None]
"""Takes the parts of a `reply` to the frame `library`."""


class Libraries:
    """The scripts of one application that other scripts call."""

    def __init__(self, compiler: Compiler, find: Callable[[str, str], Path]) -> None:
        """`find` gives the file of a script for a module that calls it, or raises ScriptError."""
        self._compiler = compiler
        self._find = find
        self._keys: dict[str, str] = {}
        """Name of a script → key of its file."""
        self._known: dict[str, Compiled | CompileError] = {}
        self._waiting: dict[str, list[Answer]] = {}
        self._asked: dict[str, dict[str, Source]] = {}
        """Module → the scripts that it asked for."""
        self.told: Callable[[Compiled], None] | None = None
        """Called with each script that was compiled."""

    def called_by(self, module: str) -> list[Source]:
        """The scripts that a module has called so far, and those that they have called."""
        return list(self._asked.get(module, {}).values())

    def called(self, script: str) -> Compiled | None:
        """A called script, by its name."""
        result = self._known.get(self._keys.get(script, ""))
        return result if isinstance(result, Compiled) else None

    def ask(self, module: str, script: str, answer: Answer) -> None:
        """Calls `answer` with the code of a script, or with the reason why there is none: at once, or when it is
        compiled."""
        try:
            file = self._find(module, script)
        except ScriptError as error:
            answer(_reply(error))
            return
        key = self._keys[script] = f"library {file}"
        source = Source(key=key, test=file, script=None)
        self._asked.setdefault(module, {})[key] = source
        if key in self._known:
            answer(_reply(self._known[key]))
        elif key in self._waiting:
            self._waiting[key].append(answer)
        else:
            self._waiting[key] = [answer]
            self._compiler.add([source], self._compiled)

    def _compiled(self, source: Source, result: Compiled | CompileError) -> None:
        self._known[source.key] = result
        if self.told is not None and isinstance(result, Compiled):
            self.told(result)
        for answer in self._waiting.pop(source.key):
            answer(_reply(result))


def _reply(result: Compiled | ScriptError) -> list[str]:
    if isinstance(result, Compiled):
        return ["ok", *["\n" + script.code for script in result.scripts]]
    if result.missing:
        return ["missing"]
    at = result.location
    return ["error", (f"{at.file}:{at.line}:{at.column}: " if at else "") + result.message]
