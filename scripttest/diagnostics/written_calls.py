"""Finds the calls in scripts, by reading their compiled code: what is called, with which texts, and where.

Nothing runs. A text that is built at run time has `*` where it is not known."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from scripttest.compile.at_once import compile_all
from scripttest.compile.builds import Source
from scripttest.compile.compiler import Compiled
from scripttest.diagnostics.sources import SourceMap
from scripttest.results import CompileError
from scripttest.syntax.parser import UnreadableError, parser
from scripttest.values import Value


class WrittenCall(Value):
    """A call, or a property that is given a text."""

    callee: str
    """As it is written, such as `Process`, `ctx.agent.Call` or `new Query`; of a property its name and a colon, such as
    `process:`."""
    arguments: tuple[str | None, ...]
    """The first ones: texts, with `*` for what is made at run time; None for what is not a text."""
    file: str
    """Below the application."""
    line: int
    """From 1."""
    within: str = ""
    """The callee among whose arguments it stands, the innermost."""
    beside: frozenset[str] = frozenset()
    """Of a property: the names of all properties of its object."""


class WrittenCalls:
    """Compiles scripts of an application, each once, and reads them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[Path, tuple[WrittenCall, ...] | CompileError] = {}
        self._declared: dict[Path, frozenset[str]] = {}

    def of(self, scripts: Iterable[Path]) -> Mapping[Path, tuple[WrittenCall, ...] | CompileError]:
        """The calls in each script and in what it imports, or why it cannot be compiled. Blocks. Raises HostError when
        there is no compiler."""
        wanted = list(dict.fromkeys(scripts))
        new = [Source(key=str(path), test=path, script=None) for path in wanted if path not in self._read]
        for one in compile_all(self._root, new):
            script, result = one.source.test, one.result
            if isinstance(result, CompileError):
                self._read[script] = result
            else:
                self._read[script] = tuple(_calls(result))
                self._declared[script] = result.declared
        return {script: self._read[script] for script in wanted}

    def declared(self, script: Path) -> frozenset[str] | None:
        """The names that a script exports or declares at its top level; None when it cannot be compiled. Blocks. Raises
        HostError when there is no compiler."""
        self.of([script])
        return self._declared.get(script)


def _calls(compiled: Compiled) -> Iterator[WrittenCall]:
    """The calls in a script; none in code that the parser cannot read."""
    for script in compiled.scripts:
        source_map = SourceMap(script.source_map)
        lines = [0, *(match.end() for match in re.finditer("\n", script.code))]
        try:
            calls = parser().ask("callsIn", script.code)
        except UnreadableError:
            continue
        for found in calls:
            line = bisect_right(lines, found["start"])
            place = source_map.find(line + script.skipped, found["start"] - lines[line - 1] + 1)
            if place is not None:
                yield WrittenCall(
                    callee=found["callee"],
                    arguments=tuple(found["arguments"]),
                    file=place.source,
                    line=place.line,
                    within=found["within"],
                    beside=frozenset(found["beside"]),
                )
