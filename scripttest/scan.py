"""Reads off a module's code what its realms need, so that they set up nothing else.

Two questions. Could the code overwrite the intrinsics that verdicts depend on? Then these are taken away before it
runs, which adds nearly half to a realm's set-up. Which globals does it name? Only those are installed. When in doubt,
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
    dynamic = bool(_named(code, _DYNAMIC)) or ("this" in code and re.search(r"\bthis\s*\[", code) is not None)
    return Scan(dynamic or _may_tamper(code), tuple(sorted(names if dynamic else _named(code, names))))


def _named(code: str, words: Iterable[str]) -> list[str]:
    """Which of the words stand in the code. Looking for these few is faster than reading every word of it."""
    return [word for word in words if _stands(code, word)]


def _stands(code: str, word: str) -> bool:
    at = code.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_is_letter(code[at - 1 : at]) or _is_letter(code[end : end + 1])):
            return True
        at = code.find(word, end)
    return False


def _is_letter(text: str) -> bool:
    return text.isalnum() or text in ("_", "$")


def _may_tamper(code: str) -> bool:
    reaches = _named(code, _REACHES)
    if reaches and (reaches != ["constructor"] or re.search(r"\.\s*constructor\b", code)):
        return True
    used = _named(code, _BUILT_INS)
    if used:
        named = rf"(?<!instanceof )(?<!new )(?<!extends )\b(?:{'|'.join(sorted(used))})\b(?!\s*\()(?!\.\w+\()"
        if re.search(named, code):
            return True
    return any(opening in code for opening in ('["', "['", "[`")) and re.search(_COMPUTED, code) is not None
