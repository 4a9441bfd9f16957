"""The words of code, read quickly."""

from __future__ import annotations

import re

_NO_WORD = r"[^\w$]"
_LETTERS = "".join(chr(code) if chr(code).isalnum() or chr(code) in "_$" else " " for code in range(128))
"""A translation table that replaces each ASCII character that is not part of a word."""


def words_only(code: str) -> str:
    """The code with a space in place of each character that is not part of a name or word."""
    return code.translate(_LETTERS) if code.isascii() else re.sub(_NO_WORD, " ", code)
