"""The words of code, read quickly."""

from __future__ import annotations

import re

_NO_WORD = r"[^\w$]"
_LETTERS = "".join(chr(code) if chr(code).isalnum() or chr(code) in "_$" else " " for code in range(128))
"""A translation table that replaces each ASCII character that is not part of a word."""
_BYTES = _LETTERS.encode() + bytes(range(128, 256))
"""The same for UTF-8."""


def words_only(code: str) -> str:
    """The code with a space in place of each character that is not part of a name or word."""
    return code.translate(_LETTERS) if code.isascii() else re.sub(_NO_WORD, " ", code)


def words_behind(keyword: bytes, code: bytes) -> frozenset[str]:
    """The words that follow a keyword in code, each cut at 1000 bytes; `""` where something else follows it."""
    rests = (rest[:1000] for rest in code.split(keyword)[1:])
    return frozenset(
        rest.lstrip().translate(_BYTES).partition(b" ")[0].decode(errors="replace")
        for rest in rests
        if rest[:1].translate(_BYTES) == b" "
    )
