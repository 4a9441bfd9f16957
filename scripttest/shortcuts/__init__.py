"""What bends the code for speed: realms that set up less, modules cut down to one test, bindings as bytecode, what
earlier runs have compiled and read, and all modules of this project in one file.

Each has a plain way beside it, which gives the same results and takes longer. With the environment variable `PLAIN`
only the plain ways are taken: a fault that stays then is none of a shortcut."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PLAIN = "YAO_TEST_PLAIN"
"""For developers: `1` switches all shortcuts off, in the command and in its workers; `scan`, `slicing`, `bytecode`,
`compiled`, `yaml` and `imports`, apart by commas, switch off those."""
BUILT_INS = frozenset(
    """Object Array JSON Promise Map Set WeakMap WeakSet Symbol String Number BigInt RegExp Date Math ArrayBuffer Error
    TypeError RangeError SyntaxError Uint8Array Iterator""".split()
)
"""Built-ins that scripts replace, by a function or class of that name, such as `function Set(key, value)`."""


def is_off(shortcut: str) -> bool:
    """Whether the plain way is to be taken."""
    named = os.environ.get(PLAIN, "")
    return named == "1" or shortcut in named.split(",")


def declares_built_in(code: str, names: Iterable[str] = BUILT_INS) -> bool:
    """Whether code that esbuild printed declares a function or a class with the name of one of these built-ins."""
    return any(
        f"function {name}(" in code or f"function* {name}(" in code or f"class {name} " in code for name in names
    )
