"""Reads off a module's code what its realms need, so that they set up nothing else.

Two questions. Could the code overwrite the intrinsics that verdicts depend on? Then these are taken away before it
runs, which costs a third of a realm's set-up. Which globals does it name? Only those are installed. When in doubt,
the answer is the safe one: code that could reach things without naming them gets everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_DYNAMIC = {"globalThis", "eval", "Eval", "Function", "Reflect", "Proxy"}
_REACHES = set(
    "prototype __proto__ constructor __defineGetter__ __defineSetter__ getPrototypeOf setPrototypeOf assign".split()
) | {
    "defineProperty",
    "defineProperties",
}
_BUILT_INS = set(
    """Object Array JSON Promise Map Set WeakMap WeakSet Symbol String Number BigInt RegExp Date Math ArrayBuffer Error
    TypeError RangeError SyntaxError Uint8Array Iterator""".split()
)
_COMPUTED = r"[\w)\]]\s*\[\s*[\"'`]"


class Scan(NamedTuple):
    """What a module's code needs."""

    guarded: bool
    """Whether it could overwrite intrinsics."""
    names: tuple[str, ...]
    """The globals that it can reach, sorted."""


def scan(code: str, names: Iterable[str]) -> Scan:
    """Scans the code of all scripts of a module for the global names that there are."""
    words = set(re.findall(r"[\w$]+", code))
    dynamic = bool(words & _DYNAMIC) or re.search(r"\bthis\s*\[", code) is not None
    return Scan(dynamic or _may_tamper(code, words), tuple(sorted(names if dynamic else words.intersection(names))))


def _may_tamper(code: str, words: set[str]) -> bool:
    reaches = words & _REACHES
    if reaches and (reaches != {"constructor"} or re.search(r"\.\s*constructor\b", code)):
        return True
    used = words & _BUILT_INS
    if used:
        named = rf"(?<!instanceof )(?<!new )(?<!extends )\b(?:{'|'.join(sorted(used))})\b(?!\s*\()(?!\.\w+\()"
        if re.search(named, code):
            return True
    return re.search(_COMPUTED, code) is not None
