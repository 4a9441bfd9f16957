"""Cuts a module down to what one test needs, so that a realm does not parse a thousand tests to run one.

The engine says which functions a module's tests are and what their source is; each source that stands in the bundle
exactly as a top-level declaration is a piece that can be left out. The base is the script with every piece replaced by
its line breaks (positions in stacks stay true). A test is run with its own piece put back, and with every test function
that it, or the base, mentions by name; the compiler's helper for `async` is treated like a test. A script that could
reach names in another way (`eval`, `globalThis`) is not cut.
"""

from __future__ import annotations

import re
from collections import Counter

from scripttest.compiler import RUNTIME_SOURCE
from scripttest.scan import stands
from scripttest.tuples import NamedTuple

_DYNAMIC = ("eval", "Eval", "Function", "globalThis", "TestMain")
_LETTER = r"(?:[\w$]|\\u[0-9A-F]{4}|\\u\{[0-9A-F]+\})"
_HELPER = "__async"
"""What the compiler adds for `async` functions: more code than most tests, and most need none of it."""
_NAME = rf"(?:Test|{_HELPER}){_LETTER}*"
"""Finds the end of a longer name too, which at worst puts back a function too many."""
_DECLARATION = rf"(?m)^(?:function\*? |var )(?P<name>Test{_LETTER}*)"
"""esbuild starts top-level declarations in column 0."""


class Test(NamedTuple):
    """One test function of a module."""

    name: str
    entry: str
    """Global name of the function."""
    pieces: str
    """What a worker puts back into the base, `offset:skip:start:end,...`; empty: run the whole script."""
    offset: int
    """Where its declaration begins in the code; -1 when another file declares it."""


class Slices(NamedTuple):
    """A module ready for its runs."""

    base: str
    """Empty when the script is not cut."""
    tests: tuple[Test, ...]
    """In source order."""


class _Piece(NamedTuple):
    declaration: int
    start: int
    end: int
    stub: str


def slice_module(code: str, entry_start: int, exports: dict[str, str], found: list[tuple[str, str]]) -> Slices:
    """Finds the tests of the entry point among the functions that the engine listed, `found` (name, source)."""
    aliases = {local: name for name, local in exports.items() if name.startswith("Test")}
    places: dict[str, list[int]] = {}
    for match in re.compile(_DECLARATION).finditer(code, entry_start):
        places.setdefault(_plain(match["name"]), []).append(match.start())
    tests: list[tuple[int, str, str, _Piece | None]] = []
    for local, source in found:
        if source.startswith(("class ", "class{")):
            continue
        pieces = [piece for place in places.get(local, []) if (piece := _piece(code, place, local, source))]
        if pieces:
            position = pieces[0].declaration
        elif local in places:
            position = places[local][0]
        elif local in aliases or _loosely_declared(code[:entry_start], local, 0) < 0:
            position = _loosely_declared(code, local, entry_start)
        else:
            position = -1
        if position >= 0 or local in aliases:
            # Code that stands there twice is a function, and a text that quotes it.
            tests.append((position, aliases.get(local, local), local, pieces[0] if len(pieces) == 1 else None))
    tests.sort(key=lambda test: test[0])
    if len(tests) < 2 or stands(code.replace(RUNTIME_SOURCE, ""), _DYNAMIC):
        return Slices("", tuple(Test(name, local, "", position) for position, name, local, _ in tests))
    return _cut(code, tests)


def _loosely_declared(code: str, name: str, start: int) -> int:
    """Offset of a function of any name, or of a declaration among others (`var { TestA, TestB } = ...`), or -1."""
    printed = rf"(?<![\w$]){re.escape(as_printed(name))}(?![\w$])"
    declaration = rf"^(?:function\*? {printed}|var (?:.|\n  |\n\}})*?{printed})"
    match = re.compile(declaration, re.MULTILINE).search(code, start)
    return match.start() if match else -1


def _piece(code: str, position: int, name: str, source: str) -> _Piece | None:
    """The part of the code that can be left out with the function, if it stands there as a plain declaration."""
    printed = as_printed(name)
    if source.startswith((f"function {printed}(", f"function* {printed}(")):
        return _Piece(position, position, position + len(source), "") if code.startswith(source, position) else None
    start = position + len(f"var {printed} = ")
    end = start + len(source)
    if not code.startswith(f"var {printed} = {source};\n", position):
        return None
    return _Piece(position, start, end, "0")


def _plain(printed: str) -> str:
    """An identifier as the engine names it."""
    return (
        re.sub(r"\\u\{?([0-9A-F]+)\}?", lambda match: chr(int(match[1], 16)), printed) if "\\" in printed else printed
    )


def as_printed(name: str) -> str:
    """An identifier as esbuild prints it: ASCII only."""
    if name.isascii():
        return name
    return "".join(c if c.isascii() else f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\u{{{ord(c):X}}}" for c in name)


def _cut(code: str, tests: list[tuple[int, str, str, _Piece | None]]) -> Slices:
    pieces = {local: piece for _, _, local, piece in tests if piece is not None}
    if helper := _helper(code):
        pieces[_HELPER] = helper
    names = {as_printed(local): local for local in pieces}
    mentions = {local: _mentioned(code[piece.start : piece.end], names) - {local} for local, piece in pieces.items()}
    base, offsets, at = [], {}, 0
    length = 0
    for local, piece in sorted(pieces.items(), key=lambda item: item[1].start):
        blank = piece.stub + "\n" * code.count("\n", piece.start, piece.end)
        base += [code[at : piece.start], blank]
        length += piece.start - at
        offsets[local] = (length, len(blank))
        length += len(blank)
        at = piece.end
    text = "".join(base) + code[at:]
    mentioned = Counter(re.findall(_NAME, text))
    always = {local for local, piece in pieces.items() if mentioned[as_printed(local)] > len(piece.stub)}
    planned = []
    for position, name, local, _ in tests:
        needed = _closure({local, *always} & pieces.keys(), mentions)
        ordered = sorted(needed, key=lambda item: pieces[item].start)
        put_back = ",".join(f"{offsets[n][0]}:{offsets[n][1]}:{pieces[n].start}:{pieces[n].end}" for n in ordered)
        planned.append(Test(name, local, put_back, position))
    return Slices(text, tuple(planned))


def _helper(code: str) -> _Piece | None:
    opening = f"var {_HELPER} = "
    end = code.find("\n};\n")
    return _Piece(0, len(opening), end + 2, "0") if code.startswith(opening) and end >= 0 else None


def _mentioned(text: str, names: dict[str, str]) -> set[str]:
    return {names[word] for word in set(re.findall(_NAME, text)) if word in names}


def _closure(start: set[str], mentions: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = list(start)
    while todo:
        local = todo.pop()
        if local not in seen:
            seen.add(local)
            todo += mentions[local]
    return seen
