"""Reads in the code of a module what its realms need, so that they set up nothing else.

It answers three questions. Could the code overwrite the built-ins that verdicts depend on? Then these are saved before
it runs, which adds nearly half to the set-up of a realm. Could it have hooks? Then each test looks for them. Which
globals does it name? Only those are installed. If it is not certain, the answer is the safe one: code that could use
things without naming them gets everything. `Boots` makes the data that a new realm gets of it: JSON of `Boot` in
`bindings/src/core-state.ts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from scripttest.compile.written_names import words_only
from scripttest.shortcuts import BUILT_INS, declares_built_in, is_off
from scripttest.values import Value

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
_TEXT_IN_BRACKETS = r"\[\s*[\"'`]"


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
    dynamic = not words.isdisjoint(_DYNAMIC) or reaches_by_index(code)
    named = names if dynamic else words.intersection(names)
    hooks = dynamic or any(hook in code for hook in HOOKS)
    return Scan(guarded=dynamic or _may_tamper(code, words), hooks=hooks, names=tuple(sorted(named)))


def reaches_by_index(code: str) -> bool:
    """Whether it could reach globals as `this[...]`."""
    return re.search(r"this\s*\[", code) is not None


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


class Boots:
    """Makes this data for realms with some or all of the available globals."""

    def __init__(self, names: Mapping[str, str], seed: int | None = None) -> None:
        """`names`: global name → part of the bindings that supplies it. `seed`: that of the random numbers of a
        module's top-level code; None: they are not seeded."""
        self.names = names
        self._seed = {} if seed is None else {"seed": str(seed)}

    def own(self, scan: Scan) -> str:
        """The data for a realm of a module's own code."""
        return self._text(scan, nested=False)

    def whole(self) -> str:
        """The data for a module whose code is not known: it gets all globals."""

        return self._text(everything(self.names, guarded=True), nested=False)

    @cached_property
    def nested(self) -> str:
        """For a realm of a script that another one calls, whose code is not known either. Its verdicts are the
        caller's, so that nothing in it is guarded, unless the worker sees that it declares a built-in."""

        return self._text(everything(self.names, guarded=False), nested=True)

    def _text(self, scan: Scan, *, nested: bool) -> str:
        listed = " ".join(f"{name}:{self.names[name]}" for name in scan.names)
        seed = {} if nested else self._seed
        return json.dumps({"guarded": scan.guarded, "hooks": scan.hooks, "nested": nested, "globals": listed, **seed})
