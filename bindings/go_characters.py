"""The character classes of Go's regular expressions, and how `regex` writes characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Ranges = list[tuple[int, int]]
"""First and last code of each."""
LAST = 0x10FFFF
"""The last code of all."""
PERL: dict[str, Ranges] = {
    "d": [(0x30, 0x39)],
    "s": [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],
    "w": [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
}
POSIX: dict[str, Ranges] = {
    "alnum": [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
    "alpha": [(0x41, 0x5A), (0x61, 0x7A)],
    "ascii": [(0x00, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0x00, 0x1F), (0x7F, 0x7F)],
    "digit": [(0x30, 0x39)],
    "graph": [(0x21, 0x7E)],
    "lower": [(0x61, 0x7A)],
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": [(0x41, 0x5A)],
    "word": PERL["w"],
    "xdigit": [(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
}


def literal(code: int) -> str:
    """A character, as a pattern of `regex` has it."""
    character = chr(code)
    if character.isascii() and character.isalnum():
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def set_text(ranges: Iterable[tuple[int, int]]) -> str:
    """The text between the brackets of a character class."""
    return "".join(literal(low) if low == high else f"{literal(low)}-{literal(high)}" for low, high in ranges)


def others(ranges: Ranges, fold: bool) -> Ranges:
    """All other characters. With `fold`, which disregards case, the relatives of the given letters are none of them."""
    taken = {code for low, high in ranges for code in range(low, high + 1)}
    if fold:
        letters = {code for code in taken if chr(code).isalpha()}
        taken |= {ord(chr(code).swapcase()) for code in letters}
        taken |= {far for near, far in ((0x6B, 0x212A), (0x73, 0x17F)) if near in taken}  # K of kelvin, long s
    found: Ranges = []
    low = 0
    for code in sorted(taken):
        if code > low:
            found.append((low, code - 1))
        low = code + 1
    return [*found, (low, LAST)]
