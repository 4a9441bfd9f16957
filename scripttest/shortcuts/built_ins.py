"""Which built-ins a script replaces, by a function or class of that name, such as `function Set(key, value)`."""

from __future__ import annotations

BUILT_INS = frozenset(
    """Object Array JSON Promise Map Set WeakMap WeakSet Symbol String Number BigInt RegExp Date Math ArrayBuffer Error
    TypeError RangeError SyntaxError Uint8Array Iterator""".split()
)
_DECLARED = tuple(
    f"{word} {name}{after}"
    for name in sorted(BUILT_INS)
    for word, after in (("function", "("), ("function*", "("), ("class", " "))
)


def declares_built_in(code: str) -> bool:
    """Whether code that esbuild printed declares a function or a class with the name of a built-in."""
    return any(text in code for text in _DECLARED)
