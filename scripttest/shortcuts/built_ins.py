"""Which built-ins a script replaces, by a function or class of that name, such as `function Set(key, value)`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

BUILT_INS = frozenset(
    """Object Array JSON Promise Map Set WeakMap WeakSet Symbol String Number BigInt RegExp Date Math ArrayBuffer Error
    TypeError RangeError SyntaxError Uint8Array Iterator""".split()
)


def declares_built_in(code: str, names: Iterable[str] = BUILT_INS) -> bool:
    """Whether code that esbuild printed declares a function or a class with the name of one of these built-ins."""
    return any(
        f"function {name}(" in code or f"function* {name}(" in code or f"class {name} " in code for name in names
    )
