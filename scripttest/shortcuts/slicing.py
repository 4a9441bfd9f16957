"""Reduces a module to what one test needs, so that a realm does not parse a thousand functions to run one.

The engine lists the functions of a module and their source. If such a source is in the script exactly as a top-level
declaration, it is a *piece* that can be left out, whether it is a test or not. The *base* is the script with line
breaks in place of all pieces, so that positions in stacks stay right. To run a test, its piece is put back, and every
piece that it, the base, or one of these pieces mentions by name. A script that could use names in another way (`eval`,
`globalThis`) is not reduced.

What the realms of a module need is read in its code too, by its words, so that they set up nothing else. Could the code
overwrite the built-ins that verdicts depend on? Then these are saved before it runs, which adds nearly half to the
set-up of a realm. Could it have hooks? Then each test looks for them. Which globals does it name? Only those are
installed. If it is not certain, the answer is the safe one. `BootConfig` makes the data that a new realm gets of it:
JSON of `Boot` in `bindings/src/core-state.ts`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from operator import itemgetter

from scripttest.compile.esbuild import RUNTIME_SOURCE, plain
from scripttest.compile.linking import words_only
from scripttest.results import BENCHMARK, EVERY_RUN, FUZZ, TEST, kind_of
from scripttest.shortcuts import BUILT_INS, declares_built_in, is_off
from scripttest.values import Value

_REACH_ALL = ("eval", "Eval", "Function", "globalThis", "TestMain")
_DECLARATIONS = (("\nfunction ", "("), ("\nfunction* ", "("), ("\nvar ", "\n"))
"""How declarations begin, and what is behind their names, or the line. esbuild starts those at the top level in column
0, and none in the first line."""
_CANDIDATE = r"\n(?:function\*? |var |let |const )([A-Za-z_$][\w$]*)"
_DYNAMIC = {"globalThis", "eval", "Eval", "Function", "Reflect", "Proxy"}
_REACHES = set(
    "prototype __proto__ constructor __defineGetter__ __defineSetter__ getPrototypeOf setPrototypeOf assign".split()
) | {
    "defineProperty",
    "defineProperties",
}
_HARMLESS_BEFORE = ("new ", "extends ", "instanceof ")
_HARMLESS_AFTER = r"\s*\(|\.\w+\("
HOOKS = frozenset(("TestMain", "BeforeAll", "BeforeEach", "AfterEach", "AfterAll"))
"""Functions around tests, which realms look for by name."""
_CATCHING_THEN = r"then(?![\w$])(?!\((?:\([\w$]*\) => )?[^,(){\n\"'`/]*\))"
"""`then` but where it is called with one argument, by which no error is caught. It begins with letters, which are found
fast."""
_TEXT_IN_BRACKETS = r"\[\s*[\"'`]"


class Test(Value):
    """One test function of a module."""

    name: str
    entry: str
    """Global name of the function."""
    pieces: str
    """What a worker puts back into the base, `offset:skip:start:end,...`; empty: run the whole script."""
    offset: int
    """Where its declaration begins in the code; -1 when another file declares it."""


class Slices(Value):
    """A module ready for its runs."""

    base: str
    """Empty when the script is not cut."""
    tests: tuple[Test, ...]
    """In source order."""


class _Piece(Value):
    declaration: int
    start: int
    end: int
    stub: str


def declared(code: str, kinds: tuple[str, ...] = EVERY_RUN) -> list[str]:
    """Names that a script may declare at its top level as functions which do not begin as those of tests do."""
    return [name for name in re.findall(_CANDIDATE, f"\n{code}") if not name.startswith(kinds)]


def slice_module(
    code: str,
    entry_start: int,
    exports: dict[str, str],
    found: Mapping[str, str],
    kinds: Collection[str] = EVERY_RUN,
) -> Slices:
    """Finds the tests of some kinds of the entry point among the functions that the engine listed, `found` (name
    → source), and what can be left out of their realms."""
    aliases = {local: name for name, local in exports.items() if kind_of(name) in kinds}
    places: dict[str, list[int]] = {}
    for place, name in sorted(_declarations(code, entry_start)):
        places.setdefault(plain(name), []).append(place)
    tests: list[tuple[int, str, str]] = []
    """`offset`, `name` and `entry` of each."""
    cut: dict[str, _Piece] = {}
    text = f"\n{code}"
    for local, source in found.items():
        if source.startswith(("class ", "class{")):
            continue
        if kind_of(local) not in kinds and local not in aliases:
            if piece := _other(text, local, source):
                cut[local] = piece
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
            if len(pieces) == 1:  # code that occurs twice is a function, and a text that quotes it
                cut[local] = pieces[0]
            tests.append((position, aliases.get(local, local), local))
    tests.sort(key=itemgetter(0))
    reaches_all = stands(code.replace(RUNTIME_SOURCE, ""), _REACH_ALL) or reaches_by_index(code)
    if len(tests) < 2 or reaches_all or is_off("slicing"):
        plain_tests = (Test(name=name, entry=local, pieces="", offset=offset) for offset, name, local in tests)
        return Slices(base="", tests=tuple(plain_tests))
    return _cut(code, tests, cut)


def _declarations(code: str, start: int) -> Iterator[tuple[int, str]]:
    """Where plain declarations of tests begin, and their names as they are printed."""
    for head, end in _DECLARATIONS:
        at = code.find(head, start)
        while at >= 0:
            place, at = at + 1, at + len(head)
            if code.startswith((TEST, FUZZ, BENCHMARK), at):
                stop = code.find(end, at)
                yield place, code[at : stop if stop >= 0 else None].split(" ", 1)[0].rstrip(",;")
            at = code.find(head, at)


def _loosely_declared(code: str, name: str, start: int) -> int:
    """Offset of a function of any name, or of a declaration among others (`var { TestA, TestB } = ...`), or -1."""
    printed = rf"(?<![\w$]){re.escape(as_printed(name))}(?![\w$])"
    declaration = rf"^(?:function\*? {printed}|var (?:.|\n  |\n\}})*?{printed})"
    match = re.compile(declaration, re.MULTILINE).search(code, start)
    return match.start() if match else -1


def _piece(code: str, position: int, name: str, source: str) -> _Piece | None:
    """The part of the code that can be left out with the function, if it is a plain declaration."""
    printed = as_printed(name)
    if source.startswith((f"function {printed}(", f"function* {printed}(")):
        return (
            _Piece(declaration=position, start=position, end=position + len(source), stub="")
            if code.startswith(source, position)
            else None
        )
    start = position + len(f"var {printed} = ")
    end = start + len(source)
    if not code.startswith(f"var {printed} = {source};\n", position):
        return None
    return _Piece(declaration=position, start=start, end=end, stub="0")


def _other(text: str, name: str, source: str) -> _Piece | None:
    """The same for a function that is no test, in the code after a line break. Where it is also quoted, what is left
    mentions it, and it stays."""
    is_declared = source.startswith((f"function {name}(", f"function* {name}("))
    for head in [""] if is_declared else [f"let {name} = ", f"var {name} = ", f"const {name} = "]:
        declaration = text.find(f"\n{head}{source};\n" if head else f"\n{source}\n")
        start = declaration + len(head)
        if declaration >= 0:
            return _Piece(declaration=declaration, start=start, end=start + len(source), stub="0" if head else "")
    return None


def as_printed(name: str) -> str:
    """An identifier as esbuild prints it: ASCII only."""
    if name.isascii():
        return name
    return "".join(c if c.isascii() else f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\u{{{ord(c):X}}}" for c in name)


def _cut(code: str, tests: list[tuple[int, str, str]], pieces: dict[str, _Piece]) -> Slices:
    mentions = {}
    base, rest, places, at = [], [], {}, 0
    length = 0
    for local, piece in sorted(pieces.items(), key=lambda item: item[1].start):
        declaration, start, end, stub = piece.declaration, piece.start, piece.end, piece.stub
        mentions[local] = _mentioned(code[start:end], pieces)
        blank = stub + "\n" * code.count("\n", start, end)
        base += [code[at:start], blank]
        rest.append(code[at:declaration])
        length += start - at
        places[local] = (start, f"{length}:{len(blank)}:{start}:{end}")
        length += len(blank)
        at = end
    always = _mentioned(" ".join([*rest, code[at:]]), pieces) | pieces.keys() & HOOKS
    planned = []
    for offset, name, local in tests:
        needed = _closure([*([local] if local in pieces else ()), *always], mentions)
        put_back = ",".join([text for _, text in sorted([places[one] for one in needed])])
        planned.append(Test(name=name, entry=local, pieces=put_back, offset=offset))
    return Slices(base="".join(base) + code[at:], tests=tuple(planned))


def _mentioned(code: str, names: Mapping[str, object]) -> set[str]:
    """The names that are in a piece of code."""
    return names.keys() & words_only(plain(code)).split()


def _closure(todo: list[str], mentions: dict[str, set[str]]) -> set[str]:
    seen = set(todo)
    while todo:
        more = mentions[todo.pop()] - seen
        seen |= more
        todo += more
    return seen


class Scan(Value):
    """What a module's code needs."""

    guarded: bool
    """Whether it could overwrite intrinsics."""
    hooks: bool
    """Whether it could have functions around its tests."""
    names: tuple[str, ...]
    """The globals that it can reach, sorted."""


def scan(code: str, names: Iterable[str]) -> Scan:
    """Scans the code of all scripts of a module for the global names that there are."""
    if is_off("scan"):
        return everything(names, guarded=True)
    words = set(words_only(code).split())
    if "then" in words and not re.search(_CATCHING_THEN, code):
        words.remove("then")
    dynamic = not words.isdisjoint(_DYNAMIC) or reaches_by_index(code)
    named = names if dynamic else words.intersection(names)
    hooks = dynamic or not words.isdisjoint(HOOKS)
    return Scan(guarded=dynamic or _may_tamper(code, words), hooks=hooks, names=tuple(sorted(named)))


def reaches_by_index(code: str) -> bool:
    """Whether it could reach globals as `this[...]`."""
    return "this" in code and re.search(r"this\s*\[", code) is not None


def everything(names: Iterable[str], *, guarded: bool) -> Scan:
    """What code needs of which nothing is known."""
    return Scan(guarded=guarded, hooks=True, names=tuple(names))


def stands(code: str, words: Iterable[str]) -> bool:
    """Whether the code has one of the words."""
    return any(word in code and any(True for _ in _places(code, word)) for word in words)


def _places(code: str, word: str) -> Iterator[int]:
    at = code.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_is_letter(code[at - 1 : at]) or _is_letter(code[end : end + 1])):
            yield at
        at = code.find(word, end)


def _is_letter(text: str) -> bool:
    return text.isalnum() or text in ("_", "$")


def _may_tamper(code: str, words: set[str]) -> bool:
    reaches = words & _REACHES
    if reaches and (reaches != {"constructor"} or re.search(r"\.\s*constructor\b", code)):
        return True
    named = words & BUILT_INS
    overwrites = any(_may_overwrite(code, word) for word in named) or declares_built_in(code, named)
    return overwrites or _has_computed_member(code)


def _may_overwrite(code: str, built_in: str) -> bool:
    """Whether a built-in is used in any way but to call it or a function of it, or to make or know an instance."""
    harmless = re.compile(_HARMLESS_AFTER)
    return any(
        not code.endswith(_HARMLESS_BEFORE, max(at - 11, 0), at) and not harmless.match(code, at + len(built_in))
        for at in _places(code, built_in)
    )


def _has_computed_member(code: str) -> bool:
    """Whether a text in brackets follows an expression."""
    for match in re.finditer(_TEXT_IN_BRACKETS, code):
        before = code[max(match.start() - 20, 0) : match.start()].rstrip()
        if not before or before[-1] in ")]" or _is_letter(before[-1]):
            return True
    return False


class BootConfig:
    """Makes this data for realms with some or all of the available globals."""

    def __init__(self, names: Mapping[str, str], seed: int | None = None) -> None:
        """`names`: global name → part of the bindings that supplies it. `seed`: that of the random numbers of a
        module's top-level code; None: they are not seeded."""
        self.names = names
        self._seed = seed
        self.own_seed: int | None = None
        """The seed where none was given, of modules that draw random numbers and their tests; None: nobody has to draw
        them again."""

    def seed(self, code: Iterable[str]) -> int | None:
        """The seed of scripts with this code, or that of those which they may call."""
        if self._seed is not None or self.own_seed is None:
            return self._seed
        return self.own_seed if any("random" in one or "scripts." in one for one in code) else None

    def own(self, scan: Scan, seed: int | None) -> str:
        """The data for a realm of a module's own code."""
        return self._text(scan, nested=False, seed=seed)

    def whole(self, seed: int | None) -> str:
        """The data for a module whose code is not known: it gets all globals."""

        return self._text(everything(self.names, guarded=True), nested=False, seed=seed)

    @cached_property
    def nested(self) -> str:
        """For a realm of a script that another one calls, whose code is not known either. Its verdicts are the
        caller's, so that nothing in it is guarded, unless the worker sees that it declares a built-in."""

        return self._text(everything(self.names, guarded=False), nested=True, seed=None)

    def _text(self, scan: Scan, *, nested: bool, seed: int | None) -> str:
        listed = " ".join(f"{name}:{self.names[name]}" for name in scan.names)
        drawn = {} if seed is None else {"seed": str(seed)}
        return json.dumps({"guarded": scan.guarded, "hooks": scan.hooks, "nested": nested, "globals": listed, **drawn})
