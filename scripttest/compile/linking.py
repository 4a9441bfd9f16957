"""From what esbuild writes to scripts of a realm, which mean what the author wrote: with their declarations and their
strictness.

A bundle has a part for each file, under a comment with its path. If some of the files are strict and others are not, it
becomes several scripts, evaluated one after the other; all declarations are global, so that nothing else changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from scripttest.compile.bundles import plain, with_own_async, without_exports, without_interpreter
from scripttest.compile.lexical import (
    Declared,
    declared_in,
    is_found_by_name,
    names_at_top,
    with_globals,
    with_lexical,
)
from scripttest.compile.strictness import DIRECTIVE, Strictness
from scripttest.compile.written_names import named_first, with_written_names
from scripttest.values import Value

_FILE = r"\n// (.+)"
_FIRST_LINE = 2


class Script(Value):
    """One script to evaluate in global scope."""

    code: str
    source_map: bytes
    """A version 3 source map, JSON; its sources are relative to the application root."""
    first_line: int
    """The line of the realm on which it starts; line 1 is the framework's."""
    skipped: int = 0
    """Lines that the source map has before it."""


class Output(Value):
    """What esbuild wrote for one entry point."""

    code: str
    source_map: bytes
    is_bundle: bool
    """Whether it is a bundle, and not a script as it was written."""
    constants: frozenset[str]
    """Names of constants to which the scripts that are no bundles assign."""


class _File(Value):
    declared: Declared
    is_strict: bool


class Linker:
    """Knows the files of an application that were compiled."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._strictness = Strictness()
        self._files: dict[str, _File] = {}

    def note(self, path: str, content: bytes) -> None:
        """Reads in a file, by its absolute path, what its scripts must keep."""
        name = path.removeprefix(f"{self._root}/")
        self._files[name] = _File(declared=declared_in(content), is_strict=self._strictness.is_strict(path, content))

    def scripts(self, outputs: Sequence[Output]) -> tuple[tuple[Script, ...], dict[str, str]]:
        """The scripts of a realm, and what the last of them exports: exported name → global name."""
        codes, exports = [], dict[str, str]()
        for output in outputs:
            code, exports = without_exports(with_own_async(without_interpreter(with_written_names(output.code))))
            codes.append(code)
        twice = set.intersection(*map(names_at_top, codes)) if len(codes) > 1 else set[str]()
        tests = {local for name, local in exports.items() if is_found_by_name(name)}
        scripts, line = [], _FIRST_LINE
        for output, code in zip(outputs, codes, strict=True):
            is_global = _among(tests | twice)
            if output.is_bundle:
                pieces = self._pieces(code, is_global)
            else:
                pieces = [named_first(with_globals(code, output.constants, is_global))]
            skipped = 0
            for piece in pieces:
                scripts.append(Script(code=piece, source_map=output.source_map, first_line=line, skipped=skipped))
                lines = piece.count("\n") + (piece is pieces[-1])
                skipped, line = skipped + lines, line + lines
        return tuple(scripts), exports

    def _pieces(self, code: str, is_global: Callable[[str], bool]) -> list[str]:
        """A bundle, cut where its files begin or end to be strict."""
        text = f"\n{code}"  # so that a place in it is the end of a line before the comment
        found = [(match.start(), file) for match in re.finditer(_FILE, text) if (file := self._files.get(match[1]))]
        if not found:
            return [named_first(code)]
        pieces: list[str] = []
        strict: list[bool] = []
        head = code[: found[0][0]]
        is_strict: bool | None = None
        for (start, file), (end, _) in pairwise([*found, (len(code), found[-1][1])]):
            part = with_lexical(code[start:end], file.declared, is_global, plain)
            if file.is_strict == is_strict:
                pieces[-1] += part
            else:
                pieces.append(f"{head}{part}")
                strict.append(file.is_strict)
            is_strict, head = file.is_strict, ""
        return [
            f"{DIRECTIVE if first else ''}{named_first(piece)}" for piece, first in zip(pieces, strict, strict=True)
        ]


def _among(names: set[str]) -> Callable[[str], bool]:
    return lambda name: name in names or is_found_by_name(name)
