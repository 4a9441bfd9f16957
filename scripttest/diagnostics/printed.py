"""What the parser finds in code that esbuild printed: for failures callees and loops, in the one top-level statement
that a place is in; for tools all calls, with their texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from scripttest.compile.builds import Compiled, Source
from scripttest.diagnostics.sources import SourceMap
from scripttest.results import CompileError
from scripttest.syntax.parser import UnreadableError, parser
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


MOST = 200_000
"""Characters of a statement that are read."""
_BEGINS = r"^[^\s})\]]"
"""How a line begins that begins a top-level statement."""


def asked(question: str, code: str, place: int, *given: object, to_the_end: bool = False) -> Any:
    """What the parser answers about the top-level statement that a place is in, or about the code from there on; None
    where it cannot be read. Places are offsets in the code.

    - `callees`: those of the calls that the engine may mean by the place, inner ones first. It reports no more of a
      value that was not a function than a position.
    - `loopAt`, and whether a call was running at the place: the place of the loop that was running, which is around the
      call, else around or after the place.
    - `lastReturn`: the place of the last `return` of the function that begins at the place."""
    start = max((match.start() for match in re.compile(_BEGINS, re.MULTILINE).finditer(code, 0, place + 1)), default=0)
    next = None if to_the_end else re.compile(_BEGINS, re.MULTILINE).search(code, start + 1)
    piece = code[start : next.start() if next else len(code)]
    if len(piece) > MOST:
        return None
    try:
        found = parser().ask(question, piece, *([place - start] if question != "lastReturn" else []), *given)
    except UnreadableError:
        return None
    return found + start if isinstance(found, int) else found


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
        from scripttest.compile.at_once import compile_all

        wanted = list(dict.fromkeys(scripts))
        new = [Source(key=str(path), test=path, script=None) for path in wanted if path not in self._read]
        for source, result in compile_all(self._root, new).items():
            if isinstance(result, CompileError):
                self._read[source.test] = result
            else:
                self._read[source.test] = tuple(_calls(result))
                self._declared[source.test] = result.declared
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
                    file=place.file,
                    line=place.line,
                    within=found["within"],
                    beside=frozenset(found["beside"]),
                )
